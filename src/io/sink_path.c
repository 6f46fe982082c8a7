/* Path functions of sinks. */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/sink_private.h"

#define LINKS_MAX 40 /* maximum number of symbolic links to follow, as in Linux */

const char *wb__sink_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

char *wb__sink_follow(const wb_allocator *allocator, const char *path, int *os_error)
{
    char target[PATH_MAX];
    char *at = wb__sink_copy_text(allocator, path);
    for (int links = 0; at != NULL; links++) {
        ssize_t n = readlink(at, target, sizeof target - 1);
        if (n < 0)
            return at; /* not a link; other errors are reported when the file is opened */
        target[n] = '\0';
        size_t folder = target[0] == '/' ? 0 : (size_t)(wb__sink_base(at) - at);
        size_t bytes = folder + (size_t)n + 1;
        char *next = links < LINKS_MAX ? wb__alloc(allocator, bytes) : NULL;
        if (next != NULL) {
            memcpy(next, at, folder);
            memcpy(next + folder, target, (size_t)n + 1);
        } else if (links >= LINKS_MAX) {
            *os_error = ELOOP;
        }
        wb__sink_free_text(allocator, at);
        at = next;
        if (links >= LINKS_MAX)
            return NULL;
    }
    *os_error = ENOMEM;
    return NULL;
}

bool wb__path_is_stream(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0 || S_ISDIR(st.st_mode))
        return false;
    return !S_ISREG(st.st_mode) || st.st_nlink == 0;
}

static wb__str without_slashes(const char *path)
{
    wb__str text = wb__str_from(path, SIZE_MAX);
    while (text.len > 1 && text.ptr[text.len - 1] == '/')
        text.len--;
    return text;
}

char *wb__path_follow(const wb_allocator *allocator, const char *path, int *os_error)
{
    char *plain = wb__path_join(allocator, "", without_slashes(path));
    char *end = plain == NULL ? NULL : wb__sink_follow(allocator, plain, os_error);
    wb__sink_free_text(allocator, plain);
    plain = end == NULL ? NULL : wb__path_join(allocator, "", without_slashes(end));
    if (plain == NULL && *os_error == 0)
        *os_error = ENOMEM;
    wb__sink_free_text(allocator, end);
    return plain;
}

int wb__sink_open_folder(const wb_allocator *allocator, const char *path)
{
    size_t n = (size_t)(wb__sink_base(path) - path);
    if (n == 0)
        return open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char *folder = wb__alloc(allocator, n + 1);
    if (folder == NULL) {
        errno = ENOMEM;
        return -1;
    }
    memcpy(folder, path, n);
    folder[n] = '\0';
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int kept = errno;
    wb__free(allocator, folder, n + 1);
    errno = kept;
    return fd;
}

bool wb__sink_kept_name(const char *path, char *name)
{
    int n = snprintf(name, WB__SINK_NAME_BYTES, ".%s" WB__KEPT_END, wb__sink_base(path));
    return n > 0 && n < WB__SINK_NAME_BYTES;
}

uint64_t wb__sink_kept_bytes(const wb_allocator *allocator, const char *path)
{
    char name[WB__SINK_NAME_BYTES];
    struct stat st;
    int os_error = 0;
    char *end = wb__sink_follow(allocator, path, &os_error);
    int folder = end == NULL ? -1 : wb__sink_open_folder(allocator, end);
    uint64_t bytes = 0;
    if (folder >= 0 && wb__sink_kept_name(end, name) &&
        fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
        bytes = (uint64_t)st.st_blocks * 512;
    if (folder >= 0)
        (void)close(folder);
    wb__sink_free_text(allocator, end);
    return bytes;
}
