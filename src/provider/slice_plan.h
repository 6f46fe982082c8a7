/*
 * provider/slice_plan.h: wb_plan, a layout that is used only for its byte ranges; no buffer is
 * filled.
 */
#ifndef WB_PROVIDER_SLICE_PLAN_H
#define WB_PROVIDER_SLICE_PLAN_H

#include "provider/buffer_request.h"

struct wb_plan {
    wb__context context; /* copied from the caller of wb__slice_plan; later, only its allocator is
                          * used, by `layout` and wb__plan_free */
    wb__operands operands;
    wb__layout layout;
    wb__rank rank;
};

wb_status wb__slice_plan(wb__context *context, const wb_model *model, wb__str name,
                         const wb__rank *rank, wb_plan **plan);
void wb__plan_free(wb_plan *plan);

/* Returns byte range `index` of the plan. Precondition: index < layout.ranges. */
wb_plan_range wb__plan_range(const wb_plan *plan, uint64_t index);

#endif
