/* Making the file of a sink durable and renaming it to its final path. */
#define _GNU_SOURCE /* for renameat2 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/io_messages.h"
#include "io/sink_private.h"

/* Gives an unnamed file a temporary name. Returns 0 or errno. */
static int give_name(wb_sink *sink)
{
    char self[32];
    (void)snprintf(self, sizeof self, "/proc/self/fd/%d", sink->fd);
    for (int i = 0; i < WB__SINK_TRIES && !sink->named; i++) {
        wb__sink_draw_name(sink);
        sink->named = linkat(AT_FDCWD, self, sink->folder, sink->temporary, AT_SYMLINK_FOLLOW) == 0;
        if (!sink->named && errno != EEXIST)
            break;
    }
    return sink->named ? 0 : errno;
}

/* Closes the file; network file systems may report write errors only here. Returns 0 or errno. */
static int close_file(wb_sink *sink)
{
    int fd = sink->fd;
    sink->fd = -1;
    wb__direct_close(&sink->direct);
    return close(fd) == 0 || errno == EINTR ? 0 : errno;
}

/* Copies owner and permissions of the existing file to its replacement. Returns 0 or errno. The
 * bits setuid and setgid are not copied, because they were granted to the old contents. */
static int dress(const wb_sink *sink)
{
    struct stat st;
    if (!sink->existing)
        return 0;
    if (fstat(sink->fd, &st) != 0)
        return errno;
    /* Only root may change the owner. Otherwise the new file belongs to the caller, as with cp. */
    if (st.st_uid != sink->uid || st.st_gid != sink->gid) {
        int ignored = fchown(sink->fd, sink->uid, sink->gid);
        (void)ignored;
    }
    if ((st.st_mode & 07777) == sink->mode)
        return 0; /* no fchmod: wb --sandbox forbids it for some modes, even if nothing changes */
    return fchmod(sink->fd, sink->mode) == 0 ? 0 : errno;
}

/*
 * Makes the file durable under a temporary name. The order of the steps makes a crash harmless: the
 * data is on disk before the file gets a name, and publish syncs the name before success is
 * reported.
 */
static int finish(wb_sink *sink)
{
    int os_error = dress(sink);
    if (os_error != 0)
        return os_error;
    /* releases reserved space beyond the file length */
    if (ftruncate(sink->fd, (off_t)sink->written) != 0)
        return errno;
    if ((os_error = wb__write_sync(sink->fd)) != 0)
        return os_error;
    if (!sink->named && (os_error = give_name(sink)) != 0)
        return os_error;
    return close_file(sink);
}

/*
 * Renames the file unless `base` exists. Some file systems (NFS, older FUSE) do not support
 * RENAME_NOREPLACE. There, the function creates a hard link, because link never replaces a file,
 * and removes the old name. On file systems without hard links (exFAT), another process can create
 * `base` between the check and the rename.
 */
static int rename_to_free_name(const wb_sink *sink, const char *base)
{
    struct stat st;
    int folder = sink->folder;
#ifdef RENAME_NOREPLACE
    if (renameat2(folder, sink->temporary, folder, base, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
#endif
    if (linkat(folder, sink->temporary, folder, base, 0) == 0) {
        (void)unlinkat(folder, sink->temporary, 0);
        return 0;
    }
    if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS && errno != EMLINK)
        return -1;
    if (fstatat(folder, base, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        errno = EEXIST;
        return -1;
    }
    return renameat(folder, sink->temporary, folder, base);
}

/*
 * Gives the file its final name. A file of a set of output files (sink->keeps_others) must not
 * replace an existing file. It gets its final name as a second hard link, because link never
 * replaces a file, on any file system. Its temporary name is removed when all files of the set have
 * their final names.
 */
static int rename_file(wb_sink *sink)
{
    const char *base = wb__sink_base(sink->path);
    if (sink->keeps_others)
        return linkat(sink->folder, sink->temporary, sink->folder, base, 0);
    int result = sink->keeps_old ? rename_to_free_name(sink, base)
                                 : renameat(sink->folder, sink->temporary, sink->folder, base);
    sink->named = sink->named && result != 0;
    return result;
}

static int publish(wb_sink *sink)
{
    if (rename_file(sink) != 0)
        return errno;
    sink->published = true;
    int os_error = wb__write_sync(sink->folder);
    /* EINVAL: this file system does not support fsync on directories. */
    return os_error == EINVAL ? 0 : os_error;
}

wb_status wb__sink_finish(wb__context *context, wb_sink *sink, uint64_t length)
{
    sink->written = length;
    if (sink->failure == 0 && sink->path != NULL)
        sink->failure = finish(sink);
    else if (sink->failure == 0 && sink->owned)
        sink->failure = close_file(sink);
    return sink->failure == 0 ? WB_OK
                              : wb__sink_fail(context, sink, sink->failure, WB__MSG_IO_WRITE_FILE);
}

static const char no_place[] = WB__MSG_IO_RENAME_FILE;

wb_status wb__sink_publish(wb__context *context, wb_sink *sink)
{
    if (sink->failure == 0 && sink->path != NULL)
        sink->failure = publish(sink);
    return sink->failure == 0 ? WB_OK : wb__sink_fail(context, sink, sink->failure, no_place);
}

bool wb__sink_is_published(const wb_sink *sink)
{
    return sink->published;
}

wb_status wb__sink_enter(wb__context *context, wb_sink *sink, const char *path)
{
    if (sink->kept && linkat(sink->folder, sink->temporary, AT_FDCWD, path, 0) == 0)
        return WB_OK;
    if (renameat(sink->folder, sink->temporary, AT_FDCWD, path) == 0) {
        sink->named = false;
        return WB_OK;
    }
    context->file = path;
    return wb__fail_os(context, errno, no_place);
}

void wb__sink_park(wb_sink *sink, int folder)
{
    if (sink->folder < 0 || folder < 0 || sink->borrows_folder)
        return;
    (void)close(sink->folder);
    sink->folder = folder;
    sink->borrows_folder = true;
}

void wb__sink_keep_others(wb_sink *sink, uint64_t id, uint64_t member)
{
    sink->keeps_others = true;
    sink->set = id;
    sink->member = member;
}

void wb__sink_keep_old(wb_sink *sink)
{
    sink->keeps_old = true;
}

wb_status wb__sink_join(wb__context *context, wb_sink *sink)
{
    char name[WB__TEMPORARY_BYTES];
    if (!sink->keeps_others || !sink->named || sink->kept)
        return WB_OK;
    wb__temporary_name(name, sink->set, sink->member);
    if (strcmp(name, sink->temporary) == 0)
        return WB_OK;
    if (renameat(sink->folder, sink->temporary, sink->folder, name) != 0)
        return wb__sink_fail(context, sink, errno, WB__MSG_IO_TEMPORARY_NAME);
    memcpy(sink->temporary, name, sizeof name);
    return WB_OK;
}

bool wb__sink_withdraw(wb_sink *sink)
{
    if (sink->published && unlinkat(sink->folder, wb__sink_base(sink->path), 0) != 0)
        return false;
    sink->published = false;
    return true;
}

void wb__sink_leave(wb_sink *sink)
{
    sink->named = false;
}

wb_status wb__sink_commit(wb__context *context, wb_sink *sink)
{
    wb_status status = wb__sink_finish(context, sink, sink->written);
    if (status == WB_OK)
        status = wb__sink_publish(context, sink);
    wb__sink_discard(sink);
    return status;
}
