/*
 * An OpenCL device. If the device shares memory with the process (a CPU device), a buffer consists
 * of memory pages of the process, passed with CL_MEM_USE_HOST_PTR. Queued commands can still use
 * the pages after the buffer is released, so a callback of the driver frees them. If the device
 * does not share memory, it allocates the buffers, and data is transferred through the command
 * queue.
 */
#include "device/opencl.h"

#include "device/device.h"

#define PAGE ((size_t)4096)

/* Stored directly before the pages of a buffer. Contains everything needed to free them. */
typedef struct head {
    wb_allocator allocator;
    void *base;
    size_t bytes;
} head;

static void *alloc_pages(const wb_allocator *allocator, size_t bytes)
{
    head at = {.allocator = *allocator};
    uint64_t whole;
    if (!wb__add(bytes, sizeof at + PAGE, &whole) || !wb__to_size(whole, &at.bytes))
        return NULL;
    at.base = wb__alloc(allocator, at.bytes);
    if (at.base == NULL)
        return NULL;
    uint8_t *pages = (uint8_t *)at.base + sizeof at;
    pages += (PAGE - (uintptr_t)pages % PAGE) % PAGE;
    memcpy(pages - sizeof at, &at, sizeof at);
    return pages;
}

static void free_pages(void *buffer, void *pages)
{
    head at;
    (void)buffer;
    memcpy(&at, (uint8_t *)pages - sizeof at, sizeof at);
    wb__free(&at.allocator, at.base, at.bytes);
}

/* ---- buffers ---- */

/* Allocates a buffer in memory of the process that the device can access. */
static wb_status alloc_shared(const wb__opencl *cl, size_t bytes, void **handle)
{
    int32_t code = CL_SUCCESS;
    void *pages = alloc_pages(&cl->allocator, bytes);
    if (pages == NULL)
        return WB_ERROR_MEMORY;
    void *buffer = cl->call.create_buffer(cl->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                                          bytes, pages, &code);
    if (code == CL_SUCCESS && buffer != NULL) {
        code = cl->call.on_destruction(buffer, free_pages, pages);
        if (code == CL_SUCCESS) {
            *handle = buffer;
            return WB_OK;
        }
        (void)cl->call.release_buffer(buffer);
    }
    free_pages(NULL, pages);
    return wb__opencl_status(code);
}

static wb_status alloc_buffer(void *ctx, uint64_t bytes, void **handle)
{
    const wb__opencl *cl = ctx;
    int32_t code = CL_SUCCESS;
    size_t n;
    *handle = NULL;
    if (!wb__to_size(bytes, &n))
        return WB_ERROR_MEMORY;
    if (cl->is_shared)
        return alloc_shared(cl, n, handle);
    void *buffer = cl->call.create_buffer(cl->context, CL_MEM_READ_WRITE, n, NULL, &code);
    if (code == CL_SUCCESS)
        *handle = buffer;
    return wb__opencl_status(code);
}

static void free_buffer(void *ctx, void *handle, uint64_t bytes)
{
    const wb__opencl *cl = ctx;
    (void)bytes;
    (void)cl->call.release_buffer(handle);
}

/* ---- copies to and from the device ---- */

static void *map(void *ctx, void *handle)
{
    const wb__opencl *cl = ctx;
    void *pages = NULL;
    if (cl->call.get_buffer_info(handle, CL_MEM_HOST_PTR, sizeof(void *), &pages, NULL) !=
        CL_SUCCESS)
        return NULL;
    return pages;
}

static wb_status upload(void *ctx, void *handle, uint64_t offset, const void *src, uint64_t n,
                        void **event)
{
    const wb__opencl *cl = ctx;
    *event = NULL;
    if (n == 0) /* a copy of 0 bytes is an error before OpenCL 2.1 */
        return WB_OK;
    int32_t code =
        cl->call.write_buffer(cl->queue, handle, 0, (size_t)offset, (size_t)n, src, 0, NULL, event);
    if (code == CL_SUCCESS)
        /* Ignore errors: waiting for the event also flushes the queue. */
        (void)cl->call.flush(cl->queue);
    else
        *event = NULL;
    return wb__opencl_status(code);
}

static wb_status wait(void *ctx, void *event)
{
    const wb__opencl *cl = ctx;
    int32_t code = cl->call.wait_for_events(1, &event);
    (void)cl->call.release_event(event);
    return wb__opencl_status(code);
}

static wb_status download(void *ctx, void *handle, uint64_t offset, void *dst, uint64_t n)
{
    const wb__opencl *cl = ctx;
    if (n == 0)
        return WB_OK;
    return wb__opencl_status(
        cl->call.read_buffer(cl->queue, handle, 1, (size_t)offset, (size_t)n, dst, 0, NULL, NULL));
}

/* ---- borrowing memory without a copy ---- */

