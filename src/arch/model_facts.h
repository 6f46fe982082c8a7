/* arch/model_facts.h: single facts about a model, from key-value metadata or JSON. */
#ifndef WB_ARCH_MODEL_FACTS_H
#define WB_ARCH_MODEL_FACTS_H

#include "core/core.h"
#include "json/tree.h"

typedef enum wb__fact_type {
    WB__FACT_NONE = 0,
    WB__FACT_UINT,
    WB__FACT_INT, /* a negative integer */
    WB__FACT_REAL,
    WB__FACT_BOOL,
    WB__FACT_TEXT,
    WB__FACT_NULL, /* explicit null, only in JSON */
    WB__FACT_OTHER /* an array or object */
} wb__fact_type;

typedef struct wb__fact {
    wb__fact_type type;
    uint64_t number; /* value for UINT and BOOL; for INT in two's complement */
    double real;     /* value for UINT, INT and REAL */
    wb__str text;    /* value for TEXT, borrowed from the files */
} wb__fact;

typedef struct wb__facts {
    /*
     * Looks up a key-value entry; returns false if there is none. For an array of integers (values
     * per layer), *fact is the largest element. The pointer is NULL if the model has no key-value
     * metadata.
     */
    bool (*key_value)(void *ctx, wb__str key, wb__fact *fact);
    void *ctx;
    const wb__tree *config; /* config.json; NULL if there is none */
} wb__facts;

/* Returns the value of a node. For WB__NO_NODE, the type of the result is WB__FACT_NONE. */
wb__fact wb__fact_of_node(const wb__tree *tree, wb__node node);

/*
 * Returns the value of the first existing key of `keys`, a '|' separated list. All keys are tried
 * with "`prefix`." first, then without. If no key exists, the type of the result is WB__FACT_NONE.
 */
wb__fact wb__fact_by_key(const wb__facts *facts, wb__str prefix, const char *keys);

/*
 * Returns the value at the first existing path of `paths` in config.json. `paths` is a list of
 * paths such as "rope_parameters/rope_theta", separated by '|'. All paths are tried inside
 * text_config first, then at the top level. A null value is returned only if no other value is
 * found.
 */
wb__fact wb__fact_by_path(const wb__facts *facts, const char *paths);

/*
 * Returns the shortest decimal number that rounds to the same float32, as a double. Example: 1e-5f
 * gives 1e-5.
 */
double wb__shortest_of_float(double value);

#endif
