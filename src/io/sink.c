/* Creating, writing and discarding sinks. */
#define _GNU_SOURCE /* for sync_file_range */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#ifdef __linux__
#include <linux/fs.h>
#endif
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/io_messages.h"
#include "io/sink_private.h"
#include "io/source_private.h"

char *wb__sink_copy_text(const wb_allocator *allocator, const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = wb__alloc(allocator, n);
    return copy == NULL ? NULL : memcpy(copy, text, n);
}

void wb__sink_free_text(const wb_allocator *allocator, char *text)
{
    if (text != NULL)
        wb__free(allocator, text, strlen(text) + 1);
}

/* Returns true if the file is empty. An empty partial file is removed, because the next run could
 * not reuse anything. */
static bool is_empty(const wb_sink *sink)
{
    struct stat st;
    return sink->fd >= 0 && fstat(sink->fd, &st) == 0 && st.st_size == 0;
}

void wb__sink_discard(wb_sink *sink)
{
    if (sink == NULL)
        return;
    if (sink->named && sink->folder >= 0 && (!sink->kept || is_empty(sink)))
        (void)unlinkat(sink->folder, sink->temporary, 0);
    wb__direct_close(&sink->direct);
    if (sink->owned && sink->fd >= 0)
        (void)close(sink->fd);
    if (sink->folder >= 0 && !sink->borrows_folder)
        (void)close(sink->folder);
    wb_allocator allocator = sink->allocator;
    wb__sink_free_text(&allocator, sink->label);
    wb__sink_free_text(&allocator, sink->path);
    wb__free(&allocator, sink, sizeof *sink);
}

wb_status wb__sink_make(wb__context *context, const char *label, wb_sink **out)
{
    wb_sink *sink = wb__alloc_zeroed(&context->allocator, sizeof *sink);
    if (sink == NULL)
        return wb__fail_memory(context);
    sink->allocator = context->allocator;
    sink->fd = sink->folder = sink->direct.fd = -1;
    sink->label = wb__sink_copy_text(&context->allocator, label);
    if (sink->label == NULL) {
        wb__sink_discard(sink);
        return wb__fail_memory(context);
    }
    *out = sink;
    return WB_OK;
}

wb_status wb__sink_fail(wb__context *context, wb_sink *sink, int os_error, const char *what)
{
    const char *file = context->file;
    sink->failure = os_error;
    context->file = sink->label;
    wb_status status = wb__fail_os(context, os_error, what);
    context->file = file;
    return status;
}

wb_status wb__sink_open_fd(wb__context *context, int fd, const char *label, wb_sink **out)
{
    *out = NULL;
    wb_status status = wb__sink_make(context, label, out);
    if (*out != NULL)
        (*out)->fd = fd;
    return status;
}

wb_status wb__sink_write(wb__context *context, wb_sink *sink, const void *bytes, size_t n)
{
    if (sink->failure == 0)
        sink->failure = wb__write_all(sink->fd, bytes, n);
    if (sink->failure != 0)
        return wb__sink_fail(context, sink, sink->failure, WB__MSG_IO_WRITE_FILE);
    sink->written += n;
    return WB_OK;
}

wb_status wb__sink_write_at(wb__context *context, wb_sink *sink, uint64_t offset, const void *bytes,
                            size_t n)
{
    if (sink->failure == 0)
        sink->failure = wb__sink_is_file(sink) ? wb__write_at(sink->fd, offset, bytes, n) : ESPIPE;
    if (sink->failure != 0)
        return wb__sink_fail(context, sink, sink->failure, WB__MSG_IO_WRITE_FILE);
    if (offset + n > sink->written)
        sink->written = offset + n;
    return WB_OK;
}

