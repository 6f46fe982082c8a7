/*
 * Runs a fuzz target once for each file named, and for each file in each folder named.
 *
 * Every input gets a block of exactly its size, so that a sanitizer sees a read past its end.
 */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#include "fuzz.h"

static unsigned long replayed;

static int fail(const char *path)
{
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return 1;
}

static int replay_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(size == 0 ? 1 : size);
    int failed = file == NULL || data == NULL || fread(data, 1, size, file) != size;
    if (failed)
        (void)fail(path);
    if (file != NULL)
        (void)fclose(file);
    if (!failed) {
        (void)LLVMFuzzerTestOneInput(data, size);
        replayed++;
    }
    free(data);
    return failed;
}

static int replay(const char *path);

static int replay_folder(const char *path)
{
    int failed = 0;
    DIR *folder = opendir(path);
    if (folder == NULL)
        return fail(path);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char name[4096];
        if (entry->d_name[0] == '.')
            continue;
        if (snprintf(name, sizeof name, "%s/%s", path, entry->d_name) >= (int)sizeof name) {
            errno = ENAMETOOLONG;
            failed |= fail(path);
            continue;
        }
        failed |= replay(name);
    }
    (void)closedir(folder);
    return failed;
}

static int replay(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return fail(path);
    return S_ISDIR(st.st_mode) ? replay_folder(path) : replay_file(path, (size_t)st.st_size);
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-') /* options of libFuzzer mean nothing here */
            failed |= replay(argv[i]);
    }
    printf("%lu inputs replayed\n", replayed);
    return failed || replayed == 0;
}
