#include "handle/handle.h"
#include "provider/provider_messages.h"
#include "provider/slice_plan.h"

wb_status wb_slice_plan(const wb_model *model, const char *name, size_t name_len, uint32_t axis,
                        uint32_t rank, uint32_t of, wb_plan **plan, wb_error *error)
{
    wb_error spare;
    const wb__rank wanted = {axis, rank, of};
    wb__context context = wb__context_of(model, wb__error_reset(error, &spare));
    *plan = NULL;
    if (of == 0)
        return wb__fail_argument(&context, WB__MSG_PROVIDER_NO_RANKS);
    return wb__slice_plan(&context, model, wb__str_from(name, name_len), &wanted, plan);
}

void wb_plan_free(wb_plan *plan)
{
    if (plan != NULL)
        wb__plan_free(plan);
}

wb_status wb_plan_describe(const wb_plan *plan, wb_plan_info *caller)
{
    wb_plan_info own, *info = WB__OUT(wb_plan_info, caller, &own);
    if (info == NULL)
        return WB_ERROR_ARGUMENT;
    const wb__axis_split *share = &plan->layout.shares[0];
    info->axis = plan->rank.axis;
    info->rank = plan->rank.rank;
    info->of = plan->rank.of;
    info->dims = plan->layout.rank;
    info->shape = plan->layout.shape;
    info->unit = share->unit;
    info->ranges = plan->layout.ranges;
    info->replicated = share->replicated;
    for (size_t i = 0; i < plan->operands.count; i++) {
        info->cuts += plan->layout.shares[i].count;
        info->uneven |= plan->layout.shares[i].uneven;
        info->alone |= plan->layout.shares[i].alone;
    }
    for (size_t i = 0; i < plan->layout.runs.count; i++)
        info->bytes += ((const wb__run *)wb__list_at(&plan->layout.runs, i))->bytes;
    WB__GIVE(wb_plan_info, caller, info);
    return WB_OK;
}

wb_status wb_plan_cut_at(const wb_plan *plan, uint64_t index, wb_plan_cut *caller)
{
    wb_plan_cut own, *cut = WB__OUT(wb_plan_cut, caller, &own);
    if (cut == NULL)
        return WB_ERROR_ARGUMENT;
    for (size_t i = 0; i < plan->operands.count; i++) {
        const wb__axis_split *share = &plan->layout.shares[i];
        if (index < share->count) {
            cut->tensor = (uint32_t)i;
            cut->start = share->cuts[index].start;
            cut->count = share->cuts[index].count;
            WB__GIVE(wb_plan_cut, caller, cut);
            return WB_OK;
        }
        index -= share->count;
    }
    return WB_ERROR_NOT_FOUND;
}

wb_status wb_plan_range_at(const wb_plan *plan, uint64_t index, wb_plan_range *caller)
{
    wb_plan_range own, *range = WB__OUT(wb_plan_range, caller, &own);
    if (range == NULL)
        return WB_ERROR_ARGUMENT;
    if (index >= plan->layout.ranges)
        return WB_ERROR_NOT_FOUND;
    *range = wb__plan_range(plan, index);
    WB__GIVE(wb_plan_range, caller, range);
    return WB_OK;
}
