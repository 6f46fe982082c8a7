/* Generated from llama4.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_unknown;

static const wb__op e0[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__op e1[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape0[] = {e0, e1};
static const wb__spelling s0[] = {
    {"model.layers.{n}.feed_forward.router", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_gate_inp", 1, 3, false, 0, NULL},
};
static const wb__op e2[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__op e3[] = {
    {WB__OP_NUMBER, 2, NULL}, {WB__OP_NAME, 0, "expert_ffn_dim"}, {WB__OP_MUL, 0, NULL}, {0}};
static const wb__op e4[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape1[] = {e2, e3, e4};
static const wb__transform c0[] = {
    {1, NULL},
};
static const wb__spelling s1[] = {
    {"model.layers.{n}.feed_forward.experts.gate_up_proj", 14, 0, false, 1, c0},
};
static const wb__op e5[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__op e6[] = {{WB__OP_NAME, 0, "expert_ffn_dim"}, {0}};
static const wb__op e7[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape2[] = {e5, e6, e7};
static const wb__spelling s2[] = {
    {"blk.{n}.ffn_gate_exps", 1, 3, false, 0, NULL},
};
static const wb__op e8[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__op e9[] = {{WB__OP_NAME, 0, "expert_ffn_dim"}, {0}};
static const wb__op e10[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape3[] = {e8, e9, e10};
static const wb__spelling s3[] = {
    {"blk.{n}.ffn_up_exps", 1, 3, false, 0, NULL},
};
static const wb__op e11[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__op e12[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e13[] = {{WB__OP_NAME, 0, "expert_ffn_dim"}, {0}};
static const wb__expr shape4[] = {e11, e12, e13};
static const wb__transform c1[] = {
    {1, NULL},
};
static const wb__spelling s4[] = {
    {"model.layers.{n}.feed_forward.experts.down_proj", 14, 0, false, 1, c1},
    {"blk.{n}.ffn_down_exps", 1, 3, false, 0, NULL},
};
static const wb__op e14[] = {{WB__OP_NAME, 0, "expert_ffn_dim"}, {0}};
static const wb__op e15[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape5[] = {e14, e15};
static const wb__spelling s5[] = {
    {"model.layers.{n}.feed_forward.shared_expert.gate_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_gate_shexp", 1, 3, false, 0, NULL},
};
static const wb__op e16[] = {{WB__OP_NAME, 0, "expert_ffn_dim"}, {0}};
static const wb__op e17[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape6[] = {e16, e17};
static const wb__spelling s6[] = {
    {"model.layers.{n}.feed_forward.shared_expert.up_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_up_shexp", 1, 3, false, 0, NULL},
};
static const wb__op e18[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e19[] = {{WB__OP_NAME, 0, "expert_ffn_dim"}, {0}};
static const wb__expr shape7[] = {e18, e19};
static const wb__spelling s7[] = {
    {"model.layers.{n}.feed_forward.shared_expert.down_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_down_shexp", 1, 3, false, 0, NULL},
};
static const wb__op e20[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__op e21[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape8[] = {e20, e21};
static const wb__spelling s8[] = {
    {"model.layers.{n}.feed_forward.gate_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_gate", 1, 3, false, 0, NULL},
};
static const wb__op e22[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__op e23[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape9[] = {e22, e23};
static const wb__spelling s9[] = {
    {"model.layers.{n}.feed_forward.up_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_up", 1, 3, false, 0, NULL},
};
static const wb__op e24[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e25[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__expr shape10[] = {e24, e25};
static const wb__spelling s10[] = {
    {"model.layers.{n}.feed_forward.down_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_down", 1, 3, false, 0, NULL},
};
static const wb__rule rules[] = {
    {.canonical = "layers.{n}.ffn.router",
     .spellings = s0,
     .spelling_count = 2,
     .shape = shape0,
     .rank = 2,
     .provides = 134217728u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.experts.gate_up",
     .spellings = s1,
     .spelling_count = 1,
     .shape = shape1,
     .rank = 3,
     .provides = 192u,
     .suffix = 1},
    {.canonical = "layers.{n}.ffn.experts.gate",
     .spellings = s2,
     .spelling_count = 1,
     .shape = shape2,
     .rank = 3,
     .provides = 64u,
     .suffix = 1},
    {.canonical = "layers.{n}.ffn.experts.up",
     .spellings = s3,
     .spelling_count = 1,
     .shape = shape3,
     .rank = 3,
     .provides = 128u,
     .suffix = 1},
    {.canonical = "layers.{n}.ffn.experts.down",
     .spellings = s4,
     .spelling_count = 2,
     .shape = shape4,
     .rank = 3,
     .provides = 256u,
     .suffix = 1},
    {.canonical = "layers.{n}.ffn.shared_experts.gate",
     .spellings = s5,
     .spelling_count = 2,
     .shape = shape5,
     .rank = 2,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.shared_experts.up",
     .spellings = s6,
     .spelling_count = 2,
     .shape = shape6,
     .rank = 2,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.shared_experts.down",
     .spellings = s7,
     .spelling_count = 2,
     .shape = shape7,
     .rank = 2,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.gate",
     .spellings = s8,
     .spelling_count = 2,
     .shape = shape8,
     .rank = 2,
     .provides = 64u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.up",
     .spellings = s9,
     .spelling_count = 2,
     .shape = shape9,
     .rank = 2,
     .provides = 128u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.down",
     .spellings = s10,
     .spelling_count = 2,
     .shape = shape10,
     .rank = 2,
     .provides = 256u,
     .suffix = 3},
};
static const wb__fused fused[] = {
    {"layers.{n}.ffn.experts.gate_up",
     {
         "layers.{n}.ffn.experts.gate",
         "layers.{n}.ffn.experts.up",
     },
     2},
};
static const wb__op e26[] = {{WB__OP_TEXT, 0, "silu"}, {0}};
static const wb__op e27[] = {{WB__OP_TEXT, 0, "sigmoid"}, {0}};
static const wb__op e28[] = {{WB__OP_NUMBER, 500000, NULL}, {0}};
static const wb__op e29[] = {{WB__OP_NUMBER, 1.0000000000000001e-05, NULL}, {0}};
static const wb__op e30[] = {{WB__OP_NUMBER, 8, NULL}, {0}};
static const wb__op e31[] = {{WB__OP_NUMBER, 128, NULL}, {0}};
static const wb__op e32[] = {{WB__OP_NUMBER, 16, NULL}, {0}};
static const wb__op e33[] = {{WB__OP_NUMBER, 1, NULL}, {0}};
static const wb__op e34[] = {{WB__OP_NAME, 0, "intermediate_size_mlp"},
                             {WB__OP_NUMBER, 16384, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {0}};
static const wb__op e35[] = {{WB__OP_NAME, 0, "intermediate_size"},
                             {WB__OP_NUMBER, 8192, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {0}};
static const wb__op e36[] = {{WB__OP_NUMBER, 1, NULL}, {0}};
static const wb__op e37[] = {{WB__OP_NAME, 0, "/attention_chunk_size"},
                             {WB__OP_NULL, 0, NULL},
                             {WB__OP_EQ, 0, NULL},
                             {WB__OP_FALSE, 0, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NUMBER, 0, NULL},
                             {WB__OP_NAME, 0, "/attention_chunk_size"},
                             {WB__OP_NUMBER, 8192, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_SELECT, 0, NULL},
                             {0}};
static const wb__value_row values[] = {
    {3, 30, "activation", e26},
    {3, 61, "expert_gating_func", e27},
    {1, 12, "rope_theta", e28},
    {1, 11, "norm_eps", e29},
    {1, 4, "n_kv_heads", e30},
    {1, 5, "head_dim", e31},
    {1, 16, "n_experts", e32},
    {1, 17, "n_experts_used", e33},
    {0, 8, "ffn_dim", e34},
    {0, 18, "expert_ffn_dim", e35},
    {3, 67, "interleave_moe_layer_step", e36},
    {5, -1, "chunk", e37},
};
static const wb__op e38[] = {{WB__OP_NAME, 0, "interleave_moe_layer_step"}, {0}};
static const wb__op e39[] = {{WB__OP_NAME, 0, "chunk"}, {0}};
static const wb__op e40[] = {
    {WB__OP_NAME, 0, "chunk"}, {WB__OP_NUMBER, 0, NULL}, {WB__OP_EQ, 0, NULL}, {0}};
static const wb__op e41[] = {{WB__OP_NAME, 0, "expert_ffn_dim"}, {0}};
static const wb__op e42[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__op e43[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e44[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e45[] = {{WB__OP_NAME, 0, "interleave_moe_layer_step"}, {0}};
static const wb__op e46[] = {{WB__OP_NAME, 0, "attention.sliding_window"},
                             {WB__OP_NUMBER, 8192, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NUMBER, 0, NULL},
                             {WB__OP_NE, 0, NULL},
                             {WB__OP_NUMBER, 8192, NULL},
                             {WB__OP_NULL, 0, NULL},
                             {WB__OP_SELECT, 0, NULL},
                             {0}};
static const wb__op e47[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e48[] = {
    {WB__OP_NAME, 0, "n_experts"}, {WB__OP_NUMBER, 128, NULL}, {WB__OP_NE, 0, NULL}, {0}};
static const wb__op e49[] = {{WB__OP_NAME, 0, "attention.sliding_window"},
                             {WB__OP_NUMBER, 8192, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NUMBER, 0, NULL},
                             {WB__OP_EQ, 0, NULL},
                             {WB__OP_NAME, 0, "i"},
                             {WB__OP_NUMBER, 4, NULL},
                             {WB__OP_DIV, 0, NULL},
                             {WB__OP_CALL, 0, NULL},
                             {WB__OP_NUMBER, 4, NULL},
                             {WB__OP_MUL, 0, NULL},
                             {WB__OP_NUMBER, 3, NULL},
                             {WB__OP_ADD, 0, NULL},
                             {WB__OP_NAME, 0, "i"},
                             {WB__OP_NE, 0, NULL},
                             {WB__OP_OR, 0, NULL},
                             {WB__OP_NUMBER, 1, NULL},
                             {WB__OP_NUMBER, 0, NULL},
                             {WB__OP_SELECT, 0, NULL},
                             {0}};
static const wb__key_row keys[] = {
    {"interleave_moe_layer_step", 1, 0, 0, e38, NULL},
    {"attention.sliding_window", 1, 0, 0, e39, e40},
    {"intermediate_size", 0, 1, 0, e41, NULL},
    {"intermediate_size_mlp", 0, 1, 0, e42, NULL},
    {"num_experts", 0, 1, 0, e43, NULL},
    {"moe_intermediate_size", 0, 1, 0, e44, NULL},
    {"interleave_moe_layer_step", 0, 1, 0, e45, NULL},
    {"attention_chunk_size", 0, 1, 0, e46, NULL},
    {"sliding_window", 0, 1, 0, e47, NULL},
    {"use_qk_norm", 0, 1, 0, e48, NULL},
    {"no_rope_layers", 8, 1, 0, e49, NULL},
};
static const wb__op e50[] = {{WB__OP_NAME, 0, "chunk"},   {WB__OP_NUMBER, 0, NULL},
                             {WB__OP_NE, 0, NULL},        {WB__OP_NAME, 0, "chunk"},
                             {WB__OP_NUMBER, 8192, NULL}, {WB__OP_NE, 0, NULL},
                             {WB__OP_AND, 0, NULL},       {0}};
static const wb__op e51[] = {{WB__OP_CALL, 7, "/no_rope_layers"},
                             {WB__OP_NAME, 0, "i"},
                             {WB__OP_ELEMENT, 0, "/no_rope_layers"},
                             {WB__OP_NUMBER, 0, NULL},
                             {WB__OP_EQ, 0, NULL},
                             {WB__OP_NAME, 0, "chunk"},
                             {WB__OP_NUMBER, 0, NULL},
                             {WB__OP_NE, 0, NULL},
                             {WB__OP_NAME, 0, "i"},
                             {WB__OP_NUMBER, 4, NULL},
                             {WB__OP_DIV, 0, NULL},
                             {WB__OP_CALL, 0, NULL},
                             {WB__OP_NUMBER, 4, NULL},
                             {WB__OP_MUL, 0, NULL},
                             {WB__OP_NUMBER, 3, NULL},
                             {WB__OP_ADD, 0, NULL},
                             {WB__OP_NAME, 0, "i"},
                             {WB__OP_EQ, 0, NULL},
                             {WB__OP_AND, 0, NULL},
                             {WB__OP_NE, 0, NULL},
                             {WB__OP_AND, 0, NULL},
                             {0}};
static const wb__op e52[] = {{WB__OP_CALL, 7, "/moe_layers"},
                             {WB__OP_NAME, 0, "i"},
                             {WB__OP_CALL, 11, "/moe_layers"},
                             {WB__OP_NAME, 0, "i"},
                             {WB__OP_NUMBER, 1, NULL},
                             {WB__OP_ADD, 0, NULL},
                             {WB__OP_NAME, 0, "interleave_moe_layer_step"},
                             {WB__OP_DIV, 0, NULL},
                             {WB__OP_CALL, 0, NULL},
                             {WB__OP_NAME, 0, "interleave_moe_layer_step"},
                             {WB__OP_MUL, 0, NULL},
                             {WB__OP_NAME, 0, "i"},
                             {WB__OP_NUMBER, 1, NULL},
                             {WB__OP_ADD, 0, NULL},
                             {WB__OP_EQ, 0, NULL},
                             {WB__OP_NE, 0, NULL},
                             {WB__OP_AND, 0, NULL},
                             {0}};
static const wb__op e53[] = {{WB__OP_NAME, 0, "use_qk_norm"},
                             {WB__OP_TRUE, 0, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NAME, 0, "n_experts"},
                             {WB__OP_NUMBER, 128, NULL},
                             {WB__OP_EQ, 0, NULL},
                             {WB__OP_EQ, 0, NULL},
                             {0}};
static const wb__op e54[] = {{WB__OP_NAME, 0, "chunk"},
                             {WB__OP_NUMBER, 0, NULL},
                             {WB__OP_NE, 0, NULL},
                             {WB__OP_NAME, 0, "attn_temperature_tuning"},
                             {WB__OP_TRUE, 0, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NOT, 0, NULL},
                             {WB__OP_NAME, 0, "attn_scale"},
                             {WB__OP_NUMBER, 0.10000000000000001, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NUMBER, 0.10000000000000001, NULL},
                             {WB__OP_NE, 0, NULL},
                             {WB__OP_OR, 0, NULL},
                             {WB__OP_NAME, 0, "floor_scale"},
                             {WB__OP_NUMBER, 8192, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NUMBER, 8192, NULL},
                             {WB__OP_NE, 0, NULL},
                             {WB__OP_OR, 0, NULL},
                             {WB__OP_AND, 0, NULL},
                             {0}};
static const wb__limit limits[] = {
    {1, 1, "attention_chunk_size", e50,
     "llama.cpp divides the context of this architecture into chunks of 8192 tokens"},
    {1, 1, "no_rope_layers", e51,
     "llama.cpp omits RoPE in every fourth layer of this architecture, and only if the context is "
     "divided into chunks"},
    {1, 1, "moe_layers", e52,
     "llama.cpp derives the layers that have experts from interleave_moe_layer_step"},
    {1, 1, "use_qk_norm", e53,
     "llama.cpp normalizes q and k in models of this architecture, except those with 128 experts"},
    {1, 0, "attn_temperature_tuning", e54,
     "llama.cpp scales q with attn_scale 0.1 and floor_scale 8192 in layers without RoPE: results "
     "differ beyond 8192 tokens"},
};
extern const wb__family wb__family_llama4;
const wb__family wb__family_llama4 = {
    .name = "llama4",
    .base = &wb__family_unknown,
    .gguf = "llama4",
    .types = "llama4_text|llama4",
    .classes = "Llama4ForCausalLM|Llama4ForConditionalGeneration",
    .tokenizer = "llama3",
    .rules = rules,
    .rule_count = 11,
    .fused = fused,
    .fused_count = 1,
    .values = values,
    .value_count = 12,
    .keys = keys,
    .key_count = 11,
    .limits = limits,
    .limit_count = 5,
    .rope = 4,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
