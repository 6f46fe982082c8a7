/* Generated from gptneox.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_layer_norm;

static const wb__op e0[] = {{WB__OP_NAME, 0, "vocab_size"}, {0}};
static const wb__op e1[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape1[] = {e0, e1};
static const wb__spelling s1[] = {
    {"gpt_neox.embed_in", 14, 3, false, 0, NULL},
    {"token_embd", 1, 3, false, 0, NULL},
};
static const wb__op e2[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape2[] = {e2};
static const wb__spelling s2[] = {
    {"gpt_neox.final_layer_norm", 14, 3, false, 0, NULL},
    {"output_norm", 1, 3, false, 0, NULL},
};
static const wb__op e3[] = {{WB__OP_NAME, 0, "vocab_size"}, {0}};
static const wb__op e4[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape3[] = {e3, e4};
static const wb__spelling s3[] = {
    {"embed_out", 14, 3, false, 0, NULL},
    {"output", 1, 3, false, 0, NULL},
};
static const wb__op e5[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape4[] = {e5};
static const wb__spelling s4[] = {
    {"gpt_neox.layers.{n}.input_layernorm", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_norm", 1, 3, false, 0, NULL},
};
static const wb__op e6[] = {{WB__OP_NAME, 0, "q_dim"},  {WB__OP_NUMBER, 2, NULL},
                            {WB__OP_NAME, 0, "kv_dim"}, {WB__OP_MUL, 0, NULL},
                            {WB__OP_ADD, 0, NULL},      {0}};
static const wb__op e7[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape5[] = {e6, e7};
static const wb__op e8[] = {{WB__OP_NAME, 0, "n_heads"}, {0}};
static const wb__transform c0[] = {
    {3, e8},
};
static const wb__spelling s5[] = {
    {"gpt_neox.layers.{n}.attention.query_key_value", 14, 3, false, 1, c0},
    {"blk.{n}.attn_qkv", 1, 3, false, 0, NULL},
};
static const wb__op e9[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e10[] = {{WB__OP_NAME, 0, "q_dim"}, {0}};
static const wb__expr shape6[] = {e9, e10};
static const wb__spelling s6[] = {
    {"gpt_neox.layers.{n}.attention.dense", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_output", 1, 3, false, 0, NULL},
};
static const wb__op e11[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape7[] = {e11};
static const wb__spelling s7[] = {
    {"gpt_neox.layers.{n}.post_attention_layernorm", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_norm", 1, 3, false, 0, NULL},
};
static const wb__op e12[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__op e13[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape8[] = {e12, e13};
static const wb__spelling s8[] = {
    {"gpt_neox.layers.{n}.mlp.dense_h_to_4h", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_up", 1, 3, false, 0, NULL},
};
static const wb__op e14[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e15[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__expr shape9[] = {e14, e15};
static const wb__spelling s9[] = {
    {"gpt_neox.layers.{n}.mlp.dense_4h_to_h", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_down", 1, 3, false, 0, NULL},
};
static const wb__spelling s10[] = {
    {"gpt_neox.layers.{n}.attention", 14, 2, false, 0, NULL},
    {"gpt_neox.layers.{n}.attention.masked_bias", 14, 3, false, 0, NULL},
    {"gpt_neox.layers.{n}.attention.rotary_emb.inv_freq", 14, 3, false, 0, NULL},
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
    {.canonical = "output",
     .spellings = s3,
     .spelling_count = 2,
     .shape = shape3,
     .rank = 2,
     .provides = 131072u,
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
    {.canonical = NULL, .spellings = s10, .spelling_count = 3, .suffix = 3},
};
static const wb__op e16[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e17[] = {{WB__OP_TEXT, 0, "gelu"}, {0}};
static const wb__op e18[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e19[] = {{WB__OP_NUMBER, 10000, NULL}, {0}};
static const wb__op e20[] = {{WB__OP_NUMBER, 1.0000000000000001e-05, NULL}, {0}};
static const wb__op e21[] = {{WB__OP_NAME, 0, "head_dim"},
                             {WB__OP_NAME, 0, "rotary_pct"},
                             {WB__OP_NAME, 0, "partial_rotary_factor"},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NAME, 0, "/rope_parameters/partial_rotary_factor"},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NUMBER, 0.25, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_MUL, 0, NULL},
                             {WB__OP_CALL, 0, NULL},
                             {0}};
static const wb__value_row values[] = {
    {5, -1, "loads_output_bias", e16}, {3, 30, "activation", e17},
    {3, 33, "parallel_residual", e18}, {1, 12, "rope_theta", e19},
    {1, 11, "norm_eps", e20},          {1, 48, "rope_dimension_count", e21},
};
static const wb__op e22[] = {{WB__OP_NAME, 0, "parallel_residual"}, {0}};
static const wb__op e23[] = {{WB__OP_NAME, 0, "use_parallel_residual"}, {0}};
static const wb__op e24[] = {{WB__OP_NAME, 0, "rope_dimension_count"},
                             {WB__OP_NAME, 0, "head_dim"},
                             {WB__OP_DIV, 0, NULL},
                             {0}};
static const wb__op e25[] = {{WB__OP_NAME, 0, "rope_dimension_count"},
                             {WB__OP_NAME, 0, "head_dim"},
                             {WB__OP_DIV, 0, NULL},
                             {0}};
static const wb__op e26[] = {{WB__OP_NAME, 0, "rope_theta"}, {WB__OP_CALL, 0, NULL}, {0}};
static const wb__op e27[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e28[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e29[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e30[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e31[] = {{WB__OP_CALL, 13, "layers.0.attention.qkv.bias"}, {0}};
static const wb__key_row keys[] = {
    {"use_parallel_residual", 3, 0, 0, e22, NULL},
    {"use_parallel_residual", 0, 1, 0, e23, NULL},
    {"rotary_pct", 0, 1, 0, e24, NULL},
    {"rotary_pct", 0, 2, 0, e25, NULL},
    {"rotary_emb_base", 0, 2, 0, e26, NULL},
    {"rope_theta", 0, 2, 0, e27, NULL},
    {"head_dim", 0, 1, 0, e28, NULL},
    {"num_key_value_heads", 0, 1, 0, e29, NULL},
    {"mlp_bias", 0, 1, 0, e30, NULL},
    {"attention_bias", 0, 1, 0, e31, NULL},
};
extern const wb__family wb__family_gptneox;
const wb__family wb__family_gptneox = {
    .name = "gptneox",
    .base = &wb__family_layer_norm,
    .gguf = "gptneox",
    .types = "gpt_neox",
    .classes = "GPTNeoXForCausalLM",
    .wrappers = "gpt_neox.",
    .rules = rules,
    .rule_count = 11,
    .values = values,
    .value_count = 6,
    .keys = keys,
    .key_count = 10,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 459199u,
};
