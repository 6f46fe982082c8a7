#define _GNU_SOURCE /* for MAP_HUGETLB */
#include "device/device.h"

#include <sys/mman.h>

#define DEFAULT_ALIGNMENT 64 /* one cache line, and the widest vector register */
#define HUGE_PAGE ((uint64_t)2 << 20)

typedef struct host {
    wb_allocator allocator;
    uint64_t alignment;
    uint32_t flags;
    wb__segment *segment; /* memory shared with other processes (segment.c), or NULL */
} host;

/* Header that is stored directly before each buffer. */
typedef struct head {
    void *base; /* start of the whole block */
    uint64_t bytes;
    bool mapped; /* the block is a mapping on huge pages and is freed with munmap */
} head;

static void *map_huge(uint64_t bytes)
{
#ifdef MAP_HUGETLB
    if (bytes <= SIZE_MAX / 2) {
        void *base = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
        return base == MAP_FAILED ? NULL : base;
    }
#endif
    return NULL;
}

/* Allocates extra bytes, so that there is an aligned address with room for the head before it. */
static wb_status alloc_buffer(void *ctx, uint64_t bytes, void **handle)
{
    const host *h = ctx;
    head at = {.bytes = bytes};
    size_t whole;
    *handle = NULL;
    if (!wb__add(at.bytes, sizeof at + h->alignment, &at.bytes))
        return WB_ERROR_MEMORY;
    if ((h->flags & WB_HOST_HUGE_PAGES) != 0 && bytes >= HUGE_PAGE &&
        wb__align_up(at.bytes, HUGE_PAGE, &at.bytes))
        at.base = map_huge(at.bytes);
    at.mapped = at.base != NULL;
    if (!at.mapped) {
        if (!wb__to_size(at.bytes, &whole))
            return WB_ERROR_MEMORY;
        at.base = wb__alloc(&h->allocator, whole); /* large blocks are on transparent huge pages */
    }
    if (at.base == NULL)
        return WB_ERROR_MEMORY;
    uintptr_t first = (uintptr_t)at.base + sizeof at;
    uint8_t *buffer = (uint8_t *)at.base + sizeof at +
                      (size_t)((h->alignment - first % h->alignment) % h->alignment);
    memcpy(buffer - sizeof at, &at, sizeof at);
    *handle = buffer;
    return WB_OK;
}

static void free_buffer(void *ctx, void *handle, uint64_t bytes)
{
    const host *h = ctx;
    head at;
    (void)bytes;
    /* Do not free a buffer in a segment: other processes may still use it. It is freed with the
     * segment. */
    if (h->segment != NULL)
        return;
    memcpy(&at, (uint8_t *)handle - sizeof at, sizeof at);
    if (at.mapped)
        (void)munmap(at.base, (size_t)at.bytes);
    else
        wb__free(&h->allocator, at.base, (size_t)at.bytes);
}

static wb_status upload(void *ctx, void *handle, uint64_t offset, const void *src, uint64_t n,
                        void **event)
{
    (void)ctx;
    *event = NULL;
    memcpy((uint8_t *)handle + offset, src, (size_t)n);
    return WB_OK;
}

static wb_status download(void *ctx, void *handle, uint64_t offset, void *dst, uint64_t n)
{
    (void)ctx;
    memcpy(dst, (uint8_t *)handle + offset, (size_t)n);
    return WB_OK;
}

static void *map(void *ctx, void *handle)
{
    (void)ctx;
    return handle;
}

static wb_status borrow(void *ctx, const void *memory, uint64_t n, void **handle)
{
    (void)ctx;
    (void)n;
    /* dropping const is safe: the provider never writes to borrowed memory */
    *handle = (void *)(uintptr_t)memory;
    return WB_OK;
}

static wb_status claim(void *ctx, const void *key, uint64_t bytes, void **handle, int *filled)
{
    const host *h = ctx;
    return wb__segment_claim(h->segment, key, bytes, handle, filled);
}

static void publish(void *ctx, void *handle, wb_status status)
{
    const host *h = ctx;
    wb__segment_publish(h->segment, handle, status);
}

static void close_host(void *ctx)
{
    host *h = ctx;
    wb_allocator allocator = h->allocator;
    wb__segment_close(h->segment);
    wb__free(&allocator, h, sizeof *h);
}

wb_status wb__host_open(wb__context *context, const wb_host_options *options, wb_device *device)
{
    host *h = wb__alloc(&context->allocator, sizeof *h);
    if (h == NULL)
        return wb__fail_memory(context);
    *h = (host){.allocator = context->allocator,
                .alignment = options->alignment == 0 ? DEFAULT_ALIGNMENT : options->alignment,
                .flags = options->flags};
    if (options->segment != NULL) {
        wb_status status = wb__segment_open(context, options->segment, options->segment_bytes,
                                            h->alignment, &h->segment);
        if (status != WB_OK) {
            close_host(h);
            return status;
        }
    }
    *device = (wb_device){.size = sizeof *device,
                          .ctx = h,
                          .alignment = h->alignment,
                          .alloc = alloc_buffer,
                          .free = free_buffer,
                          .upload = upload,
                          .download = download,
                          .map = map,
                          .close = close_host};
    if ((h->flags & WB_HOST_COPY) == 0)
        device->borrow = borrow;
    if (h->segment != NULL) {
        device->claim = claim;
        device->publish = publish;
    }
    return WB_OK;
}
