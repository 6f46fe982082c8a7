/* Generated from olmo.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_layer_norm;

static const wb__rule rules[] = {
    {.canonical = "layers.{n}.attention_norm", .suffix = 3, .is_dropped = true},
    {.canonical = "layers.{n}.ffn_norm", .suffix = 3, .is_dropped = true},
    {.canonical = "output_norm", .suffix = 3, .is_dropped = true},
};
static const wb__op e0[] = {{WB__OP_TEXT, 0, "silu"}, {0}};
static const wb__op e1[] = {{WB__OP_NUMBER, 10000, NULL}, {0}};
static const wb__op e2[] = {{WB__OP_NUMBER, 1.0000000000000001e-05, NULL}, {0}};
static const wb__value_row values[] = {
    {3, 30, "activation", e0},
    {1, 12, "rope_theta", e1},
    {0, 11, "norm_eps", e2},
};
static const wb__op e3[] = {{WB__OP_NAME, 0, "attention_clamp_kqv"}, {0}};
static const wb__op e4[] = {{WB__OP_NAME, 0, "attention_clamp_kqv"},
                            {WB__OP_NUMBER, 0, NULL},
                            {WB__OP_ELSE, 0, NULL},
                            {WB__OP_NUMBER, 0, NULL},
                            {WB__OP_NE, 0, NULL},
                            {0}};
static const wb__op e5[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e6[] = {{WB__OP_NAME, 0, "attention_clamp_kqv"}, {0}};
static const wb__op e7[] = {{WB__OP_NAME, 0, "attention_clamp_kqv"},
                            {WB__OP_NUMBER, 0, NULL},
                            {WB__OP_ELSE, 0, NULL},
                            {WB__OP_NUMBER, 0, NULL},
                            {WB__OP_NE, 0, NULL},
                            {0}};
static const wb__key_row keys[] = {
    {"attention.clamp_kqv", 2, 0, 0, e3, e4},
    {"layer_norm_eps", 0, 1, 0, e5, NULL},
    {"clip_qkv", 0, 1, 0, e6, e7},
};
static const wb__op e8[] = {
    {WB__OP_NAME, 0, "n_kv_heads"}, {WB__OP_NAME, 0, "n_heads"}, {WB__OP_NE, 0, NULL}, {0}};
static const wb__limit limits[] = {
    {1, 1, "num_key_value_heads", e8,
     "llama.cpp does not load models of this architecture with fewer heads of k and v than of q"},
};
extern const wb__family wb__family_olmo;
const wb__family wb__family_olmo = {
    .name = "olmo",
    .base = &wb__family_layer_norm,
    .gguf = "olmo",
    .types = "olmo",
    .classes = "OlmoForCausalLM",
    .rules = rules,
    .rule_count = 3,
    .values = values,
    .value_count = 3,
    .keys = keys,
    .key_count = 3,
    .limits = limits,
    .limit_count = 1,
    .rope = 3,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 197086u,
};
