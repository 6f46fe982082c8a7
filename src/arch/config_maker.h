/*
 * arch/config_maker.h: shared by the functions that fill in a wb_config. model_config.c reads the
 * files and derives sizes; config_details.c derives the fields that describe the computation.
 */
#ifndef WB_ARCH_CONFIG_MAKER_H
#define WB_ARCH_CONFIG_MAKER_H

#include "arch/family_scope.h"
#include "arch/model_config.h"

typedef struct wb__config_maker {
    wb_config *config;
    const wb__facts *facts;
    const wb__family *family; /* NULL if unknown */
    wb__str prefix;           /* prefix of GGUF keys without the dot, such as "llama" */
    const wb__names *names;   /* may be NULL */
    bool by_key;              /* the model has key-value metadata (GGUF) */
} wb__config_maker;

static inline void *wb__config_member(const wb__config_maker *m, int field)
{
    return (char *)m->config + wb__config_rows[field].offset;
}

static inline bool wb__config_is_known(const wb__config_maker *m, int field)
{
    return m->config->origin[field] != WB_ORIGIN_ABSENT;
}

/* wb__config_set_count sets a field of kind COUNT, wb__config_set_real a field of kind REAL, and
 * wb__config_set_word a field of kind FLAG or of an enumerated kind. */

static inline void wb__config_set_count(const wb__config_maker *m, int field, uint64_t value,
                                        wb_origin origin)
{
    *(uint64_t *)wb__config_member(m, field) = value;
    m->config->origin[field] = (uint8_t)origin;
}

static inline void wb__config_set_real(const wb__config_maker *m, int field, double value,
                                       wb_origin origin)
{
    *(double *)wb__config_member(m, field) = value;
    m->config->origin[field] = (uint8_t)origin;
}

static inline void wb__config_set_word(const wb__config_maker *m, int field, uint32_t value,
                                       wb_origin origin)
{
    *(uint32_t *)wb__config_member(m, field) = value;
    m->config->origin[field] = (uint8_t)origin;
}

/* Returns the scope in which the expressions of the family are evaluated. The expressions can use
 * the config fields that are already set. */
static inline wb__family_scope wb__config_scope(const wb__config_maker *m)
{
    return (wb__family_scope){.family = m->family,
                              .facts = m->facts,
                              .config = m->config,
                              .names = m->names,
                              .prefix = m->prefix,
                              .by_key = m->by_key};
}

/* Sets a field to the value of a fact. Does nothing if the fact has the wrong type for the field
 * (config_rows.c). */
void wb__config_set_fact(const wb__config_maker *m, int field, const wb__fact *fact,
                         wb_origin origin);

/*
 * Sets fields as the rows of the family's table specify (config_defaults.c). If `details` is true,
 * sets WB_CONFIG_ACTIVATION and the fields after it; otherwise, sets the fields before it.
 */
void wb__config_family_values(const wb__config_maker *m, bool details);

/* Sets fields that no file specifies. Only WB_CONFIG_ACTIVATION and the fields after it are set
 * (config_details.c). */
void wb__config_details(const wb__config_maker *m);

#endif
