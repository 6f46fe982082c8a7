/*
 * A CUDA device. An upload queues a copy on the next stream, followed by an event, and returns. The
 * caller fetches more data into its next staging buffer during the copy. The number of concurrent
 * copies therefore equals the number of staging buffers of the caller. Only copies from pinned
 * memory are asynchronous. From any other memory the driver copies the bytes into its own memory
 * before the call returns.
 */
#include "device/cuda.h"

#include "device/device.h"

#define PINNED_DEFAULT ((uint64_t)128 << 20)

/* ---- buffers ---- */

static wb_status alloc_buffer(void *ctx, uint64_t bytes, void **handle)
{
    const wb__cuda *cuda = ctx;
    wb__cuda_memory memory = 0;
    size_t n;
    *handle = NULL;
    if (!wb__to_size(bytes, &n))
        return WB_ERROR_MEMORY;
    wb_status status = wb__cuda_enter(cuda);
    if (status != WB_OK)
        return status;
    status = wb__cuda_status(cuda->call.alloc(&memory, n));
    wb__cuda_leave(cuda);
    if (status == WB_OK)
        *handle = (void *)memory;
    return status;
}

/* Frees the memory even if the device's context cannot be made current: the driver finds the memory
 * by its address in any context. */
static void free_buffer(void *ctx, void *handle, uint64_t bytes)
{
    const wb__cuda *cuda = ctx;
    bool entered = wb__cuda_enter(cuda) == WB_OK;
    (void)bytes;
    (void)cuda->call.free((wb__cuda_memory)handle);
    if (entered)
        wb__cuda_leave(cuda);
}

/* ---- events ---- */

static void keep_event(wb__cuda *cuda, wb__cuda_event *event)
{
    (void)pthread_mutex_lock(&cuda->lock);
    event->next = cuda->free_events;
    cuda->free_events = event;
    (void)pthread_mutex_unlock(&cuda->lock);
}

/* Returns a free event, or creates one. Precondition: the device's context is current. */
static wb_status take_event(wb__cuda *cuda, wb__cuda_event **out)
{
    (void)pthread_mutex_lock(&cuda->lock);
    wb__cuda_event *event = cuda->free_events;
    if (event != NULL)
        cuda->free_events = event->next;
    (void)pthread_mutex_unlock(&cuda->lock);
    *out = event;
    if (event != NULL)
        return WB_OK;
    event = wb__alloc(&cuda->allocator, sizeof *event);
    if (event == NULL)
        return WB_ERROR_MEMORY;
    wb_status status = wb__cuda_status(
        cuda->call.event_create(&event->event, CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING));
    if (status == WB_OK)
        *out = event;
    else
        wb__free(&cuda->allocator, event, sizeof *event);
    return status;
}

/* ---- copies to and from the device ---- */

/*
 * Queues a copy on a stream, followed by an event. Precondition: the device's context is current.
 */
static wb_status start_copy(wb__cuda *cuda, void *event, wb__cuda_memory to, const void *from,
                            size_t n)
{
    uint32_t turn = atomic_fetch_add_explicit(&cuda->turn, 1, memory_order_relaxed);
    void *stream = cuda->streams[turn % cuda->stream_count];
    wb_status status = wb__cuda_status(cuda->call.copy_to(to, from, n, stream));
    if (status != WB_OK)
        return status;
    status = wb__cuda_status(cuda->call.event_record(event, stream));
    if (status != WB_OK) /* the copy has no event to wait for, so wait for the stream */
        (void)cuda->call.stream_wait(stream);
    return status;
}

static wb_status upload(void *ctx, void *handle, uint64_t offset, const void *src, uint64_t n,
                        void **event)
{
    wb__cuda *cuda = ctx;
    wb__cuda_event *behind = NULL;
    *event = NULL;
    wb_status status = wb__cuda_enter(cuda);
    if (status != WB_OK)
        return status;
    status = take_event(cuda, &behind);
    if (status == WB_OK)
        status = start_copy(cuda, behind->event, (wb__cuda_memory)handle + (wb__cuda_memory)offset,
                            src, (size_t)n);
    wb__cuda_leave(cuda);
    if (status == WB_OK)
        *event = behind;
    else if (behind != NULL)
        keep_event(cuda, behind);
    return status;
}

