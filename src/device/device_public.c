#include "device/cuda.h"
#include "device/device.h"
#include "device/device_messages.h"
#include "open/open.h"

#define MOST_ALIGNED ((uint32_t)2 << 20)
#define PAGE 4096u

static wb_status check_host(wb__context *context, const wb_host_options *options)
{
    if (options->size != sizeof *options)
        return wb__fail_argument(context, WB__MSG_HOST_SIZE);
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
    if (options->size != sizeof *options)
        return wb__fail_argument(context, WB__MSG_OPENCL_SIZE);
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
    if (options->size != sizeof *options)
        return wb__fail_argument(context, WB__MSG_CUDA_SIZE);
    if (options->streams > WB__CUDA_STREAMS_MAX)
        return wb__fail_argument(context, WB__MSG_CUDA_STREAMS);
    return WB_OK;
}

/* Common start of the functions that open a device. Clears the device. */
static wb_status begin(wb__context *context, const wb_allocator *allocator, wb_device *device,
                       wb_error *error)
{
    wb_open_options open = {.size = sizeof open, .allocator = allocator};
    memset(device, 0, sizeof *device);
    return wb__context_init(context, &open, error);
}

wb_status wb_device_host(const wb_host_options *options, wb_device *device, wb_error *error)
{
    static const wb_host_options defaults = {.size = sizeof defaults};
    wb_error spare;
    wb__context context;
    if (options == NULL)
        options = &defaults;
    wb_status status = begin(&context, options->allocator, device, wb__error_reset(error, &spare));
    if (status == WB_OK)
        status = check_host(&context, options);
    return status == WB_OK ? wb__host_open(&context, options, device) : status;
}

wb_status wb_device_opencl(const wb_opencl_options *options, wb_device *device, wb_error *error)
{
    static const wb_opencl_options defaults = {.size = sizeof defaults};
    wb_error spare;
    wb__context context;
    if (options == NULL)
        options = &defaults;
    wb_status status = begin(&context, options->allocator, device, wb__error_reset(error, &spare));
    if (status == WB_OK)
        status = check_opencl(&context, options);
    return status == WB_OK ? wb__opencl_open(&context, options, device) : status;
}

wb_status wb_device_cuda(const wb_cuda_options *options, wb_device *device, wb_error *error)
{
    static const wb_cuda_options defaults = {.size = sizeof defaults};
    wb_error spare;
    wb__context context;
    if (options == NULL)
        options = &defaults;
    wb_status status = begin(&context, options->allocator, device, wb__error_reset(error, &spare));
    if (status == WB_OK)
        status = check_cuda(&context, options);
    return status == WB_OK ? wb__cuda_open(&context, options, device) : status;
}

void wb_device_close(wb_device *device)
{
    if (device == NULL)
        return;
    if (device->close != NULL)
        device->close(device->ctx);
    memset(device, 0, sizeof *device);
}
