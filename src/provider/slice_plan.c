#include "provider/slice_plan.h"

wb_status wb__slice_plan(wb__context *context, const wb_model *model, wb__str name,
                         const wb__rank *rank, wb_plan **out)
{
    static const wb__target_type as_stored = {.plain = -1};
    *out = NULL;
    wb_plan *plan = wb__alloc(&context->allocator, sizeof *plan);
    if (plan == NULL)
        return wb__fail_memory(context);
    memset(plan, 0, sizeof *plan);
    plan->context = *context;
    plan->operands.allocator = context->allocator;
    plan->rank = *rank;
    wb_status status = wb__operands_add(&plan->operands, &plan->context, model, name, false);
    if (status == WB_OK)
        status = wb__layout_make(&plan->layout, &plan->context, model, &plan->operands, rank,
                                 &as_stored);
    if (status != WB_OK) {
        wb__plan_free(plan);
        return status;
    }
    *out = plan;
    return WB_OK;
}

void wb__plan_free(wb_plan *plan)
{
    wb_allocator allocator = plan->context.allocator;
    wb__layout_free(&plan->layout);
    wb__operands_free(&plan->operands);
    wb__free(&allocator, plan, sizeof *plan);
}

wb_plan_range wb__plan_range(const wb_plan *plan, uint64_t index)
{
    const wb__list *runs = &plan->layout.runs;
    size_t low = 0, high = runs->count;
    while (high - low > 1) { /* binary search: the last run with first_range <= index */
        size_t middle = low + (high - low) / 2;
        const wb__run *run = wb__list_at(runs, middle);
        if (run->first_range <= index)
            low = middle;
        else
            high = middle;
    }
    const wb__run *run = wb__list_at(runs, low);
    if (run->interleaved_runs == 1)
        return run->range;
    uint64_t within = index - run->first_range;
    run = wb__list_at(runs,
                      low + 1 - run->interleaved_runs + (size_t)(within % run->interleaved_runs));
    wb_plan_range range = run->range;
    if (range.count == 0)
        return range;
    range.offset += within / run->interleaved_runs * range.stride;
    range.count = 1;
    range.stride = range.bytes;
    return range;
}