static wb_status wait(void *ctx, void *event)
{
    wb__cuda *cuda = ctx;
    wb__cuda_event *behind = event;
    /* If the device's context cannot be made current, wait anyway: event_wait may also work in
     * the context that is current now. */
    bool entered = wb__cuda_enter(cuda) == WB_OK;
    wb_status status = wb__cuda_status(cuda->call.event_wait(behind->event));
    if (entered)
        wb__cuda_leave(cuda);
    keep_event(cuda, behind);
    return status;
}

static wb_status download(void *ctx, void *handle, uint64_t offset, void *dst, uint64_t n)
{
    wb__cuda *cuda = ctx;
    wb_status status = wb__cuda_enter(cuda);
    if (status != WB_OK)
        return status;
    status = wb__cuda_status(cuda->call.copy_from(
        dst, (wb__cuda_memory)handle + (wb__cuda_memory)offset, (size_t)n, cuda->streams[0]));
    wb_status waited = wb__cuda_status(cuda->call.stream_wait(cuda->streams[0]));
    wb__cuda_leave(cuda);
    return status != WB_OK ? status : waited;
}

/* ---- pinned memory ---- */

static void *get_pinned(void *ctx, size_t bytes)
{
    const wb__cuda *cuda = ctx;
    void *memory = NULL;
    if (wb__cuda_enter(cuda) != WB_OK)
        return NULL;
    int code = cuda->call.host_alloc(&memory, bytes, CU_MEMHOSTALLOC_PORTABLE);
    wb__cuda_leave(cuda);
    return code == CUDA_SUCCESS ? memory : NULL;
}

static void give_back_pinned(void *ctx, void *memory)
{
    const wb__cuda *cuda = ctx;
    bool entered = wb__cuda_enter(cuda) == WB_OK;
    (void)cuda->call.host_free(memory);
    if (entered)
        wb__cuda_leave(cuda);
}

static void *stage(void *ctx, uint64_t bytes)
{
    wb__cuda *cuda = ctx;
    return wb__pinned_take(&cuda->pinned, bytes);
}

static void unstage(void *ctx, void *memory, uint64_t bytes)
{
    wb__cuda *cuda = ctx;
    (void)bytes;
    wb__pinned_return(&cuda->pinned, memory);
}

/* ---- opening ---- */

static void close_cuda(void *ctx)
{
    wb__cuda *cuda = ctx;
    wb_allocator allocator = cuda->allocator;
    if (cuda->has_pinned)
        wb__pinned_close(&cuda->pinned);
    wb__cuda_release(cuda);
    wb__free(&allocator, cuda, sizeof *cuda);
}

wb_status wb__cuda_open(wb__context *context, const wb_cuda_options *options, wb_device *device)
{
    wb__cuda *cuda = wb__alloc_zeroed(&context->allocator, sizeof *cuda);
    if (cuda == NULL)
        return wb__fail_memory(context);
    cuda->allocator = context->allocator;
    wb_status status = wb__cuda_find(cuda, context, options);
    cuda->pinned = (wb__pinned){.allocator = context->allocator,
                                .ctx = cuda,
                                .get = get_pinned,
                                .give_back = give_back_pinned,
                                .most = options->pinned == 0 ? PINNED_DEFAULT : options->pinned};
    if (status == WB_OK) {
        cuda->has_pinned = wb__pinned_open(&cuda->pinned);
        if (!cuda->has_pinned)
            status = wb__fail_memory(context);
    }
    if (status != WB_OK) {
        close_cuda(cuda);
        return status;
    }
    *device = (wb_device){.size = sizeof *device,
                          .ctx = cuda,
                          .alloc = alloc_buffer,
                          .free = free_buffer,
                          .upload = upload,
                          .download = download,
                          .wait = wait,
                          .close = close_cuda,
                          .stage = stage,
                          .unstage = unstage};
    return WB_OK;
}
