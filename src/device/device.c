#include "device/device.h"
#include "device/device_messages.h"

wb_status wb__fail_device(wb__context *context, wb_status status, const char *what, uint64_t bytes)
{
    if (status == WB_OK) /* the function failed, but returned no error code */
        status = WB_ERROR_MEMORY;
    return wb__fail(context, status, WB__FINDING_DEVICE, WB_NO_OFFSET, WB__STR(""),
                    WB__MSG_DEVICE_FAILED, what, (unsigned long long)bytes, wb_status_name(status));
}
