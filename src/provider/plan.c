#include "provider/plan.h"

wb_status wb__slice_plan(wb__context *context, const wb_model *model, wb__str name,
                         const wb__rank *rank, wb_plan **out)
{
    static const wb__becomes as_stored = {-1, false};
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
