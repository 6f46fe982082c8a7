/*
 * Finds expert views. An expert view presents experts that are stored as separate tensors as one
 * stacked tensor.
 */
#include "handle/semantics.h"

wb_status wb__expert_view_of(const wb_model *model, wb__context *context, uint64_t number,
                             const wb__expert_view **view)
{
    const wb__semantics *semantics;
    uint64_t first = model->tensors.count + model->tensors.stored_count;
    *view = NULL;
    if (number < first)
        return WB_OK;
    wb_status status = wb__semantics_of(model, context, &semantics);
    if (status == WB_OK && number - first < semantics->names.view_count)
        *view = &semantics->names.views[number - first];
    return status;
}
