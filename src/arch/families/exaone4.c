/* Generated from exaone4.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_olmo2;

static const wb__op e0[] = {{WB__OP_NAME, 0, "head_dim"}, {0}};
static const wb__expr shape0[] = {e0};
static const wb__spelling s0[] = {
    {"model.layers.{n}.self_attn.q_norm", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_q_norm", 1, 3, false, 0, NULL},
};
static const wb__op e1[] = {{WB__OP_NAME, 0, "head_dim"}, {0}};
static const wb__expr shape1[] = {e1};
static const wb__spelling s1[] = {
    {"model.layers.{n}.self_attn.k_norm", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_k_norm", 1, 3, false, 0, NULL},
};
static const wb__rule rules[] = {
    {.canonical = "layers.{n}.attention.q_norm",
     .spellings = s0,
     .spelling_count = 2,
     .shape = shape0,
     .rank = 1,
     .provides = 1073741824u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.k_norm",
     .spellings = s1,
     .spelling_count = 2,
     .shape = shape1,
     .rank = 1,
     .provides = 1073741824u,
     .suffix = 3},
};
static const wb__op e2[] = {{WB__OP_NUMBER, 4096, NULL}, {0}};
static const wb__op e3[] = {{WB__OP_NUMBER, 4, NULL}, {0}};
static const wb__value_row values[] = {
    {1, 13, "sliding_window", e2},
    {3, 14, "sliding_window_pattern", e3},
};
static const wb__op e4[] = {{WB__OP_NAME, 0, "i"},
                            {WB__OP_ELEMENT, 0, "attention.sliding_window_pattern"},
                            {WB__OP_FALSE, 0, NULL},
                            {WB__OP_ELSE, 0, NULL},
                            {WB__OP_TEXT, 0, "sliding_attention"},
                            {WB__OP_TEXT, 0, "full_attention"},
                            {WB__OP_SELECT, 0, NULL},
                            {0}};
static const wb__op e5[] = {{WB__OP_NAME, 0, "sliding_window"},
                            {WB__OP_NUMBER, 0, NULL},
                            {WB__OP_ELSE, 0, NULL},
                            {WB__OP_NUMBER, 0, NULL},
                            {WB__OP_NE, 0, NULL},
                            {WB__OP_NAME, 0, "sliding_window"},
                            {WB__OP_NULL, 0, NULL},
                            {WB__OP_SELECT, 0, NULL},
                            {0}};
static const wb__op e6[] = {{WB__OP_NAME, 0, "i"},
                            {WB__OP_ELEMENT, 0, "layer_types"},
                            {WB__OP_TEXT, 0, "sliding_attention"},
                            {WB__OP_EQ, 0, NULL},
                            {0}};
static const wb__key_row keys[] = {
    {"layer_types", 8, 1, 0, e4, NULL},
    {"sliding_window", 0, 1, 0, e5, NULL},
    {"attention.sliding_window_pattern", 7, 0, 0, e6, NULL},
};
static const wb__op e7[] = {{WB__OP_NAME, 0, "sliding_window"},
                            {WB__OP_NUMBER, 0, NULL},
                            {WB__OP_NE, 0, NULL},
                            {WB__OP_NAME, 0, "n_layers"},
                            {WB__OP_NUMBER, 64, NULL},
                            {WB__OP_EQ, 0, NULL},
                            {WB__OP_NE, 0, NULL},
                            {0}};
static const wb__limit limits[] = {
    {1, 1, "sliding_window", e7,
     "llama.cpp uses the sliding window of this architecture in models with 64 layers, and in no "
     "others"},
};
extern const wb__family wb__family_exaone4;
const wb__family wb__family_exaone4 = {
    .name = "exaone4",
    .base = &wb__family_olmo2,
    .gguf = "exaone4",
    .types = "exaone4",
    .classes = "Exaone4ForCausalLM",
    .tokenizer = "llama3",
    .rules = rules,
    .rule_count = 2,
    .values = values,
    .value_count = 2,
    .keys = keys,
    .key_count = 3,
    .limits = limits,
    .limit_count = 1,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
