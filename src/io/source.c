#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "io/io_messages.h"
#include "io/source_private.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

uint64_t wb__source_bytes(const wb__source *source)
{
    return source->bytes;
}

const char *wb__source_label(const wb__source *source)
{
    return source->label;
}

bool wb__source_has_path(const wb__source *source)
{
    return source->from_path;
}

const void *wb__source_memory(const wb__source *source)
{
    return source->memory;
}

void wb__source_expect(const wb__source *source, uint64_t offset, uint64_t n)
{
    const wb_source *caller = &source->caller;
    if (caller->expect != NULL && n > 0)
        caller->expect(caller->ctx, offset, n);
}

const char *wb__source_version(const wb__source *source)
{
    return source->caller.version;
}

const char *wb__source_digest(const wb__source *source)
{
    return source->caller.digest;
}

/* ---- creating and closing ---- */

wb_status wb__source_make(wb__context *context, const char *label, wb__source **out)
{
    size_t label_bytes = strlen(label) + 1;
    wb__source *source = wb__alloc(&context->allocator, sizeof *source);
    *out = NULL;
    if (source == NULL)
        return wb__fail_memory(context);
    memset(source, 0, sizeof *source);
    source->allocator = context->allocator;
    source->fd = -1;
    source->writable = context->copy_on_write;
    source->label_bytes = label_bytes;
    source->label = wb__alloc(&context->allocator, label_bytes);
    if (source->label == NULL || pthread_mutex_init(&source->lock, NULL) != 0) {
        wb__free(&context->allocator, source->label, label_bytes);
        wb__free(&context->allocator, source, sizeof *source);
        return wb__fail_memory(context);
    }
    memcpy(source->label, label, label_bytes);
    *out = source;
    return WB_OK;
}

void wb__source_close(wb__source *source)
{
    if (source == NULL)
        return;
    uint8_t *whole = atomic_load(&source->whole);
    if (whole != NULL)
        (void)munmap(whole, (size_t)source->bytes);
    mapped_part *part = atomic_load(&source->parts);
    while (part != NULL) {
        mapped_part *next = part->next;
        (void)munmap(part->base, part->bytes);
        wb__free(&source->allocator, part, sizeof *part);
        part = next;
    }
    if (source->fd >= 0)
        (void)close(source->fd);
    if (source->caller.close != NULL)
        source->caller.close(source->caller.ctx);
    (void)pthread_mutex_destroy(&source->lock);
    wb_allocator allocator = source->allocator;
    wb__free(&allocator, source->label, source->label_bytes);
    wb__free(&allocator, source, sizeof *source);
}

wb__identity wb__identity_of(const struct stat *st)
{
    return (wb__identity){(uint64_t)st->st_dev,         (uint64_t)st->st_ino,
                          (uint64_t)st->st_size,        (int64_t)st->st_mtim.tv_sec,
                          (int64_t)st->st_mtim.tv_nsec, (int64_t)st->st_ctim.tv_sec,
                          (int64_t)st->st_ctim.tv_nsec};
}

wb__identity wb__source_identity(const wb__source *source)
{
    return source->identity;
}

/* ---- detecting changes ---- */

const char *wb__identity_difference(const wb__identity *then, const wb__identity *now)
{
    if (then->device != now->device || then->inode != now->inode)
        return WB__MSG_IO_FILE_REPLACED;
    if (then->bytes != now->bytes)
        return WB__MSG_IO_SIZE_CHANGED;
    if (then->modified_s != now->modified_s || then->modified_ns != now->modified_ns)
        return WB__MSG_IO_FILE_MODIFIED;
    if (then->changed_s != now->changed_s || then->changed_ns != now->changed_ns)
        return WB__MSG_IO_ATTRIBUTES_CHANGED;
    return NULL;
}

static wb_status fail_changed(const wb__source *source, wb__context *context, const char *what)
{
    const char *file = context->file;
    context->file = source->label;
    wb_status status = wb__fail(context, WB_ERROR_CHANGED, WB__FINDING_FILE_CHANGED, WB_NO_OFFSET,
                                WB__STR(""), WB__MSG_IO_FILE_CHANGED, what);
    context->file = file;
    return status;
}

wb_status wb__source_check(const wb__source *source, wb__context *context)
{
    struct stat st;
    wb__identity now;
    const char *what = NULL;
    if (source->sealed || (source->fd < 0 && !source->parked))
        return WB_OK;
    if (source->fd >= 0) {
        if (fstat(source->fd, &st) != 0)
            return wb__fail_os(context, errno, WB__MSG_IO_STAT_FILE);
        now = wb__identity_of(&st);
        what = wb__identity_difference(&source->identity, &now);
    }
    if (what == NULL && source->from_path) {
        if (stat(source->label, &st) != 0) {
            if (errno != ENOENT && errno != ENOTDIR)
                return wb__fail_os(context, errno, WB__MSG_IO_STAT_FILE);
            what = WB__MSG_IO_FILE_REMOVED;
        } else {
            now = wb__identity_of(&st);
            what = wb__identity_difference(&source->identity, &now);
        }
    }
    return what == NULL ? WB_OK : fail_changed(source, context, what);
}

