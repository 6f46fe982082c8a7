/* Adds a warning for each limit in the family's table that the config exceeds. Programs that
 * read the target would compute wrong results with such a config. */
#include "convert/convert.h"

#define LAYERS_MAX 4096

/* Returns true if an expression depends on the number of the layer. */
static bool is_per_layer(wb__expr expr)
{
    for (; expr->code != WB__OP_END; expr++) {
        if (expr->code == WB__OP_NAME && strcmp(expr->text, "i") == 0)
            return true;
    }
    return false;
}

/* Returns true if the config is outside the limit. A condition that names a layer is outside the
 * limit if one of the layers is. */
static bool is_outside(const wb__semantics *semantics, wb__expr condition)
{
    wb__family_scope scope = wb__semantics_scope(semantics);
    wb__scope names = wb__family_names(&scope);
    uint64_t layers = is_per_layer(condition) ? semantics->config.n_layers : 1;
    for (; names.index < layers && names.index < LAYERS_MAX; names.index++) {
        if (wb__expr_holds(condition, &names, false))
            return true;
    }
    return false;
}

static wb_status check(wb_conversion *conversion, wb__context *context, const wb__limit *limit)
{
    if ((limit->sides & wb__plan_side(conversion)) == 0 ||
        !is_outside(conversion->semantics, limit->condition))
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
