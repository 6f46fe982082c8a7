#include "provider/fuse_groups.h"

/* Checks whether the tensors with these names can be fused, in this order, in one buffer. */
static wb_status try_names(wb__context *context, const wb_model *model,
                           const wb__target_type *becomes, const wb__rank *rank,
                           const wb__str *const *names, size_t n)
{
    wb__layout layout = {.bytes = 0};
    wb__operands operands = {
        .allocator = context->allocator, .decodes = becomes->decodes, .becomes = becomes};
    wb_status status = WB_OK;
    for (size_t i = 0; i < n && status == WB_OK; i++)
        status = wb__operands_add(&operands, context, model, *names[i], false);
    if (status == WB_OK)
        status = wb__layout_make(&layout, context, model, &operands, rank, becomes);
    wb__layout_free(&layout);
    wb__operands_free(&operands);
    return status;
}

/* Returns the index of the last name that belongs to a group, among the first n names; n if there
 * is none. */
static size_t last_of(const uint32_t *groups, size_t n, uint32_t group)
{
    size_t last = n;
    for (size_t i = 0; i < n; i++)
        last = groups[i] == group ? i : last;
    return last;
}

/* Sets groups[i], the group of name i. The groups of the names before name i are known. */
static wb_status find_group(wb__context *context, const wb_model *model,
                            const wb__target_type *becomes, const wb__rank *rank,
                            const wb__str *names, size_t i, uint32_t *groups, uint32_t *count)
{
    const wb__str *pair[2] = {NULL, &names[i]};
    wb_error *error = context->error, ignored;
    wb_status status = try_names(context, model, becomes, rank, pair + 1, 1);
    for (uint32_t group = 0; group < *count && status == WB_OK; group++) {
        pair[0] = &names[last_of(groups, i, group)];
        context->error = wb__error_reset(NULL, &ignored);
        wb_status fits = try_names(context, model, becomes, rank, pair, 2);
        context->error = error;
        if (fits == WB_OK) {
            groups[i] = group;
            return WB_OK;
        }
        if (fits == WB_ERROR_MEMORY)
            status = wb__fail_memory(context);
    }
    if (status == WB_OK)
        groups[i] = (*count)++;
    return status;
}

wb_status wb__fuse_groups(wb__context *context, const wb_model *model,
                          const wb__target_type *becomes, const wb__rank *rank,
                          const wb__str *names, size_t n, uint32_t *groups, uint32_t *count)
{
    wb_status status = WB_OK;
    *count = 0;
    for (size_t i = 0; i < n && status == WB_OK; i++)
        status = find_group(context, model, becomes, rank, names, i, groups, count);
    return status;
}