bool wb__source_same(const wb__source *a, const wb__source *b)
{
    return a->from_path && b->from_path && a->identity.device == b->identity.device &&
           a->identity.inode == b->identity.inode;
}

bool wb__path_same(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

bool wb__source_is_at(const wb__source *source, const char *path)
{
    struct stat st;
    bool is_file = source->identity.inode != 0 || source->identity.device != 0;
    return is_file && stat(path, &st) == 0 && source->identity.device == (uint64_t)st.st_dev &&
           source->identity.inode == (uint64_t)st.st_ino;
}

/* ---- descriptors ---- */

int wb__source_borrow_fd(const wb__source *source, wb__context *context)
{
    struct stat st;
    if (!source->parked)
        return source->fd;
    int fd = open(source->label, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || fstat(fd, &st) != 0) {
        (void)wb__fail_os(context, errno, WB__MSG_IO_REOPEN_FILE);
        if (fd >= 0)
            (void)close(fd);
        return -1;
    }
    wb__identity now = wb__identity_of(&st);
    const char *what = wb__identity_difference(&source->identity, &now);
    if (what != NULL) {
        (void)close(fd);
        (void)fail_changed(source, context, what);
        return -1;
    }
    return fd;
}

void wb__source_return_fd(const wb__source *source, int fd)
{
    if (source->parked)
        (void)close(fd);
}

void wb__source_park(wb__source *source)
{
    if (!source->from_path || source->sealed || source->parked)
        return;
    (void)close(source->fd);
    source->fd = -1;
    source->parked = true;
}

/* ---- reading ---- */

wb_status wb__source_fail_short(const wb__source *source, wb__context *context, uint64_t at)
{
    const char *file = context->file;
    context->file = source->label;
    wb_status status = wb__fail(context, WB_ERROR_IO, WB__FINDING_FILE_ENDS_EARLY, at, WB__STR(""),
                                WB__MSG_IO_FILE_TOO_SHORT, (unsigned long long)source->bytes);
    context->file = file;
    return status;
}

/* Reports a failed read of the caller's source. Its `explain` function may add details. */
static wb_status fail_caller(const wb__source *source, wb__context *context, wb_status status,
                             uint64_t offset)
{
    const wb_source *caller = &source->caller;
    (void)wb__fail(context, status, WB__FINDING_IO, offset, WB__STR(""), WB__MSG_IO_CALLER_READ);
    if (caller->explain != NULL)
        caller->explain(caller->ctx, context->error);
    return status;
}

/* Performs one read; *got is 0 at end of file. */
static wb_status read_some(const wb__source *source, wb__context *context, uint64_t offset,
                           void *dst, size_t n, size_t *got)
{
    *got = 0;
    if (source->caller.read != NULL) {
        wb_status status = source->caller.read(source->caller.ctx, offset, dst, n, got);
        if (status != WB_OK)
            return fail_caller(source, context, status, offset);
        if (*got > n)
            *got = 0;
        return WB_OK;
    }
    int fd = wb__source_borrow_fd(source, context);
    if (fd < 0)
        return context->error->status;
    ssize_t done;
    do {
        done = pread(fd, dst, n, (off_t)offset);
    } while (done < 0 && errno == EINTR);
    int os_error = errno;
    wb__source_return_fd(source, fd);
    if (done < 0) {
        (void)wb__fail_os(context, os_error, WB__MSG_IO_READ_FILE);
        context->error->offset = offset;
        return context->error->status;
    }
    *got = (size_t)done;
    return WB_OK;
}

wb_status wb__source_read(const wb__source *source, wb__context *context, uint64_t offset,
                          void *dst_bytes, size_t n)
{
    uint8_t *dst = dst_bytes;
    if (!wb__in_range(offset, n, source->bytes))
        return wb__source_fail_short(source, context, source->bytes);
    if (source->memory != NULL) {
        if (n != 0)
            memcpy(dst, source->memory + offset, n);
        return WB_OK;
    }
    while (n > 0) {
        size_t got;
        wb_status status = read_some(source, context, offset, dst, n, &got);
        if (status != WB_OK)
            return status;
        if (got == 0)
            return wb__source_fail_short(source, context, offset);
        dst += got;
        offset += got;
        n -= got;
    }
    return WB_OK;
}

wb_status wb__source_read_some(const wb__source *source, wb__context *context, uint64_t offset,
                               void *dst, size_t n, size_t *got)
{
    *got = n;
    if (source->caller.read == NULL || !wb__in_range(offset, n, source->bytes) || n == 0)
        return wb__source_read(source, context, offset, dst, n);
    wb_status status = read_some(source, context, offset, dst, n, got);
    return status == WB_OK && *got == 0 ? wb__source_fail_short(source, context, offset) : status;
}
