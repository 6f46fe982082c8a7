/* Generated from stablelm.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_layer_norm;

static const wb__op e0[] = {{WB__OP_NAME, 0, "n_heads"}, {0}};
static const wb__op e1[] = {{WB__OP_NAME, 0, "head_dim"}, {0}};
static const wb__expr shape0[] = {e0, e1};
static const wb__spelling s0[] = {
    {"model.layers.{n}.self_attn.q_layernorm.norms.{e}", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_q_norm", 1, 3, false, 0, NULL},
};
static const wb__op e2[] = {{WB__OP_NAME, 0, "n_kv_heads"}, {0}};
static const wb__op e3[] = {{WB__OP_NAME, 0, "head_dim"}, {0}};
static const wb__expr shape1[] = {e2, e3};
static const wb__spelling s1[] = {
    {"model.layers.{n}.self_attn.k_layernorm.norms.{e}", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_k_norm", 1, 3, false, 0, NULL},
};
static const wb__rule rules[] = {
    {.canonical = "layers.{n}.attention.q_norm",
     .spellings = s0,
     .spelling_count = 2,
     .shape = shape0,
     .rank = 2,
     .provides = 1073741824u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.k_norm",
     .spellings = s1,
     .spelling_count = 2,
     .shape = shape1,
     .rank = 2,
     .provides = 1073741824u,
     .suffix = 3},
};
static const wb__op e4[] = {{WB__OP_TEXT, 0, "silu"}, {0}};
static const wb__op e5[] = {{WB__OP_NUMBER, 10000, NULL}, {0}};
static const wb__op e6[] = {{WB__OP_NUMBER, 1.0000000000000001e-05, NULL}, {0}};
static const wb__op e7[] = {{WB__OP_NAME, 0, "head_dim"},
                            {WB__OP_NAME, 0, "partial_rotary_factor"},
                            {WB__OP_NAME, 0, "/rope_parameters/partial_rotary_factor"},
                            {WB__OP_ELSE, 0, NULL},
                            {WB__OP_NUMBER, 0.25, NULL},
                            {WB__OP_ELSE, 0, NULL},
                            {WB__OP_MUL, 0, NULL},
                            {WB__OP_CALL, 0, NULL},
                            {0}};
static const wb__value_row values[] = {
    {3, 30, "activation", e4},
    {1, 12, "rope_theta", e5},
    {1, 11, "norm_eps", e6},
    {1, 48, "rope_dimension_count", e7},
};
static const wb__op e8[] = {{WB__OP_NAME, 0, "parallel_residual"}, {0}};
static const wb__op e9[] = {
    {WB__OP_CALL, 13, "layers.0.ffn_norm.weight"}, {WB__OP_NOT, 0, NULL}, {0}};
static const wb__op e10[] = {{WB__OP_CALL, 13, "layers.0.attention.q.bias"}, {0}};
static const wb__op e11[] = {{WB__OP_CALL, 13, "layers.0.attention.q_norm.weight"}, {0}};
static const wb__op e12[] = {{WB__OP_NAME, 0, "rope_dimension_count"},
                             {WB__OP_NAME, 0, "head_dim"},
                             {WB__OP_DIV, 0, NULL},
                             {0}};
static const wb__key_row keys[] = {
    {"use_parallel_residual", 3, 0, 0, e8, NULL},  {"use_parallel_residual", 0, 1, 0, e9, NULL},
    {"use_qkv_bias", 0, 1, 0, e10, NULL},          {"qk_layernorm", 0, 1, 0, e11, NULL},
    {"partial_rotary_factor", 0, 1, 0, e12, NULL},
};
extern const wb__family wb__family_stablelm;
const wb__family wb__family_stablelm = {
    .name = "stablelm",
    .base = &wb__family_layer_norm,
    .gguf = "stablelm",
    .types = "stablelm",
    .classes = "StableLmForCausalLM",
    .rules = rules,
    .rule_count = 2,
    .values = values,
    .value_count = 4,
    .keys = keys,
    .key_count = 5,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 459231u,
};
