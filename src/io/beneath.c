#define _GNU_SOURCE /* O_PATH, syscall */
#define _FILE_OFFSET_BITS 64
#include "io/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef O_PATH
#define O_PATH O_RDONLY
#endif

/* ---- openat2 ---- */

/* Copies of open_how and RESOLVE_* from linux/openat2.h, which older systems do not have. */
struct how {
    uint64_t flags, mode, resolve;
};
#define NO_MAGIC_LINKS 0x02
#define NO_LINKS 0x04
#define BENEATH 0x08

/* Maximum number of calls of openat2, which fails with EAGAIN if a directory is renamed while the
 * kernel resolves "..". */
#define TRIES 8

static int resolve(int folder, const char *name, int flags, bool links)
{
#ifdef SYS_openat2
    const struct how how = {.flags = (uint64_t)(flags & O_PATH ? flags : flags | O_LARGEFILE),
                            .resolve = BENEATH | (links ? NO_MAGIC_LINKS : NO_LINKS)};
    for (int i = 0; i < TRIES; i++) {
        long fd = syscall(SYS_openat2, folder, name, &how, sizeof how);
        if (fd >= 0 || (errno != EAGAIN && errno != ENOSYS && errno != EPERM))
            return (int)fd;
        if (errno != EAGAIN)
            break; /* the kernel is too old, or a seccomp filter forbids openat2 */
    }
#endif
    return wb__beneath_walk(folder, NULL, name, flags, links);
}

/* ---- caches of the Hugging Face Hub ---- */

/* Returns true if the n bytes are the name of a directory such as models--OWNER--NAME. */
static bool is_repository(const char *name, size_t n)
{
    static const char *const kinds[] = {"models--", "datasets--", "spaces--"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (n > strlen(kinds[i]) && memcmp(name, kinds[i], strlen(kinds[i])) == 0)
            return true;
    }
    return false;
}

/* If `path` is a snapshot in a cache or a directory below one, returns the length of the prefix of
 * `path` that leads to the repository (…/models--OWNER--NAME). Otherwise returns 0. */
static size_t repository_of(const char *path)
{
    static const char inner[] = "/snapshots/";
    size_t found = 0;
    for (const char *p = strstr(path, inner); p != NULL; p = strstr(p + 1, inner)) {
        const char *name = p;
        while (name > path && name[-1] != '/')
            name--;
        if (is_repository(name, (size_t)(p - name)))
            found = (size_t)(p - path);
    }
    return found;
}

/* Returns the number of path components that follow a slash. */
static size_t count_slashes(const char *path)
{
    size_t count = 0;
    for (; *path != '\0'; path++)
        count += path[0] == '/' && path[1] != '/' && path[1] != '\0';
    return count;
}

/* Reads the target of the link `name` into `text`, which has PATH_MAX bytes. */
static bool read_link(int folder, const char *name, char *text)
{
    ssize_t n = readlinkat(folder, name, text, PATH_MAX);
    if (n <= 0 || n == PATH_MAX)
        return false;
    text[n] = '\0';
    return true;
}

/* If `text` consists of `up` times "../" and the path of a file below blobs/, returns that path.
 * Otherwise returns NULL. */
static const char *in_blobs(const char *text, size_t up)
{
    for (; up > 0; up--) {
        if (strncmp(text, "../", 3) != 0)
            return NULL;
        text += 3;
    }
    return strncmp(text, "blobs/", 6) == 0 && strstr(text, "..") == NULL ? text : NULL;
}

/* Opens a blob of a repository. The blob may be a link to a blob that all repositories share:
 * blobs/ETAG -> ../../blobs/XX/HASH */
