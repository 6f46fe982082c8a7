/*
 * How the file of a sink becomes durable and gets its name.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/sink_private.h"

/* Gives an unnamed file a temporary name. 0, or errno. */
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

/* Closes for good; a file system on a network may only now tell what went wrong. 0, or errno. */
static int close_file(wb_sink *sink)
{
    int fd = sink->fd;
    sink->fd = -1;
    wb__direct_close(&sink->direct);
    return close(fd) == 0 || errno == EINTR ? 0 : errno;
}

/* Puts an existing file's owner and permissions on the one that replaces it. 0, or errno. */
static int dress(const wb_sink *sink)
{
    struct stat st;
    if (!sink->existing)
        return 0;
    if (fstat(sink->fd, &st) != 0)
        return errno;
    /* Only root may give a file away; anyone else then owns the new one, as cp would have it. */
    mode_t mode = sink->mode;
    if ((st.st_uid != sink->uid || st.st_gid != sink->gid) &&
        fchown(sink->fd, sink->uid, sink->gid) != 0)
        mode &= 0777;
    return fchmod(sink->fd, mode) == 0 ? 0 : errno;
}

/*
 * The order is what makes it safe: the bytes are on the disk before the name is, and the name
 * before the caller hears of success.
 */
static int finish(wb_sink *sink)
{
    int os_error = dress(sink);
    if (os_error != 0)
        return os_error;
    if (ftruncate(sink->fd, (off_t)sink->written) != 0) /* returns what was reserved too much */
        return errno;
    if ((os_error = wb__write_sync(sink->fd)) != 0)
        return os_error;
    if (!sink->named && (os_error = give_name(sink)) != 0)
        return os_error;
    return close_file(sink);
}

/* Where nothing may be replaced a second name is given: link never replaces anything, on any file system
 * that has it. The first is taken away when the set is complete. */
static int rename_file(wb_sink *sink)
{
    const char *base = wb__sink_base(sink->path);
    if (sink->keeps_others)
        return linkat(sink->folder, sink->temporary, sink->folder, base, 0);
    int result = renameat(sink->folder, sink->temporary, sink->folder, base);
    sink->named = sink->named && result != 0;
    return result;
}

static int publish(wb_sink *sink)
{
    if (rename_file(sink) != 0)
        return errno;
    sink->published = true;
    int os_error = wb__write_sync(sink->folder);
    return os_error == EINVAL ? 0 : os_error; /* a file system that has no such thing for folders */
}

wb_status wb__sink_finish(wb__context *context, wb_sink *sink, uint64_t length)
{
    sink->written = length;
    if (sink->failure == 0 && sink->path != NULL)
        sink->failure = finish(sink);
    else if (sink->failure == 0 && sink->owned)
        sink->failure = close_file(sink);
    return sink->failure == 0
               ? WB_OK
               : wb__sink_fail(context, sink, sink->failure, "cannot write the file");
}

static const char no_place[] = "cannot put the file into its place";

wb_status wb__sink_publish(wb__context *context, wb_sink *sink)
{
    if (sink->failure == 0 && sink->path != NULL)
        sink->failure = publish(sink);
    return sink->failure == 0 ? WB_OK : wb__sink_fail(context, sink, sink->failure, no_place);
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

wb_status wb__sink_join(wb__context *context, wb_sink *sink)
{
    char name[WB__TEMPORARY_BYTES];
    if (!sink->keeps_others || !sink->named || sink->kept)
        return WB_OK;
    wb__temporary_name(name, sink->set, sink->member);
    if (strcmp(name, sink->temporary) == 0)
        return WB_OK;
    if (renameat(sink->folder, sink->temporary, sink->folder, name) != 0)
        return wb__sink_fail(context, sink, errno, "cannot name the file");
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
