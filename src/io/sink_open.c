/* Opening the temporary or partial file of a sink. */
#define _GNU_SOURCE /* for O_TMPFILE */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/io_messages.h"
#include "io/sink_private.h"

void wb__sink_draw_name(wb_sink *sink)
{
    wb__hash_key key = wb__hash_key_draw();
    if (sink->keeps_others)
        wb__temporary_name(sink->temporary, sink->set, sink->member);
    else
        wb__temporary_name(sink->temporary, key.word[0] ^ key.word[1], WB__NO_MEMBER);
}

/* Returns the permissions of the new file. They are never wider than those of the file that it
 * replaces. */
static mode_t mode_of(const wb_sink *sink)
{
    return sink->existing ? sink->mode : 0666;
}

/* Opens a file for writing, without a name if the system supports it. Returns 0 or errno. */
static int open_temporary(wb_sink *sink)
{
#ifdef O_TMPFILE
    /* Without /proc an unnamed file could not be linked to a name later. */
    if (access("/proc/self/fd", X_OK) == 0) {
        sink->fd = openat(sink->folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode_of(sink));
        if (sink->fd >= 0)
            return 0;
    }
#endif
    for (int i = 0; i < WB__SINK_TRIES; i++) {
        wb__sink_draw_name(sink);
        sink->fd = openat(sink->folder, sink->temporary,
                          O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_of(sink));
        sink->named = sink->fd >= 0;
        if (sink->named || errno != EEXIST)
            break;
    }
    return sink->named ? 0 : errno;
}

/* Opens the partial file that an earlier run left, or creates it. Returns 0 or errno. */
static int open_kept(wb_sink *sink)
{
    int os_error = wb__file_take_up(sink->folder, sink->temporary, mode_of(sink), &sink->fd);
    sink->named = os_error == 0;
    return os_error;
}

/* Opens a stream by the given path. Does not resolve a link in /proc first, because the target of a
 * pipe's link is no valid path. Returns 0 or errno. */
static int begin_stream(wb_sink *sink, const char *path)
{
    sink->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_TRUNC);
    sink->owned = sink->fd >= 0;
    return sink->owned ? 0 : errno;
}

/* Checks the target path. Returns 0, or errno if no file can be created or replaced there. */
static int look_at(const char *path, struct stat *st, bool *exists)
{
    *exists = stat(path, st) == 0;
    if (!*exists && errno != ENOENT)
        return errno;
    if (*exists ? S_ISDIR(st->st_mode) : *wb__sink_base(path) == '\0')
        return EISDIR;
    if (*exists && !S_ISREG(st->st_mode))
        return EINVAL; /* a pipe or device appeared after the stream check */
    /*
     * Rename needs no write permission on the old file, but a read-only file is not meant to be
     * replaced.
     */
    return *exists && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0 ? errno : 0;
}

int wb__sink_look(const char *path)
{
    struct stat st;
    bool exists;
    return look_at(path, &st, &exists);
}

/* Opens the sink's file in the target directory. Returns 0 or errno. */
static int begin_file(wb_sink *sink, uint64_t expected)
{
    struct stat st;
    int refused = look_at(sink->path, &st, &sink->existing);
    if (refused != 0)
        return refused;
    if (sink->existing) {
        sink->mode = st.st_mode & 0777;
        sink->uid = st.st_uid;
        sink->gid = st.st_gid;
    }
    sink->folder = wb__sink_open_folder(&sink->allocator, sink->path);
    if (sink->folder < 0)
        return errno;
    wb__claim(&sink->allocator, sink->folder);
    sink->kept = sink->kept && wb__sink_kept_name(sink->path, sink->temporary);
    int os_error = sink->kept ? open_kept(sink) : open_temporary(sink);
    sink->owned = sink->fd >= 0;
    return os_error != 0 ? os_error : wb__write_reserve(sink->fd, expected);
}

wb_status wb__sink_open_as(wb__context *context, const char *path, const char *label, bool kept,
                           uint64_t expected, wb_sink **out)
{
    int os_error = 0;
    *out = NULL;
    wb_sink *sink = NULL;
    wb_status status = wb__sink_make(context, label, &sink);
    if (sink == NULL)
        return status;
    sink->kept = kept;
    bool is_stream = wb__path_is_stream(path);
    sink->path = is_stream ? NULL : wb__sink_follow(&context->allocator, path, &os_error);
    if (is_stream)
        os_error = begin_stream(sink, path);
    else if (sink->path != NULL)
        os_error = begin_file(sink, expected);
    if (os_error != 0) {
        status = wb__sink_fail(context, sink, os_error, WB__MSG_IO_WRITE_FILE);
        wb__sink_discard(sink);
        return status;
    }
    *out = sink;
    return WB_OK;
}

wb_status wb__sink_open(wb__context *context, const char *path, uint64_t expected, wb_sink **out)
{
    return wb__sink_open_as(context, path, path, false, expected, out);
}

void wb__sink_forget(wb_sink *sink)
{
    sink->kept = false;
}
