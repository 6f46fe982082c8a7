/* wb inspect: the config section, which shows each field of the model's configuration and its
 * source.
 */
#include <string.h>

#include "inspect.h"
#include "report.h"
#include "table.h"
#include "values.h"

static const char *origin_name(wb_origin origin)
{
    switch (origin) {
    case WB_ORIGIN_FILE: return "file";
    case WB_ORIGIN_DEFAULT: return "default";
    case WB_ORIGIN_DERIVED: return "derived";
    case WB_ORIGIN_ABSENT: break;
    }
    return "";
}

static bool get(const wb_model *model, wb_config *config)
{
    *config = (wb_config){.size = sizeof *config};
    return wb_config_get(model, config, NULL) == WB_OK;
}

/* ---- text output ---- */

typedef struct rows {
    wb_config config;
    /* also show fields without a value, and settings that are only defaults of the architecture */
    bool is_whole;
} rows;

static bool config_row(void *ctx, uint64_t index, text cells[TABLE_COLUMNS])
{
    const rows *r = ctx;
    wb_config_value value = WB_CONFIG_VALUE_INIT;
    if (wb_config_at(&r->config, (uint32_t)index, &value) != WB_OK)
        return false;
    if (!r->is_whole && index >= WB_CONFIG_ACTIVATION && value.origin == WB_ORIGIN_DEFAULT)
        return false;
    text_adds(&cells[0], value.name);
    if (value.origin == WB_ORIGIN_ABSENT) {
        text_adds(&cells[1], "-");
        return r->is_whole;
    }
    if (value.text != NULL)
        text_add_shown(&cells[1], value.text, strlen(value.text));
    else if (value.is_float)
        text_add_f64(&cells[1], value.real);
    else if (value.is_flag)
        text_adds(&cells[1], value.number != 0 ? "true" : "false");
    else
        text_addf(&cells[1], "%llu", (unsigned long long)value.number);
    text_adds(&cells[2], origin_name(value.origin));
    return true;
}

void print_config(out *o, const inspection *in)
{
    rows r = {.is_whole = in->is_chosen};
    if (!get(in->model, &r.config))
        return;
    /* Without an architecture, the only known fields are derived from tensor shapes. Such a table
     * is shown only on request.
     */
    if (!in->is_chosen && r.config.origin[WB_CONFIG_ARCHITECTURE] == WB_ORIGIN_ABSENT)
        return;
    print_title(o, "Config");
    table_print(o, &(table){.columns = 3,
                            .titles = {"field", "value", "source"},
                            .align = "lrl",
                            .rows = WB_CONFIG_FIELDS,
                            .row = config_row,
                            .ctx = &r});
}

/* ---- JSON ---- */

static void json_value(wb_json *json, const wb_config_value *value)
{
    if (value->origin == WB_ORIGIN_ABSENT)
        wb_json_null(json);
    else if (value->text != NULL)
        wb_json_string(json, value->text, SIZE_MAX);
    else if (value->is_float)
        wb_json_double(json, value->real);
    else if (value->is_flag)
        wb_json_bool(json, value->number != 0);
    else
        wb_json_uint(json, value->number);
}

void json_config(wb_json *json, const inspection *in)
{
    wb_config config;
    bool is_known = get(in->model, &config);
    wb_json_key(json, "config", SIZE_MAX);
    wb_json_begin(json, '{');
    for (uint32_t i = 0; is_known && i < WB_CONFIG_FIELDS; i++) {
        wb_config_value value = WB_CONFIG_VALUE_INIT;
        if (wb_config_at(&config, i, &value) != WB_OK)
            continue;
        wb_json_key(json, value.name, SIZE_MAX);
        json_value(json, &value);
    }
    wb_json_end(json, '}');
    wb_json_key(json, "config_sources", SIZE_MAX);
    wb_json_begin(json, '{');
    for (uint32_t i = 0; is_known && i < WB_CONFIG_FIELDS; i++) {
        wb_config_value value = WB_CONFIG_VALUE_INIT;
        if (wb_config_at(&config, i, &value) == WB_OK && value.origin != WB_ORIGIN_ABSENT)
            json_text(json, value.name, origin_name(value.origin));
    }
    wb_json_end(json, '}');
}
