/*
 * descriptors.h: records which descriptors are opened with O_DIRECT, for tests whose "wraps:"
 * line contains "open64".
 */
#ifndef WB_TESTS_DESCRIPTORS_H
#define WB_TESTS_DESCRIPTORS_H

#include "support.h"

#include <stdatomic.h>

enum { DESCRIPTORS = 256 };

static struct {
    _Atomic bool direct[DESCRIPTORS];
    bool no_direct; /* every open with O_DIRECT fails */
} opened;

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);

/* On a file system without O_DIRECT, opens the file without it, but records the descriptor as
 * direct, so that the test still checks the alignment of its reads. */
int __wrap_open64(const char *path, int flags, ...)
{
    if (opened.no_direct && (flags & O_DIRECT) != 0) {
        errno = EINVAL;
        return -1;
    }
    int fd = __real_open64(path, flags);
    if (fd < 0 && (flags & O_DIRECT) != 0)
        fd = __real_open64(path, flags & ~O_DIRECT);
    if (fd >= 0 && fd < DESCRIPTORS)
        opened.direct[fd] = (flags & O_DIRECT) != 0;
    return fd;
}

static inline bool is_direct(int fd)
{
    return fd >= 0 && fd < DESCRIPTORS && opened.direct[fd];
}

static inline unsigned open_descriptors(void)
{
    unsigned n = 0;
    for (int fd = 0; fd < DESCRIPTORS; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

#endif