int wb__sink_read(const wb_sink *sink, uint64_t offset, void *dst, size_t n)
{
    uint8_t *to = dst;
    while (n > 0) {
        ssize_t got = pread(sink->fd, to, n, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0 ? EIO : errno;
        to += got;
        offset += (uint64_t)got;
        n -= (size_t)got;
    }
    return 0;
}

wb__direct wb__sink_direct(wb_sink *sink, uint64_t length)
{
    if (!sink->direct_tried && sink->path != NULL &&
        wb__medium_of_fd(sink->fd) == WB__MEDIUM_DISK && wb__write_extend(sink->fd, length) == 0)
        wb__direct_open_fd(sink->fd, &sink->direct);
    sink->direct_tried = true;
    return sink->direct;
}

void wb__sink_hasten(const wb_sink *sink)
{
#ifdef SYNC_FILE_RANGE_WRITE
    if (sink->fd >= 0) /* errors are reported when the file is finished */
        (void)sync_file_range(sink->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
#else
    (void)sink;
#endif
}

int wb__sink_settle(const wb_sink *sink, uint64_t offset, uint64_t n)
{
#ifdef SYNC_FILE_RANGE_WRITE
    const unsigned all =
        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    /*
     * The kernel reports a write error only once, either here or by fsync, so return this error.
     * Other errors are harmless.
     */
    if (sync_file_range(sink->fd, (off_t)offset, (off_t)n, all) != 0 &&
        (errno == EIO || errno == ENOSPC || errno == EDQUOT))
        return errno;
#else
    (void)sink;
    (void)offset;
    (void)n;
#endif
    return 0;
}

uint64_t wb__sink_length(const wb_sink *sink)
{
    struct stat st;
    return fstat(sink->fd, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

bool wb__sink_is_file(const wb_sink *sink)
{
    return sink->path != NULL;
}

int wb__sink_place(const wb_sink *sink, uint64_t offset, const void *bytes, size_t n)
{
    return wb__write_at(sink->fd, offset, bytes, n);
}

bool wb__sink_share(wb__context *context, const wb_sink *sink, const wb__source *source)
{
    bool shared = false;
#ifdef FICLONE
    wb_error spare;
    wb__context quiet = *context;
    quiet.error =
        wb__error_reset(&spare, &spare); /* source errors are reported when the source is read */
    int fd = wb__source_is_file(source) ? wb__source_borrow_fd(source, &quiet) : -1;
    if (fd >= 0) {
        shared = ioctl(sink->fd, FICLONE, fd) == 0;
        wb__source_return_fd(source, fd);
    }
#else
    (void)context;
    (void)sink;
    (void)source;
#endif
    return shared;
}

#define COPY_BYTES ((size_t)1 << 20)

/* Copies through a buffer in user memory. */
static wb_status copy_through(wb__context *context, const wb_sink *sink, uint64_t offset,
                              const wb__source *source, uint64_t from, uint64_t n)
{
    size_t capacity = n < COPY_BYTES ? (size_t)n : COPY_BYTES;
    uint8_t *bytes = wb__alloc(&context->allocator, capacity);
    wb_status status = WB_OK;
    if (bytes == NULL)
        return wb__fail_memory(context);
    for (uint64_t done = 0; done < n && status == WB_OK;) {
        size_t piece = n - done < capacity ? (size_t)(n - done) : capacity;
        status = wb__source_read(source, context, from + done, bytes, piece);
        int os_error = status == WB_OK ? wb__sink_place(sink, offset + done, bytes, piece) : 0;
        if (os_error != 0)
            status = wb__fail_os(context, os_error, WB__MSG_IO_WRITE_FILE);
        done += piece;
    }
    wb__free(&context->allocator, bytes, capacity);
    return status;
}

wb_status wb__sink_copy(wb__context *context, const wb_sink *sink, uint64_t offset,
                        const wb__source *source, uint64_t from, uint64_t n)
{
    const char *file = context->file;
    uint64_t done = 0;
    wb_status status = WB_OK;
    context->file = sink->label;
    if (n != 0 && wb__source_is_file(source)) {
        int fd = wb__source_borrow_fd(source, context);
        if (fd >= 0) {
            int os_error = wb__write_range(sink->fd, offset, fd, from, n, &done);
            wb__source_return_fd(source, fd);
            if (os_error != 0)
                status = wb__fail_os(context, os_error, WB__MSG_IO_COPY_TO_FILE);
        } else {
            status = context->error->status;
        }
    }
    if (status == WB_OK && done < n) /* fails if the source is too short */
        status = copy_through(context, sink, offset + done, source, from + done, n - done);
    context->file = file;
    return status;
}
