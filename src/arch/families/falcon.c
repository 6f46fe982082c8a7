/* Generated from falcon.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_layer_norm;

static const wb__op e0[] = {{WB__OP_NAME, 0, "vocab_size"}, {0}};
static const wb__op e1[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape2[] = {e0, e1};
static const wb__spelling s2[] = {
    {"transformer.word_embeddings", 14, 3, false, 0, NULL},
    {"token_embd", 1, 3, false, 0, NULL},
};
static const wb__op e2[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape3[] = {e2};
static const wb__spelling s3[] = {
    {"transformer.ln_f", 14, 3, false, 0, NULL},
    {"output_norm", 1, 3, false, 0, NULL},
};
static const wb__op e3[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape4[] = {e3};
static const wb__spelling s4[] = {
    {"transformer.h.{n}.input_layernorm", 14, 3, false, 0, NULL},
    {"transformer.h.{n}.ln_mlp", 14, 3, true, 0, NULL},
    {"blk.{n}.attn_norm", 1, 3, false, 0, NULL},
};
static const wb__op e4[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape5[] = {e4};
static const wb__spelling s5[] = {
    {"transformer.h.{n}.ln_attn", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_norm_2", 1, 3, false, 0, NULL},
};
static const wb__op e5[] = {{WB__OP_NAME, 0, "q_dim"},  {WB__OP_NUMBER, 2, NULL},
                            {WB__OP_NAME, 0, "kv_dim"}, {WB__OP_MUL, 0, NULL},
                            {WB__OP_ADD, 0, NULL},      {0}};
static const wb__op e6[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape6[] = {e5, e6};
static const wb__op e7[] = {{WB__OP_NAME, 0, "n_kv_heads"}, {0}};
static const wb__transform c0[] = {
    {3, e7},
};
static const wb__spelling s6[] = {
    {"transformer.h.{n}.self_attention.query_key_value", 14, 3, false, 1, c0},
    {"blk.{n}.attn_qkv", 1, 3, false, 0, NULL},
};
static const wb__op e8[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e9[] = {{WB__OP_NAME, 0, "q_dim"}, {0}};
static const wb__expr shape7[] = {e8, e9};
static const wb__spelling s7[] = {
    {"transformer.h.{n}.self_attention.dense", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_output", 1, 3, false, 0, NULL},
};
static const wb__op e10[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__op e11[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape8[] = {e10, e11};
static const wb__spelling s8[] = {
    {"transformer.h.{n}.mlp.dense_h_to_4h", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_up", 1, 3, false, 0, NULL},
};
static const wb__op e12[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e13[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__expr shape9[] = {e12, e13};
static const wb__spelling s9[] = {
    {"transformer.h.{n}.mlp.dense_4h_to_h", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_down", 1, 3, false, 0, NULL},
};
static const wb__rule rules[] = {
    {.canonical = "layers.{n}.ffn_norm", .suffix = 3, .is_dropped = true},
    {.canonical = "layers.{n}.ffn.gate", .suffix = 3, .is_dropped = true},
    {.canonical = "token_embedding",
     .spellings = s2,
     .spelling_count = 2,
     .shape = shape2,
     .rank = 2,
     .provides = 65536u,
     .suffix = 3},
    {.canonical = "output_norm",
     .spellings = s3,
     .spelling_count = 2,
     .shape = shape3,
     .rank = 1,
     .provides = 1074003968u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention_norm",
     .spellings = s4,
     .spelling_count = 3,
     .shape = shape4,
     .rank = 1,
     .provides = 1073741825u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention_norm_2",
     .spellings = s5,
     .spelling_count = 2,
     .shape = shape5,
     .rank = 1,
     .provides = 1073741824u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.qkv",
     .spellings = s6,
     .spelling_count = 2,
     .shape = shape6,
     .rank = 2,
     .provides = 14u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.output",
     .spellings = s7,
     .spelling_count = 2,
     .shape = shape7,
     .rank = 2,
     .provides = 16u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.up",
     .spellings = s8,
     .spelling_count = 2,
     .shape = shape8,
     .rank = 2,
     .provides = 128u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.down",
     .spellings = s9,
     .spelling_count = 2,
     .shape = shape9,
     .rank = 2,
     .provides = 256u,
     .suffix = 3},
};
static const wb__op e14[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e15[] = {{WB__OP_TEXT, 0, "gelu"}, {0}};
static const wb__op e16[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e17[] = {{WB__OP_NUMBER, 10000, NULL}, {0}};
static const wb__op e18[] = {{WB__OP_NUMBER, 1.0000000000000001e-05, NULL}, {0}};
static const wb__op e19[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e20[] = {{WB__OP_NAME, 0, "ffn_hidden_size"},
                             {WB__OP_NUMBER, 4, NULL},
                             {WB__OP_NAME, 0, "dim"},
                             {WB__OP_MUL, 0, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {0}};
static const wb__op e21[] = {{WB__OP_NUMBER, 2048, NULL}, {0}};
static const wb__op e22[] = {{WB__OP_NAME, 0, "new_decoder_architecture"},
                             {WB__OP_NAME, 0, "model_type"},
                             {WB__OP_TEXT, 0, "RefinedWeb"},
                             {WB__OP_EQ, 0, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {0}};
static const wb__op e23[] = {
    {WB__OP_NAME, 0, "/num_kv_heads"}, {WB__OP_NAME, 0, "n_head_kv"}, {WB__OP_ELSE, 0, NULL},
    {WB__OP_NAME, 0, "n_heads"},       {WB__OP_ELSE, 0, NULL},        {0}};
static const wb__op e24[] = {{WB__OP_NAME, 0, "/num_ln_in_parallel_attn"},
                             {WB__OP_NAME, 0, "is_new"},
                             {WB__OP_NUMBER, 2, NULL},
                             {WB__OP_NUMBER, 1, NULL},
                             {WB__OP_SELECT, 0, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {0}};
static const wb__op e25[] = {{WB__OP_NAME, 0, "is_new"},      {WB__OP_NAME, 0, "kv_heads"},
                             {WB__OP_NAME, 0, "multi_query"}, {WB__OP_TRUE, 0, NULL},
                             {WB__OP_ELSE, 0, NULL},          {WB__OP_NUMBER, 1, NULL},
                             {WB__OP_NAME, 0, "n_heads"},     {WB__OP_SELECT, 0, NULL},
                             {WB__OP_SELECT, 0, NULL},        {0}};
static const wb__value_row values[] = {
    {5, -1, "other_types", e14}, {3, 30, "activation", e15},  {3, 33, "parallel_residual", e16},
    {1, 12, "rope_theta", e17},  {1, 11, "norm_eps", e18},    {1, 19, "tie_embeddings", e19},
    {0, 8, "ffn_dim", e20},      {1, 10, "max_seq_len", e21}, {5, -1, "is_new", e22},
    {5, -1, "kv_heads", e23},    {5, -1, "norm_count", e24},  {0, 4, "n_kv_heads", e25},
};
static const wb__op e26[] = {{WB__OP_NAME, 0, "norm_count"}, {0}};
static const wb__op e27[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e28[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__op e29[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e30[] = {{WB__OP_NAME, 0, "norm_eps"}, {0}};
static const wb__op e31[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e32[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e33[] = {{WB__OP_NAME, 0, "activation"}, {0}};
static const wb__op e34[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e35[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e36[] = {{WB__OP_FALSE, 0, NULL}, {0}};
static const wb__op e37[] = {{WB__OP_FALSE, 0, NULL}, {0}};
static const wb__op e38[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e39[] = {
    {WB__OP_NAME, 0, "n_kv_heads"}, {WB__OP_NAME, 0, "n_heads"}, {WB__OP_LT, 0, NULL}, {0}};
static const wb__op e40[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e41[] = {{WB__OP_NAME, 0, "n_kv_heads"},
                             {WB__OP_NUMBER, 1, NULL},
                             {WB__OP_EQ, 0, NULL},
                             {WB__OP_NAME, 0, "n_heads"},
                             {WB__OP_NAME, 0, "n_kv_heads"},
                             {WB__OP_SELECT, 0, NULL},
                             {0}};
static const wb__op e42[] = {{WB__OP_NAME, 0, "n_kv_heads"}, {WB__OP_NUMBER, 1, NULL},
                             {WB__OP_GT, 0, NULL},           {WB__OP_NAME, 0, "n_kv_heads"},
                             {WB__OP_NAME, 0, "n_heads"},    {WB__OP_LT, 0, NULL},
                             {WB__OP_AND, 0, NULL},          {0}};
static const wb__op e43[] = {{WB__OP_NUMBER, 1, NULL}, {0}};
static const wb__op e44[] = {{WB__OP_NAME, 0, "n_kv_heads"}, {WB__OP_NUMBER, 1, NULL},
                             {WB__OP_GT, 0, NULL},           {WB__OP_NAME, 0, "n_kv_heads"},
                             {WB__OP_NAME, 0, "n_heads"},    {WB__OP_LT, 0, NULL},
                             {WB__OP_AND, 0, NULL},          {0}};
static const wb__key_row keys[] = {
    {"attention.norm_count", 1, 0, 0, e26, NULL},
    {"intermediate_size", 0, 1, 0, e27, NULL},
    {"ffn_hidden_size", 0, 1, 0, e28, NULL},
    {"layer_norm_eps", 0, 1, 0, e29, NULL},
    {"layer_norm_epsilon", 0, 1, 0, e30, NULL},
    {"head_dim", 0, 1, 0, e31, NULL},
    {"hidden_act", 0, 1, 0, e32, NULL},
    {"activation", 0, 1, 0, e33, NULL},
    {"attention_bias", 0, 1, 0, e34, NULL},
    {"mlp_bias", 0, 1, 0, e35, NULL},
    {"bias", 0, 1, 0, e36, NULL},
    {"alibi", 0, 1, 0, e37, NULL},
    {"parallel_attn", 0, 1, 0, e38, NULL},
    {"multi_query", 0, 1, 0, e39, NULL},
    {"num_key_value_heads", 0, 1, 0, e40, NULL},
    {"num_kv_heads", 0, 1, 0, e41, NULL},
    {"new_decoder_architecture", 0, 1, 0, e42, NULL},
    {"num_ln_in_parallel_attn", 0, 1, 0, e43, e44},
};
static const wb__op e45[] = {
    {WB__OP_NAME, 0, "/activation"}, {WB__OP_TEXT, 0, "gelu"}, {WB__OP_ELSE, 0, NULL},
    {WB__OP_TEXT, 0, "gelu"},        {WB__OP_NE, 0, NULL},     {0}};
static const wb__op e46[] = {
    {WB__OP_NAME, 0, "alibi"}, {WB__OP_FALSE, 0, NULL}, {WB__OP_ELSE, 0, NULL}, {0}};
static const wb__op e47[] = {{WB__OP_NAME, 0, "is_new"},
                             {WB__OP_NAME, 0, "parallel_attn"},
                             {WB__OP_TRUE, 0, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_OR, 0, NULL},
                             {WB__OP_NOT, 0, NULL},
                             {0}};
static const wb__op e48[] = {
    {WB__OP_NAME, 0, "bias"}, {WB__OP_FALSE, 0, NULL}, {WB__OP_ELSE, 0, NULL}, {0}};
static const wb__limit limits[] = {
    {1, 1, "activation", e45, "llama.cpp uses the activation gelu in this architecture"},
    {1, 1, "alibi", e46, "llama.cpp uses RoPE in this architecture"},
    {1, 1, "parallel_attn", e47,
     "llama.cpp computes attention and feed-forward of this architecture in parallel"},
    {1, 1, "bias", e48, "llama.cpp has no biases in this architecture"},
};
extern const wb__family wb__family_falcon;
const wb__family wb__family_falcon = {
    .name = "falcon",
    .base = &wb__family_layer_norm,
    .gguf = "falcon",
    .types = "falcon|RefinedWebModel|RefinedWeb",
    .classes = "FalconForCausalLM|RWForCausalLM",
    .wrappers = "transformer.",
    .rules = rules,
    .rule_count = 10,
    .values = values,
    .value_count = 12,
    .keys = keys,
    .key_count = 18,
    .limits = limits,
    .limit_count = 4,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 459167u,
};
