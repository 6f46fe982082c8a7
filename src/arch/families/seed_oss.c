/* Generated from seed_oss.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_decoder;

static const wb__op e0[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape0[] = {e0};
static const wb__spelling s0[] = {
    {"model.layers.{n}.post_attention_layernorm", 14, 3, false, 0, NULL},
    {"blk.{n}.post_attention_norm", 1, 3, false, 0, NULL},
};
static const wb__rule rules[] = {
    {.canonical = "layers.{n}.ffn_norm",
     .spellings = s0,
     .spelling_count = 2,
     .shape = shape0,
     .rank = 1,
     .provides = 1073741856u,
     .suffix = 3},
};
static const wb__op e1[] = {{WB__OP_TEXT, 0, "silu"}, {0}};
static const wb__op e2[] = {{WB__OP_NUMBER, 10000, NULL}, {0}};
static const wb__op e3[] = {{WB__OP_NUMBER, 9.9999999999999995e-07, NULL}, {0}};
static const wb__op e4[] = {{WB__OP_NUMBER, 8, NULL}, {0}};
static const wb__op e5[] = {{WB__OP_NUMBER, 128, NULL}, {0}};
static const wb__value_row values[] = {
    {3, 30, "activation", e1}, {1, 12, "rope_theta", e2}, {1, 11, "norm_eps", e3},
    {1, 4, "n_kv_heads", e4},  {1, 5, "head_dim", e5},
};
static const wb__op e6[] = {{WB__OP_CALL, 13, "layers.0.attention.output.bias"}, {0}};
static const wb__key_row keys[] = {
    {"attention_out_bias", 0, 1, 0, e6, NULL},
};
extern const wb__family wb__family_seed_oss;
const wb__family wb__family_seed_oss = {
    .name = "seed_oss",
    .base = &wb__family_decoder,
    .gguf = "seed_oss",
    .types = "seed_oss",
    .classes = "SeedOssForCausalLM",
    .rules = rules,
    .rule_count = 1,
    .values = values,
    .value_count = 5,
    .keys = keys,
    .key_count = 1,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
