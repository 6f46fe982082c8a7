/*
 * The changes that WB_POLICY_ROPE_* and WB_POLICY_NORM_PLAIN make to rows and values.
 *
 * The rows of q and k are permuted within each head, and the elements of their biases and norms
 * accordingly. For some norms, files may store each weight minus 1; the naming rules of the family
 * mark these norms (arch/row_order.h).
 */
#include "arch/row_order.h"
#include "handle/semantics.h"
#include "provider/buffer_request.h"
#include "provider/provider_messages.h"

static wb__str name_of(const wb__operand *operand)
{
    return (wb__str){operand->tensor.name, operand->tensor.name_len};
}

#define REFUSE(context, operand, message)                                                          \
    wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_ROWS, WB_NO_OFFSET, name_of(operand),      \
             message)

/* Returns true if the tensor is the norm of q or k, whose elements correspond to rows of a head. */
static bool is_head_norm(const wb__operand *operand)
{
    static const wb__str endings[] = {{".attention.q_norm.weight", 24},
                                      {".attention.k_norm.weight", 24}};
    wb__str name = {operand->canonical, operand->canonical_len};
    return wb__str_ends_with(name, endings[0]) || wb__str_ends_with(name, endings[1]);
}

/* Returns true if RoPE rotates the outputs of this tensor, or of a part of it. */
static bool is_rotated(const wb__operand *operand, const wb__name_entry *entry)
{
    if (operand->part != 0)
        return operand->role.leaf == WB__LEAF_Q || operand->role.leaf == WB__LEAF_K;
    return (entry->rule->provides & (WB__RULE_ROPE_Q | WB__RULE_ROPE_K)) != 0 ||
           operand->role.leaf == WB__LEAF_QKV || is_head_norm(operand);
}

/* Sets the permutation of the rows. */
static wb_status permute(wb__context *context, const wb_model *model, const wb_config *config,
                         wb_rope_layout rope, const wb__operand *operand, wb__row_change *change)
{
    wb__head_counts counts;
    uint32_t joint = wb__joint_of(operand);
    if (config->origin[WB_CONFIG_ROPE_LAYOUT] == WB_ORIGIN_ABSENT)
        return REFUSE(context, operand, WB__MSG_PROVIDER_ROPE_UNKNOWN);
    if (config->rope_layout == WB_ROPE_NONE || config->rope_layout == rope)
        return WB_OK;
    wb_status status = wb__head_counts_of(context, model, &operand->role, &counts);
    if (status != WB_OK)
        return status;
    if (operand->members != 0 || operand->tensor.rank == 0 || operand->tensor.rank > 2 ||
        counts.q == 0 || counts.dim % 2 != 0 ||
        wb__operand_length(operand, joint) % counts.dim != 0)
        return REFUSE(context, operand, WB__MSG_PROVIDER_ROPE_HEADS);
    change->head_rows = change->rotated = counts.dim;
    change->to_half = rope == WB_ROPE_HALF;
    return WB_OK;
}

wb_status wb__row_change_of(wb__context *context, const wb_model *model,
                            const wb__target_type *becomes, const wb__operand *operand,
                            wb__row_change *change)
{
    const wb__semantics *semantics;
    *change = (wb__row_change){0};
    if (operand->number >= model->tensors.count || operand->canonical_len == 0)
        return WB_OK;
    wb_status status = wb__semantics_of(model, context, &semantics);
    if (status != WB_OK)
        return status;
    const wb__name_entry *entry = wb__names_of(&semantics->names, operand->number);
    if (entry == NULL)
        return WB_OK;
    if (wb__spelling_moves(entry->spelling))
        return REFUSE(context, operand, WB__MSG_PROVIDER_LAYOUT);
    if (becomes->rope == WB_ROPE_NONE && !becomes->adds_offset)
        return WB_OK;
    const wb_config *config = &semantics->config;
    if (becomes->adds_offset && (entry->rule->provides & WB__RULE_NORM) != 0) {
        if (config->origin[WB_CONFIG_NORM_OFFSET] == WB_ORIGIN_ABSENT)
            return REFUSE(context, operand, WB__MSG_PROVIDER_NORM_UNKNOWN);
        if (config->norm_offset != 0 &&
            wb__row_order_moves(entry->rule, (wb__suffix)entry->suffix, semantics->family))
            change->adds = 1;
    }
    if (becomes->rope == WB_ROPE_NONE || !is_rotated(operand, entry))
        return WB_OK;
    return permute(context, model, config, becomes->rope, operand, change);
}
