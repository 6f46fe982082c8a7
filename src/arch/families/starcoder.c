/* Generated from starcoder.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_gpt2;

static const wb__op e0[] = {{WB__OP_NAME, 0, "q_dim"},  {WB__OP_NUMBER, 2, NULL},
                            {WB__OP_NAME, 0, "kv_dim"}, {WB__OP_MUL, 0, NULL},
                            {WB__OP_ADD, 0, NULL},      {0}};
static const wb__op e1[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape0[] = {e0, e1};
static const wb__op e2[] = {{WB__OP_NAME, 0, "n_kv_heads"}, {0}};
static const wb__transform c0[] = {
    {3, e2},
};
static const wb__spelling s0[] = {
    {"transformer.h.{n}.attn.c_attn", 14, 3, false, 1, c0},
    {"blk.{n}.attn_qkv", 1, 3, false, 0, NULL},
};
static const wb__op e3[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e4[] = {{WB__OP_NAME, 0, "q_dim"}, {0}};
static const wb__expr shape1[] = {e3, e4};
static const wb__spelling s1[] = {
    {"transformer.h.{n}.attn.c_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_output", 1, 3, false, 0, NULL},
};
static const wb__op e5[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__op e6[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape2[] = {e5, e6};
static const wb__spelling s2[] = {
    {"transformer.h.{n}.mlp.c_fc", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_up", 1, 3, false, 0, NULL},
};
static const wb__op e7[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e8[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__expr shape3[] = {e7, e8};
static const wb__spelling s3[] = {
    {"transformer.h.{n}.mlp.c_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_down", 1, 3, false, 0, NULL},
};
static const wb__rule rules[] = {
    {.canonical = "layers.{n}.attention.qkv",
     .spellings = s0,
     .spelling_count = 2,
     .shape = shape0,
     .rank = 2,
     .provides = 14u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.output",
     .spellings = s1,
     .spelling_count = 2,
     .shape = shape1,
     .rank = 2,
     .provides = 16u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.up",
     .spellings = s2,
     .spelling_count = 2,
     .shape = shape2,
     .rank = 2,
     .provides = 128u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.down",
     .spellings = s3,
     .spelling_count = 2,
     .shape = shape3,
     .rank = 2,
     .provides = 256u,
     .suffix = 3},
};
static const wb__op e9[] = {{WB__OP_FALSE, 0, NULL}, {0}};
static const wb__op e10[] = {{WB__OP_NAME, 0, "multi_query"},
                             {WB__OP_TRUE, 0, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NUMBER, 1, NULL},
                             {WB__OP_NAME, 0, "n_heads"},
                             {WB__OP_SELECT, 0, NULL},
                             {0}};
static const wb__value_row values[] = {
    {5, -1, "is_transposed", e9},
    {0, 4, "n_kv_heads", e10},
};
static const wb__op e11[] = {{WB__OP_NAME, 0, "activation"}, {0}};
static const wb__op e12[] = {
    {WB__OP_NAME, 0, "n_kv_heads"}, {WB__OP_NUMBER, 1, NULL}, {WB__OP_EQ, 0, NULL}, {0}};
static const wb__op e13[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__op e14[] = {{WB__OP_NAME, 0, "n_kv_heads"}, {0}};
static const wb__key_row keys[] = {
    {"activation_function", 0, 1, 0, e11, NULL},
    {"multi_query", 0, 1, 0, e12, NULL},
    {"n_inner", 0, 2, 0, e13, NULL},
    {"num_key_value_heads", 0, 1, 0, e14, NULL},
};
static const wb__op e15[] = {{WB__OP_NAME, 0, "scale_attn_weights"},
                             {WB__OP_TRUE, 0, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NOT, 0, NULL},
                             {0}};
static const wb__limit limits[] = {
    {1, 1, "scale_attn_weights", e15,
     "llama.cpp divides the attention scores by the square root of the head size"},
};
extern const wb__family wb__family_starcoder;
const wb__family wb__family_starcoder = {
    .name = "starcoder",
    .base = &wb__family_gpt2,
    .gguf = "starcoder",
    .types = "gpt_bigcode",
    .classes = "GPTBigCodeForCausalLM",
    .rules = rules,
    .rule_count = 4,
    .values = values,
    .value_count = 2,
    .keys = keys,
    .key_count = 4,
    .limits = limits,
    .limit_count = 1,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
