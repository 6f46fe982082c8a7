#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include "output.h"

#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

bool output_is_stdout(const char *path)
{
    static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(path, names[i]) == 0)
            return true;
    }
    return false;
}

bool output_is_stream(const char *path)
{
    struct stat st;
    if (output_is_stdout(path))
        return true;
    if (stat(path, &st) != 0 || S_ISDIR(st.st_mode))
        return false;
    return !S_ISREG(st.st_mode) || st.st_nlink == 0;
}
