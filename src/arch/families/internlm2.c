/* Generated from internlm2.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_decoder;

static const wb__op e0[] = {{WB__OP_NAME, 0, "vocab_size"}, {0}};
static const wb__op e1[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape0[] = {e0, e1};
static const wb__spelling s0[] = {
    {"model.tok_embeddings", 14, 3, false, 0, NULL},
    {"token_embd", 1, 3, false, 0, NULL},
};
static const wb__op e2[] = {{WB__OP_NAME, 0, "vocab_size"}, {0}};
static const wb__op e3[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape1[] = {e2, e3};
static const wb__spelling s1[] = {
    {"output", 14, 3, false, 0, NULL},
    {"output", 1, 3, false, 0, NULL},
};
static const wb__op e4[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape2[] = {e4};
static const wb__spelling s2[] = {
    {"model.layers.{n}.attention_norm", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_norm", 1, 3, false, 0, NULL},
};
static const wb__op e5[] = {{WB__OP_NAME, 0, "q_dim"},  {WB__OP_NUMBER, 2, NULL},
                            {WB__OP_NAME, 0, "kv_dim"}, {WB__OP_MUL, 0, NULL},
                            {WB__OP_ADD, 0, NULL},      {0}};
static const wb__op e6[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape3[] = {e5, e6};
static const wb__op e7[] = {{WB__OP_NAME, 0, "n_kv_heads"}, {0}};
static const wb__transform c0[] = {
    {3, e7},
};
static const wb__spelling s3[] = {
    {"model.layers.{n}.attention.wqkv", 14, 3, false, 1, c0},
    {"blk.{n}.attn_qkv", 1, 3, true, 0, NULL},
};
static const wb__op e8[] = {{WB__OP_NAME, 0, "q_dim"}, {0}};
static const wb__op e9[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape4[] = {e8, e9};
static const wb__spelling s4[] = {
    {"blk.{n}.attn_q", 1, 3, false, 0, NULL},
};
static const wb__op e10[] = {{WB__OP_NAME, 0, "kv_dim"}, {0}};
static const wb__op e11[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape5[] = {e10, e11};
static const wb__spelling s5[] = {
    {"blk.{n}.attn_k", 1, 3, false, 0, NULL},
};
static const wb__op e12[] = {{WB__OP_NAME, 0, "kv_dim"}, {0}};
static const wb__op e13[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape6[] = {e12, e13};
static const wb__spelling s6[] = {
    {"blk.{n}.attn_v", 1, 3, false, 0, NULL},
};
static const wb__op e14[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e15[] = {{WB__OP_NAME, 0, "q_dim"}, {0}};
static const wb__expr shape7[] = {e14, e15};
static const wb__spelling s7[] = {
    {"model.layers.{n}.attention.wo", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_output", 1, 3, false, 0, NULL},
};
static const wb__op e16[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape8[] = {e16};
static const wb__spelling s8[] = {
    {"model.layers.{n}.ffn_norm", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_norm", 1, 3, false, 0, NULL},
};
static const wb__op e17[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__op e18[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape9[] = {e17, e18};
static const wb__spelling s9[] = {
    {"model.layers.{n}.feed_forward.w1", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_gate", 1, 3, false, 0, NULL},
};
static const wb__op e19[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__op e20[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape10[] = {e19, e20};
static const wb__spelling s10[] = {
    {"model.layers.{n}.feed_forward.w3", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_up", 1, 3, false, 0, NULL},
};
static const wb__op e21[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e22[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__expr shape11[] = {e21, e22};
static const wb__spelling s11[] = {
    {"model.layers.{n}.feed_forward.w2", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_down", 1, 3, false, 0, NULL},
};
static const wb__spelling s12[] = {
    {"model.layers.{n}.attention.rope.inv_freq", 14, 3, false, 0, NULL},
};
static const wb__rule rules[] = {
    {.canonical = "token_embedding",
     .spellings = s0,
     .spelling_count = 2,
     .shape = shape0,
     .rank = 2,
     .provides = 65536u,
     .suffix = 3},
    {.canonical = "output",
     .spellings = s1,
     .spelling_count = 2,
     .shape = shape1,
     .rank = 2,
     .provides = 131072u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention_norm",
     .spellings = s2,
     .spelling_count = 2,
     .shape = shape2,
     .rank = 1,
     .provides = 1073741825u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.qkv",
     .spellings = s3,
     .spelling_count = 2,
     .shape = shape3,
     .rank = 2,
     .provides = 14u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.q",
     .spellings = s4,
     .spelling_count = 1,
     .shape = shape4,
     .rank = 2,
     .provides = 268435458u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.k",
     .spellings = s5,
     .spelling_count = 1,
     .shape = shape5,
     .rank = 2,
     .provides = 536870916u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.v",
     .spellings = s6,
     .spelling_count = 1,
     .shape = shape6,
     .rank = 2,
     .provides = 8u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.output",
     .spellings = s7,
     .spelling_count = 2,
     .shape = shape7,
     .rank = 2,
     .provides = 16u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn_norm",
     .spellings = s8,
     .spelling_count = 2,
     .shape = shape8,
     .rank = 1,
     .provides = 1073741856u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.gate",
     .spellings = s9,
     .spelling_count = 2,
     .shape = shape9,
     .rank = 2,
     .provides = 64u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.up",
     .spellings = s10,
     .spelling_count = 2,
     .shape = shape10,
     .rank = 2,
     .provides = 128u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.down",
     .spellings = s11,
     .spelling_count = 2,
     .shape = shape11,
     .rank = 2,
     .provides = 256u,
     .suffix = 3},
    {.canonical = NULL, .spellings = s12, .spelling_count = 1, .suffix = 3},
};
static const wb__op e23[] = {{WB__OP_TEXT, 0, "silu"}, {0}};
static const wb__op e24[] = {{WB__OP_NUMBER, 10000, NULL}, {0}};
static const wb__op e25[] = {{WB__OP_NUMBER, 9.9999999999999995e-07, NULL}, {0}};
static const wb__value_row values[] = {
    {3, 30, "activation", e23},
    {1, 12, "rope_theta", e24},
    {1, 11, "norm_eps", e25},
};
static const wb__op e26[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e27[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e28[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e29[] = {{WB__OP_CALL, 13, "layers.0.attention.output.bias"}, {0}};
static const wb__key_row keys[] = {
    {"attention_bias", 0, 1, 0, e26, NULL},
    {"mlp_bias", 0, 1, 0, e27, NULL},
    {"head_dim", 0, 1, 0, e28, NULL},
    {"bias", 0, 1, 0, e29, NULL},
};
extern const wb__family wb__family_internlm2;
const wb__family wb__family_internlm2 = {
    .name = "internlm2",
    .base = &wb__family_decoder,
    .gguf = "internlm2",
    .types = "internlm2",
    .classes = "InternLM2ForCausalLM",
    .rules = rules,
    .rule_count = 13,
    .values = values,
    .value_count = 3,
    .keys = keys,
    .key_count = 4,
    .rope = 3,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
