#include "formats/output_layout.h"
#include "formats/formats_messages.h"

wb_status wb__out_check(wb__context *context, const wb__out_file *file)
{
    if (file->header.too_large)
        return wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_WRITE_HEADER, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_FORMATS_HEADER_LIMIT,
                        (unsigned long long)file->header.ceiling);
    return file->header.out_of_memory ? wb__fail_memory(context) : WB_OK;
}
