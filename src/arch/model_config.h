/*
 * arch/model_config.h: one config, whatever the files.
 *
 * Each field is asked of the key-values, then of config.json; what neither has is what the family
 * takes then, and what no family takes follows from other fields or from the tensors.
 */
#ifndef WB_ARCH_CONFIG_H
#define WB_ARCH_CONFIG_H

#include "arch/canonical_names.h"
#include "arch/model_facts.h"
#include "weighbridge/config.h"

/* What the files say the architecture is, empty if nothing; and its family, NULL if it is unknown.
 */
wb__str wb__config_architecture(const wb__facts *facts, const wb__family **family);

/*
 * Fills a config. `family` as found, or taken from the names of the tensors where files are silent;
 * `architecture` ends with a NUL, and is NULL where nobody knows.
 */
void wb__config_make(wb_config *config, const wb__facts *facts, const wb__family *family,
                     const char *architecture, const wb__names *names);

typedef enum wb__config_kind {
    WB__CONFIG_KIND_TEXT,
    WB__CONFIG_KIND_COUNT,
    WB__CONFIG_KIND_REAL,
    WB__CONFIG_KIND_FLAG,
    WB__CONFIG_KIND_LAYOUT
} wb__config_kind;

typedef struct wb__config_row {
    const char *name;
    wb__config_kind kind;
    size_t offset; /* of the member in wb_config */
    const char *keys;
    const char *paths;
} wb__config_row;

extern const wb__config_row wb__config_rows[WB_CONFIG_FIELDS];

#endif
