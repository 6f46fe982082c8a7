#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "io/beneath.h"
#include "io/io_messages.h"
#include "io/provided_files.h"
#include "io/source_private.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Creates a source from fd. Takes ownership of fd and closes it on failure. */
static wb_status adopt(wb__context *context, int fd, const struct stat *st, const char *label,
                       wb_access access, wb__source **out)
{
    wb__source *source;
    wb_status status = wb__source_make(context, label, &source);
    if (status != WB_OK) {
        (void)close(fd);
        return status;
    }
    source->fd = fd;
    source->bytes = (uint64_t)st->st_size;
    source->identity = wb__identity_of(st);
    if (access == WB_ACCESS_SNAPSHOT)
        status = wb__source_seal(context, source);
    if (status != WB_OK) {
        wb__source_close(source);
        return status;
    }
    *out = source;
    return WB_OK;
}

static const char *kind_of_file(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFIFO: return "a named pipe";
    case S_IFSOCK: return "a socket";
    case S_IFCHR:
    case S_IFBLK: return "a device";
    case S_IFDIR: return "a folder";
    default: return "a special file";
    }
}

#define READING (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* Opens the file or directory behind `fd`, which was opened by its path. Takes ownership of fd. */
static wb_status open_path(wb__context *context, int fd, const char *path, wb_access access,
                           wb__source **source, bool *is_folder)
{
    struct stat st;
    *source = NULL;
    *is_folder = false;
    if (fd < 0)
        return wb__fail_os(context, errno, WB__MSG_IO_OPEN_FILE);
    if (fstat(fd, &st) != 0) {
        int os_error = errno;
        (void)close(fd);
        return wb__fail_os(context, os_error, WB__MSG_IO_STAT_FILE);
    }
    if (S_ISREG(st.st_mode)) {
        wb_status status = adopt(context, fd, &st, path, access, source);
        if (status == WB_OK)
            (*source)->from_path = true;
        return status;
    }
    (void)close(fd);
    if (S_ISDIR(st.st_mode)) {
        *is_folder = true;
        return WB_OK;
    }
    return wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_NOT_REGULAR, WB_NO_OFFSET, WB__STR(""),
                    WB__MSG_IO_NOT_REGULAR, kind_of_file(st.st_mode));
}

static wb_status open_provided(wb__context *context, const char *path, wb__source **source,
                               bool *is_folder)
{
    wb_source theirs;
    *source = NULL;
    wb_status status = wb__provided_open(context, path, &theirs, is_folder);
    return status != WB_OK || *is_folder ? status
                                         : wb__source_open_caller(context, &theirs, path, source);
}

wb_status wb__source_open(wb__context *context, const char *path, wb_access access,
                          wb__source **source, bool *is_folder)
{
    if (wb__files_own(context, path))
        return open_provided(context, path, source, is_folder);
    return open_path(context, open(path, READING), path, access, source, is_folder);
}

wb_status wb__source_open_in(wb__context *context, const char *folder, const char *path,
                             wb_access access, wb__source **source, bool *is_folder)
{
    if (folder == NULL || context->follow_links || wb__files_own(context, path))
        return wb__source_open(context, path, access, source, is_folder);
    int fd = wb__beneath_open(folder, wb__path_below(folder, path), READING);
    if (fd >= 0 || errno != EXDEV)
        return open_path(context, fd, path, access, source, is_folder);
    *source = NULL;
    *is_folder = false;
    return wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_LINK_OUTSIDE, WB_NO_OFFSET, WB__STR(""),
                    WB__MSG_IO_LINK_OUTSIDE);
}

wb_status wb__source_open_fd(wb__context *context, int fd, const char *label, wb_access access,
                             wb__source **source)
{
    struct stat st;
    int own;
    *source = NULL;
    if (fstat(fd, &st) != 0)
        return wb__fail_os(context, errno, WB__MSG_IO_STAT_DESCRIPTOR);
    if (S_ISDIR(st.st_mode))
        return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET, WB__STR(""),
                        WB__MSG_IO_DESCRIPTOR_FOLDER);
    if (S_ISREG(st.st_mode)) {
        own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        if (own < 0)
            return wb__fail_os(context, errno, WB__MSG_IO_DUPLICATE_DESCRIPTOR);
    } else {
        wb_status status = wb__spool(context, fd, &own);
        if (status != WB_OK)
            return status;
        if (fstat(own, &st) != 0) {
            int os_error = errno;
            (void)close(own);
            return wb__fail_os(context, os_error, WB__MSG_IO_STAT_TEMPORARY);
        }
    }
    return adopt(context, own, &st, label, access, source);
}

wb_status wb__source_open_memory(wb__context *context, const void *bytes, size_t n,
                                 const char *label, wb__source **source)
{
    wb_status status = wb__source_make(context, label, source);
    if (status != WB_OK)
        return status;
    (*source)->memory = n == 0 ? (const uint8_t *)"" : bytes;
    (*source)->bytes = n;
    return WB_OK;
}

wb_status wb__source_open_caller(wb__context *context, const wb_source *caller, const char *label,
                                 wb__source **source)
{
    wb_status status = wb__source_make(context, label, source);
    if (status != WB_OK) {
        if (caller->close != NULL)
            caller->close(caller->ctx);
        return status;
    }
    (*source)->caller = *caller;
    (*source)->bytes = caller->bytes;
    return WB_OK;
}
