/* Generated from chatglm_model.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_chatglm;

static const wb__op e0[] = {{WB__OP_FALSE, 0, NULL}, {0}};
static const wb__op e1[] = {{WB__OP_NAME, 0, "vocab_size"}, {0}};
static const wb__op e2[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape0[] = {e1, e2};
static const wb__spelling s0[] = {
    {"transformer.embedding.word_embeddings", 14, 3, false, 0, NULL},
    {"token_embd", 1, 3, false, 0, NULL},
};
static const wb__op e3[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape1[] = {e3};
static const wb__spelling s1[] = {
    {"transformer.encoder.final_layernorm", 14, 3, false, 0, NULL},
    {"output_norm", 1, 3, false, 0, NULL},
};
static const wb__op e4[] = {{WB__OP_NAME, 0, "vocab_size"}, {0}};
static const wb__op e5[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape2[] = {e4, e5};
static const wb__spelling s2[] = {
    {"transformer.output_layer", 14, 3, false, 0, NULL},
    {"output", 1, 3, false, 0, NULL},
};
static const wb__op e6[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape3[] = {e6};
static const wb__spelling s3[] = {
    {"transformer.encoder.layers.{n}.input_layernorm", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_norm", 1, 3, false, 0, NULL},
};
static const wb__op e7[] = {{WB__OP_NAME, 0, "q_dim"},  {WB__OP_NUMBER, 2, NULL},
                            {WB__OP_NAME, 0, "kv_dim"}, {WB__OP_MUL, 0, NULL},
                            {WB__OP_ADD, 0, NULL},      {0}};
static const wb__op e8[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape4[] = {e7, e8};
static const wb__spelling s4[] = {
    {"transformer.encoder.layers.{n}.self_attention.query_key_value", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_qkv", 1, 3, false, 0, NULL},
};
static const wb__op e9[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e10[] = {{WB__OP_NAME, 0, "q_dim"}, {0}};
static const wb__expr shape5[] = {e9, e10};
static const wb__spelling s5[] = {
    {"transformer.encoder.layers.{n}.self_attention.dense", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_output", 1, 3, false, 0, NULL},
};
static const wb__op e11[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape6[] = {e11};
static const wb__spelling s6[] = {
    {"transformer.encoder.layers.{n}.post_attention_layernorm", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_norm", 1, 3, false, 0, NULL},
};
static const wb__op e12[] = {
    {WB__OP_NUMBER, 2, NULL}, {WB__OP_NAME, 0, "ffn_dim"}, {WB__OP_MUL, 0, NULL}, {0}};
static const wb__op e13[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape7[] = {e12, e13};
static const wb__spelling s7[] = {
    {"transformer.encoder.layers.{n}.mlp.dense_h_to_4h", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_up", 1, 3, false, 0, NULL},
};
static const wb__op e14[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e15[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__expr shape8[] = {e14, e15};
static const wb__spelling s8[] = {
    {"transformer.encoder.layers.{n}.mlp.dense_4h_to_h", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_down", 1, 3, false, 0, NULL},
};
static const wb__spelling s9[] = {
    {"transformer.rotary_pos_emb.inv_freq", 14, 3, false, 0, NULL},
};
static const wb__rule rules[] = {
    {.canonical = "token_embedding",
     .spellings = s0,
     .spelling_count = 2,
     .shape = shape0,
     .rank = 2,
     .provides = 65536u,
     .suffix = 3},
    {.canonical = "output_norm",
     .spellings = s1,
     .spelling_count = 2,
     .shape = shape1,
     .rank = 1,
     .provides = 1074003968u,
     .suffix = 3},
    {.canonical = "output",
     .spellings = s2,
     .spelling_count = 2,
     .shape = shape2,
     .rank = 2,
     .provides = 131072u,
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
    {.canonical = "layers.{n}.ffn.gate_up",
     .spellings = s7,
     .spelling_count = 2,
     .shape = shape7,
     .rank = 2,
     .provides = 192u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.down",
     .spellings = s8,
     .spelling_count = 2,
     .shape = shape8,
     .rank = 2,
     .provides = 256u,
     .suffix = 3},
    {.canonical = NULL, .spellings = s9, .spelling_count = 1, .suffix = 3},
};
static const wb__op e16[] = {{WB__OP_NAME, 0, "/rope_theta"}, {WB__OP_NUMBER, 10000, NULL},
                             {WB__OP_ELSE, 0, NULL},          {WB__OP_NAME, 0, "rope_ratio"},
                             {WB__OP_NUMBER, 1, NULL},        {WB__OP_ELSE, 0, NULL},
                             {WB__OP_MUL, 0, NULL},           {0}};
static const wb__op e17[] = {{WB__OP_NAME, 0, "base"}, {0}};
static const wb__op e18[] = {
    {WB__OP_NAME, 0, "ffn_hidden_size"}, {WB__OP_NUMBER, 13696, NULL}, {WB__OP_ELSE, 0, NULL}, {0}};
static const wb__op e19[] = {
    {WB__OP_NAME, 0, "kv_channels"}, {WB__OP_NUMBER, 128, NULL}, {WB__OP_ELSE, 0, NULL}, {0}};
static const wb__op e20[] = {{WB__OP_NAME, 0, "multi_query_attention"},
                             {WB__OP_FALSE, 0, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NAME, 0, "multi_query_group_num"},
                             {WB__OP_NUMBER, 1, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NAME, 0, "n_heads"},
                             {WB__OP_SELECT, 0, NULL},
                             {0}};
static const wb__op e21[] = {{WB__OP_NAME, 0, "padded_vocab_size"},
                             {WB__OP_NUMBER, 65024, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {0}};
static const wb__op e22[] = {{WB__OP_NAME, 0, "layernorm_epsilon"},
                             {WB__OP_NUMBER, 1.0000000000000001e-05, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {0}};
static const wb__op e23[] = {
    {WB__OP_NAME, 0, "seq_length"}, {WB__OP_NUMBER, 2048, NULL}, {WB__OP_ELSE, 0, NULL}, {0}};
static const wb__op e24[] = {{WB__OP_NAME, 0, "head_dim"},
                             {WB__OP_NUMBER, 2, NULL},
                             {WB__OP_DIV, 0, NULL},
                             {WB__OP_CALL, 0, NULL},
                             {0}};
static const wb__value_row values[] = {
    {5, -1, "base", e16},     {0, 12, "rope_theta", e17},  {0, 8, "ffn_dim", e18},
    {0, 5, "head_dim", e19},  {0, 4, "n_kv_heads", e20},   {0, 9, "vocab_size", e21},
    {1, 11, "norm_eps", e22}, {1, 10, "max_seq_len", e23}, {1, 48, "rope_dimension_count", e24},
};
static const wb__op e25[] = {{WB__OP_NAME, 0, "rmsnorm"},
                             {WB__OP_TRUE, 0, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NOT, 0, NULL},
                             {0}};
static const wb__op e26[] = {{WB__OP_NAME, 0, "apply_residual_connection_post_layernorm"},
                             {WB__OP_FALSE, 0, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {0}};
static const wb__op e27[] = {{WB__OP_NAME, 0, "post_layer_norm"},
                             {WB__OP_TRUE, 0, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NOT, 0, NULL},
                             {0}};
static const wb__limit limits[] = {
    {1, 1, "rmsnorm", e25, "llama.cpp uses RMSNorm in this architecture"},
    {1, 1, "apply_residual_connection_post_layernorm", e26,
     "llama.cpp adds the input of the norm to the result of attention, not the output"},
    {1, 1, "post_layer_norm", e27, "llama.cpp applies a norm to the output of the last layer"},
};
extern const wb__family wb__family_chatglm_model;
const wb__family wb__family_chatglm_model = {
    .name = "chatglm_model",
    .base = &wb__family_chatglm,
    .gguf = "chatglm",
    .types = "chatglm",
    .classes = "ChatGLMModel|ChatGLMForConditionalGeneration",
    .wrappers = "transformer.",
    .when = e0,
    .rules = rules,
    .rule_count = 10,
    .values = values,
    .value_count = 9,
    .limits = limits,
    .limit_count = 3,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
