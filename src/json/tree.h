/*
 * json/tree.h: a parsed JSON text with random access, for sidecar files such as config.json.
 *
 * A node has 8 bytes: the offset of its value in the text, and its extent. Strings are unescaped in
 * place, and numbers are parsed when requested. For any input, the memory of a tree is therefore at
 * most five times the size of its text. Nodes are numbered in text order; 0 is the root. In an
 * object, keys and values alternate.
 *
 *     {"a": [1, 2], "b": "x"}      0 object, 1 key a, 2 array, 3 one, 4 two, 5 key b, 6 string x
 */
#ifndef WB_JSON_TREE_H
#define WB_JSON_TREE_H

#include "json/json.h"

typedef struct wb__tree_node {
    uint32_t at; /* offset of the first byte in the text */
    /* array, object: number of the node after the last one inside; string: length in bytes */
    uint32_t extent;
} wb__tree_node;

typedef struct wb__tree {
    wb_allocator allocator;
    char *text; /* owned by the caller */
    size_t bytes;
    wb__arena arena;
    wb__list nodes; /* items are wb__tree_node */
    /* The error and its offset, if parsing failed. */
    wb__json_fault fault;
    uint64_t fault_at;
} wb__tree;

typedef uint32_t wb__node;
#define WB__NO_NODE UINT32_MAX

/*
 * Parses `bytes` bytes of text (less than 4 GiB). The tree modifies the text and keeps pointers
 * into it. NaN and the infinities are accepted as numbers, because Python's json module writes
 * them. Returns false and sets fault and fault_at if the text is not exactly one JSON value.
 * Release with wb__tree_free, also after a failure.
 */
bool wb__tree_parse(wb__tree *tree, char *text, size_t bytes, const wb_allocator *allocator);
void wb__tree_free(wb__tree *tree);

static inline const wb__tree_node *wb__tree_at(const wb__tree *tree, wb__node node)
{
    return wb__list_at(&tree->nodes, node);
}

/* Returns OBJECT, ARRAY, STRING, TRUE, FALSE, NULL, or UINT, which here means any number. */
wb__json_token wb__tree_type(const wb__tree *tree, wb__node node);

/*
 * Returns the value of a key of an object; for duplicate keys the last value, as in Python. Returns
 * WB__NO_NODE if the key does not exist.
 */
wb__node wb__tree_get(const wb__tree *tree, wb__node object, const char *key);

/* As wb__tree_get, for a path of keys separated by '/', such as "text_config/hidden_size". */
wb__node wb__tree_path(const wb__tree *tree, wb__node object, const char *path);

/*
 * Iterate over an array or an object: wb__tree_first returns the first node inside, wb__tree_next
 * the node after a value. Both return WB__NO_NODE at the end. In an object, node k + 1 is the value
 * of key k, and wb__tree_next of that value returns the next key.
 */
wb__node wb__tree_first(const wb__tree *tree, wb__node parent);
/* Like wb__tree_first, but returns WB__NO_NODE for an array. */
wb__node wb__tree_first_key(const wb__tree *tree, wb__node object);
wb__node wb__tree_next(const wb__tree *tree, wb__node parent, wb__node value);
/* Returns the number of array elements or object members. */
size_t wb__tree_count(const wb__tree *tree, wb__node array);

/*
 * Returns the string of a string or key node. It is NUL-terminated and borrowed from the text. For
 * other nodes, returns the empty string.
 */
wb__str wb__tree_string(const wb__tree *tree, wb__node node);

/*
 * Return false if the node is not a number of the requested type (or not a boolean), or is
 * WB__NO_NODE.
 */
bool wb__tree_uint(const wb__tree *tree, wb__node node, uint64_t *value);
bool wb__tree_int(const wb__tree *tree, wb__node node, int64_t *value);
bool wb__tree_double(const wb__tree *tree, wb__node node, double *value);
bool wb__tree_bool(const wb__tree *tree, wb__node node, bool *value);

#endif
