/*
 * The order in which a forward pass uses the weights of a layer, and those outside the layers.
 *
 * A name has a group, such as "attention", and a leaf, such as "q". Unknown leaves of a group come
 * before the output of the group. Unknown groups come after all other groups.
 */
#include "provider/layer_weights.h"

typedef struct row {
    wb__str name;
    uint32_t order;
} row;

/* The groups, and their positions in the order of use. A group is the first word of a name. */
static const row groups[] = {
    {{"token_embedding", 15}, 1},
    {{"token_embd", 10}, 1},
    {{"positional_embedding", 20}, 2},
    {{"position_embd", 13}, 2},
    {{"token_types", 11}, 3},
    {{"token_embd_norm", 15}, 4},
    {{"enc", 3}, 5},
    {{"attention_norm", 14}, 10},
    {{"attn_norm", 9}, 10},
    {{"attention", 9}, 11},
    {{"attn", 4}, 11},
    {{"post_attention_norm", 19}, 12},
    {{"attention_output_norm", 21}, 12},
    {{"attn_output_norm", 16}, 12},
    {{"cross_attn_norm", 15}, 13},
    {{"cross_attn", 10}, 14},
    {{"ffn_norm", 8}, 20},
    {{"ffn", 3}, 21},
    {{"post_ffn_norm", 13}, 22},
    {{"layer_output_norm", 17}, 22},
    {{"output_norm", 11}, 40},
    {{"output", 6}, 41},
};
#define GROUP_UNKNOWN 30

/* The leaves, and their positions in the order of use within a group. A leaf is the word after the
 * group. */
static const row leaves[] = {
    {{"q", 1}, 1},      {{"k", 1}, 2},       {{"v", 1}, 3},       {{"qkv", 3}, 1},
    {{"q_norm", 6}, 4}, {{"k_norm", 6}, 5},  {{"router", 6}, 1},  {{"gate", 4}, 2},
    {{"up", 2}, 3},     {{"gate_up", 7}, 2}, {{"output", 6}, 20}, {{"down", 4}, 20},
};
#define LEAF_UNKNOWN 10

static uint32_t find(const row *rows, size_t n, wb__str name, uint32_t otherwise)
{
    for (size_t i = 0; i < n; i++) {
        if (wb__str_equal(rows[i].name, name))
            return rows[i].order;
    }
    return otherwise;
}

/* Returns the text before the next '.', or all text if there is none. Removes this text and the '.'
 * from *rest. */
static wb__str next_word(wb__str *rest)
{
    const char *dot = memchr(rest->ptr, '.', rest->len);
    wb__str word = {rest->ptr, dot == NULL ? rest->len : (size_t)(dot - rest->ptr)};
    size_t used = word.len + (dot != NULL);
    *rest = (wb__str){rest->ptr + used, rest->len - used};
    return word;
}

uint32_t wb__layer_order(wb__str name)
{
    wb__str rest = name;
    uint32_t order =
        find(groups, sizeof groups / sizeof groups[0], next_word(&rest), GROUP_UNKNOWN);
    wb__str leaf = next_word(&rest);
    uint32_t stack = 0; /* 0: the router and others; 1: experts; 2: shared experts */
    if (wb__str_equal(leaf, WB__STR("experts")))
        stack = 1;
    if (wb__str_equal(leaf, WB__STR("shared_experts")))
        stack = 2;
    if (stack != 0)
        leaf = next_word(&rest);
    uint32_t last = find(leaves, sizeof leaves / sizeof leaves[0], leaf, LEAF_UNKNOWN);
    uint32_t is_bias = wb__str_ends_with(name, WB__STR(".bias"));
    return ((order * 4 + stack) * 32 + last) * 2 + is_bias;
}
