/* Conversions of a model to another format if the architecture of the model is unknown. */
#include "arch/nearest_family.h"
#include "convert/convert.h"
#include "convert/convert_messages.h"

#define NAMES_MAX 2048 /* number of tensor names that are compared with those of known families */

bool wb__plan_is_raw(const wb_conversion *conversion)
{
    return conversion->raw && !conversion->semantics->is_family;
}

static wb__str name_at(const void *model, size_t i)
{
    return wb__table_name(&((const wb_model *)model)->catalog.table, i);
}

static wb_status refuse(const wb_conversion *conversion, wb__context *context)
{
    const wb__family *nearest;
    const char *architecture = conversion->semantics->architecture;
    const char *key = conversion->semantics->by_key ? "gguf" : "type"; /* statement of the table */
    size_t count = conversion->model->catalog.table.count, known;
    const wb__name_source names = {name_at, conversion->model,
                                   count < NAMES_MAX ? count : NAMES_MAX};
    wb_status status =
        wb__family_nearest(context, wb__families_set(conversion->model->families), &names,
                           wb__str_from(architecture, SIZE_MAX), &nearest, &known);
    if (status != WB_OK)
        return status;
    if (nearest == NULL)
        return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_CONVERT_ARCHITECTURE,
                        WB_NO_OFFSET, WB__STR(""), WB__MSG_CONVERT_ARCHITECTURE_ALONE, architecture,
                        architecture, key, architecture);
    return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_CONVERT_ARCHITECTURE, WB_NO_OFFSET,
                    WB__STR(""), WB__MSG_CONVERT_ARCHITECTURE_NEAREST, architecture, nearest->name,
                    (unsigned long long)known, (unsigned long long)names.count, architecture,
                    nearest->name, key, architecture);
}

wb_status wb__plan_architecture(wb_conversion *conversion, wb__context *context)
{
    const wb__semantics *semantics = conversion->semantics;
    bool to_gguf = conversion->target == WB_TARGET_GGUF;
    bool crosses = semantics->by_key != to_gguf || conversion->target == WB_TARGET_MLX;
    if (semantics->is_family || !(crosses || to_gguf))
        return WB_OK;
    if (crosses && semantics->is_said && !conversion->raw)
        return refuse(conversion, context);
    return wb__plan_note(conversion, context, WB_WARNING, WB__FINDING_ARCHITECTURE_UNKNOWN,
                         WB__STR(""),
                         !crosses          ? WB__MSG_CONVERT_ARCHITECTURE
                         : conversion->raw ? WB__MSG_CONVERT_RAW
                                           : WB__MSG_CONVERT_ARCHITECTURE_NONE);
}
