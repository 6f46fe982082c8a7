#include "arch/config_words.h"
#include "handle/semantics.h"

wb_status wb_config_get(const wb_model *model, wb_config *caller, wb_error *error)
{
    wb_error spare;
    const wb__semantics *semantics;
    wb__context context = wb__context_of(model, wb__error_reset(error, &spare));
    wb_config own, *out = WB__OUT(wb_config, caller, &own);
    if (out == NULL)
        return WB__FAIL_SIZE(&context, wb_config, caller);
    wb_status status = wb__semantics_of(model, &context, &semantics);
    if (status == WB_OK)
        *out = semantics->config;
    WB__GIVE(wb_config, caller, out);
    return status;
}

wb_status wb_config_at(const wb_config *given, uint32_t field, wb_config_value *caller)
{
    wb_config_value own, *out = WB__OUT(wb_config_value, caller, &own);
    const wb_config *config = given;
    wb_config other = {.size = sizeof other};
    if (given->size != sizeof *given) {
        if (!WB__TAKE(wb_config, given, &other))
            return WB_ERROR_ARGUMENT;
        config = &other;
    }
    if (out == NULL)
        return WB_ERROR_ARGUMENT;
    if (field >= WB_CONFIG_FIELDS)
        return WB_ERROR_NOT_FOUND;
    const wb__config_row *row = &wb__config_rows[field];
    const char *member = (const char *)config + row->offset;
    out->name = row->name;
    out->origin = (wb_origin)config->origin[field];
    switch (row->kind) {
    case WB__CONFIG_KIND_TEXT: out->text = *(const char *const *)member; break;
    case WB__CONFIG_KIND_COUNT: out->number = *(const uint64_t *)member; break;
    case WB__CONFIG_KIND_FLAG:
    case WB__CONFIG_KIND_SMALL:
        out->is_flag = row->kind == WB__CONFIG_KIND_FLAG;
        out->number = *(const uint32_t *)member;
        break;
    case WB__CONFIG_KIND_REAL:
        out->is_float = 1;
        out->real = *(const double *)member;
        break;
    default: out->text = wb__config_word(row->kind, *(const uint32_t *)member);
    }
    if (out->number != 0)
        out->real = (double)out->number;
    WB__GIVE(wb_config_value, caller, out);
    return WB_OK;
}
