/*
 * Tensors that contain several matrices: q, k and v, or gate and up. The rows of qkv are divided
 * according to the numbers of attention heads in the config, the rows of gate_up in halves.
 */
#include "provider/buffer_request.h"
#include "provider/provider_messages.h"
#include "weighbridge/config.h"

wb_status wb__head_counts_of(wb__context *context, const wb_model *model,
                             const wb__layer_role *role, wb__head_counts *counts)
{
    wb_config config = {.size = sizeof config};
    uint64_t all;
    wb_status status = wb_config_get(model, &config, context->error);
    *counts = (wb__head_counts){0};
    if (status != WB_OK)
        return status;
    bool encoder = role->group.len > 4 && memcmp(role->group.ptr, "enc.", 4) == 0;
    wb__head_counts c = {.q = config.n_heads, .kv = config.n_kv_heads, .dim = config.head_dim};
    if (encoder)
        c = (wb__head_counts){.q = config.enc_n_heads, .kv = config.enc_n_heads};
    if (encoder && c.q != 0)
        c.dim = config.enc_dim / c.q;
    bool fits = c.q != 0 && c.kv != 0 && c.dim != 0 && c.q % c.kv == 0 && c.q <= UINT32_MAX &&
                wb__mul(c.q, c.dim, &c.q_rows) && wb__mul(c.kv, c.dim, &c.kv_rows) &&
                wb__mul(c.q_rows, 3, &all);
    if (fits)
        *counts = c;
    return WB_OK;
}

uint64_t wb__head_rows(const wb__head_counts *counts, wb__leaf leaf)
{
    return leaf == WB__LEAF_QKV                       ? counts->q_rows + 2 * counts->kv_rows
           : leaf == WB__LEAF_K || leaf == WB__LEAF_V ? counts->kv_rows
                                                      : counts->q_rows;
}

#define REFUSE(context, operand, ...)                                                              \
    wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_SLICE, WB_NO_OFFSET,                       \
             (wb__str){(operand)->tensor.name, (operand)->tensor.name_len}, __VA_ARGS__)

static wb_status divide_rows(wb__context *context, const wb_model *model,
                             const wb__operand *operand, uint64_t rows[WB__FUSED_MAX])
{
    wb__head_counts counts;
    uint64_t all = operand->tensor.shape[wb__joint_of(operand)];
    if (operand->role.leaf == WB__LEAF_GATE_UP) {
        rows[0] = rows[1] = all / 2;
        return all % 2 == 0 ? WB_OK
                            : REFUSE(context, operand, WB__MSG_PROVIDER_SHARD_GATE_UP,
                                     (unsigned long long)all);
    }
    wb_status status = wb__head_counts_of(context, model, &operand->role, &counts);
    if (status != WB_OK)
        return status;
    if (counts.q == 0 || wb__head_rows(&counts, WB__LEAF_QKV) != all)
        return REFUSE(context, operand, WB__MSG_PROVIDER_SHARD_QKV, (unsigned long long)all);
    rows[0] = counts.q_rows;
    rows[1] = rows[2] = counts.kv_rows;
    return WB_OK;
}

size_t wb__rows_of_parts(wb__context *context, const wb_model *model, const wb__operand *operand,
                         uint64_t rows[WB__FUSED_MAX])
{
    wb__leaf leaves[WB__FUSED_MAX];
    size_t n = wb__leaf_parts(operand->role.leaf, leaves);
    return n != 0 && divide_rows(context, model, operand, rows) == WB_OK ? n : 0;
}

wb_status wb__operand_take_part(wb__context *context, const wb_model *model, wb__operand *operand,
                                uint32_t part)
{
    wb__leaf leaves[WB__FUSED_MAX];
    uint64_t rows[WB__FUSED_MAX] = {0};
    size_t n = wb__leaf_parts(operand->role.leaf, leaves);
    if (part > n || operand->tensor.rank == 0)
        return WB_ERROR_NOT_FOUND;
    wb_status status = divide_rows(context, model, operand, rows);
    if (status != WB_OK)
        return status;
    for (uint32_t i = 1; i < part; i++)
        operand->first_row += rows[i - 1]; /* cannot overflow: less than the rows of the tensor */
    operand->part = part;
    operand->part_rows = rows[part - 1];
    operand->role.leaf = leaves[part - 1];
    return WB_OK;
}
