/* Generated from gpt2.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_layer_norm;

static const wb__op e0[] = {{WB__OP_NAME, 0, "vocab_size"}, {0}};
static const wb__op e1[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape1[] = {e0, e1};
static const wb__spelling s1[] = {
    {"transformer.wte", 14, 3, false, 0, NULL},
    {"token_embd", 1, 3, false, 0, NULL},
};
static const wb__op e2[] = {{WB__OP_NAME, 0, "max_seq_len"}, {0}};
static const wb__op e3[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape2[] = {e2, e3};
static const wb__spelling s2[] = {
    {"transformer.wpe", 14, 3, false, 0, NULL},
    {"position_embd", 1, 3, false, 0, NULL},
};
static const wb__op e4[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape3[] = {e4};
static const wb__spelling s3[] = {
    {"transformer.ln_f", 14, 3, false, 0, NULL},
    {"output_norm", 1, 3, false, 0, NULL},
};
static const wb__op e5[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape4[] = {e5};
static const wb__spelling s4[] = {
    {"transformer.h.{n}.ln_1", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_norm", 1, 3, false, 0, NULL},
};
static const wb__op e6[] = {{WB__OP_NAME, 0, "q_dim"},  {WB__OP_NUMBER, 2, NULL},
                            {WB__OP_NAME, 0, "kv_dim"}, {WB__OP_MUL, 0, NULL},
                            {WB__OP_ADD, 0, NULL},      {0}};
static const wb__op e7[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape5[] = {e6, e7};
static const wb__transform c0[] = {
    {1, NULL},
};
static const wb__spelling s5[] = {
    {"transformer.h.{n}.attn.c_attn", 14, 3, false, 1, c0},
    {"blk.{n}.attn_qkv", 1, 3, false, 0, NULL},
};
static const wb__op e8[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e9[] = {{WB__OP_NAME, 0, "q_dim"}, {0}};
static const wb__expr shape6[] = {e8, e9};
static const wb__transform c1[] = {
    {1, NULL},
};
static const wb__spelling s6[] = {
    {"transformer.h.{n}.attn.c_proj", 14, 3, false, 1, c1},
    {"blk.{n}.attn_output", 1, 3, false, 0, NULL},
};
static const wb__op e10[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape7[] = {e10};
static const wb__spelling s7[] = {
    {"transformer.h.{n}.ln_2", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_norm", 1, 3, false, 0, NULL},
};
static const wb__op e11[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__op e12[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape8[] = {e11, e12};
static const wb__transform c2[] = {
    {1, NULL},
};
static const wb__spelling s8[] = {
    {"transformer.h.{n}.mlp.c_fc", 14, 3, false, 1, c2},
    {"blk.{n}.ffn_up", 1, 3, false, 0, NULL},
};
static const wb__op e13[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e14[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__expr shape9[] = {e13, e14};
static const wb__transform c3[] = {
    {1, NULL},
};
static const wb__spelling s9[] = {
    {"transformer.h.{n}.mlp.c_proj", 14, 3, false, 1, c3},
    {"blk.{n}.ffn_down", 1, 3, false, 0, NULL},
};
static const wb__spelling s10[] = {
    {"transformer.h.{n}.attn", 14, 2, false, 0, NULL},
    {"transformer.h.{n}.attn.masked_bias", 14, 3, false, 0, NULL},
};
static const wb__rule rules[] = {
    {.canonical = "layers.{n}.ffn.gate", .suffix = 3, .is_dropped = true},
    {.canonical = "token_embedding",
     .spellings = s1,
     .spelling_count = 2,
     .shape = shape1,
     .rank = 2,
     .provides = 65536u,
     .suffix = 3},
    {.canonical = "position_embedding",
     .spellings = s2,
     .spelling_count = 2,
     .shape = shape2,
     .rank = 2,
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
     .spelling_count = 2,
     .shape = shape4,
     .rank = 1,
     .provides = 1073741825u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.qkv",
     .spellings = s5,
     .spelling_count = 2,
     .shape = shape5,
     .rank = 2,
     .provides = 14u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.output",
     .spellings = s6,
     .spelling_count = 2,
     .shape = shape6,
     .rank = 2,
     .provides = 16u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn_norm",
     .spellings = s7,
     .spelling_count = 2,
     .shape = shape7,
     .rank = 1,
     .provides = 1073741856u,
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
    {.canonical = NULL, .spellings = s10, .spelling_count = 2, .suffix = 3},
};
static const wb__op e15[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e16[] = {{WB__OP_TEXT, 0, "gelu_pytorch_tanh"}, {0}};
static const wb__op e17[] = {{WB__OP_NUMBER, 0, NULL}, {0}};
static const wb__op e18[] = {{WB__OP_NUMBER, 1.0000000000000001e-05, NULL}, {0}};
static const wb__op e19[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e20[] = {
    {WB__OP_NUMBER, 4, NULL}, {WB__OP_NAME, 0, "dim"}, {WB__OP_MUL, 0, NULL}, {0}};
static const wb__op e21[] = {{WB__OP_NUMBER, 1024, NULL}, {0}};
static const wb__op e22[] = {{WB__OP_NAME, 0, "scale_attn_by_inverse_layer_idx"},
                             {WB__OP_FALSE, 0, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NAME, 0, "scale_attn_weights"},
                             {WB__OP_TRUE, 0, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NOT, 0, NULL},
                             {WB__OP_OR, 0, NULL},
                             {0}};
static const wb__op e23[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__value_row values[] = {
    {5, -1, "loads_output_bias", e15},    {3, 30, "activation", e16},
    {3, 48, "rope_dimension_count", e17}, {1, 11, "norm_eps", e18},
    {1, 19, "tie_embeddings", e19},       {1, 8, "ffn_dim", e20},
    {1, 10, "max_seq_len", e21},          {5, -1, "reorders", e22},
    {5, -1, "is_transposed", e23},
};
static const wb__op e24[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e25[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e26[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e27[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e28[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e29[] = {{WB__OP_NAME, 0, "n_layers"}, {0}};
static const wb__op e30[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e31[] = {{WB__OP_NAME, 0, "max_seq_len"}, {0}};
static const wb__op e32[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e33[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e34[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e35[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__op e36[] = {{WB__OP_NAME, 0, "ffn_dim"}, {WB__OP_NUMBER, 4, NULL},
                             {WB__OP_NAME, 0, "dim"},     {WB__OP_MUL, 0, NULL},
                             {WB__OP_NE, 0, NULL},        {0}};
static const wb__op e37[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e38[] = {{WB__OP_NAME, 0, "n_heads"}, {0}};
static const wb__op e39[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e40[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e41[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e42[] = {{WB__OP_NAME, 0, "norm_eps"}, {0}};
static const wb__op e43[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e44[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e45[] = {{WB__OP_NAME, 0, "activation"},
                             {WB__OP_TEXT, 0, "gelu_pytorch_tanh"},
                             {WB__OP_EQ, 0, NULL},
                             {WB__OP_TEXT, 0, "gelu_new"},
                             {WB__OP_NAME, 0, "activation"},
                             {WB__OP_SELECT, 0, NULL},
                             {0}};
static const wb__op e46[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e47[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__key_row keys[] = {
    {"attention.key_length", 1, 0, 0, e24, NULL},
    {"attention.value_length", 1, 0, 0, e25, NULL},
    {"rope.dimension_count", 1, 0, 0, e26, NULL},
    {"rope.freq_base", 2, 0, 0, e27, NULL},
    {"num_hidden_layers", 0, 1, 0, e28, NULL},
    {"n_layer", 0, 1, 0, e29, NULL},
    {"max_position_embeddings", 0, 1, 0, e30, NULL},
    {"n_positions", 0, 1, 0, e31, NULL},
    {"hidden_size", 0, 1, 0, e32, NULL},
    {"n_embd", 0, 1, 0, e33, NULL},
    {"intermediate_size", 0, 1, 0, e34, NULL},
    {"n_inner", 0, 1, 0, e35, e36},
    {"num_attention_heads", 0, 1, 0, e37, NULL},
    {"n_head", 0, 1, 0, e38, NULL},
    {"num_key_value_heads", 0, 1, 0, e39, NULL},
    {"head_dim", 0, 1, 0, e40, NULL},
    {"layer_norm_eps", 0, 1, 0, e41, NULL},
    {"layer_norm_epsilon", 0, 1, 0, e42, NULL},
    {"rope_theta", 0, 1, 0, e43, NULL},
    {"hidden_act", 0, 1, 0, e44, NULL},
    {"activation_function", 0, 1, 0, e45, NULL},
    {"attention_bias", 0, 1, 0, e46, NULL},
    {"mlp_bias", 0, 1, 0, e47, NULL},
};
static const wb__op e48[] = {{WB__OP_NAME, 0, "reorders"}, {0}};
static const wb__op e49[] = {
    {WB__OP_NAME, 0, "add_cross_attention"}, {WB__OP_FALSE, 0, NULL}, {WB__OP_ELSE, 0, NULL}, {0}};
static const wb__op e50[] = {{WB__OP_NAME, 0, "is_transposed"}, {0}};
static const wb__limit limits[] = {
    {1, 1, "scale_attn_weights", e48,
     "llama.cpp divides the attention scores by the square root of the head size only"},
    {1, 1, "add_cross_attention", e49, "llama.cpp has no cross attention in this architecture"},
    {4, 1, "model_type", e50,
     "mlx-lm expects the matrices of this architecture in another layout, which this program does "
     "not write"},
};
extern const wb__family wb__family_gpt2;
const wb__family wb__family_gpt2 = {
    .name = "gpt2",
    .base = &wb__family_layer_norm,
    .gguf = "gpt2",
    .types = "gpt2",
    .classes = "GPT2LMHeadModel",
    .wrappers = "transformer.",
    .rules = rules,
    .rule_count = 11,
    .values = values,
    .value_count = 9,
    .keys = keys,
    .key_count = 23,
    .limits = limits,
    .limit_count = 3,
    .rope = 1,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 459199u,
};
