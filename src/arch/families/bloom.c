/* Generated from bloom.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_layer_norm;

static const wb__op e0[] = {{WB__OP_NAME, 0, "vocab_size"}, {0}};
static const wb__op e1[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape1[] = {e0, e1};
static const wb__spelling s1[] = {
    {"transformer.word_embeddings", 14, 3, false, 0, NULL},
    {"token_embd", 1, 3, false, 0, NULL},
};
static const wb__op e2[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape2[] = {e2};
static const wb__spelling s2[] = {
    {"transformer.word_embeddings_layernorm", 14, 3, false, 0, NULL},
    {"token_embd_norm", 1, 3, false, 0, NULL},
};
static const wb__op e3[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape3[] = {e3};
static const wb__spelling s3[] = {
    {"transformer.ln_f", 14, 3, false, 0, NULL},
    {"output_norm", 1, 3, false, 0, NULL},
};
static const wb__op e4[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape4[] = {e4};
static const wb__spelling s4[] = {
    {"transformer.h.{n}.input_layernorm", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_norm", 1, 3, false, 0, NULL},
};
static const wb__op e5[] = {{WB__OP_NAME, 0, "q_dim"},  {WB__OP_NUMBER, 2, NULL},
                            {WB__OP_NAME, 0, "kv_dim"}, {WB__OP_MUL, 0, NULL},
                            {WB__OP_ADD, 0, NULL},      {0}};
static const wb__op e6[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape5[] = {e5, e6};
static const wb__op e7[] = {{WB__OP_NAME, 0, "n_heads"}, {0}};
static const wb__transform c0[] = {
    {3, e7},
};
static const wb__spelling s5[] = {
    {"transformer.h.{n}.self_attention.query_key_value", 14, 3, false, 1, c0},
    {"blk.{n}.attn_qkv", 1, 3, false, 0, NULL},
};
static const wb__op e8[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e9[] = {{WB__OP_NAME, 0, "q_dim"}, {0}};
static const wb__expr shape6[] = {e8, e9};
static const wb__spelling s6[] = {
    {"transformer.h.{n}.self_attention.dense", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_output", 1, 3, false, 0, NULL},
};
static const wb__op e10[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape7[] = {e10};
static const wb__spelling s7[] = {
    {"transformer.h.{n}.post_attention_layernorm", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_norm", 1, 3, false, 0, NULL},
};
static const wb__op e11[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__op e12[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape8[] = {e11, e12};
static const wb__spelling s8[] = {
    {"transformer.h.{n}.mlp.dense_h_to_4h", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_up", 1, 3, false, 0, NULL},
};
static const wb__op e13[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e14[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__expr shape9[] = {e13, e14};
static const wb__spelling s9[] = {
    {"transformer.h.{n}.mlp.dense_4h_to_h", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_down", 1, 3, false, 0, NULL},
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
    {.canonical = "token_embedding_norm",
     .spellings = s2,
     .spelling_count = 2,
     .shape = shape2,
     .rank = 1,
     .provides = 1073741824u,
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
};
static const wb__op e15[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e16[] = {{WB__OP_TEXT, 0, "gelu_pytorch_tanh"}, {0}};
static const wb__op e17[] = {{WB__OP_NUMBER, 0, NULL}, {0}};
static const wb__op e18[] = {{WB__OP_NUMBER, 8, NULL}, {0}};
static const wb__op e19[] = {{WB__OP_NUMBER, 1.0000000000000001e-05, NULL}, {0}};
static const wb__op e20[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e21[] = {
    {WB__OP_NUMBER, 4, NULL}, {WB__OP_NAME, 0, "dim"}, {WB__OP_MUL, 0, NULL}, {0}};
static const wb__op e22[] = {
    {WB__OP_NAME, 0, "seq_length"}, {WB__OP_NUMBER, 2048, NULL}, {WB__OP_ELSE, 0, NULL}, {0}};
static const wb__value_row values[] = {
    {5, -1, "loads_output_bias", e15},
    {3, 30, "activation", e16},
    {3, 48, "rope_dimension_count", e17},
    {3, 41, "attention_max_alibi_bias", e18},
    {1, 11, "norm_eps", e19},
    {1, 19, "tie_embeddings", e20},
    {1, 8, "ffn_dim", e21},
    {1, 10, "max_seq_len", e22},
};
static const wb__op e23[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e24[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e25[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e26[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e27[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e28[] = {{WB__OP_NAME, 0, "n_layers"}, {0}};
static const wb__op e29[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e30[] = {{WB__OP_NAME, 0, "max_seq_len"}, {0}};
static const wb__op e31[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e32[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e33[] = {{WB__OP_NAME, 0, "n_heads"}, {0}};
static const wb__op e34[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e35[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e36[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e37[] = {{WB__OP_NAME, 0, "norm_eps"}, {0}};
static const wb__op e38[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e39[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e40[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e41[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__key_row keys[] = {
    {"attention.key_length", 1, 0, 0, e23, NULL},
    {"attention.value_length", 1, 0, 0, e24, NULL},
    {"rope.dimension_count", 1, 0, 0, e25, NULL},
    {"rope.freq_base", 2, 0, 0, e26, NULL},
    {"num_hidden_layers", 0, 1, 0, e27, NULL},
    {"n_layer", 0, 1, 0, e28, NULL},
    {"max_position_embeddings", 0, 1, 0, e29, NULL},
    {"seq_length", 0, 1, 0, e30, NULL},
    {"intermediate_size", 0, 1, 0, e31, NULL},
    {"num_attention_heads", 0, 1, 0, e32, NULL},
    {"n_head", 0, 1, 0, e33, NULL},
    {"num_key_value_heads", 0, 1, 0, e34, NULL},
    {"head_dim", 0, 1, 0, e35, NULL},
    {"layer_norm_eps", 0, 1, 0, e36, NULL},
    {"layer_norm_epsilon", 0, 1, 0, e37, NULL},
    {"rope_theta", 0, 1, 0, e38, NULL},
    {"hidden_act", 0, 1, 0, e39, NULL},
    {"attention_bias", 0, 1, 0, e40, NULL},
    {"mlp_bias", 0, 1, 0, e41, NULL},
};
static const wb__op e42[] = {{WB__OP_NAME, 0, "apply_residual_connection_post_layernorm"},
                             {WB__OP_FALSE, 0, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {0}};
static const wb__limit limits[] = {
    {1, 1, "apply_residual_connection_post_layernorm", e42,
     "llama.cpp adds the input of the norm to the result of attention, not the output"},
};
extern const wb__family wb__family_bloom;
const wb__family wb__family_bloom = {
    .name = "bloom",
    .base = &wb__family_layer_norm,
    .gguf = "bloom",
    .types = "bloom",
    .classes = "BloomForCausalLM",
    .wrappers = "transformer.",
    .rules = rules,
    .rule_count = 10,
    .values = values,
    .value_count = 8,
    .keys = keys,
    .key_count = 19,
    .limits = limits,
    .limit_count = 1,
    .rope = 1,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 459199u,
};
