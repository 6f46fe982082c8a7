/* Sets missing config fields to the defaults of the family. */
#include "arch/config_maker.h"

/* Returns true if the field has a meaning for the model. */
static bool applies(const wb_config *config, int field)
{
    if (field == WB_CONFIG_SLIDING_WINDOW_PATTERN || field == WB_CONFIG_ROPE_LOCAL_THETA)
        return config->sliding_window != 0;
    return field != WB_CONFIG_EXPERT_WEIGHTS_NORM || config->n_experts != 0;
}

static void set_default(const wb__config_maker *m, const wb__config_default *row)
{
    wb_config *config = m->config;
    uint8_t others = m->by_key ? WB__IN_FOLDERS : WB__IN_GGUF_FILES;
    bool is_said = wb__config_is_known(m, row->field) && row->where != WB__ALWAYS;
    if (is_said || row->where == others || !applies(config, row->field))
        return;
    switch (wb__config_rows[row->field].kind) {
    case WB__CONFIG_KIND_COUNT:
        *(uint64_t *)wb__config_member(m, row->field) = (uint64_t)row->value;
        break;
    case WB__CONFIG_KIND_REAL: *(double *)wb__config_member(m, row->field) = row->value; break;
    default:
        /* a boolean, because text and layout fields have no defaults */
        *(uint32_t *)wb__config_member(m, row->field) = (uint32_t)row->value;
    }
    config->origin[row->field] = WB_ORIGIN_DEFAULT;
}

void wb__config_family_defaults(const wb__config_maker *m, bool details)
{
    /*
     * Defaults apply only if a file names the architecture; otherwise they would be based on a
     * guess.
     */
    if (m->config->origin[WB_CONFIG_ARCHITECTURE] != WB_ORIGIN_FILE || m->family == NULL)
        return;
    for (const wb__config_default *row = m->family->defaults; row->field != 0; row++) {
        if ((row->field >= WB_CONFIG_ACTIVATION) == details)
            set_default(m, row);
    }
    if (!details && m->by_key && !(m->family->flags & WB__FAMILY_NO_ROPE)) {
        /* llama.cpp's default */
        const wb__config_default theta = {WB_CONFIG_ROPE_THETA, WB__EVERYWHERE, 10000};
        set_default(m, &theta);
    }
}
