/*
 * arch/family_scope.h: the values of names in the expressions of family tables.
 *
 * A name stands for the first of these that exists:
 *   1. a definition of the table (`let`);
 *   2. a field of wb_config;
 *   3. a member of config.json ("hidden_size", "rope_parameters/rope_theta") or a GGUF key
 *      ("ssm.inner_size", without the prefix of the architecture);
 *   4. a `key` or `json` row of the table. A `key` row computes a GGUF key for a model with
 *      config.json; a `json` row computes a member of config.json for a GGUF model.
 * A name that begins with '/' is only looked up in config.json. A definition or row that is being
 * evaluated for a name is not evaluated again for names in its expression.
 */
#ifndef WB_ARCH_FAMILY_SCOPE_H
#define WB_ARCH_FAMILY_SCOPE_H

#include "arch/canonical_names.h"
#include "weighbridge/config.h"

#define WB__SCOPE_DEPTH_MAX 12 /* maximum nesting of definitions that refer to others */

typedef struct wb__family_scope {
    const wb__family *family;
    const wb__facts *facts;
    const wb_config *config; /* NULL: no fields */
    const wb__names *names;  /* may be NULL */
    wb__str prefix;          /* prefix of GGUF keys without the dot, such as "llama" */
    bool by_key;             /* the model has GGUF key-values */
    unsigned depth;          /* current nesting depth of definitions, which is limited */
    wb__expr active[WB__SCOPE_DEPTH_MAX]; /* definitions that are being evaluated, `depth` many */
    unsigned evaluated; /* definitions evaluated since `depth` was 0; also limited */
} wb__family_scope;

/* Returns a scope for wb__expr_eval in which the name "i" has the value 0. `scope` must outlive
 * the returned scope. */
wb__scope wb__family_names(wb__family_scope *scope);

/* Returns the value of a field of a config as a fact; NONE if it is absent. */
wb__fact wb__config_fact(const wb_config *config, int field);

/* Returns the row for a GGUF key or a member of config.json, from the family or its nearest base;
 * NULL if there is none. */
const wb__key_row *wb__family_key(const wb__family *family, wb__key_place place, const char *name);

/*
 * Calls `each` once for every name that the rows of `place` in the family and its bases define,
 * with the row that is nearest to the family. The names that the farthest base defines come first,
 * those that only the family defines come last.
 */
void wb__family_keys(const wb__family *family, wb__key_place place,
                     void (*each)(void *ctx, const wb__key_row *row), void *ctx);

#endif
