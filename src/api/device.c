#include "device/device.h"
#include "open/open.h"

#define MOST_ALIGNED ((uint32_t)2 << 20)
#define PAGE 4096u

static wb_status check(wb__context *context, const wb_host_options *options)
{
    if (options->size != sizeof *options)
        return wb__fail_argument(context, "wb_host_options.size is not sizeof(wb_host_options)");
    if (options->flags & ~(WB_HOST_HUGE_PAGES | WB_HOST_COPY))
        return wb__fail_argument(context, "wb_host_options.flags has bits that mean nothing");
    if ((options->alignment & (options->alignment - 1)) != 0 || options->alignment > MOST_ALIGNED)
        return wb__fail_argument(context, "the alignment is no power of two up to 2 MiB");
    if (options->segment != NULL && options->alignment > PAGE)
        return wb__fail_argument(context, "buffers in a segment are aligned to 4096 at most");
    return WB_OK;
}

wb_status wb_device_host(const wb_host_options *options, wb_device *device, wb_error *error)
{
    static const wb_host_options defaults = {.size = sizeof defaults};
    wb_error spare;
    wb__context context;
    memset(device, 0, sizeof *device);
    if (options == NULL)
        options = &defaults;
    wb_open_options open = {.size = sizeof open, .allocator = options->allocator};
    wb_status status = wb__context_init(&context, &open, wb__error_reset(error, &spare));
    if (status == WB_OK)
        status = check(&context, options);
    return status == WB_OK ? wb__host_open(&context, options, device) : status;
}

void wb_device_close(wb_device *device)
{
    if (device == NULL)
        return;
    if (device->close != NULL)
        device->close(device->ctx);
    memset(device, 0, sizeof *device);
}
