/* Generated from baichuan.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_decoder;

static const wb__op e0[] = {{WB__OP_NAME, 0, "q_dim"},  {WB__OP_NUMBER, 2, NULL},
                            {WB__OP_NAME, 0, "kv_dim"}, {WB__OP_MUL, 0, NULL},
                            {WB__OP_ADD, 0, NULL},      {0}};
static const wb__op e1[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape0[] = {e0, e1};
static const wb__spelling s0[] = {
    {"model.layers.{n}.self_attn.W_pack", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_qkv", 1, 3, true, 0, NULL},
};
static const wb__op e2[] = {{WB__OP_NAME, 0, "q_dim"}, {0}};
static const wb__op e3[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape1[] = {e2, e3};
static const wb__spelling s1[] = {
    {"blk.{n}.attn_q", 1, 3, false, 0, NULL},
};
static const wb__op e4[] = {{WB__OP_NAME, 0, "kv_dim"}, {0}};
static const wb__op e5[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape2[] = {e4, e5};
static const wb__spelling s2[] = {
    {"blk.{n}.attn_k", 1, 3, false, 0, NULL},
};
static const wb__op e6[] = {{WB__OP_NAME, 0, "kv_dim"}, {0}};
static const wb__op e7[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape3[] = {e6, e7};
static const wb__spelling s3[] = {
    {"blk.{n}.attn_v", 1, 3, false, 0, NULL},
};
static const wb__rule rules[] = {
    {.canonical = "layers.{n}.attention.qkv",
     .spellings = s0,
     .spelling_count = 2,
     .shape = shape0,
     .rank = 2,
     .provides = 14u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.q",
     .spellings = s1,
     .spelling_count = 1,
     .shape = shape1,
     .rank = 2,
     .provides = 268435458u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.k",
     .spellings = s2,
     .spelling_count = 1,
     .shape = shape2,
     .rank = 2,
     .provides = 536870916u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.v",
     .spellings = s3,
     .spelling_count = 1,
     .shape = shape3,
     .rank = 2,
     .provides = 8u,
     .suffix = 3},
};
static const wb__op e8[] = {{WB__OP_TEXT, 0, "silu"}, {0}};
static const wb__op e9[] = {{WB__OP_NAME, 0, "n_layers"},
                            {WB__OP_NUMBER, 40, NULL},
                            {WB__OP_EQ, 0, NULL},
                            {WB__OP_NUMBER, 8, NULL},
                            {WB__OP_NUMBER, 0, NULL},
                            {WB__OP_SELECT, 0, NULL},
                            {0}};
static const wb__op e10[] = {{WB__OP_NUMBER, 10000, NULL}, {0}};
static const wb__op e11[] = {{WB__OP_NUMBER, 9.9999999999999995e-07, NULL}, {0}};
static const wb__op e12[] = {
    {WB__OP_NAME, 0, "model_max_length"}, {WB__OP_NUMBER, 4096, NULL}, {WB__OP_ELSE, 0, NULL}, {0}};
static const wb__value_row values[] = {
    {3, 30, "activation", e8},   {3, 41, "attention_max_alibi_bias", e9},
    {1, 12, "rope_theta", e10},  {1, 11, "norm_eps", e11},
    {1, 10, "max_seq_len", e12},
};
static const wb__op e13[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e14[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e15[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e16[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e17[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e18[] = {{WB__OP_NAME, 0, "max_seq_len"}, {0}};
static const wb__key_row keys[] = {
    {"num_key_value_heads", 0, 1, 0, e13, NULL},
    {"head_dim", 0, 1, 0, e14, NULL},
    {"rope_theta", 0, 1, 0, e15, NULL},
    {"attention_bias", 0, 1, 0, e16, NULL},
    {"mlp_bias", 0, 1, 0, e17, NULL},
    {"model_max_length", 0, 1, 0, e18, NULL},
};
static const wb__op e19[] = {{WB__OP_NAME, 0, "n_layers"}, {WB__OP_NUMBER, 32, NULL},
                             {WB__OP_NE, 0, NULL},         {WB__OP_NAME, 0, "n_layers"},
                             {WB__OP_NUMBER, 40, NULL},    {WB__OP_NE, 0, NULL},
                             {WB__OP_AND, 0, NULL},        {0}};
static const wb__op e20[] = {
    {WB__OP_NAME, 0, "vocab_size"}, {WB__OP_NUMBER, 125696, NULL}, {WB__OP_EQ, 0, NULL}, {0}};
static const wb__limit limits[] = {
    {1, 1, "num_hidden_layers", e19,
     "llama.cpp runs models of this architecture with 32 or 40 layers only"},
    {1, 1, "vocab_size", e20,
     "Baichuan 2 normalizes the rows of the output matrix; llama.cpp does not"},
};
extern const wb__family wb__family_baichuan;
const wb__family wb__family_baichuan = {
    .name = "baichuan",
    .base = &wb__family_decoder,
    .gguf = "baichuan",
    .types = "baichuan",
    .classes = "BaichuanForCausalLM|BaiChuanForCausalLM",
    .signature = "layers.{n}.self_attn.W_pack",
    .rules = rules,
    .rule_count = 4,
    .values = values,
    .value_count = 5,
    .keys = keys,
    .key_count = 6,
    .limits = limits,
    .limit_count = 2,
    .rope = 3,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
