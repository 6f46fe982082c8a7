/*
 * Creates the contexts of calls on an open model, and resolves tensor indices.
 */
#include "handle/handle.h"
#include "handle/handle_messages.h"

wb__context wb__context_of(const wb_model *model, wb_error *error)
{
    return (wb__context){.allocator = model->allocator,
                         .executor = model->executor,
                         .limits = model->limits,
                         .follow_links = model->follow_links,
                         .files = model->files,
                         .file = "",
                         .error = error};
}

wb_status wb__resolve(const wb_model *model, wb__context *context, uint64_t index, size_t *stored,
                      const wb__packed **packed)
{
    *stored = 0;
    *packed = NULL;
    if (index >= wb__tensors_numbers(&model->tensors))
        return wb__fail(context, WB_ERROR_NOT_FOUND, WB__FINDING_NOT_FOUND, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_HANDLE_NO_TENSOR, (unsigned long long)index);
    *stored = wb__tensors_stored(&model->tensors, index, packed);
    return WB_OK;
}
