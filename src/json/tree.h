/*
 * json/tree.h: a whole JSON text to look around in, for the files beside the weights.
 *
 * A node is eight bytes: where its value stands in the text, and how far it reaches. Strings are
 * unescaped in place, numbers read when they are asked for, so that a tree takes little more than
 * its text: at most five times its bytes, whatever the text says. Nodes are numbers, in the order
 * of the text; 0 is the root. In an object keys and values take turns.
 *
 *     {"a": [1, 2], "b": "x"}      0 object, 1 key a, 2 array, 3 one, 4 two, 5 key b, 6 string x
 */
#ifndef WB_JSON_TREE_H
#define WB_JSON_TREE_H

#include "json/json.h"

typedef struct wb__tree_node {
    uint32_t at;     /* offset of the first byte in the text */
    uint32_t extent; /* array, object: number of the node behind the last inside; string: bytes */
} wb__tree_node;

typedef struct wb__tree {
    wb_allocator allocator;
    char *text; /* the caller's */
    size_t bytes;
    wb__arena arena;
    wb__list nodes; /* of wb__tree_node */
    /* Where parsing failed: */
    wb__json_fault fault;
    uint64_t fault_at;
} wb__tree;

typedef uint32_t wb__node;
#define WB__NO_NODE UINT32_MAX

/*
 * Parses `bytes` of text (less than 4 GiB), which the tree changes and keeps pointing into; NaN and
 * the infinities are numbers, as Python writes them into such files. False with fault and fault_at
 * set for what is not one JSON value. Release with wb__tree_free, also after a failure.
 */
bool wb__tree_parse(wb__tree *tree, char *text, size_t bytes, const wb_allocator *allocator);
void wb__tree_free(wb__tree *tree);

static inline const wb__tree_node *wb__tree_at(const wb__tree *tree, wb__node node)
{
    return wb__list_at(&tree->nodes, node);
}

/* OBJECT, ARRAY, STRING, TRUE, FALSE, NULL, or UINT, which here stands for any number. */
wb__json_token wb__tree_type(const wb__tree *tree, wb__node node);

/* The value under a key of an object; of several the last, as Python has it. WB__NO_NODE if none.
 */
wb__node wb__tree_get(const wb__tree *tree, wb__node object, const char *key);

/* As wb__tree_get along several keys with '/' between them: "text_config/hidden_size". */
wb__node wb__tree_path(const wb__tree *tree, wb__node object, const char *path);

/*
 * Steps through an array or an object: the first node inside, and the one behind a value;
 * WB__NO_NODE at the end. In an object the value of key k is node k + 1, the next key the one
 * behind it.
 */
wb__node wb__tree_first(const wb__tree *tree, wb__node parent);
wb__node wb__tree_first_key(const wb__tree *tree, wb__node object); /* and not of an array */
wb__node wb__tree_next(const wb__tree *tree, wb__node parent, wb__node value);
size_t wb__tree_count(const wb__tree *tree, wb__node array); /* elements, or members */

/* A string or key, NUL-terminated, borrowed from the text; the empty string for other nodes. */
wb__str wb__tree_string(const wb__tree *tree, wb__node node);

/* False where the node is not such a number, or is WB__NO_NODE. */
bool wb__tree_uint(const wb__tree *tree, wb__node node, uint64_t *value);
bool wb__tree_int(const wb__tree *tree, wb__node node, int64_t *value);
bool wb__tree_double(const wb__tree *tree, wb__node node, double *value);
bool wb__tree_bool(const wb__tree *tree, wb__node node, bool *value);

#endif
