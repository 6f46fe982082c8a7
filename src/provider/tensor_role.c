#include "provider/tensor_role.h"

typedef enum group_kind { GROUP_NONE, GROUP_ATTENTION, GROUP_FEED_FORWARD } group_kind;

static const struct group_row {
    wb__str ending;
    group_kind kind;
} group_rows[] = {
    {{".attention", 10}, GROUP_ATTENTION},  {{".attn", 5}, GROUP_ATTENTION},
    {{".cross_attn", 11}, GROUP_ATTENTION}, {{".ffn", 4}, GROUP_FEED_FORWARD},
    {{".experts", 8}, GROUP_FEED_FORWARD},  {{".shared_experts", 15}, GROUP_FEED_FORWARD},
};

/* One row for each wb__leaf. */
static const struct leaf_row {
    wb__str name;
    group_kind group;
    wb__leaf parts[WB__FUSED_MAX]; /* ends with WB__LEAF_NONE */
} leaf_rows[] = {
    [WB__LEAF_NONE] = {{"", 0}, GROUP_NONE, {0}},
    [WB__LEAF_Q] = {{"q", 1}, GROUP_ATTENTION, {0}},
    [WB__LEAF_K] = {{"k", 1}, GROUP_ATTENTION, {0}},
    [WB__LEAF_V] = {{"v", 1}, GROUP_ATTENTION, {0}},
    [WB__LEAF_QKV] = {{"qkv", 3}, GROUP_ATTENTION, {WB__LEAF_Q, WB__LEAF_K, WB__LEAF_V}},
    [WB__LEAF_OUTPUT] = {{"output", 6}, GROUP_ATTENTION, {0}},
    [WB__LEAF_GATE] = {{"gate", 4}, GROUP_FEED_FORWARD, {0}},
    [WB__LEAF_UP] = {{"up", 2}, GROUP_FEED_FORWARD, {0}},
    [WB__LEAF_GATE_UP] = {{"gate_up", 7}, GROUP_FEED_FORWARD, {WB__LEAF_GATE, WB__LEAF_UP}},
    [WB__LEAF_DOWN] = {{"down", 4}, GROUP_FEED_FORWARD, {0}},
};
#define LEAF_ROWS (sizeof leaf_rows / sizeof leaf_rows[0])

/* Splits a text at its last dot. Returns the first part and sets *last to the second. */
static wb__str cut_last(wb__str text, wb__str *last)
{
    size_t n = text.len;
    while (n > 0 && text.ptr[n - 1] != '.')
        n--;
    *last = (wb__str){text.ptr + n, text.len - n};
    return (wb__str){text.ptr, n == 0 ? 0 : n - 1};
}

wb__layer_role wb__layer_role_of(wb__str canonical)
{
    wb__str leaf;
    wb__layer_role role = {.leaf = WB__LEAF_NONE};
    wb__str stem = cut_last(canonical, &role.suffix);
    if (!wb__str_equal(role.suffix, WB__STR("weight")) &&
        !wb__str_equal(role.suffix, WB__STR("bias")))
        return role;
    role.group = cut_last(stem, &leaf);
    group_kind group = GROUP_NONE;
    for (size_t i = 0; i < sizeof group_rows / sizeof group_rows[0]; i++) {
        if (wb__str_ends_with(role.group, group_rows[i].ending))
            group = group_rows[i].kind;
    }
    for (size_t i = 1; i < LEAF_ROWS; i++) {
        if (leaf_rows[i].group == group && wb__str_equal(leaf, leaf_rows[i].name))
            role.leaf = (wb__leaf)i;
    }
    return role;
}

size_t wb__layer_role_name(const wb__layer_role *role, wb__leaf leaf,
                           char name[WB__LAYER_ROLE_BYTES])
{
    wb__str own = leaf_rows[leaf].name;
    if (role->group.len + own.len + role->suffix.len + 3 > WB__LAYER_ROLE_BYTES)
        return 0;
    char *at = name;
    memcpy(at, role->group.ptr, role->group.len);
    at += role->group.len;
    *at++ = '.';
    memcpy(at, own.ptr, own.len);
    at += own.len;
    *at++ = '.';
    memcpy(at, role->suffix.ptr, role->suffix.len);
    at += role->suffix.len;
    *at = '\0';
    return (size_t)(at - name);
}

size_t wb__leaf_parts(wb__leaf leaf, wb__leaf parts[WB__FUSED_MAX])
{
    size_t n = 0;
    for (; n < WB__FUSED_MAX && leaf_rows[leaf].parts[n] != WB__LEAF_NONE; n++)
        parts[n] = leaf_rows[leaf].parts[n];
    return n;
}

wb__leaf wb__leaf_whole(wb__leaf leaf, uint32_t *index)
{
    for (size_t i = 1; i < LEAF_ROWS && leaf != WB__LEAF_NONE; i++) {
        for (uint32_t k = 0; k < WB__FUSED_MAX; k++) {
            if (leaf_rows[i].parts[k] == leaf) {
                *index = k;
                return (wb__leaf)i;
            }
        }
    }
    return WB__LEAF_NONE;
}
