#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "io/io_messages.h"
#include "io/source_private.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

static wb_status fail_map(wb__context *context, int os_error)
{
    return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_UNSUPPORTED, WB_NO_OFFSET,
                    WB__STR(""), WB__MSG_IO_MAP_FILE, os_error);
}

static int protection(const wb__source *source)
{
    return source->writable ? PROT_READ | PROT_WRITE : PROT_READ;
}

/* Maps the whole file; NULL if the address space is too small. The caller holds the lock. */
static uint8_t *map_whole(wb__source *source, int fd)
{
    uint8_t *whole = atomic_load(&source->whole);
    if (whole != NULL || source->bytes > SIZE_MAX / 2)
        return whole;
    whole =
        mmap(NULL, (size_t)source->bytes, protection(source), MAP_PRIVATE | MAP_NORESERVE, fd, 0);
    if (whole == MAP_FAILED)
        return NULL;
    atomic_store(&source->whole, whole);
    return whole;
}

static wb_status map_part(wb__source *source, wb__context *context, int fd, uint64_t offset,
                          uint64_t n, const void **bytes)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t start = offset - offset % page;
    size_t length;
    if (!wb__to_size(offset - start + n, &length) || length > SIZE_MAX / 2)
        return fail_map(context, EFBIG);
    mapped_part *part = wb__alloc(&source->allocator, sizeof *part);
    if (part == NULL)
        return wb__fail_memory(context);
    part->base =
        mmap(NULL, length, protection(source), MAP_PRIVATE | MAP_NORESERVE, fd, (off_t)start);
    if (part->base == MAP_FAILED) {
        wb__free(&source->allocator, part, sizeof *part);
        return fail_map(context, errno);
    }
    part->bytes = length;
    part->next = atomic_load(&source->parts);
    atomic_store(&source->parts, part);
    *bytes = part->base + (offset - start);
    return WB_OK;
}

/* Maps the whole file, or only the requested part if the whole file cannot be mapped. */
static wb_status map_now(wb__source *source, wb__context *context, uint64_t offset, uint64_t n,
                         const void **bytes)
{
    int fd = wb__source_borrow_fd(source, context);
    if (fd < 0)
        return context->error->status;
    wb_status status = WB_OK;
    (void)pthread_mutex_lock(&source->lock);
    const uint8_t *whole = map_whole(source, fd);
    if (whole != NULL)
        *bytes = whole + offset;
    else
        status = map_part(source, context, fd, offset, n, bytes);
    (void)pthread_mutex_unlock(&source->lock);
    wb__source_return_fd(source, fd);
    return status;
}

wb_status wb__source_map(wb__source *source, wb__context *context, uint64_t offset, uint64_t n,
                         const void **bytes)
{
    *bytes = NULL;
    if (!wb__in_range(offset, n, source->bytes))
        return wb__source_fail_short(source, context, source->bytes);
    if (n == 0) {
        *bytes = "";
        return WB_OK;
    }
    if (source->memory != NULL) {
        *bytes = source->memory + offset;
        return WB_OK;
    }
    if (source->caller.read != NULL) {
        if (source->caller.map != NULL)
            *bytes = source->caller.map(source->caller.ctx, offset, n);
        return *bytes != NULL ? WB_OK : fail_map(context, 0);
    }
    const uint8_t *whole = atomic_load_explicit(&source->whole, memory_order_acquire);
    if (whole == NULL)
        return map_now(source, context, offset, n, bytes);
    *bytes = whole + offset;
    return WB_OK;
}

bool wb__source_owns(const wb__source *source, const void *address)
{
    uintptr_t at = (uintptr_t)address;
    uintptr_t whole = (uintptr_t)atomic_load(&source->whole);
    if (whole != 0 && at >= whole && at - whole < source->bytes)
        return true;
    for (const mapped_part *part = atomic_load(&source->parts); part != NULL; part = part->next) {
        if (at >= (uintptr_t)part->base && at - (uintptr_t)part->base < part->bytes)
            return true;
    }
    return false;
}
