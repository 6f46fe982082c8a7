/* Compares the config with the limits in the family's table: configs for which the programs that
 * read the target compute something else. */
#include "convert/convert.h"

static wb_status check(wb_conversion *conversion, wb__context *context, const wb__limit *limit)
{
    wb__family_scope scope = wb__semantics_scope(conversion->semantics);
    const wb__scope names = wb__family_names(&scope);
    if ((limit->sides & wb__plan_side(conversion)) == 0 ||
        !wb__expr_holds(limit->condition, &names, false))
        return WB_OK;
    return wb__plan_note(conversion, context, WB_WARNING, WB__FINDING_CONVERT_GRANTED,
                         wb__str_from(limit->member, SIZE_MAX), limit->text);
}

wb_status wb__plan_limits(wb_conversion *conversion, wb__context *context)
{
    const wb__semantics *semantics = conversion->semantics;
    wb_status status = WB_OK;
    if (semantics->by_key || !semantics->is_family || semantics->facts.config == NULL)
        return WB_OK;
    for (const wb__family *f = semantics->family; f != NULL && status == WB_OK; f = f->base) {
        for (size_t i = 0; i < f->limit_count && status == WB_OK; i++)
            status = check(conversion, context, &f->limits[i]);
    }
    return status;
}
