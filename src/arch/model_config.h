/*
 * arch/model_config.h: the config of a model, independent of the file format.
 *
 * Each field is looked up in the key-value metadata, then in config.json. Missing fields get the
 * family's default; remaining fields are derived from other fields or from tensor shapes.
 */
#ifndef WB_ARCH_MODEL_CONFIG_H
#define WB_ARCH_MODEL_CONFIG_H

#include "arch/canonical_names.h"
#include "arch/model_facts.h"
#include "weighbridge/config.h"

/*
 * Returns the architecture that the files specify, or an empty string. Sets *family to the family
 * of this architecture, or to NULL if the family is unknown. The families of `set`, which may be
 * NULL, are tried first.
 */
wb__str wb__config_architecture(const wb__facts *facts, const wb__family_set *set,
                                const wb__family **family);

/*
 * Fills a config. If `is_said` is true, the files specify the architecture, and `family` belongs to
 * it; if `is_said` is false, `family` was determined from the tensor names. `architecture` is
 * NUL-terminated, or NULL if unknown.
 */
void wb__config_make(wb_config *config, const wb__facts *facts, const wb__family *family,
                     bool is_said, const char *architecture, const wb__names *names);

typedef enum wb__config_kind {
    WB__CONFIG_KIND_TEXT,
    WB__CONFIG_KIND_COUNT,
    WB__CONFIG_KIND_REAL,
    WB__CONFIG_KIND_FLAG,
    WB__CONFIG_KIND_SMALL, /* a 32-bit number */
    /* enumerated values, see arch/config_words.h */
    WB__CONFIG_KIND_LAYOUT,
    WB__CONFIG_KIND_ACTIVATION,
    WB__CONFIG_KIND_NORM,
    WB__CONFIG_KIND_SCALING,
    WB__CONFIG_KIND_GATING
} wb__config_kind;

typedef struct wb__config_row {
    const char *name;
    wb__config_kind kind;
    size_t offset; /* offset of the member in wb_config */
    const char *keys;
    const char *paths;
} wb__config_row;

extern const wb__config_row wb__config_rows[WB_CONFIG_FIELDS];

/* Returns the wb_config_field with this name, or -1. */
int wb__config_field(wb__str name);

#endif
