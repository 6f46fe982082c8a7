#include "device/cuda.h"

#include "device/device_messages.h"
#include "device/driver.h"

#define CALL(field, function) {"cu" #function, offsetof(wb__cuda_calls, field)}

static const wb__driver_call calls[] = {
    CALL(init, Init),
    CALL(error_name, GetErrorName),
    CALL(device_get, DeviceGet),
    CALL(primary_retain, DevicePrimaryCtxRetain),
    CALL(primary_release, DevicePrimaryCtxRelease_v2),
    CALL(push, CtxPushCurrent_v2),
    CALL(pop, CtxPopCurrent_v2),
    CALL(alloc, MemAlloc_v2),
    CALL(free, MemFree_v2),
    CALL(host_alloc, MemHostAlloc),
    CALL(host_free, MemFreeHost),
    CALL(stream_create, StreamCreate),
    CALL(stream_destroy, StreamDestroy_v2),
    CALL(stream_wait, StreamSynchronize),
    CALL(event_create, EventCreate),
    CALL(event_destroy, EventDestroy_v2),
    CALL(event_record, EventRecord),
    CALL(event_wait, EventSynchronize),
    CALL(copy_to, MemcpyHtoDAsync_v2),
    CALL(copy_from, MemcpyDtoHAsync_v2),
};

#define STREAMS_DEFAULT 4

wb_status wb__cuda_status(int code)
{
    switch (code) {
    case CUDA_SUCCESS: return WB_OK;
    case CUDA_ERROR_OUT_OF_MEMORY: return WB_ERROR_MEMORY;
    default: return WB_ERROR_IO;
    }
}

/* Reports a failed call, with the driver's name of the error. */
static wb_status fail(const wb__cuda *cuda, wb__context *context, int code, const char *call)
{
    const char *name = NULL;
    bool is_absent = code == CUDA_ERROR_NO_DEVICE || code == CUDA_ERROR_INVALID_DEVICE;
    if (cuda->call.error_name(code, &name) != CUDA_SUCCESS || name == NULL)
        name = WB__MSG_CUDA_UNKNOWN_ERROR;
    return wb__fail(context, is_absent ? WB_ERROR_NOT_FOUND : wb__cuda_status(code),
                    is_absent ? WB__FINDING_NO_DRIVER : WB__FINDING_DEVICE, WB_NO_OFFSET,
                    WB__STR(""), WB__MSG_CUDA_CALL, call, name, code);
}

wb_status wb__cuda_enter(const wb__cuda *cuda)
{
    return wb__cuda_status(cuda->call.push(cuda->context));
}

void wb__cuda_leave(const wb__cuda *cuda)
{
    void *ours;
    (void)cuda->call.pop(&ours);
}

static wb_status make_context(wb__cuda *cuda, wb__context *context, const wb_cuda_options *options)
{
    int code = cuda->call.init(0);
    if (code != CUDA_SUCCESS)
        return fail(cuda, context, code, "cuInit");
    cuda->context = options->context;
    if (cuda->context != NULL)
        return WB_OK;
    code = options->ordinal > INT32_MAX
               ? CUDA_ERROR_INVALID_DEVICE
               : cuda->call.device_get(&cuda->device, (int)options->ordinal);
    if (code != CUDA_SUCCESS)
        return fail(cuda, context, code, "cuDeviceGet");
    code = cuda->call.primary_retain(&cuda->context, cuda->device);
    cuda->is_primary = code == CUDA_SUCCESS;
    return cuda->is_primary ? WB_OK : fail(cuda, context, code, "cuDevicePrimaryCtxRetain");
}

static wb_status make_streams(wb__cuda *cuda, wb__context *context, uint32_t n)
{
    int code = cuda->call.push(cuda->context);
    if (code != CUDA_SUCCESS)
        return fail(cuda, context, code, "cuCtxPushCurrent");
    while (code == CUDA_SUCCESS && cuda->stream_count < n) {
        code = cuda->call.stream_create(&cuda->streams[cuda->stream_count], CU_STREAM_NON_BLOCKING);
        cuda->stream_count += code == CUDA_SUCCESS;
    }
    wb__cuda_leave(cuda);
    return code == CUDA_SUCCESS ? WB_OK : fail(cuda, context, code, "cuStreamCreate");
}

wb_status wb__cuda_find(wb__cuda *cuda, wb__context *context, const wb_cuda_options *options)
{
    static const char *const libraries[] = {"libcuda.so.1", "libcuda.so", NULL};
    uint32_t streams = options->streams == 0 ? STREAMS_DEFAULT : options->streams;
    wb_status status = wb__driver_open(context, options->library, libraries, calls,
                                       sizeof calls / sizeof calls[0], &cuda->call);
    if (status != WB_OK)
        return status;
    atomic_init(&cuda->turn, 0);
    cuda->has_lock = pthread_mutex_init(&cuda->lock, NULL) == 0;
    if (!cuda->has_lock)
        return wb__fail_memory(context);
    status = make_context(cuda, context, options);
    return status == WB_OK ? make_streams(cuda, context, streams) : status;
}

void wb__cuda_release(wb__cuda *cuda)
{
    bool entered = cuda->stream_count > 0 && wb__cuda_enter(cuda) == WB_OK;
    for (uint32_t i = 0; i < cuda->stream_count; i++)
        (void)cuda->call.stream_destroy(cuda->streams[i]);
    while (cuda->free_events != NULL) {
        wb__cuda_event *event = cuda->free_events;
        cuda->free_events = event->next;
        (void)cuda->call.event_destroy(event->event);
        wb__free(&cuda->allocator, event, sizeof *event);
    }
    if (entered)
        wb__cuda_leave(cuda);
    if (cuda->is_primary)
        (void)cuda->call.primary_release(cuda->device);
    if (cuda->has_lock)
        (void)pthread_mutex_destroy(&cuda->lock);
}
