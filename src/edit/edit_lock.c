/*
 * Prevents concurrent edits of a file. An edit holds an exclusive lock (flock) on the file, which
 * the kernel releases when the process ends. The edit runs without a lock if the file system does
 * not support flock, or does not support it for read-only descriptors (NFS).
 */
#define _GNU_SOURCE /* flock */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "edit/edit.h"
#include "edit/edit_messages.h"

#define TRIES 100

/* Returns true if `path` still names the open file. Another process may have replaced the file
 * between open and flock. */
static bool is_still_there(int fd, const char *path)
{
    struct stat open, named;
    return fstat(fd, &open) == 0 && stat(path, &named) == 0 && open.st_dev == named.st_dev &&
           open.st_ino == named.st_ino;
}

wb_status wb__edit_lock(wb__context *context, const char *path, int *fd)
{
    bool is_taken = false;
    for (int i = 0; i < TRIES && !is_taken; i++) {
        *fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (*fd < 0) /* the error is reported when the file is read later */
            return WB_OK;
        is_taken = flock(*fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        if (!is_taken && is_still_there(*fd, path))
            return WB_OK;
        wb__edit_unlock(*fd);
    }
    *fd = -1;
    context->file = path;
    return wb__fail_os(context, EBUSY, WB__MSG_EDIT_LOCKED);
}

void wb__edit_unlock(int fd)
{
    if (fd >= 0)
        (void)close(fd);
}
