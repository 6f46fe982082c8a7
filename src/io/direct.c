#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "io/direct.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "io/io_messages.h"
#include "io/source_private.h"

#ifndef O_DIRECT
#define O_DIRECT 0
#endif

/* Reopens the file behind `fd` through /proc. This also works for files without a name. */
static int open_fd_again(int fd, int flags)
{
    char path[32];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, flags);
}

/* Reopens the source's file, by descriptor if possible, else by path. */
static int open_again(const wb__source *source)
{
    int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_DIRECT;
    if (source->fd < 0)
        return open(source->label, flags);
    int fd = open_fd_again(source->fd, flags);
    return fd < 0 && source->from_path ? open(source->label, flags) : fd;
}

void wb__direct_open(const wb__source *source, wb__direct *direct)
{
    struct stat st;
    direct->fd = -1;
    if (O_DIRECT == 0 || source->memory != NULL || source->sealed || source->caller.read != NULL)
        return;
    int fd = open_again(source);
    if (fd < 0)
        return;
    wb__identity now = {0};
    if (fstat(fd, &st) == 0)
        now = wb__identity_of(&st);
    if (wb__identity_difference(&source->identity, &now) == NULL)
        direct->fd = fd;
    else
        (void)close(fd);
}

void wb__direct_open_fd(int fd, wb__direct *direct)
{
    direct->fd = O_DIRECT == 0 ? -1 : open_fd_again(fd, O_WRONLY | O_CLOEXEC | O_DIRECT);
}

void wb__direct_close(wb__direct *direct)
{
    if (direct->fd >= 0)
        (void)close(direct->fd);
    direct->fd = -1;
}

wb_status wb__direct_read(const wb__source *source, const wb__direct *direct, wb__context *context,
                          uint64_t offset, void *dst_bytes, size_t n)
{
    uint8_t *dst = dst_bytes;
    size_t rounded = n + (0 - n) % WB__DIRECT_ALIGNMENT;
    size_t done = 0;
    if (!wb__in_range(offset, n, source->bytes))
        return wb__source_fail_short(source, context, source->bytes);
    /* Each read must start at a multiple of the alignment. If a short read ends elsewhere,
     * wb__source_read reads the rest. */
    while (direct->fd >= 0 && done < n && done % WB__DIRECT_ALIGNMENT == 0) {
        ssize_t got = pread(direct->fd, dst + done, rounded - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && (errno == EINVAL || errno == EOPNOTSUPP || errno == EFAULT))
            break; /* the file system has further restrictions, or the buffer is device memory */
        if (got < 0) {
            int os_error = errno;
            const char *file = context->file;
            context->file = source->label;
            wb_status status = wb__fail_os(context, os_error, WB__MSG_IO_READ_FILE);
            context->file = file;
            context->error->offset = offset + done;
            return status;
        }
        if (got == 0)
            return wb__source_fail_short(source, context, offset + done);
        done += (size_t)got;
    }
    return done >= n ? WB_OK
                     : wb__source_read(source, context, offset + done, dst + done, n - done);
}

wb_status wb__direct_read_into(const wb__source *source, const wb__direct *direct,
                               wb__context *context, uint64_t offset, uint8_t *room, size_t n,
                               uint8_t **bytes)
{
    size_t before = (size_t)(offset % WB__DIRECT_ALIGNMENT);
    uint8_t *begin = room + (0 - (uintptr_t)room) % WB__DIRECT_ALIGNMENT;
    *bytes = begin + before;
    return wb__direct_read(source, direct, context, offset - before, begin, before + n);
}
