/* Generated from bert.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

static const wb__op e0[] = {{WB__OP_NAME, 0, "vocab_size"}, {0}};
static const wb__op e1[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape0[] = {e0, e1};
static const wb__spelling s0[] = {
    {"embeddings.word_embeddings", 14, 3, false, 0, NULL},
    {"token_embd", 1, 3, false, 0, NULL},
};
static const wb__op e2[] = {{WB__OP_NAME, 0, "max_seq_len"}, {0}};
static const wb__op e3[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape1[] = {e2, e3};
static const wb__spelling s1[] = {
    {"embeddings.position_embeddings", 14, 3, false, 0, NULL},
    {"position_embd", 1, 3, false, 0, NULL},
};
static const wb__op e4[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape2[] = {NULL, e4};
static const wb__spelling s2[] = {
    {"embeddings.token_type_embeddings", 14, 3, false, 0, NULL},
    {"token_types", 1, 3, false, 0, NULL},
};
static const wb__op e5[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape3[] = {e5};
static const wb__spelling s3[] = {
    {"embeddings.LayerNorm", 14, 3, false, 0, NULL},
    {"token_embd_norm", 1, 3, false, 0, NULL},
};
static const wb__op e6[] = {{WB__OP_NAME, 0, "q_dim"}, {0}};
static const wb__op e7[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape4[] = {e6, e7};
static const wb__spelling s4[] = {
    {"encoder.layer.{n}.attention.self.query", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_q", 1, 3, false, 0, NULL},
};
static const wb__op e8[] = {{WB__OP_NAME, 0, "kv_dim"}, {0}};
static const wb__op e9[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape5[] = {e8, e9};
static const wb__spelling s5[] = {
    {"encoder.layer.{n}.attention.self.key", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_k", 1, 3, false, 0, NULL},
};
static const wb__op e10[] = {{WB__OP_NAME, 0, "kv_dim"}, {0}};
static const wb__op e11[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape6[] = {e10, e11};
static const wb__spelling s6[] = {
    {"encoder.layer.{n}.attention.self.value", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_v", 1, 3, false, 0, NULL},
};
static const wb__op e12[] = {{WB__OP_NAME, 0, "q_dim"},  {WB__OP_NUMBER, 2, NULL},
                             {WB__OP_NAME, 0, "kv_dim"}, {WB__OP_MUL, 0, NULL},
                             {WB__OP_ADD, 0, NULL},      {0}};
static const wb__op e13[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape7[] = {e12, e13};
static const wb__spelling s7[] = {
    {"encoder.layer.{n}.attention.self.Wqkv", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_qkv", 1, 3, false, 0, NULL},
};
static const wb__op e14[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e15[] = {{WB__OP_NAME, 0, "q_dim"}, {0}};
static const wb__expr shape8[] = {e14, e15};
static const wb__spelling s8[] = {
    {"encoder.layer.{n}.attention.output.dense", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_output", 1, 3, false, 0, NULL},
};
static const wb__op e16[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape9[] = {e16};
static const wb__spelling s9[] = {
    {"encoder.layer.{n}.attention.output.LayerNorm", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_output_norm", 1, 3, false, 0, NULL},
};
static const wb__op e17[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__op e18[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape10[] = {e17, e18};
static const wb__spelling s10[] = {
    {"encoder.layer.{n}.intermediate.dense", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_up", 1, 3, false, 0, NULL},
};
static const wb__op e19[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e20[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__expr shape11[] = {e19, e20};
static const wb__spelling s11[] = {
    {"encoder.layer.{n}.output.dense", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_down", 1, 3, false, 0, NULL},
};
static const wb__op e21[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape12[] = {e21};
static const wb__spelling s12[] = {
    {"encoder.layer.{n}.output.LayerNorm", 14, 3, false, 0, NULL},
    {"blk.{n}.layer_output_norm", 1, 3, false, 0, NULL},
};
static const wb__spelling s13[] = {
    {"pooler.dense", 14, 3, false, 0, NULL},
    {"embeddings.position_ids", 14, 3, false, 0, NULL},
};
static const wb__spelling s14[] = {
    {"cls.predictions", 14, 2, false, 0, NULL},
    {"cls.predictions.decoder", 14, 3, false, 0, NULL},
    {"cls.predictions.transform.dense", 14, 3, false, 0, NULL},
    {"cls.predictions.transform.LayerNorm", 14, 3, false, 0, NULL},
    {"cls.seq_relationship", 14, 3, false, 0, NULL},
};
static const wb__rule rules[] = {
    {.canonical = "token_embd",
     .spellings = s0,
     .spelling_count = 2,
     .shape = shape0,
     .rank = 2,
     .provides = 65536u,
     .suffix = 3},
    {.canonical = "position_embd",
     .spellings = s1,
     .spelling_count = 2,
     .shape = shape1,
     .rank = 2,
     .suffix = 3},
    {.canonical = "token_types",
     .spellings = s2,
     .spelling_count = 2,
     .shape = shape2,
     .rank = 2,
     .suffix = 3},
    {.canonical = "token_embd_norm",
     .spellings = s3,
     .spelling_count = 2,
     .shape = shape3,
     .rank = 1,
     .provides = 262144u,
     .suffix = 3},
    {.canonical = "blk.{n}.attn_q",
     .spellings = s4,
     .spelling_count = 2,
     .shape = shape4,
     .rank = 2,
     .provides = 2u,
     .suffix = 3},
    {.canonical = "blk.{n}.attn_k",
     .spellings = s5,
     .spelling_count = 2,
     .shape = shape5,
     .rank = 2,
     .provides = 4u,
     .suffix = 3},
    {.canonical = "blk.{n}.attn_v",
     .spellings = s6,
     .spelling_count = 2,
     .shape = shape6,
     .rank = 2,
     .provides = 8u,
     .suffix = 3},
    {.canonical = "blk.{n}.attn_qkv",
     .spellings = s7,
     .spelling_count = 2,
     .shape = shape7,
     .rank = 2,
     .provides = 14u,
     .suffix = 3},
    {.canonical = "blk.{n}.attn_output",
     .spellings = s8,
     .spelling_count = 2,
     .shape = shape8,
     .rank = 2,
     .provides = 16u,
     .suffix = 3},
    {.canonical = "blk.{n}.attn_output_norm",
     .spellings = s9,
     .spelling_count = 2,
     .shape = shape9,
     .rank = 1,
     .provides = 1u,
     .suffix = 3},
    {.canonical = "blk.{n}.ffn_up",
     .spellings = s10,
     .spelling_count = 2,
     .shape = shape10,
     .rank = 2,
     .provides = 128u,
     .suffix = 3},
    {.canonical = "blk.{n}.ffn_down",
     .spellings = s11,
     .spelling_count = 2,
     .shape = shape11,
     .rank = 2,
     .provides = 256u,
     .suffix = 3},
    {.canonical = "blk.{n}.layer_output_norm",
     .spellings = s12,
     .spelling_count = 2,
     .shape = shape12,
     .rank = 1,
     .provides = 32u,
     .suffix = 3},
    {.canonical = NULL, .spellings = s13, .spelling_count = 2, .suffix = 3},
    {.canonical = NULL, .spellings = s14, .spelling_count = 5, .suffix = 3},
};
static const wb__op e22[] = {{WB__OP_TEXT, 0, "gelu"}, {0}};
static const wb__op e23[] = {{WB__OP_TEXT, 0, "layer"}, {0}};
static const wb__op e24[] = {{WB__OP_FALSE, 0, NULL}, {0}};
static const wb__op e25[] = {{WB__OP_FALSE, 0, NULL}, {0}};
static const wb__op e26[] = {{WB__OP_NUMBER, 1, NULL}, {0}};
static const wb__op e27[] = {{WB__OP_NUMBER, 1, NULL}, {0}};
static const wb__op e28[] = {{WB__OP_NUMBER, 1, NULL},
                             {WB__OP_NAME, 0, "head_dim"},
                             {WB__OP_CALL, 2, NULL},
                             {WB__OP_DIV, 0, NULL},
                             {0}};
static const wb__op e29[] = {{WB__OP_NUMBER, 1, NULL}, {0}};
static const wb__op e30[] = {{WB__OP_NUMBER, 0, NULL}, {0}};
static const wb__op e31[] = {{WB__OP_NUMBER, 0, NULL}, {0}};
static const wb__op e32[] = {{WB__OP_NUMBER, 0, NULL}, {0}};
static const wb__op e33[] = {{WB__OP_TEXT, 0, "none"}, {0}};
static const wb__op e34[] = {{WB__OP_NUMBER, 9.9999999999999998e-13, NULL}, {0}};
static const wb__op e35[] = {{WB__OP_NUMBER, 512, NULL}, {0}};
static const wb__value_row values[] = {
    {3, 30, "activation", e22},
    {3, 31, "norm_type", e23},
    {3, 32, "attention_causal", e24},
    {3, 33, "parallel_residual", e25},
    {3, 34, "embedding_scale", e26},
    {3, 35, "residual_scale", e27},
    {3, 36, "attention_scale", e28},
    {3, 37, "logit_scale", e29},
    {3, 38, "attn_logit_softcapping", e30},
    {3, 39, "final_logit_softcapping", e31},
    {3, 48, "rope_dimension_count", e32},
    {3, 49, "rope_scaling_type", e33},
    {1, 11, "norm_eps", e34},
    {1, 10, "max_seq_len", e35},
};
static const wb__op e36[] = {{WB__OP_NAME, 0, "n_layers"}, {0}};
static const wb__op e37[] = {{WB__OP_NAME, 0, "max_seq_len"}, {0}};
static const wb__op e38[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e39[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__op e40[] = {{WB__OP_NAME, 0, "n_heads"}, {0}};
static const wb__op e41[] = {{WB__OP_NAME, 0, "n_kv_heads"}, {0}};
static const wb__op e42[] = {{WB__OP_NAME, 0, "norm_eps"}, {0}};
static const wb__op e43[] = {{WB__OP_NAME, 0, "vocab_size"}, {0}};
static const wb__op e44[] = {
    {WB__OP_NAME, 0, "/is_decoder"}, {WB__OP_FALSE, 0, NULL}, {WB__OP_ELSE, 0, NULL}, {0}};
static const wb__op e45[] = {{WB__OP_NAME, 0, "n_layers"}, {0}};
static const wb__op e46[] = {{WB__OP_NAME, 0, "max_seq_len"}, {0}};
static const wb__op e47[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e48[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__op e49[] = {{WB__OP_NAME, 0, "n_heads"}, {0}};
static const wb__op e50[] = {{WB__OP_NAME, 0, "n_kv_heads"}, {0}};
static const wb__op e51[] = {{WB__OP_NAME, 0, "norm_eps"}, {0}};
static const wb__op e52[] = {{WB__OP_NAME, 0, "vocab_size"}, {0}};
static const wb__op e53[] = {{WB__OP_NAME, 0, "tie_embeddings"}, {0}};
static const wb__op e54[] = {{WB__OP_NAME, 0, "attention.causal"}, {0}};
static const wb__op e55[] = {{WB__OP_NAME, 0, "activation"}, {0}};
static const wb__op e56[] = {{WB__OP_CALL, 13, "layers.0.attention.q.bias"}, {0}};
static const wb__op e57[] = {{WB__OP_CALL, 13, "layers.0.ffn.up.bias"}, {0}};
static const wb__key_row keys[] = {
    {"block_count", 1, 0, 0, e36, NULL},
    {"context_length", 1, 0, 0, e37, NULL},
    {"embedding_length", 1, 0, 0, e38, NULL},
    {"feed_forward_length", 1, 0, 0, e39, NULL},
    {"attention.head_count", 1, 0, 0, e40, NULL},
    {"attention.head_count_kv", 1, 0, 0, e41, NULL},
    {"attention.layer_norm_epsilon", 2, 0, 0, e42, NULL},
    {"vocab_size", 1, 0, 0, e43, NULL},
    {"attention.causal", 3, 0, 0, e44, NULL},
    {"num_hidden_layers", 0, 1, 0, e45, NULL},
    {"max_position_embeddings", 0, 1, 0, e46, NULL},
    {"hidden_size", 0, 1, 0, e47, NULL},
    {"intermediate_size", 0, 1, 0, e48, NULL},
    {"num_attention_heads", 0, 1, 0, e49, NULL},
    {"num_key_value_heads", 0, 1, 0, e50, NULL},
    {"layer_norm_eps", 0, 1, 0, e51, NULL},
    {"vocab_size", 0, 1, 0, e52, NULL},
    {"tie_word_embeddings", 0, 1, 0, e53, NULL},
    {"is_decoder", 0, 1, 0, e54, NULL},
    {"hidden_act", 0, 1, 0, e55, NULL},
    {"attention_bias", 0, 1, 0, e56, NULL},
    {"mlp_bias", 0, 1, 0, e57, NULL},
};
extern const wb__family wb__family_bert;
const wb__family wb__family_bert = {
    .name = "bert",
    .gguf = "bert",
    .types = "bert",
    .classes = "BertModel",
    .signature = "encoder.layer.{n}.intermediate.dense",
    .tokenizer = "pooling",
    .rules = rules,
    .rule_count = 15,
    .values = values,
    .value_count = 14,
    .keys = keys,
    .key_count = 22,
    .rope = 1,
    .norm_sides = 0,
    .has_norm_sides = 1,
    .flags = 8u,
    .needs = 328127u,
};
