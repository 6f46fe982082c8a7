/* Generated from chatglm.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_decoder;

static const wb__op e0[] = {
    {WB__OP_NUMBER, 2, NULL}, {WB__OP_NAME, 0, "ffn_dim"}, {WB__OP_MUL, 0, NULL}, {0}};
static const wb__op e1[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape0[] = {e0, e1};
static const wb__spelling s0[] = {
    {"model.layers.{n}.mlp.gate_up_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_up", 1, 3, false, 0, NULL},
};
static const wb__op e2[] = {{WB__OP_NAME, 0, "q_dim"},  {WB__OP_NUMBER, 2, NULL},
                            {WB__OP_NAME, 0, "kv_dim"}, {WB__OP_MUL, 0, NULL},
                            {WB__OP_ADD, 0, NULL},      {0}};
static const wb__op e3[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape1[] = {e2, e3};
static const wb__spelling s1[] = {
    {"blk.{n}.attn_qkv", 1, 3, true, 0, NULL},
};
static const wb__rule rules[] = {
    {.canonical = "layers.{n}.ffn.gate_up",
     .spellings = s0,
     .spelling_count = 2,
     .shape = shape0,
     .rank = 2,
     .provides = 192u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.qkv",
     .spellings = s1,
     .spelling_count = 1,
     .shape = shape1,
     .rank = 2,
     .provides = 14u,
     .suffix = 3},
};
static const wb__op e4[] = {{WB__OP_TEXT, 0, "silu"}, {0}};
static const wb__op e5[] = {{WB__OP_NUMBER, 10000, NULL}, {0}};
static const wb__op e6[] = {{WB__OP_NUMBER, 1.5625000000000001e-07, NULL}, {0}};
static const wb__op e7[] = {{WB__OP_NUMBER, 2, NULL}, {0}};
static const wb__op e8[] = {{WB__OP_NUMBER, 128, NULL}, {0}};
static const wb__op e9[] = {{WB__OP_NAME, 0, "head_dim"},
                            {WB__OP_NAME, 0, "partial_rotary_factor"},
                            {WB__OP_NAME, 0, "/rope_parameters/partial_rotary_factor"},
                            {WB__OP_ELSE, 0, NULL},
                            {WB__OP_NUMBER, 0.5, NULL},
                            {WB__OP_ELSE, 0, NULL},
                            {WB__OP_MUL, 0, NULL},
                            {WB__OP_CALL, 0, NULL},
                            {0}};
static const wb__value_row values[] = {
    {3, 30, "activation", e4}, {1, 12, "rope_theta", e5}, {1, 11, "norm_eps", e6},
    {1, 4, "n_kv_heads", e7},  {1, 5, "head_dim", e8},    {1, 48, "rope_dimension_count", e9},
};
static const wb__op e10[] = {{WB__OP_NAME, 0, "rope_dimension_count"},
                             {WB__OP_NAME, 0, "head_dim"},
                             {WB__OP_DIV, 0, NULL},
                             {0}};
static const wb__op e11[] = {{WB__OP_CALL, 13, "layers.0.attention.q.bias"},
                             {WB__OP_CALL, 13, "layers.0.attention.qkv.bias"},
                             {WB__OP_OR, 0, NULL},
                             {0}};
static const wb__key_row keys[] = {
    {"partial_rotary_factor", 0, 1, 0, e10, NULL},
    {"attention_bias", 0, 1, 0, e11, NULL},
};
static const wb__op e12[] = {{WB__OP_NAME, 0, "rope_dimension_count"},
                             {WB__OP_NAME, 0, "head_dim"},
                             {WB__OP_NE, 0, NULL},
                             {0}};
static const wb__limit limits[] = {
    {4, 1, "partial_rotary_factor", e12,
     "mlx-lm applies RoPE to the complete heads of this architecture"},
};
extern const wb__family wb__family_chatglm;
const wb__family wb__family_chatglm = {
    .name = "chatglm",
    .base = &wb__family_decoder,
    .gguf = "chatglm",
    .types = "glm",
    .classes = "GlmForCausalLM",
    .rules = rules,
    .rule_count = 2,
    .values = values,
    .value_count = 6,
    .keys = keys,
    .key_count = 2,
    .limits = limits,
    .limit_count = 1,
    .rope = 4,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
