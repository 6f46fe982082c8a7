/* Generated from olmo3.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_olmo2;

static const wb__op e0[] = {{WB__OP_CALL, 7, "attention.sliding_window"}, {0}};
static const wb__op e1[] = {{WB__OP_NUMBER, 500000, NULL}, {0}};
static const wb__op e2[] = {{WB__OP_NUMBER, 4096, NULL}, {0}};
static const wb__op e3[] = {{WB__OP_NUMBER, 4, NULL}, {0}};
static const wb__value_row values[] = {
    {1, 12, "rope_theta", e1},
    {1, 13, "sliding_window", e2},
    {3, 14, "sliding_window_pattern", e3},
};
static const wb__op e4[] = {{WB__OP_NAME, 0, "i"},
                            {WB__OP_ELEMENT, 0, "attention.sliding_window_pattern"},
                            {WB__OP_NAME, 0, "i"},
                            {WB__OP_NUMBER, 1, NULL},
                            {WB__OP_ADD, 0, NULL},
                            {WB__OP_NUMBER, 4, NULL},
                            {WB__OP_DIV, 0, NULL},
                            {WB__OP_CALL, 0, NULL},
                            {WB__OP_NUMBER, 4, NULL},
                            {WB__OP_MUL, 0, NULL},
                            {WB__OP_NAME, 0, "i"},
                            {WB__OP_NUMBER, 1, NULL},
                            {WB__OP_ADD, 0, NULL},
                            {WB__OP_NE, 0, NULL},
                            {WB__OP_ELSE, 0, NULL},
                            {WB__OP_TEXT, 0, "sliding_attention"},
                            {WB__OP_TEXT, 0, "full_attention"},
                            {WB__OP_SELECT, 0, NULL},
                            {0}};
static const wb__op e5[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e6[] = {{WB__OP_NAME, 0, "i"},
                            {WB__OP_ELEMENT, 0, "layer_types"},
                            {WB__OP_TEXT, 0, "sliding_attention"},
                            {WB__OP_EQ, 0, NULL},
                            {0}};
static const wb__key_row keys[] = {
    {"layer_types", 8, 1, 0, e4, NULL},
    {"sliding_window_pattern", 0, 1, 0, e5, NULL},
    {"attention.sliding_window_pattern", 7, 0, 0, e6, NULL},
};
extern const wb__family wb__family_olmo3;
const wb__family wb__family_olmo3 = {
    .name = "olmo3",
    .base = &wb__family_olmo2,
    .gguf = "olmo2",
    .types = "olmo3",
    .classes = "Olmo3ForCausalLM",
    .when = e0,
    .values = values,
    .value_count = 3,
    .keys = keys,
    .key_count = 3,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
