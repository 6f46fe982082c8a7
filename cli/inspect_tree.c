/* wb inspect --tree: prints the rows of --layers as a tree of the components of tensor names.
 *
 * The components are separated by dots. A component that is a layer number is shown as a range of
 * layers. The sums of a row include those of all rows below it. If there is only one component
 * below a component, both share a row.
 */
#include <stdlib.h>
#include <string.h>

#include "inspect.h"
#include "report.h"
#include "table.h"

#define NONE SIZE_MAX
#define DEEPEST 16 /* all components from this depth on count as one */

typedef struct node {
    size_t at, len; /* offset and length of its name in tree.names */
    size_t parent;  /* index of the parent in tree.nodes; NONE: no parent */
    size_t children;
    bool is_tensor; /* `kinds` and `shape` describe it */
    text kinds;     /* types, such as "Q4_K|Q6_K" */
    text shape;
    uint64_t tensors, parameters, bytes;
} node;

typedef struct tree {
    node *nodes; /* each node precedes its children */
    size_t count, capacity;
    text names;               /* the components of all nodes, one after the other */
    size_t open[DEEPEST + 1]; /* the nodes on the path to the last node */
    size_t open_count;
    size_t *shown; /* indices of the nodes that have a row */
} tree;

static bool is_component(const tree *t, size_t index, const char *name, size_t len)
{
    const node *n = &t->nodes[index];
    return n->len == len && memcmp(t->names.ptr + n->at, name, len) == 0;
}

static void push(tree *t, const char *name, size_t len)
{
    if (t->count == t->capacity) {
        t->capacity = t->capacity == 0 ? 64 : 2 * t->capacity;
        t->nodes = need_memory(t->nodes, t->capacity, sizeof *t->nodes);
    }
    size_t parent = t->open_count > 0 ? t->open[t->open_count - 1] : NONE;
    if (parent != NONE)
        t->nodes[parent].children++;
    t->nodes[t->count] = (node){.at = t->names.len, .len = len, .parent = parent};
    text_adds(&t->names, "");
    text_add(&t->names, name, len);
    t->open[t->open_count++] = t->count++;
}

/* Adds a row of --layers. Creates those nodes of its path that the path of the previous row did not
 * have. */
static void add_row(void *ctx, const layer_sums *row)
{
    tree *t = ctx;
    const char *name = row->name;
    size_t depth = 0;
    bool is_same = true;
    for (size_t rest = row->name_len;; depth++) {
        const char *dot = depth == DEEPEST ? NULL : memchr(name, '.', rest);
        size_t len = dot == NULL ? rest : (size_t)(dot - name);
        is_same = is_same && depth < t->open_count && is_component(t, t->open[depth], name, len);
        if (!is_same) {
            t->open_count = depth;
            push(t, name, len);
        }
        if (dot == NULL)
            break;
        name = dot + 1;
        rest -= len + 1;
    }
    t->open_count = depth + 1;
    if (t->nodes[t->open[depth]].is_tensor) {
        /* The node of an earlier row has the same name, for example that of tensors with another
         * shape. This row gets a separate node. */
        t->open_count = depth;
        push(t, name, t->nodes[t->open[depth]].len);
    }
    for (size_t i = 0; i < t->open_count; i++) {
        node *n = &t->nodes[t->open[i]];
        n->tensors += row->tensors;
        n->parameters += row->parameters;
        n->bytes += row->bytes;
    }
    node *leaf = &t->nodes[t->open[depth]];
    leaf->is_tensor = true;
    text_adds(&leaf->kinds, row->kinds);
    text_add_shape(&leaf->shape, row->tensor->shape, row->tensor->rank);
}

static bool is_merged(const node *n)
{
    return !n->is_tensor && n->children == 1;
}

static bool tree_row(void *ctx, uint64_t row, text cells[TABLE_COLUMNS])
{
    const tree *t = ctx;
    size_t last = t->shown[row], first = last, indent = 0;
    const node *n = &t->nodes[last];
    while (t->nodes[first].parent != NONE && is_merged(&t->nodes[t->nodes[first].parent]))
        first = t->nodes[first].parent; /* an only child is in the same row as its parent */
    for (size_t i = t->nodes[first].parent; i != NONE; i = t->nodes[i].parent)
        indent += is_merged(&t->nodes[i]) ? 0 : 2;
    for (size_t i = 0; i < indent; i++)
        text_adds(&cells[0], " ");
    for (size_t i = first; i <= last; i++) {
        text_adds(&cells[0], i > first ? "." : "");
        text_add_shown(&cells[0], t->names.ptr + t->nodes[i].at, t->nodes[i].len);
    }
    text_adds(&cells[1], n->kinds.ptr == NULL ? "" : n->kinds.ptr);
    text_adds(&cells[2], n->shape.ptr == NULL ? "" : n->shape.ptr);
    text_add_count(&cells[3], n->tensors);
    text_add_count(&cells[4], n->parameters);
    text_add_count(&cells[5], n->bytes);
    return true;
}

void print_tree(out *o, const inspection *in)
{
    tree t = {.nodes = NULL};
    size_t rows = 0;
    layers_each(in, add_row, &t);
    t.shown = need_memory(NULL, t.count, sizeof *t.shown);
    for (size_t i = 0; i < t.count; i++) {
        if (!is_merged(&t.nodes[i]))
            t.shown[rows++] = i;
    }
    print_title(o, "Tree");
    table_print(o, &(table){.columns = 6,
                            .titles = {"name", "dtype", "shape", "tensors", "parameters", "bytes"},
                            .align = "Llrrrr",
                            .rows = rows,
                            .row = tree_row,
                            .ctx = &t});
    for (size_t i = 0; i < t.count; i++) {
        text_free(&t.nodes[i].kinds);
        text_free(&t.nodes[i].shape);
    }
    text_free(&t.names);
    free(t.nodes);
    free(t.shown);
}
