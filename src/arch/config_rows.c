/* The fields of wb_config and their names in files. */
#include "arch/model_config.h"

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
