/* Generated from cohere2.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_cohere;

static const wb__op e0[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e1[] = {{WB__OP_NUMBER, 10000, NULL}, {0}};
static const wb__op e2[] = {{WB__OP_NUMBER, 128, NULL}, {0}};
static const wb__op e3[] = {{WB__OP_NUMBER, 4096, NULL}, {0}};
static const wb__op e4[] = {{WB__OP_NUMBER, 4, NULL}, {0}};
static const wb__op e5[] = {{WB__OP_NAME, 0, "cohere2.logit_scale"}, {0}};
static const wb__value_row values[] = {
    {5, -1, "has_windows", e0},
    {1, 12, "rope_theta", e1},
    {1, 5, "head_dim", e2},
    {3, 13, "sliding_window", e3},
    {3, 14, "sliding_window_pattern", e4},
    {2, 37, "logit_scale", e5},
};
static const wb__op e6[] = {{WB__OP_NAME, 0, "max_seq_len"}, {0}};
static const wb__op e7[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__key_row keys[] = {
    {"context_length", 1, 0, 0, e6, NULL},
    {"use_qk_norm", 0, 1, 0, e7, NULL},
};
static const wb__op e8[] = {{WB__OP_NAME, 0, "i"},
                            {WB__OP_ELEMENT, 0, "layer_types"},
                            {WB__OP_TEXT, 0, "sliding_attention"},
                            {WB__OP_EQ, 0, NULL},
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
                            {WB__OP_EQ, 0, NULL},
                            {WB__OP_EQ, 0, NULL},
                            {0}};
static const wb__limit limits[] = {
    {1, 1, "layer_types", e8,
     "llama.cpp uses full attention in every fourth layer of this architecture; this model uses it "
     "in other layers"},
};
extern const wb__family wb__family_cohere2;
const wb__family wb__family_cohere2 = {
    .name = "cohere2",
    .base = &wb__family_cohere,
    .gguf = "cohere2",
    .types = "cohere2",
    .classes = "Cohere2ForCausalLM",
    .values = values,
    .value_count = 6,
    .keys = keys,
    .key_count = 2,
    .limits = limits,
    .limit_count = 1,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