/*
 * If a GPU shares memory with the process, its driver uses page-aligned memory directly, but copies
 * other memory. This function therefore creates a parent buffer for all pages that contain any of
 * the n bytes, and returns a sub-buffer for exactly these bytes. The sub-buffer keeps the parent
 * buffer alive.
 */
static void *borrow_pages(const wb__opencl *cl, const void *memory, size_t n, int32_t *code)
{
    size_t before = (uintptr_t)memory % PAGE;
    wb__opencl_region region = {.origin = before, .size = n};
    uint64_t whole;
    if (before % cl->base_alignment != 0 || !wb__align_up((uint64_t)before + n, PAGE, &whole) ||
        whole > SIZE_MAX) {
        *code = CL_INVALID_BUFFER_SIZE;
        return NULL;
    }
    uint8_t *pages = (uint8_t *)(uintptr_t)memory - before;
    void *all = cl->call.create_buffer(cl->context, CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR,
                                       (size_t)whole, pages, code);
    if (*code != CL_SUCCESS || all == NULL)
        return NULL;
    void *part = cl->call.create_sub_buffer(all, CL_MEM_READ_ONLY, CL_BUFFER_CREATE_TYPE_REGION,
                                            &region, code);
    (void)cl->call.release_buffer(all);
    return part;
}

static wb_status borrow(void *ctx, const void *memory, uint64_t n, void **handle)
{
    const wb__opencl *cl = ctx;
    int32_t code = CL_SUCCESS;
    size_t bytes;
    *handle = NULL;
    if (!wb__to_size(n, &bytes) || (cl->least != 0 && (uintptr_t)memory % cl->least != 0))
        return WB_ERROR_UNSUPPORTED;
    void *buffer = cl->is_unified
                       ? borrow_pages(cl, memory, bytes, &code)
                       : cl->call.create_buffer(cl->context, CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR,
                                                bytes, (void *)(uintptr_t)memory, &code);
    if (code == CL_SUCCESS)
        *handle = buffer;
    return wb__opencl_status(code);
}

static void unborrow(void *ctx, void *handle)
{
    free_buffer(ctx, handle, 0);
}

/* ---- opening ---- */

/*
 * Tests if data written by the process is visible to the device, and vice versa. The specification
 * does not guarantee this, so CPU devices are tested when they are opened.
 */
static bool is_seen_both_ways(wb__opencl *cl)
{
    uint8_t there[64] = {0}, here[64];
    void *handle = NULL;
    bool seen = false;
    for (size_t i = 0; i < sizeof here; i++)
        here[i] = (uint8_t)(i * 37 + 1);
    if (alloc_shared(cl, PAGE, &handle) != WB_OK)
        return false;
    uint8_t *pages = map(cl, handle);
    if (pages != NULL) {
        memset(pages, 0, PAGE);
        memcpy(pages + 100, here, sizeof here);
        seen = download(cl, handle, 100, there, sizeof there) == WB_OK &&
               memcmp(there, here, sizeof here) == 0;
        for (size_t i = 0; i < sizeof here; i++)
            here[i] ^= 0xff;
        seen = seen &&
               cl->call.write_buffer(cl->queue, handle, 1, 200, sizeof here, here, 0, NULL, NULL) ==
                   CL_SUCCESS &&
               memcmp(pages + 200, here, sizeof here) == 0;
    }
    free_buffer(cl, handle, PAGE);
    return seen;
}

static void close_opencl(void *ctx)
{
    wb__opencl *cl = ctx;
    wb_allocator allocator = cl->allocator;
    wb__opencl_release(cl);
    wb__free(&allocator, cl, sizeof *cl);
}

wb_status wb__opencl_open(wb__context *context, const wb_opencl_options *options, wb_device *device)
{
    wb__opencl *cl = wb__alloc_zeroed(&context->allocator, sizeof *cl);
    if (cl == NULL)
        return wb__fail_memory(context);
    cl->allocator = context->allocator;
    cl->least = options->alignment;
    wb_status status = wb__opencl_find(cl, context, options);
    if (status != WB_OK) {
        wb__free(&context->allocator, cl, sizeof *cl);
        return status;
    }
    bool copies = (options->flags & WB_OPENCL_COPY) != 0;
    cl->is_shared = !copies && cl->is_processor && is_seen_both_ways(cl);
    cl->is_unified = !copies && cl->is_unified;
    *device = (wb_device){.size = sizeof *device,
                          .ctx = cl,
                          .alloc = alloc_buffer,
                          .free = free_buffer,
                          .upload = upload,
                          .download = download,
                          .wait = wait,
                          .close = close_opencl};
    if (cl->is_shared) {
        device->alignment = PAGE;
        device->map = map;
    }
    if (cl->is_shared || cl->is_unified) {
        device->borrow = borrow;
        device->unborrow = unborrow;
    }
    return WB_OK;
}
