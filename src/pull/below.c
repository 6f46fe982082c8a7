#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include "pull/below.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/sink.h"

#define DIRECTORY (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static void close_keeping_errno(int fd)
{
    int os_error = errno;
    (void)close(fd);
    errno = os_error;
}

/* Opens the directory `name` in the directory `folder`. */
static int step_down(int folder, const char *name, bool create)
{
    int fd = openat(folder, name, DIRECTORY);
    if (fd >= 0 || errno != ENOENT || !create)
        return fd;
    if (mkdirat(folder, name, 0777) != 0 && errno != EEXIST)
        return -1;
    return openat(folder, name, DIRECTORY);
}

/* As wb__below_folder, for the first n bytes of the path. */
static int walk(int folder, const char *path, size_t n, bool create)
{
    int at = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    for (size_t begin = 0; begin < n && at >= 0;) {
        char name[NAME_MAX + 1];
        const char *slash = memchr(path + begin, '/', n - begin);
        size_t len = slash == NULL ? n - begin : (size_t)(slash - path) - begin;
        if (len > NAME_MAX) {
            errno = ENAMETOOLONG;
            close_keeping_errno(at);
            return -1;
        }
        memcpy(name, path + begin, len);
        name[len] = '\0';
        int next = step_down(at, name, create);
        close_keeping_errno(at);
        at = next;
        begin += len + 1;
    }
    return at;
}

int wb__below_folder(int folder, const char *path, bool create)
{
    return walk(folder, path, strlen(path), create);
}

int wb__below_parent(int folder, const char *path, bool create, const char **name)
{
    const char *slash = strrchr(path, '/');
    *name = slash == NULL ? path : slash + 1;
    return walk(folder, path, slash == NULL ? 0 : (size_t)(slash - path), create);
}

static int open_in(int parent, const char *name)
{
    return openat(parent, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
}

int wb__below_open(int folder, const char *path)
{
    const char *name;
    int parent = wb__below_parent(folder, path, false, &name);
    if (parent < 0)
        return -1;
    int fd = open_in(parent, name);
    close_keeping_errno(parent);
    return fd;
}

ssize_t wb__below_read(int folder, const char *path, char *text, size_t n)
{
    int fd = wb__below_open(folder, path);
    if (fd < 0)
        return -1;
    size_t got = wb__read_back(fd, 0, text, n - 1);
    close_keeping_errno(fd);
    text[got] = '\0';
    return (ssize_t)got;
}

/* ---- replacing ---- */

/* Returns true if the file has exactly these contents. */
static bool has_contents(int parent, const char *name, const uint8_t *bytes, size_t n)
{
    uint8_t part[4096];
    size_t at = 0, got;
    int fd = open_in(parent, name);
    if (fd < 0)
        return false;
    do {
        got = wb__read_back(fd, at, part, sizeof part);
        if (got > n - at || memcmp(part, bytes + at, got) != 0)
            break;
        at += got;
    } while (got == sizeof part);
    bool same = at == n && got < sizeof part;
    (void)close(fd);
    return same;
}

static void draw_name(char name[WB__TEMPORARY_BYTES])
{
    wb__hash_key key = wb__hash_key_draw();
    wb__temporary_name(name, key.word[0] ^ key.word[1], WB__NO_MEMBER);
}

static int write_new(int parent, const char *name, const void *bytes, size_t n)
{
    char temporary[WB__TEMPORARY_BYTES];
    draw_name(temporary);
    int fd = openat(parent, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        return errno;
    int os_error = wb__write_all(fd, bytes, n);
    if (os_error == 0)
        os_error = wb__write_sync(fd);
    (void)close(fd);
    if (os_error == 0 && renameat(parent, temporary, parent, name) != 0)
        os_error = errno;
    if (os_error != 0)
        (void)unlinkat(parent, temporary, 0);
    return os_error;
}

int wb__below_write(int folder, const char *path, const void *bytes, size_t n)
{
    const char *name;
    int parent = wb__below_parent(folder, path, true, &name);
    if (parent < 0)
        return errno;
    int os_error = has_contents(parent, name, bytes, n) ? 0 : write_new(parent, name, bytes, n);
    (void)close(parent);
    return os_error;
}

static bool has_target(int parent, const char *name, const char *target)
{
    char found[PATH_MAX];
    ssize_t n = readlinkat(parent, name, found, sizeof found);
    return n >= 0 && wb__str_equal((wb__str){found, (size_t)n}, wb__str_from(target, SIZE_MAX));
}

static int link_new(int parent, const char *name, const char *target)
{
    char temporary[WB__TEMPORARY_BYTES];
    draw_name(temporary);
    if (symlinkat(target, parent, temporary) != 0)
        return errno;
    int os_error = renameat(parent, temporary, parent, name) == 0 ? 0 : errno;
    if (os_error != 0)
        (void)unlinkat(parent, temporary, 0);
    return os_error;
}

int wb__below_link(int folder, const char *path, const char *target)
{
    const char *name;
    int parent = wb__below_parent(folder, path, true, &name);
    if (parent < 0)
        return errno;
    int os_error = has_target(parent, name, target) ? 0 : link_new(parent, name, target);
    (void)close(parent);
    return os_error;
}
