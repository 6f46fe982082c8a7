/* Generated from mpt.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_layer_norm;

static const wb__op e0[] = {{WB__OP_NAME, 0, "vocab_size"}, {0}};
static const wb__op e1[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape1[] = {e0, e1};
static const wb__spelling s1[] = {
    {"transformer.wte", 14, 3, false, 0, NULL},
    {"token_embd", 1, 3, false, 0, NULL},
};
static const wb__op e2[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape2[] = {e2};
static const wb__spelling s2[] = {
    {"transformer.norm_f", 14, 3, false, 0, NULL},
    {"output_norm", 1, 3, false, 0, NULL},
};
static const wb__op e3[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape3[] = {e3};
static const wb__spelling s3[] = {
    {"transformer.blocks.{n}.norm_1", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_norm", 1, 3, false, 0, NULL},
};
static const wb__op e4[] = {{WB__OP_NAME, 0, "q_dim"},  {WB__OP_NUMBER, 2, NULL},
                            {WB__OP_NAME, 0, "kv_dim"}, {WB__OP_MUL, 0, NULL},
                            {WB__OP_ADD, 0, NULL},      {0}};
static const wb__op e5[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape4[] = {e4, e5};
static const wb__spelling s4[] = {
    {"transformer.blocks.{n}.attn.Wqkv", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_qkv", 1, 3, false, 0, NULL},
};
static const wb__op e6[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e7[] = {{WB__OP_NAME, 0, "q_dim"}, {0}};
static const wb__expr shape5[] = {e6, e7};
static const wb__spelling s5[] = {
    {"transformer.blocks.{n}.attn.out_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_output", 1, 3, false, 0, NULL},
};
static const wb__op e8[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape6[] = {e8};
static const wb__spelling s6[] = {
    {"transformer.blocks.{n}.norm_2", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_norm", 1, 3, false, 0, NULL},
};
static const wb__op e9[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__op e10[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape7[] = {e9, e10};
static const wb__spelling s7[] = {
    {"transformer.blocks.{n}.ffn.up_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_up", 1, 3, false, 0, NULL},
};
static const wb__op e11[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e12[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__expr shape8[] = {e11, e12};
static const wb__spelling s8[] = {
    {"transformer.blocks.{n}.ffn.down_proj", 14, 3, false, 0, NULL},
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
    {.canonical = "output_norm",
     .spellings = s2,
     .spelling_count = 2,
     .shape = shape2,
     .rank = 1,
     .provides = 1074003968u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention_norm",
     .spellings = s3,
     .spelling_count = 2,
     .shape = shape3,
     .rank = 1,
     .provides = 1073741825u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.qkv",
     .spellings = s4,
     .spelling_count = 2,
     .shape = shape4,
     .rank = 2,
     .provides = 14u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.output",
     .spellings = s5,
     .spelling_count = 2,
     .shape = shape5,
     .rank = 2,
     .provides = 16u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn_norm",
     .spellings = s6,
     .spelling_count = 2,
     .shape = shape6,
     .rank = 1,
     .provides = 1073741856u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.up",
     .spellings = s7,
     .spelling_count = 2,
     .shape = shape7,
     .rank = 2,
     .provides = 128u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.down",
     .spellings = s8,
     .spelling_count = 2,
     .shape = shape8,
     .rank = 2,
     .provides = 256u,
     .suffix = 3},
};
static const wb__op e13[] = {{WB__OP_TEXT, 0, "gelu"}, {0}};
static const wb__op e14[] = {{WB__OP_NUMBER, 0, NULL}, {0}};
static const wb__op e15[] = {{WB__OP_NUMBER, 1.0000000000000001e-05, NULL}, {0}};
static const wb__op e16[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e17[] = {{WB__OP_NAME, 0, "expansion_ratio"},
                             {WB__OP_NUMBER, 4, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NAME, 0, "dim"},
                             {WB__OP_MUL, 0, NULL},
                             {0}};
static const wb__op e18[] = {{WB__OP_NUMBER, 2048, NULL}, {0}};
static const wb__op e19[] = {{WB__OP_NUMBER, 8, NULL}, {0}};
static const wb__value_row values[] = {
    {3, 30, "activation", e13},
    {3, 48, "rope_dimension_count", e14},
    {1, 11, "norm_eps", e15},
    {1, 19, "tie_embeddings", e16},
    {1, 8, "ffn_dim", e17},
    {1, 10, "max_seq_len", e18},
    {1, 41, "attention_max_alibi_bias", e19},
};
static const wb__op e20[] = {{WB__OP_NAME, 0, "attention_max_alibi_bias"}, {0}};
static const wb__op e21[] = {{WB__OP_NAME, 0, "attention_clamp_kqv"}, {0}};
static const wb__op e22[] = {{WB__OP_NAME, 0, "attention_clamp_kqv"},
                             {WB__OP_NUMBER, 0, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NUMBER, 0, NULL},
                             {WB__OP_NE, 0, NULL},
                             {0}};
static const wb__op e23[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e24[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e25[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e26[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e27[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e28[] = {{WB__OP_NAME, 0, "n_layers"}, {0}};
static const wb__op e29[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e30[] = {{WB__OP_NAME, 0, "max_seq_len"}, {0}};
static const wb__op e31[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e32[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e33[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e34[] = {{WB__OP_NAME, 0, "ffn_dim"},
                             {WB__OP_NAME, 0, "dim"},
                             {WB__OP_DIV, 0, NULL},
                             {WB__OP_CALL, 0, NULL},
                             {0}};
static const wb__op e35[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e36[] = {{WB__OP_NAME, 0, "n_heads"}, {0}};
static const wb__op e37[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e38[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e39[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e40[] = {{WB__OP_NAME, 0, "norm_eps"}, {0}};
static const wb__op e41[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e42[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e43[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e44[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e45[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e46[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e47[] = {
    {WB__OP_NAME, 0, "attention_max_alibi_bias"}, {WB__OP_CALL, 0, NULL}, {0}};
static const wb__op e48[] = {{WB__OP_NAME, 0, "attention_clamp_kqv"}, {0}};
static const wb__op e49[] = {{WB__OP_NAME, 0, "attention_clamp_kqv"},
                             {WB__OP_NUMBER, 0, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NUMBER, 0, NULL},
                             {WB__OP_NE, 0, NULL},
                             {0}};
static const wb__key_row keys[] = {
    {"attention.max_alibi_bias", 2, 0, 0, e20, NULL},
    {"attention.clamp_kqv", 2, 0, 0, e21, e22},
    {"attention.key_length", 1, 0, 0, e23, NULL},
    {"attention.value_length", 1, 0, 0, e24, NULL},
    {"rope.dimension_count", 1, 0, 0, e25, NULL},
    {"rope.freq_base", 2, 0, 0, e26, NULL},
    {"num_hidden_layers", 0, 1, 0, e27, NULL},
    {"n_layers", 0, 1, 0, e28, NULL},
    {"max_position_embeddings", 0, 1, 0, e29, NULL},
    {"max_seq_len", 0, 1, 0, e30, NULL},
    {"hidden_size", 0, 1, 0, e31, NULL},
    {"d_model", 0, 1, 0, e32, NULL},
    {"intermediate_size", 0, 1, 0, e33, NULL},
    {"expansion_ratio", 0, 1, 0, e34, NULL},
    {"num_attention_heads", 0, 1, 0, e35, NULL},
    {"n_heads", 0, 1, 0, e36, NULL},
    {"num_key_value_heads", 0, 1, 0, e37, NULL},
    {"head_dim", 0, 1, 0, e38, NULL},
    {"layer_norm_eps", 0, 1, 0, e39, NULL},
    {"layer_norm_epsilon", 0, 1, 0, e40, NULL},
    {"rope_theta", 0, 1, 0, e41, NULL},
    {"hidden_act", 0, 1, 0, e42, NULL},
    {"attention_bias", 0, 1, 0, e43, NULL},
    {"mlp_bias", 0, 1, 0, e44, NULL},
    {"no_bias", 0, 1, 0, e45, NULL},
    {"attn_config.alibi", 0, 1, 0, e46, NULL},
    {"attn_config.alibi_bias_max", 0, 1, 0, e47, NULL},
    {"attn_config.clip_qkv", 0, 1, 0, e48, e49},
};
static const wb__op e50[] = {{WB__OP_NAME, 0, "/attn_config/alibi"},
                             {WB__OP_TRUE, 0, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NOT, 0, NULL},
                             {WB__OP_NAME, 0, "/attn_config/qk_ln"},
                             {WB__OP_FALSE, 0, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_OR, 0, NULL},
                             {WB__OP_NAME, 0, "/attn_config/prefix_lm"},
                             {WB__OP_FALSE, 0, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_OR, 0, NULL},
                             {WB__OP_CALL, 7, "/attn_config/softmax_scale"},
                             {WB__OP_OR, 0, NULL},
                             {WB__OP_NAME, 0, "/attn_config/attn_type"},
                             {WB__OP_TEXT, 0, "multihead_attention"},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_TEXT, 0, "multihead_attention"},
                             {WB__OP_NE, 0, NULL},
                             {WB__OP_OR, 0, NULL},
                             {0}};
static const wb__op e51[] = {{WB__OP_NAME, 0, "/norm_type"},
                             {WB__OP_TEXT, 0, "layernorm"},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_TEXT, 0, "layernorm"},
                             {WB__OP_NE, 0, NULL},
                             {WB__OP_NAME, 0, "/norm_type"},
                             {WB__OP_TEXT, 0, "low_precision_layernorm"},
                             {WB__OP_NE, 0, NULL},
                             {WB__OP_AND, 0, NULL},
                             {0}};
static const wb__op e52[] = {{WB__OP_CALL, 7, "/logit_scale"}, {0}};
static const wb__op e53[] = {{WB__OP_NAME, 0, "/ffn_config/ffn_type"},
                             {WB__OP_TEXT, 0, "mptmlp"},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_TEXT, 0, "mptmlp"},
                             {WB__OP_NE, 0, NULL},
                             {0}};
static const wb__limit limits[] = {
    {1, 1, "attn_config", e50,
     "llama.cpp knows attention of this architecture only with ALiBi and the usual scale, and "
     "without norms of q and k"},
    {1, 1, "norm_type", e51, "llama.cpp uses LayerNorm in this architecture"},
    {1, 1, "logit_scale", e52, "llama.cpp does not scale the logits of this architecture"},
    {1, 1, "ffn_config", e53, "llama.cpp knows only the usual feed-forward of this architecture"},
};
extern const wb__family wb__family_mpt;
const wb__family wb__family_mpt = {
    .name = "mpt",
    .base = &wb__family_layer_norm,
    .gguf = "mpt",
    .types = "mpt",
    .classes = "MptForCausalLM|MPTForCausalLM",
    .wrappers = "transformer.",
    .rules = rules,
    .rule_count = 9,
    .values = values,
    .value_count = 7,
    .keys = keys,
    .key_count = 28,
    .limits = limits,
    .limit_count = 4,
    .rope = 1,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 459199u,
};
