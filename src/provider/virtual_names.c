/*
 * Canonical names of tensors that a model stores in another way. If the model stores q, k and v, a
 * request for qkv gets the three tensors fused. If the model stores qkv, a request for q gets the
 * first rows of qkv. The same applies to gate_up, gate and up.
 */
#include "provider/buffer_request.h"

static wb_status find(wb__context *context, const wb_model *model, const wb__layer_role *role,
                      wb__leaf leaf, uint64_t *number)
{
    char name[WB__LAYER_ROLE_BYTES];
    size_t len = wb__layer_role_name(role, leaf, name);
    if (len == 0)
        return WB_ERROR_NOT_FOUND;
    wb_status status = wb_tensor_find(model, name, len, number);
    return status == WB_OK || status == WB_ERROR_NOT_FOUND ? status : wb__fail_memory(context);
}

wb_status wb__virtual_keys(wb__context *context, const wb_model *model, wb__str name,
                           uint64_t keys[WB__FUSED_MAX], size_t *n)
{
    wb__layer_role role = wb__layer_role_of(name);
    wb__leaf leaves[WB__FUSED_MAX];
    uint32_t index = 0;
    wb_status status = WB_OK;
    *n = wb__leaf_parts(role.leaf, leaves);
    for (size_t i = 0; i < *n && status == WB_OK; i++)
        status = find(context, model, &role, leaves[i], &keys[i]);
    if (*n != 0)
        return status;
    wb__leaf whole = wb__leaf_whole(role.leaf, &index);
    if (whole == WB__LEAF_NONE)
        return WB_ERROR_NOT_FOUND;
    status = find(context, model, &role, whole, &keys[0]);
    keys[0] |= (uint64_t)(index + 1) << WB__KEY_PART_SHIFT;
    *n = 1;
    return status;
}
