/* Sets config fields from the rows of the family's table. */
#include "arch/config_maker.h"

/* Returns true if the field is meaningful for the model. For example, the fields about experts are
 * meaningless if the model has no experts. */
static bool applies(const wb_config *config, int field)
{
    switch (field) {
    case WB_CONFIG_SLIDING_WINDOW_PATTERN:
    case WB_CONFIG_ROPE_LOCAL_THETA: return config->sliding_window != 0;
    case WB_CONFIG_EXPERT_GATING_FUNC:
    case WB_CONFIG_EXPERT_WEIGHTS_SCALE:
    case WB_CONFIG_EXPERT_WEIGHTS_NORM: return config->n_experts != 0;
    default: return true;
    }
}

/* Sets a field to the value of a row. Does nothing if `row` is NULL or its value has the wrong
 * type. */
static void set_field(const wb__config_maker *m, int field, const wb__value_row *row,
                      wb_origin origin)
{
    wb__family_scope scope = wb__config_scope(m);
    const wb__scope names = wb__family_names(&scope);
    if (row == NULL)
        return;
    wb__fact value = wb__expr_eval(row->expr, &names);
    wb__config_set_fact(m, field, &value, origin);
}

/*
 * Returns the kinds of rows, as bits 1 << wb__value_where, that provide defaults for the model:
 * `missing` rows (WB__VALUE_BOTH) for every model, `implied` rows for a model with GGUF key-values,
 * and `default` rows for a model with config.json.
 */
static unsigned places_of(const wb__config_maker *m)
{
    return 1u << WB__VALUE_BOTH | 1u << (m->by_key ? WB__VALUE_IMPLIED : WB__VALUE_DEFAULT);
}

void wb__config_family_values(const wb__config_maker *m, bool details)
{
    int first = details ? WB_CONFIG_ACTIVATION : 0;
    int end = details ? WB_CONFIG_FIELDS : WB_CONFIG_ACTIVATION;
    /* Defaults apply only if a file names the architecture. Otherwise the family is a guess. */
    if (m->config->origin[WB_CONFIG_ARCHITECTURE] != WB_ORIGIN_FILE || m->family == NULL)
        return;
    for (int field = first; field < end; field++) {
        if (!m->by_key)
            set_field(m, field, wb__family_value(m->family, 1u << WB__VALUE_SET, field, NULL),
                      WB_ORIGIN_FILE);
        if (!applies(m->config, field))
            continue;
        if (!wb__config_is_known(m, field))
            set_field(m, field, wb__family_value(m->family, places_of(m), field, NULL),
                      WB_ORIGIN_DEFAULT);
        set_field(m, field, wb__family_value(m->family, 1u << WB__VALUE_ALWAYS, field, NULL),
                  WB_ORIGIN_DEFAULT);
    }
}
