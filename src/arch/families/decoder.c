/* Generated from decoder.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

static const wb__op e0[] = {{WB__OP_NAME, 0, "vocab_size"}, {0}};
static const wb__op e1[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape0[] = {e0, e1};
static const wb__spelling s0[] = {
    {"model.embed_tokens", 14, 3, false, 0, NULL},
    {"token_embd", 1, 3, false, 0, NULL},
};
static const wb__op e2[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape1[] = {e2};
static const wb__spelling s1[] = {
    {"model.norm", 14, 3, false, 0, NULL},
    {"output_norm", 1, 3, false, 0, NULL},
};
static const wb__op e3[] = {{WB__OP_NAME, 0, "vocab_size"}, {0}};
static const wb__op e4[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape2[] = {e3, e4};
static const wb__spelling s2[] = {
    {"lm_head", 14, 3, false, 0, NULL},
    {"output", 1, 3, false, 0, NULL},
};
static const wb__op e5[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape3[] = {e5};
static const wb__spelling s3[] = {
    {"model.layers.{n}.input_layernorm", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_norm", 1, 3, false, 0, NULL},
};
static const wb__op e6[] = {{WB__OP_NAME, 0, "q_dim"}, {0}};
static const wb__op e7[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape4[] = {e6, e7};
static const wb__spelling s4[] = {
    {"model.layers.{n}.self_attn.q_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_q", 1, 3, false, 0, NULL},
};
static const wb__op e8[] = {{WB__OP_NAME, 0, "kv_dim"}, {0}};
static const wb__op e9[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape5[] = {e8, e9};
static const wb__spelling s5[] = {
    {"model.layers.{n}.self_attn.k_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_k", 1, 3, false, 0, NULL},
};
static const wb__op e10[] = {{WB__OP_NAME, 0, "kv_dim"}, {0}};
static const wb__op e11[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape6[] = {e10, e11};
static const wb__spelling s6[] = {
    {"model.layers.{n}.self_attn.v_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_v", 1, 3, false, 0, NULL},
};
static const wb__op e12[] = {{WB__OP_NAME, 0, "q_dim"},  {WB__OP_NUMBER, 2, NULL},
                             {WB__OP_NAME, 0, "kv_dim"}, {WB__OP_MUL, 0, NULL},
                             {WB__OP_ADD, 0, NULL},      {0}};
static const wb__op e13[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape7[] = {e12, e13};
static const wb__spelling s7[] = {
    {"model.layers.{n}.self_attn.qkv_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_qkv", 1, 3, false, 0, NULL},
};
static const wb__op e14[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e15[] = {{WB__OP_NAME, 0, "q_dim"}, {0}};
static const wb__expr shape8[] = {e14, e15};
static const wb__spelling s8[] = {
    {"model.layers.{n}.self_attn.o_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_output", 1, 3, false, 0, NULL},
};
static const wb__op e16[] = {{WB__OP_NAME, 0, "head_dim"}, {0}};
static const wb__expr shape9[] = {e16};
static const wb__spelling s9[] = {
    {"model.layers.{n}.self_attn.q_norm", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_q_norm", 1, 3, false, 0, NULL},
};
static const wb__op e17[] = {{WB__OP_NAME, 0, "head_dim"}, {0}};
static const wb__expr shape10[] = {e17};
static const wb__spelling s10[] = {
    {"model.layers.{n}.self_attn.k_norm", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_k_norm", 1, 3, false, 0, NULL},
};
static const wb__op e18[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape11[] = {e18};
static const wb__spelling s11[] = {
    {"model.layers.{n}.post_attention_layernorm", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_norm", 1, 3, false, 0, NULL},
};
static const wb__op e19[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__op e20[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape12[] = {e19, e20};
static const wb__spelling s12[] = {
    {"model.layers.{n}.mlp.gate_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_gate", 1, 3, false, 0, NULL},
};
static const wb__op e21[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__op e22[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape13[] = {e21, e22};
static const wb__spelling s13[] = {
    {"model.layers.{n}.mlp.up_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_up", 1, 3, false, 0, NULL},
};
static const wb__op e23[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e24[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__expr shape14[] = {e23, e24};
static const wb__spelling s14[] = {
    {"model.layers.{n}.mlp.down_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_down", 1, 3, false, 0, NULL},
};
static const wb__spelling s15[] = {
    {"model.layers.{n}.self_attn.rotary_emb.inv_freq", 14, 3, false, 0, NULL},
    {"rotary_emb.inv_freq", 14, 3, false, 0, NULL},
    {"model.layers.{n}.attention", 14, 2, false, 0, NULL},
    {"model.layers.{n}.attention.masked_bias", 14, 3, false, 0, NULL},
    {"rope_freqs", 1, 3, false, 0, NULL},
    {"rope_factors_long", 1, 3, false, 0, NULL},
    {"rope_factors_short", 1, 3, false, 0, NULL},
    {"blk.{n}.rope_freqs", 1, 3, false, 0, NULL},
    {"blk.{n}.attn_rot_embd", 1, 3, false, 0, NULL},
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
    {.canonical = "layers.{n}.attention.q",
     .spellings = s4,
     .spelling_count = 2,
     .shape = shape4,
     .rank = 2,
     .provides = 268435458u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.k",
     .spellings = s5,
     .spelling_count = 2,
     .shape = shape5,
     .rank = 2,
     .provides = 536870916u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.v",
     .spellings = s6,
     .spelling_count = 2,
     .shape = shape6,
     .rank = 2,
     .provides = 8u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.qkv",
     .spellings = s7,
     .spelling_count = 2,
     .shape = shape7,
     .rank = 2,
     .provides = 14u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.output",
     .spellings = s8,
     .spelling_count = 2,
     .shape = shape8,
     .rank = 2,
     .provides = 16u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.q_norm",
     .spellings = s9,
     .spelling_count = 2,
     .shape = shape9,
     .rank = 1,
     .provides = 1073741824u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.k_norm",
     .spellings = s10,
     .spelling_count = 2,
     .shape = shape10,
     .rank = 1,
     .provides = 1073741824u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn_norm",
     .spellings = s11,
     .spelling_count = 2,
     .shape = shape11,
     .rank = 1,
     .provides = 1073741856u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.gate",
     .spellings = s12,
     .spelling_count = 2,
     .shape = shape12,
     .rank = 2,
     .provides = 64u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.up",
     .spellings = s13,
     .spelling_count = 2,
     .shape = shape13,
     .rank = 2,
     .provides = 128u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.down",
     .spellings = s14,
     .spelling_count = 2,
     .shape = shape14,
     .rank = 2,
     .provides = 256u,
     .suffix = 3},
    {.canonical = NULL, .spellings = s15, .spelling_count = 9, .suffix = 3},
};
static const wb__fused fused[] = {
    {"layers.{n}.attention.qkv",
     {
         "layers.{n}.attention.q",
         "layers.{n}.attention.k",
         "layers.{n}.attention.v",
     },
     3},
};
static const wb__op e25[] = {{WB__OP_TEXT, 0, "rms"}, {0}};
static const wb__op e26[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e27[] = {{WB__OP_FALSE, 0, NULL}, {0}};
static const wb__op e28[] = {{WB__OP_NUMBER, 1, NULL}, {0}};
static const wb__op e29[] = {{WB__OP_NUMBER, 1, NULL}, {0}};
static const wb__op e30[] = {{WB__OP_NUMBER, 1, NULL},
                             {WB__OP_NAME, 0, "head_dim"},
                             {WB__OP_CALL, 2, NULL},
                             {WB__OP_DIV, 0, NULL},
                             {0}};
static const wb__op e31[] = {{WB__OP_NUMBER, 1, NULL}, {0}};
static const wb__op e32[] = {{WB__OP_NUMBER, 0, NULL}, {0}};
static const wb__op e33[] = {{WB__OP_NUMBER, 0, NULL}, {0}};
static const wb__op e34[] = {{WB__OP_NAME, 0, "head_dim"}, {0}};
static const wb__op e35[] = {{WB__OP_TEXT, 0, "none"}, {0}};
static const wb__op e36[] = {{WB__OP_TEXT, 0, "softmax"}, {0}};
static const wb__op e37[] = {{WB__OP_NUMBER, 1, NULL}, {0}};
static const wb__op e38[] = {{WB__OP_FALSE, 0, NULL}, {0}};
static const wb__op e39[] = {{WB__OP_NUMBER, 10000, NULL}, {0}};
static const wb__op e40[] = {{WB__OP_NAME, 0, "/rope_scaling/rope_type"},
                             {WB__OP_NAME, 0, "/rope_scaling/type"},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NAME, 0, "/rope_parameters/rope_type"},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NAME, 0, "/rope_parameters/full_attention/rope_type"},
                             {WB__OP_ELSE, 0, NULL},
                             {0}};
static const wb__op e41[] = {{WB__OP_NAME, 0, "/rope_scaling/factor"},
                             {WB__OP_NAME, 0, "/rope_parameters/factor"},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NAME, 0, "/rope_parameters/full_attention/factor"},
                             {WB__OP_ELSE, 0, NULL},
                             {0}};
static const wb__op e42[] = {
    {WB__OP_NAME, 0, "/rope_scaling/original_max_position_embeddings"},
    {WB__OP_NAME, 0, "/rope_parameters/original_max_position_embeddings"},
    {WB__OP_ELSE, 0, NULL},
    {WB__OP_NAME, 0, "/rope_parameters/full_attention/original_max_position_embeddings"},
    {WB__OP_ELSE, 0, NULL},
    {WB__OP_NAME, 0, "/original_max_position_embeddings"},
    {WB__OP_ELSE, 0, NULL},
    {0}};
static const wb__op e43[] = {{WB__OP_NAME, 0, "/rope_scaling/beta_fast"},
                             {WB__OP_NAME, 0, "/rope_parameters/beta_fast"},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NAME, 0, "/rope_parameters/full_attention/beta_fast"},
                             {WB__OP_ELSE, 0, NULL},
                             {0}};
static const wb__op e44[] = {{WB__OP_NAME, 0, "/rope_scaling/beta_slow"},
                             {WB__OP_NAME, 0, "/rope_parameters/beta_slow"},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NAME, 0, "/rope_parameters/full_attention/beta_slow"},
                             {WB__OP_ELSE, 0, NULL},
                             {0}};
static const wb__op e45[] = {{WB__OP_FALSE, 0, NULL}, {0}};
static const wb__op e46[] = {{WB__OP_FALSE, 0, NULL}, {0}};
static const wb__value_row values[] = {
    {3, 31, "norm_type", e25},
    {3, 32, "attention_causal", e26},
    {3, 33, "parallel_residual", e27},
    {3, 34, "embedding_scale", e28},
    {3, 35, "residual_scale", e29},
    {3, 36, "attention_scale", e30},
    {3, 37, "logit_scale", e31},
    {3, 38, "attn_logit_softcapping", e32},
    {3, 39, "final_logit_softcapping", e33},
    {3, 48, "rope_dimension_count", e34},
    {3, 49, "rope_scaling_type", e35},
    {3, 61, "expert_gating_func", e36},
    {3, 62, "expert_weights_scale", e37},
    {3, 63, "expert_weights_norm", e38},
    {2, 12, "rope_theta", e39},
    {5, -1, "scaling_type", e40},
    {5, -1, "scaling_factor", e41},
    {5, -1, "scaling_length", e42},
    {5, -1, "scaling_fast", e43},
    {5, -1, "scaling_slow", e44},
    {5, -1, "loads_output_bias", e45},
    {5, -1, "has_windows", e46},
};
static const wb__op e47[] = {{WB__OP_FALSE, 0, NULL}, {0}};
static const wb__op e48[] = {{WB__OP_NAME, 0, "attention_causal"}, {WB__OP_NOT, 0, NULL}, {0}};
static const wb__op e49[] = {{WB__OP_NAME, 0, "n_layers"}, {0}};
static const wb__op e50[] = {{WB__OP_NAME, 0, "max_seq_len"}, {0}};
static const wb__op e51[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e52[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__op e53[] = {{WB__OP_NAME, 0, "n_heads"}, {0}};
static const wb__op e54[] = {{WB__OP_NAME, 0, "n_kv_heads"}, {0}};
static const wb__op e55[] = {{WB__OP_NAME, 0, "head_dim"}, {0}};
static const wb__op e56[] = {{WB__OP_NAME, 0, "value_length"}, {0}};
static const wb__op e57[] = {{WB__OP_NAME, 0, "rope_dimension_count"}, {0}};
static const wb__op e58[] = {{WB__OP_NAME, 0, "norm_eps"}, {0}};
static const wb__op e59[] = {{WB__OP_NAME, 0, "rope_theta"}, {0}};
static const wb__op e60[] = {{WB__OP_NAME, 0, "rope_local_theta"}, {0}};
static const wb__op e61[] = {{WB__OP_NAME, 0, "sliding_window"}, {0}};
static const wb__op e62[] = {
    {WB__OP_NAME, 0, "sliding_window"}, {WB__OP_NUMBER, 0, NULL}, {WB__OP_NE, 0, NULL}, {0}};
static const wb__op e63[] = {{WB__OP_NAME, 0, "sliding_window_pattern"}, {0}};
static const wb__op e64[] = {{WB__OP_NAME, 0, "vocab_size"}, {0}};
static const wb__op e65[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__op e66[] = {
    {WB__OP_NAME, 0, "n_experts"}, {WB__OP_NUMBER, 0, NULL}, {WB__OP_NE, 0, NULL}, {0}};
static const wb__op e67[] = {{WB__OP_NAME, 0, "n_experts_used"}, {0}};
static const wb__op e68[] = {
    {WB__OP_NAME, 0, "n_experts"}, {WB__OP_NUMBER, 0, NULL}, {WB__OP_NE, 0, NULL}, {0}};
static const wb__op e69[] = {{WB__OP_NAME, 0, "expert_ffn_dim"}, {0}};
static const wb__op e70[] = {
    {WB__OP_NAME, 0, "n_experts"}, {WB__OP_NUMBER, 0, NULL}, {WB__OP_NE, 0, NULL}, {0}};
static const wb__op e71[] = {{WB__OP_NAME, 0, "/attn_logit_softcapping"}, {0}};
static const wb__op e72[] = {{WB__OP_NAME, 0, "/final_logit_softcapping"}, {0}};
static const wb__op e73[] = {{WB__OP_NAME, 0, "scaling_type"}, {0}};
static const wb__op e74[] = {{WB__OP_NAME, 0, "scaling_factor"}, {0}};
static const wb__op e75[] = {{WB__OP_NAME, 0, "scaling_length"}, {0}};
static const wb__op e76[] = {{WB__OP_NAME, 0, "scaling_fast"}, {0}};
static const wb__op e77[] = {{WB__OP_NAME, 0, "scaling_slow"}, {0}};
static const wb__op e78[] = {{WB__OP_NAME, 0, "/shared_expert_intermediate_size"}, {0}};
static const wb__op e79[] = {{WB__OP_NAME, 0, "/n_shared_experts"}, {0}};
static const wb__op e80[] = {{WB__OP_NAME, 0, "n_layers"}, {0}};
static const wb__op e81[] = {{WB__OP_NAME, 0, "max_seq_len"}, {0}};
static const wb__op e82[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e83[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__op e84[] = {{WB__OP_NAME, 0, "n_heads"}, {0}};
static const wb__op e85[] = {{WB__OP_NAME, 0, "n_kv_heads"}, {0}};
static const wb__op e86[] = {{WB__OP_NAME, 0, "head_dim"}, {0}};
static const wb__op e87[] = {{WB__OP_NAME, 0, "norm_eps"}, {0}};
static const wb__op e88[] = {{WB__OP_NAME, 0, "rope_theta"}, {0}};
static const wb__op e89[] = {{WB__OP_NAME, 0, "rope_local_theta"}, {0}};
static const wb__op e90[] = {{WB__OP_NAME, 0, "sliding_window"}, {0}};
static const wb__op e91[] = {
    {WB__OP_NAME, 0, "sliding_window"}, {WB__OP_NUMBER, 0, NULL}, {WB__OP_NE, 0, NULL}, {0}};
static const wb__op e92[] = {{WB__OP_NAME, 0, "sliding_window_pattern"}, {0}};
static const wb__op e93[] = {{WB__OP_NAME, 0, "vocab_size"}, {0}};
static const wb__op e94[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__op e95[] = {
    {WB__OP_NAME, 0, "n_experts"}, {WB__OP_NUMBER, 0, NULL}, {WB__OP_NE, 0, NULL}, {0}};
static const wb__op e96[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__op e97[] = {
    {WB__OP_NAME, 0, "n_experts"}, {WB__OP_NUMBER, 0, NULL}, {WB__OP_NE, 0, NULL}, {0}};
static const wb__op e98[] = {{WB__OP_NAME, 0, "n_experts_used"}, {0}};
static const wb__op e99[] = {
    {WB__OP_NAME, 0, "n_experts"}, {WB__OP_NUMBER, 0, NULL}, {WB__OP_NE, 0, NULL}, {0}};
static const wb__op e100[] = {{WB__OP_NAME, 0, "expert_ffn_dim"}, {0}};
static const wb__op e101[] = {
    {WB__OP_NAME, 0, "n_experts"}, {WB__OP_NUMBER, 0, NULL}, {WB__OP_NE, 0, NULL}, {0}};
static const wb__op e102[] = {{WB__OP_NAME, 0, "tie_embeddings"}, {0}};
static const wb__op e103[] = {{WB__OP_NAME, 0, "attn_logit_softcapping"}, {0}};
static const wb__op e104[] = {{WB__OP_CALL, 7, "attn_logit_softcapping"},
                              {WB__OP_NAME, 0, "attn_logit_softcapping"},
                              {WB__OP_NUMBER, 0, NULL},
                              {WB__OP_NE, 0, NULL},
                              {WB__OP_AND, 0, NULL},
                              {0}};
static const wb__op e105[] = {{WB__OP_NAME, 0, "final_logit_softcapping"}, {0}};
static const wb__op e106[] = {{WB__OP_NAME, 0, "final_logit_softcapping"},
                              {WB__OP_NUMBER, 0, NULL},
                              {WB__OP_NE, 0, NULL},
                              {0}};
static const wb__op e107[] = {{WB__OP_NAME, 0, "rope.scaling.type"}, {0}};
static const wb__op e108[] = {{WB__OP_NAME, 0, "rope.scaling.factor"}, {0}};
static const wb__op e109[] = {{WB__OP_NAME, 0, "rope.scaling.original_context_length"}, {0}};
static const wb__op e110[] = {{WB__OP_NAME, 0, "rope.scaling.yarn_beta_fast"}, {0}};
static const wb__op e111[] = {{WB__OP_NAME, 0, "rope.scaling.yarn_beta_slow"}, {0}};
static const wb__op e112[] = {{WB__OP_NAME, 0, "expert_shared_feed_forward_length"}, {0}};
static const wb__op e113[] = {{WB__OP_NAME, 0, "expert_shared_count"}, {0}};
static const wb__op e114[] = {{WB__OP_NAME, 0, "activation"}, {0}};
static const wb__op e115[] = {{WB__OP_FALSE, 0, NULL}, {0}};
static const wb__op e116[] = {{WB__OP_NAME, 0, "attention_causal"}, {WB__OP_NOT, 0, NULL}, {0}};
static const wb__op e117[] = {{WB__OP_CALL, 13, "layers.0.attention.q.bias"}, {0}};
static const wb__op e118[] = {{WB__OP_CALL, 13, "layers.0.ffn.up.bias"}, {0}};
static const wb__op e119[] = {{WB__OP_NAME, 0, "rope_theta"}, {0}};
static const wb__op e120[] = {{WB__OP_NAME, 0, "/rope_parameters/sliding_attention/rope_theta"},
                              {0}};
static const wb__op e121[] = {{WB__OP_NAME, 0, "/rope_parameters/partial_rotary_factor"}, {0}};
static const wb__op e122[] = {{WB__OP_NAME, 0, "head_dim"}, {0}};
static const wb__op e123[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__op e124[] = {
    {WB__OP_NAME, 0, "n_experts"}, {WB__OP_NUMBER, 0, NULL}, {WB__OP_NE, 0, NULL}, {0}};
static const wb__op e125[] = {{WB__OP_NAME, 0, "tie_embeddings"}, {0}};
static const wb__key_row keys[] = {
    {"attention.causal", 3, 0, 0, e47, e48},
    {"block_count", 1, 0, 0, e49, NULL},
    {"context_length", 1, 0, 0, e50, NULL},
    {"embedding_length", 1, 0, 0, e51, NULL},
    {"feed_forward_length", 1, 0, 0, e52, NULL},
    {"attention.head_count", 1, 0, 0, e53, NULL},
    {"attention.head_count_kv", 1, 0, 0, e54, NULL},
    {"attention.key_length", 1, 0, 0, e55, NULL},
    {"attention.value_length", 1, 0, 0, e56, NULL},
    {"rope.dimension_count", 1, 0, 0, e57, NULL},
    {"attention.layer_norm_rms_epsilon", 2, 0, 0, e58, NULL},
    {"rope.freq_base", 2, 0, 0, e59, NULL},
    {"rope.freq_base_swa", 2, 0, 0, e60, NULL},
    {"attention.sliding_window", 1, 0, 0, e61, e62},
    {"attention.sliding_window_pattern", 1, 0, 0, e63, NULL},
    {"vocab_size", 1, 0, 0, e64, NULL},
    {"expert_count", 1, 0, 0, e65, e66},
    {"expert_used_count", 1, 0, 0, e67, e68},
    {"expert_feed_forward_length", 1, 0, 0, e69, e70},
    {"attn_logit_softcapping", 2, 0, 0, e71, NULL},
    {"final_logit_softcapping", 2, 0, 0, e72, NULL},
    {"rope.scaling.type", 4, 0, 0, e73, NULL},
    {"rope.scaling.factor", 2, 0, 0, e74, NULL},
    {"rope.scaling.original_context_length", 1, 0, 0, e75, NULL},
    {"rope.scaling.yarn_beta_fast", 2, 0, 0, e76, NULL},
    {"rope.scaling.yarn_beta_slow", 2, 0, 0, e77, NULL},
    {"expert_shared_feed_forward_length", 1, 0, 0, e78, NULL},
    {"expert_shared_count", 1, 0, 0, e79, NULL},
    {"num_hidden_layers", 0, 1, 0, e80, NULL},
    {"max_position_embeddings", 0, 1, 0, e81, NULL},
    {"hidden_size", 0, 1, 0, e82, NULL},
    {"intermediate_size", 0, 1, 0, e83, NULL},
    {"num_attention_heads", 0, 1, 0, e84, NULL},
    {"num_key_value_heads", 0, 1, 0, e85, NULL},
    {"head_dim", 0, 1, 0, e86, NULL},
    {"rms_norm_eps", 0, 1, 0, e87, NULL},
    {"rope_theta", 0, 1, 0, e88, NULL},
    {"rope_local_base_freq", 0, 1, 0, e89, NULL},
    {"sliding_window", 0, 1, 0, e90, e91},
    {"sliding_window_pattern", 0, 1, 0, e92, NULL},
    {"vocab_size", 0, 1, 0, e93, NULL},
    {"num_experts", 0, 1, 0, e94, e95},
    {"num_local_experts", 0, 1, 0, e96, e97},
    {"num_experts_per_tok", 0, 1, 0, e98, e99},
    {"moe_intermediate_size", 0, 1, 0, e100, e101},
    {"tie_word_embeddings", 0, 1, 0, e102, NULL},
    {"attn_logit_softcapping", 0, 1, 0, e103, e104},
    {"final_logit_softcapping", 0, 1, 0, e105, e106},
    {"rope_scaling.rope_type", 0, 1, 0, e107, NULL},
    {"rope_scaling.factor", 0, 1, 0, e108, NULL},
    {"rope_scaling.original_max_position_embeddings", 0, 1, 0, e109, NULL},
    {"rope_scaling.beta_fast", 0, 1, 0, e110, NULL},
    {"rope_scaling.beta_slow", 0, 1, 0, e111, NULL},
    {"shared_expert_intermediate_size", 0, 1, 0, e112, NULL},
    {"n_shared_experts", 0, 1, 0, e113, NULL},
    {"hidden_act", 0, 1, 0, e114, NULL},
    {"is_causal", 0, 1, 0, e115, e116},
    {"attention_bias", 0, 1, 0, e117, NULL},
    {"mlp_bias", 0, 1, 0, e118, NULL},
    {"rope_theta", 0, 2, 0, e119, NULL},
    {"rope_local_base_freq", 0, 2, 0, e120, NULL},
    {"partial_rotary_factor", 0, 2, 0, e121, NULL},
    {"head_dim", 0, 2, 0, e122, NULL},
    {"num_experts", 0, 2, 0, e123, e124},
    {"tie_word_embeddings", 0, 2, 0, e125, NULL},
};
static const wb__op e126[] = {{WB__OP_NAME, 0, "loads_output_bias"},
                              {WB__OP_NOT, 0, NULL},
                              {WB__OP_CALL, 13, "layers.{n}.attention.output.bias"},
                              {WB__OP_AND, 0, NULL},
                              {0}};
static const wb__op e127[] = {{WB__OP_NAME, 0, "loads_output_bias"},
                              {WB__OP_NOT, 0, NULL},
                              {WB__OP_CALL, 13, "layers.{n}.ffn.down.bias"},
                              {WB__OP_AND, 0, NULL},
                              {0}};
static const wb__op e128[] = {{WB__OP_NAME, 0, "has_windows"},
                              {WB__OP_NOT, 0, NULL},
                              {WB__OP_NAME, 0, "sliding_window"},
                              {WB__OP_NUMBER, 0, NULL},
                              {WB__OP_ELSE, 0, NULL},
                              {WB__OP_NUMBER, 0, NULL},
                              {WB__OP_NE, 0, NULL},
                              {WB__OP_AND, 0, NULL},
                              {WB__OP_NAME, 0, "sliding_window"},
                              {WB__OP_NAME, 0, "max_seq_len"},
                              {WB__OP_LT, 0, NULL},
                              {WB__OP_AND, 0, NULL},
                              {0}};
static const wb__limit limits[] = {
    {1, 1, "attention_bias", e126,
     "llama.cpp does not load biases of the attention output in this architecture"},
    {1, 1, "mlp_bias", e127,
     "llama.cpp does not load biases of the feed-forward in this architecture"},
    {1, 0, "sliding_window", e128,
     "llama.cpp ignores the sliding window of this architecture: results differ for a context that "
     "is longer"},
};
extern const wb__family wb__family_decoder;
const wb__family wb__family_decoder = {
    .name = "decoder",
    .rules = rules,
    .rule_count = 16,
    .fused = fused,
    .fused_count = 1,
    .values = values,
    .value_count = 22,
    .keys = keys,
    .key_count = 65,
    .limits = limits,
    .limit_count = 3,
    .rope = 2,
    .norm_sides = 0,
    .has_norm_sides = 1,
    .flags = 0u,
    .needs = 459263u,
};
