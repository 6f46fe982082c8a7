/* Creates rows and notes of a plan. The other files of plan/ use these functions. */
#include "arch/row_order.h"
#include "convert/convert.h"
#include "convert/convert_messages.h"

wb_status wb__plan_note(wb_conversion *conversion, wb__context *context, wb_severity severity,
                        wb__finding_id id, wb__str name, const char *message)
{
    wb__context own = *context;
    own.findings = &conversion->notes;
    own.file = "";
    return wb__note(&own, severity, id, WB_NO_OFFSET, name, "%s", message);
}

wb_status wb__plan_append(wb_conversion *conversion, wb__context *context,
                          const wb__planned_tensor *row)
{
    wb__planned_tensor *place =
        row->name.ptr == NULL ? NULL : wb__list_append(&conversion->tensors);
    if (place == NULL)
        return wb__fail_memory(context);
    *place = *row;
    return WB_OK;
}

/* In GGUF files of the Llama architecture, RoPE rotates pairs of adjacent rows. In all other
 * files it rotates pairs of rows that are half a head apart. */
bool wb__plan_interleaves(const wb_conversion *conversion, const wb__rule *rule, uint64_t *heads)
{
    const wb__semantics *semantics = conversion->semantics;
    uint32_t turned = rule == NULL ? 0 : rule->provides & (WB__RULE_ROPE_Q | WB__RULE_ROPE_K);
    *heads = wb__row_order_heads(rule, &semantics->config);
    return turned != 0 && wb__family_rope_of(semantics->family) == WB__ROPE_PERMUTED;
}

static wb_status fail_heads(wb__context *context, const wb__planned_tensor *row, uint64_t heads)
{
    return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_CONVERT_SHAPE, WB_NO_OFFSET,
                    row->name, WB__MSG_CONVERT_HEAD_ROWS, (unsigned long long)row->rows,
                    (unsigned long long)heads);
}

wb_status wb__plan_permutation(const wb_conversion *conversion, wb__context *context,
                               wb__planned_tensor *row)
{
    uint64_t heads;
    bool into = conversion->target == WB_TARGET_GGUF;
    if (!wb__plan_interleaves(conversion, row->rule, &heads) ||
        conversion->semantics->config.rope_layout == (into ? WB_ROPE_INTERLEAVED : WB_ROPE_HALF))
        return WB_OK;
    if (row->rank == 1 && row->gather == NULL) { /* a bias, in which each value counts as a row */
        row->rows = row->columns;
        row->columns = 1;
    }
    row->head_rows = wb__row_order_head(row->rows, heads);
    if (row->head_rows == 0)
        return fail_heads(context, row, heads);
    row->row_order = into ? WB__ROWS_INTERLEAVE : WB__ROWS_SEPARATE;
    return WB_OK;
}

void wb__plan_shape(wb__planned_tensor *row, const wb__kind *kind)
{
    row->rank = kind->rank;
    row->shape = kind->shape;
    row->columns = kind->rank == 0 ? 1 : kind->shape[kind->rank - 1];
    row->rows = row->columns == 0 ? 0 : kind->elements / row->columns;
}

wb__recipe_tensor wb__plan_recipe_tensor(const wb__planned_tensor *row, wb__str name)
{
    uint32_t ones = 0;
    while (ones < row->rank && row->shape[ones] == 1)
        ones++;
    return (wb__recipe_tensor){.name = name,
                               .rank = row->rank - ones,
                               .columns = row->columns,
                               .stack = row->rank > 2 ? row->shape[row->rank - 3] : 1};
}

wb__str wb__plan_own_name(wb_conversion *conversion, wb__str name)
{
    static const wb__str packed[] = {{"qweight", 7}, {"weight_packed", 13}};
    char text[512];
    for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++) {
        size_t stem = name.len - packed[i].len;
        if (!wb__str_ends_with(name, packed[i]) || (stem > 0 && name.ptr[stem - 1] != '.') ||
            stem + 6 > sizeof text)
            continue;
        memcpy(text, name.ptr, stem);
        memcpy(text + stem, "weight", 6);
        return wb__plan_text(conversion, (wb__str){text, stem + 6});
    }
    return name;
}

wb_status wb__plan_row(wb_conversion *conversion, wb__context *context, uint64_t i,
                       wb__planned_tensor *row)
{
    const wb__packed *packed;
    size_t stored = wb__tensors_stored(&conversion->model->tensors, i, &packed);
    wb__str name = wb__table_name(&conversion->model->catalog.table, stored);
    *row = (wb__planned_tensor){
        .source = i, .source_name = wb__plan_text(conversion, name), .factor = 1, .wanted = -1};
    if (row->source_name.ptr == NULL)
        return wb__fail_memory(context);
    wb__plan_shape(row, wb__names_kind(&conversion->semantics->names, i));
    return WB_OK;
}

wb_status wb__plan_add_made(wb_conversion *conversion, wb__context *context, const char *name,
                            const float *values, uint64_t n)
{
    uint64_t *shape = wb__arena_alloc(&conversion->arena, sizeof *shape);
    if (shape == NULL)
        return wb__fail_memory(context);
    *shape = n;
    const wb__planned_tensor row = {.name = wb__plan_text(conversion, wb__str_from(name, SIZE_MAX)),
                                    .source_name = WB__STR(""),
                                    .source = WB__NO_SOURCE,
                                    .made = values,
                                    .shape = shape,
                                    .rank = 1,
                                    .rows = 1,
                                    .columns = n,
                                    .factor = 1,
                                    .wanted = -1};
    return wb__plan_append(conversion, context, &row);
}
