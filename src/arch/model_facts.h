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

#define WB__FACT_PLACES 6 /* maximum number of JSON objects in which members are looked up */

/* A list of scalars: an array of GGUF, or a list in JSON. wb__fact_list_next reads it in order. */
typedef struct wb__fact_list {
    uint64_t count;
    uint64_t next; /* number of elements that have been read */
    /* reads element i of a GGUF array; NULL: a JSON list */
    void (*element)(const struct wb__fact_list *list, uint64_t i, wb__fact *fact);
    const void *array;
    const uint8_t *base;
    const wb__tree *tree;
    wb__node parent, node;
} wb__fact_list;

typedef struct wb__facts {
    /*
     * Looks up a key-value entry; returns false if there is none. For an array of integers (values
     * per layer), *fact is the largest element. key_value is NULL if the model has no key-value
     * metadata.
     */
    bool (*key_value)(void *ctx, wb__str key, wb__fact *fact);
    /* Looks up an array of numbers or booleans. key_list is NULL if key_value is NULL. */
    bool (*key_list)(void *ctx, wb__str key, wb__fact_list *list);
    void *ctx;
    const wb__tree *config; /* config.json; NULL if there is none. Set by wb__facts_use_config. */
    /* objects in which members are looked up, in order; the last one is config.json itself */
    wb__node places[WB__FACT_PLACES];
    size_t place_count;
} wb__facts;

/*
 * Makes later lookups of members use `config`, which is config.json. If it contains an object that
 * describes the language model of a multimodal model ("text_config"), the members of this object
 * take precedence over those of config.json itself.
 */
void wb__facts_use_config(wb__facts *facts, const wb__tree *config);

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
 * facts->places[0] first, then inside the next object in facts->places. A null value is returned
 * only if no other value is found.
 */
wb__fact wb__fact_by_path(const wb__facts *facts, const char *paths);

/* Finds a list, first by GGUF keys as wb__fact_by_key does, then by paths in config.json as
 * wb__fact_by_path does. Returns false if there is none. */
bool wb__fact_list_find(const wb__facts *facts, wb__str prefix, const char *keys, const char *paths,
                        wb__fact_list *list);

/* Returns the number of elements of a list that has been found. */
uint64_t wb__fact_list_count(const wb__fact_list *list);

/* Moves to element `index`, or to the end if the list is shorter. */
void wb__fact_list_seek(wb__fact_list *list, uint64_t index);

/* Reads the next element of a list. Returns false at the end. */
bool wb__fact_list_next(wb__fact_list *list, wb__fact *fact);

/*
 * Returns the shortest decimal number that rounds to the same float32, as a double. Example: 1e-5f
 * gives 1e-5.
 */
double wb__shortest_of_float(double value);

#endif
