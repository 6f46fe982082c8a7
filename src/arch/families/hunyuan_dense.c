/* Generated from hunyuan_dense.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_decoder;

static const wb__op e0[] = {{WB__OP_NAME, 0, "head_dim"}, {0}};
static const wb__expr shape0[] = {e0};
static const wb__spelling s0[] = {
    {"model.layers.{n}.self_attn.query_layernorm", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_q_norm", 1, 3, false, 0, NULL},
};
static const wb__op e1[] = {{WB__OP_NAME, 0, "head_dim"}, {0}};
static const wb__expr shape1[] = {e1};
static const wb__spelling s1[] = {
    {"model.layers.{n}.self_attn.key_layernorm", 14, 3, false, 0, NULL},
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
static const wb__op e2[] = {{WB__OP_TEXT, 0, "silu"}, {0}};
static const wb__op e3[] = {{WB__OP_NUMBER, 10000, NULL}, {0}};
static const wb__op e4[] = {{WB__OP_NUMBER, 1.0000000000000001e-05, NULL}, {0}};
static const wb__op e5[] = {{WB__OP_NAME, 0, "/rope_scaling/alpha"},
                            {WB__OP_NAME, 0, "/rope_parameters/alpha"},
                            {WB__OP_ELSE, 0, NULL},
                            {WB__OP_NUMBER, 1, NULL},
                            {WB__OP_ELSE, 0, NULL},
                            {0}};
static const wb__value_row values[] = {
    {3, 30, "activation", e2},
    {1, 12, "rope_theta", e3},
    {1, 11, "norm_eps", e4},
    {5, -1, "alpha", e5},
};
static const wb__op e6[] = {{WB__OP_NAME, 0, "rope_theta"}, {WB__OP_NAME, 0, "alpha"},
                            {WB__OP_NAME, 0, "head_dim"},   {WB__OP_NAME, 0, "head_dim"},
                            {WB__OP_NUMBER, 2, NULL},       {WB__OP_SUB, 0, NULL},
                            {WB__OP_DIV, 0, NULL},          {WB__OP_CALL, 4, NULL},
                            {WB__OP_MUL, 0, NULL},          {0}};
static const wb__key_row keys[] = {
    {"rope.freq_base", 2, 0, 0, e6, NULL},
};
extern const wb__family wb__family_hunyuan_dense;
const wb__family wb__family_hunyuan_dense = {
    .name = "hunyuan_dense",
    .base = &wb__family_decoder,
    .gguf = "hunyuan-dense",
    .types = "hunyuan_v1_dense",
    .classes = "HunYuanDenseV1ForCausalLM",
    .tokenizer = "ntk_alpha",
    .rules = rules,
    .rule_count = 2,
    .values = values,
    .value_count = 4,
    .keys = keys,
    .key_count = 1,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
