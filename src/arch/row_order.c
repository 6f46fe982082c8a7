#include "arch/row_order.h"

wb__row_order wb__row_order_of(const wb__name_entry *entry, const wb__kind *kind,
                               const wb_config *config, const wb__family *family)
{
    wb__row_order order = {0};
    uint32_t flags = entry->rule->provides;
    uint64_t heads = flags & WB__RULE_ROPE_Q   ? config->n_heads
                     : flags & WB__RULE_ROPE_K ? config->n_kv_heads
                                               : 0;
    bool interleaved = config->rope_layout == WB_ROPE_INTERLEAVED;
    if (interleaved && heads > 0 && (kind->rank == 1 || kind->rank == 2) && kind->elements > 0) {
        uint64_t rows = kind->shape[0];
        if (rows % heads == 0 && rows / heads % 2 == 0) {
            order.head_rows = rows / heads;
            order.columns = kind->elements / rows;
        }
    }
    if (flags & WB__RULE_NORM && entry->suffix == WB__SUFFIX_WEIGHT && family != NULL &&
        family->flags & WB__FAMILY_NORM_OFFSET && config->norm_offset == 0)
        order.offset = -1;
    return order;
}
