/*
 * arch/model_facts.h: what files say of a model, whether as key-values or as JSON.
 */
#ifndef WB_ARCH_FACTS_H
#define WB_ARCH_FACTS_H

#include "core/core.h"
#include "json/tree.h"

typedef enum wb__fact_type {
    WB__FACT_NONE = 0,
    WB__FACT_UINT,
    WB__FACT_INT, /* negative */
    WB__FACT_REAL,
    WB__FACT_BOOL,
    WB__FACT_TEXT,
    WB__FACT_NULL, /* said to be nothing; JSON alone has it */
    WB__FACT_OTHER /* an array or object */
} wb__fact_type;

typedef struct wb__fact {
    wb__fact_type type;
    uint64_t number; /* UINT, BOOL; INT in two's complement */
    double real;     /* UINT, INT, REAL */
    wb__str text;    /* TEXT, borrowed from the files */
} wb__fact;

typedef struct wb__facts {
    /* The value of a key-value; false if there is none. Of an array of integers the largest, since
     * what differs from layer to layer is asked for as one number. NULL: there are no key-values.
     */
    bool (*key_value)(void *ctx, wb__str key, wb__fact *fact);
    void *ctx;
    const wb__tree *config; /* config.json, NULL: there is none */
} wb__facts;

/* The value of a node, NONE for WB__NO_NODE. */
wb__fact wb__fact_of_node(const wb__tree *tree, wb__node node);

/*
 * The first of the keys, '|' between, that key-values have, behind "`prefix`." or else bare. NONE
 * if there is none.
 */
wb__fact wb__fact_by_key(const wb__facts *facts, wb__str prefix, const char *keys);

/*
 * The first of the paths ("rope_parameters/rope_theta"), '|' between, that config.json has, within
 * text_config or else outside. A path that is there but null counts where nothing better does.
 */
wb__fact wb__fact_by_path(const wb__facts *facts, const char *paths);

/* The double whose decimal is the shortest that reads back as the same float32: 1e-5f gives 1e-5.
 */
double wb__shortest_of_float(double value);

#endif
