/* Generated from starcoder2.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_layer_norm;

static const wb__op e0[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__op e1[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape1[] = {e0, e1};
static const wb__spelling s1[] = {
    {"model.layers.{n}.mlp.c_fc", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_up", 1, 3, false, 0, NULL},
};
static const wb__op e2[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e3[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__expr shape2[] = {e2, e3};
static const wb__spelling s2[] = {
    {"model.layers.{n}.mlp.c_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_down", 1, 3, false, 0, NULL},
};
static const wb__rule rules[] = {
    {.canonical = "layers.{n}.ffn.gate", .suffix = 3, .is_dropped = true},
    {.canonical = "layers.{n}.ffn.up",
     .spellings = s1,
     .spelling_count = 2,
     .shape = shape1,
     .rank = 2,
     .provides = 128u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.down",
     .spellings = s2,
     .spelling_count = 2,
     .shape = shape2,
     .rank = 2,
     .provides = 256u,
     .suffix = 3},
};
static const wb__op e4[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e5[] = {{WB__OP_TEXT, 0, "gelu_pytorch_tanh"}, {0}};
static const wb__op e6[] = {{WB__OP_NUMBER, 10000, NULL}, {0}};
static const wb__op e7[] = {{WB__OP_NUMBER, 1.0000000000000001e-05, NULL}, {0}};
static const wb__op e8[] = {{WB__OP_NUMBER, 2, NULL}, {0}};
static const wb__op e9[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__value_row values[] = {
    {5, -1, "loads_output_bias", e4}, {3, 30, "activation", e5}, {1, 12, "rope_theta", e6},
    {1, 11, "norm_eps", e7},          {1, 4, "n_kv_heads", e8},  {1, 19, "tie_embeddings", e9},
};
static const wb__op e10[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e11[] = {{WB__OP_NAME, 0, "norm_eps"}, {0}};
static const wb__op e12[] = {{WB__OP_CALL, 13, "layers.0.attention.q.bias"}, {0}};
static const wb__key_row keys[] = {
    {"layer_norm_eps", 0, 1, 0, e10, NULL},
    {"norm_epsilon", 0, 1, 0, e11, NULL},
    {"use_bias", 0, 1, 0, e12, NULL},
};
static const wb__op e13[] = {
    {WB__OP_CALL, 13, "layers.{n}.attention.output.bias"}, {WB__OP_NOT, 0, NULL}, {0}};
static const wb__limit limits[] = {
    {1, 1, "use_bias", e13, "llama.cpp does not load models of this architecture without biases"},
};
extern const wb__family wb__family_starcoder2;
const wb__family wb__family_starcoder2 = {
    .name = "starcoder2",
    .base = &wb__family_layer_norm,
    .gguf = "starcoder2",
    .types = "starcoder2",
    .classes = "Starcoder2ForCausalLM",
    .rules = rules,
    .rule_count = 3,
    .values = values,
    .value_count = 6,
    .keys = keys,
    .key_count = 3,
    .limits = limits,
    .limit_count = 1,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 459199u,
};
