#include "core/call_options.h"
#include "device/cuda.h"
#include "device/device.h"
#include "device/device_messages.h"

#define MOST_ALIGNED ((uint32_t)2 << 20)
#define PAGE 4096u

static wb_status check_host(wb__context *context, const wb_host_options *options)
{
    if (options->flags & ~(WB_HOST_HUGE_PAGES | WB_HOST_COPY))
        return wb__fail_argument(context, WB__MSG_HOST_FLAGS);
    if ((options->alignment & (options->alignment - 1)) != 0 || options->alignment > MOST_ALIGNED)
        return wb__fail_argument(context, WB__MSG_HOST_ALIGNMENT);
    if (options->segment != NULL && options->alignment > PAGE)
        return wb__fail_argument(context, WB__MSG_SEGMENT_ALIGNMENT_LIMIT);
    return WB_OK;
}

static wb_status check_opencl(wb__context *context, const wb_opencl_options *options)
{
    if (options->flags & ~WB_OPENCL_COPY)
        return wb__fail_argument(context, WB__MSG_OPENCL_FLAGS);
    if ((options->alignment & (options->alignment - 1)) != 0 || options->alignment > PAGE)
        return wb__fail_argument(context, WB__MSG_OPENCL_ALIGNMENT);
    if (options->context != NULL && options->device == NULL)
        return wb__fail_argument(context, WB__MSG_OPENCL_CONTEXT_DEVICE);
    if (options->queue != NULL && options->context == NULL)
        return wb__fail_argument(context, WB__MSG_OPENCL_QUEUE_CONTEXT);
    return WB_OK;
}

static wb_status check_cuda(wb__context *context, const wb_cuda_options *options)
{
    if (options->streams > WB__CUDA_STREAMS_MAX)
        return wb__fail_argument(context, WB__MSG_CUDA_STREAMS);
    return WB_OK;
}

/* Size of the members of wb_device that exist since its first version. The caller's struct may lack
 * the others. */
#define DEVICE_BYTES (wb__abis[WB__ABI_wb_device].first)

static wb_status begin(wb__context *context, const wb_allocator *allocator, wb_error *error)
{
    wb_open_options open = {.size = sizeof open, .allocator = allocator};
    return wb__context_init(context, &open, error);
}

/* Copies the opened device to the caller's struct. After a failure, clears the struct instead. */
static wb_status finish(wb_status status, const wb_device *own, wb_device *caller)
{
    memset(caller, 0, DEVICE_BYTES);
    if (status == WB_OK) {
        memcpy(caller, own, DEVICE_BYTES);
        caller->size = DEVICE_BYTES;
    }
    return status;
}

wb_status wb_device_host(const wb_host_options *options, wb_device *device, wb_error *error)
{
    wb_host_options own = {.size = sizeof own};
    wb_device opened = {.size = sizeof opened};
    wb_error spare;
    wb__context context;
    bool taken = WB__TAKE(wb_host_options, options, &own);
    wb_status status = begin(&context, own.allocator, wb__error_reset(error, &spare));
    if (status == WB_OK && !taken)
        status = WB__FAIL_SIZE(&context, wb_host_options, options);
    if (status == WB_OK)
        status = check_host(&context, &own);
    if (status == WB_OK)
        status = wb__host_open(&context, &own, &opened);
    return finish(status, &opened, device);
}

wb_status wb_device_opencl(const wb_opencl_options *options, wb_device *device, wb_error *error)
{
    wb_opencl_options own = {.size = sizeof own};
    wb_device opened = {.size = sizeof opened};
    wb_error spare;
    wb__context context;
    bool taken = WB__TAKE(wb_opencl_options, options, &own);
    wb_status status = begin(&context, own.allocator, wb__error_reset(error, &spare));
    if (status == WB_OK && !taken)
        status = WB__FAIL_SIZE(&context, wb_opencl_options, options);
    if (status == WB_OK)
        status = check_opencl(&context, &own);
    if (status == WB_OK)
        status = wb__opencl_open(&context, &own, &opened);
    return finish(status, &opened, device);
}

wb_status wb_device_cuda(const wb_cuda_options *options, wb_device *device, wb_error *error)
{
    wb_cuda_options own = {.size = sizeof own};
    wb_device opened = {.size = sizeof opened};
    wb_error spare;
    wb__context context;
    bool taken = WB__TAKE(wb_cuda_options, options, &own);
    wb_status status = begin(&context, own.allocator, wb__error_reset(error, &spare));
    if (status == WB_OK && !taken)
        status = WB__FAIL_SIZE(&context, wb_cuda_options, options);
    if (status == WB_OK)
        status = check_cuda(&context, &own);
    if (status == WB_OK)
        status = wb__cuda_open(&context, &own, &opened);
    return finish(status, &opened, device);
}

void wb_device_close(wb_device *device)
{
    if (device == NULL)
        return;
    size_t size = device->size;
    if (!wb__abi_fits(WB__ABI_wb_device, size))
        return;
    if (size >= DEVICE_BYTES && device->close != NULL)
        device->close(device->ctx);
    memset(device, 0, size);
}
