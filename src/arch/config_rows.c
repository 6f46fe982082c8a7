/* The fields of wb_config and their names in files. */
#include "arch/config_maker.h"
#include "arch/config_words.h"

#define WB__CONFIG(FIELD, member, KIND, keys, paths)                                               \
    [WB_CONFIG_##                                                                                  \
        FIELD] = {#member, WB__CONFIG_KIND_##KIND, offsetof(wb_config, member), keys, paths},
const wb__config_row wb__config_rows[WB_CONFIG_FIELDS] = {
#include "arch/model_config.def"
};
#undef WB__CONFIG

int wb__config_field(wb__str name)
{
    for (int i = 0; i < WB_CONFIG_FIELDS; i++) {
        if (wb__str_equal(name, wb__str_from(wb__config_rows[i].name, SIZE_MAX)))
            return i;
    }
    return -1;
}

void wb__config_set_fact(const wb__config_maker *m, int field, const wb__fact *fact,
                         wb_origin origin)
{
    void *member = wb__config_member(m, field);
    wb__config_kind kind = wb__config_rows[field].kind;
    bool is_number =
        fact->type == WB__FACT_UINT || fact->type == WB__FACT_INT || fact->type == WB__FACT_REAL;
    if (kind == WB__CONFIG_KIND_FLAG && fact->type == WB__FACT_BOOL)
        *(uint32_t *)member = fact->number != 0;
    else if (kind == WB__CONFIG_KIND_COUNT && fact->type == WB__FACT_UINT)
        *(uint64_t *)member = fact->number;
    else if (kind == WB__CONFIG_KIND_REAL && is_number)
        *(double *)member = fact->real;
    else if (!wb__config_choice(kind, fact, member))
        return;
    m->config->origin[field] = (uint8_t)origin;
}
