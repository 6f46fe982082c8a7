#include "arch/row_order.h"

uint64_t wb__row_order_heads(const wb__rule *rule, const wb_config *config)
{
    if (rule == NULL)
        return 0;
    return rule->provides & WB__RULE_ROPE_Q   ? config->n_heads
           : rule->provides & WB__RULE_ROPE_K ? config->n_kv_heads
                                              : 0;
}

bool wb__row_order_moves(const wb__rule *rule, wb__suffix suffix, const wb__family *family)
{
    return rule != NULL && (rule->provides & WB__RULE_NORM) != 0 && suffix == WB__SUFFIX_WEIGHT &&
           family != NULL && (wb__family_norms(family) & WB__SIDE_GGUF) != 0;
}

wb__row_order wb__row_order_of(const wb__name_entry *entry, const wb__kind *kind,
                               const wb_config *config, const wb__family *family)
{
    wb__row_order order = {0};
    bool interleaved = config->rope_layout == WB_ROPE_INTERLEAVED;
    if (interleaved && (kind->rank == 1 || kind->rank == 2) && kind->elements > 0) {
        order.head_rows =
            wb__row_order_head(kind->shape[0], wb__row_order_heads(entry->rule, config));
        order.columns = order.head_rows > 0 ? kind->elements / kind->shape[0] : 0;
    }
    if (wb__row_order_moves(entry->rule, entry->suffix, family) && config->norm_offset == 0)
        order.offset = -1;
    return order;
}