static int open_blob(int repository, const char *blob, int flags)
{
    char text[PATH_MAX];
    int fd = resolve(repository, blob, flags, false);
    if (fd >= 0 || errno != ELOOP)
        return fd;
    const char *shared = read_link(repository, blob, text) ? in_blobs(text, 2) : NULL;
    int cache = shared == NULL ? -1 : openat(repository, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    fd = cache < 0 ? -1 : resolve(cache, shared, flags, false);
    int os_error = cache < 0 || errno == ELOOP ? EXDEV : errno;
    if (cache >= 0)
        (void)close(cache);
    errno = os_error;
    return fd;
}

/*
 * Opens the directory that contains the file `name`, a path relative to the directory `folder`.
 * Sets *entry to the last component of `name` and *depth to the number of components before it.
 * Links are not followed. Returns a descriptor, or -1 on failure.
 */
static int open_parent(int folder, const char *name, const char **entry, size_t *depth)
{
    char parent[PATH_MAX] = ".";
    const char *slash = strrchr(name, '/');
    size_t n = slash == NULL ? 0 : (size_t)(slash - name);
    *entry = slash == NULL ? name : slash + 1;
    *depth = n == 0 ? 0 : 1;
    if (n >= sizeof parent)
        return -1;
    if (n != 0) {
        memcpy(parent, name, n);
        parent[n] = '\0';
        *depth += count_slashes(parent);
    }
    return resolve(folder, parent, O_PATH | O_DIRECTORY | O_CLOEXEC, false);
}

/* If the file `name` in the directory `folder` is a link to a blob of a Hugging Face cache, returns
 * true and sets `blob` (PATH_MAX bytes) to the path of the blob, relative to the repository.
 * `depth` is the number of directories from the repository down to `folder`. */
static bool find_blob(int folder, size_t depth, const char *name, char *blob)
{
    const char *entry;
    char text[PATH_MAX];
    size_t below;
    int parent = open_parent(folder, name, &entry, &below);
    const char *found =
        parent < 0 || !read_link(parent, entry, text) ? NULL : in_blobs(text, depth + below);
    if (parent >= 0)
        (void)close(parent);
    if (found != NULL)
        memcpy(blob, found, strlen(found) + 1);
    return found != NULL;
}

/* Opens the file `name` in the directory `folder`, whose path is `path`. Called if a link in `name`
 * is absolute or leads outside the directory. */
static int open_elsewhere(int folder, char path[PATH_MAX], const char *name, int flags)
{
    char blob[PATH_MAX];
    size_t n = repository_of(path);
    if (n == 0 || !find_blob(folder, count_slashes(path + n), name, blob))
        return wb__beneath_walk(folder, path, name, flags, true);
    path[n] = '\0';
    int repository = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int fd = repository < 0 ? -1 : open_blob(repository, blob, flags);
    int os_error = errno;
    if (repository >= 0)
        (void)close(repository);
    errno = os_error;
    return fd;
}

/* ---- opening ---- */

int wb__beneath_open(const char *folder, const char *name, int flags)
{
    char path[PATH_MAX];
    int at = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (at < 0)
        return -1;
    int fd = resolve(at, name, flags, true);
    int os_error = errno;
    if (fd < 0 && os_error == EXDEV && realpath(folder, path) != NULL) {
        fd = open_elsewhere(at, path, name, flags);
        os_error = errno;
    }
    (void)close(at);
    errno = os_error;
    return fd;
}

/* Returns errno, but EIO instead of EXDEV: callers interpret EXDEV as a link to a place outside the
 * directory. */
static int stat_error(void)
{
    return errno == EXDEV ? EIO : errno;
}

int wb__beneath_stat(const char *folder, const char *path, bool follow_links, struct stat *st)
{
    if (follow_links)
        return stat(path, st) != 0 ? stat_error() : 0;
    int fd = wb__beneath_open(folder, wb__path_below(folder, path), O_PATH | O_CLOEXEC);
    int os_error = fd < 0 ? errno : fstat(fd, st) != 0 ? stat_error() : 0;
    if (fd >= 0)
        (void)close(fd);
    return os_error;
}
