/* Generated from minimax_m2.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_unknown;

static const wb__op e0[] = {{WB__OP_NAME, 0, "q_dim"}, {0}};
static const wb__expr shape0[] = {e0};
static const wb__spelling s0[] = {
    {"model.layers.{n}.self_attn.q_norm", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_q_norm", 1, 3, false, 0, NULL},
};
static const wb__op e1[] = {{WB__OP_NAME, 0, "kv_dim"}, {0}};
static const wb__expr shape1[] = {e1};
static const wb__spelling s1[] = {
    {"model.layers.{n}.self_attn.k_norm", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_k_norm", 1, 3, false, 0, NULL},
};
static const wb__op e2[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__expr shape2[] = {e2};
static const wb__spelling s2[] = {
    {"model.layers.{n}.block_sparse_moe.e_score_correction_bias", 14, 0, false, 0, NULL},
    {"model.layers.{n}.mlp.e_score_correction_bias", 14, 0, true, 0, NULL},
    {"blk.{n}.exp_probs_b", 1, 2, false, 0, NULL},
};
static const wb__op e3[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__op e4[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape3[] = {e3, e4};
static const wb__spelling s3[] = {
    {"model.layers.{n}.block_sparse_moe.gate", 14, 3, false, 0, NULL},
    {"model.layers.{n}.mlp.gate", 14, 3, true, 0, NULL},
    {"blk.{n}.ffn_gate_inp", 1, 3, false, 0, NULL},
};
static const wb__op e5[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__op e6[] = {{WB__OP_NAME, 0, "expert_ffn_dim"}, {0}};
static const wb__op e7[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape4[] = {e5, e6, e7};
static const wb__spelling s4[] = {
    {"model.layers.{n}.block_sparse_moe.experts.{e}.w1", 10, 3, false, 0, NULL},
    {"model.layers.{n}.block_sparse_moe.switch_mlp.gate_proj", 4, 3, false, 0, NULL},
    {"model.layers.{n}.mlp.experts.{e}.gate_proj", 14, 3, true, 0, NULL},
    {"blk.{n}.ffn_gate_exps", 1, 3, false, 0, NULL},
};
static const wb__op e8[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__op e9[] = {{WB__OP_NAME, 0, "expert_ffn_dim"}, {0}};
static const wb__op e10[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape5[] = {e8, e9, e10};
static const wb__spelling s5[] = {
    {"model.layers.{n}.block_sparse_moe.experts.{e}.w3", 10, 3, false, 0, NULL},
    {"model.layers.{n}.block_sparse_moe.switch_mlp.up_proj", 4, 3, false, 0, NULL},
    {"model.layers.{n}.mlp.experts.{e}.up_proj", 14, 3, true, 0, NULL},
    {"blk.{n}.ffn_up_exps", 1, 3, false, 0, NULL},
};
static const wb__op e11[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__op e12[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e13[] = {{WB__OP_NAME, 0, "expert_ffn_dim"}, {0}};
static const wb__expr shape6[] = {e11, e12, e13};
static const wb__spelling s6[] = {
    {"model.layers.{n}.block_sparse_moe.experts.{e}.w2", 10, 3, false, 0, NULL},
    {"model.layers.{n}.block_sparse_moe.switch_mlp.down_proj", 4, 3, false, 0, NULL},
    {"model.layers.{n}.mlp.experts.{e}.down_proj", 14, 3, true, 0, NULL},
    {"blk.{n}.ffn_down_exps", 1, 3, false, 0, NULL},
};
static const wb__rule rules[] = {
    {.canonical = "layers.{n}.attention.q_norm",
     .spellings = s0,
     .spelling_count = 2,
     .shape = shape0,
     .rank = 1,
     .provides = 1073741824u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.k_norm",
     .spellings = s1,
     .spelling_count = 2,
     .shape = shape1,
     .rank = 1,
     .provides = 1073741824u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.router_bias",
     .spellings = s2,
     .spelling_count = 3,
     .shape = shape2,
     .rank = 1,
     .suffix = 0},
    {.canonical = "layers.{n}.ffn.router",
     .spellings = s3,
     .spelling_count = 3,
     .shape = shape3,
     .rank = 2,
     .provides = 134217728u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.experts.gate",
     .spellings = s4,
     .spelling_count = 4,
     .shape = shape4,
     .rank = 3,
     .provides = 64u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.experts.up",
     .spellings = s5,
     .spelling_count = 4,
     .shape = shape5,
     .rank = 3,
     .provides = 128u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.experts.down",
     .spellings = s6,
     .spelling_count = 4,
     .shape = shape6,
     .rank = 3,
     .provides = 256u,
     .suffix = 3},
};
static const wb__op e14[] = {{WB__OP_TEXT, 0, "silu"}, {0}};
static const wb__op e15[] = {{WB__OP_NUMBER, 5000000, NULL}, {0}};
static const wb__op e16[] = {{WB__OP_NUMBER, 9.9999999999999995e-07, NULL}, {0}};
static const wb__op e17[] = {{WB__OP_NUMBER, 8, NULL}, {0}};
static const wb__op e18[] = {{WB__OP_NUMBER, 128, NULL}, {0}};
static const wb__op e19[] = {{WB__OP_TEXT, 0, "sigmoid"}, {0}};
static const wb__op e20[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e21[] = {{WB__OP_NAME, 0, "rotary_dim"},
                             {WB__OP_NAME, 0, "head_dim"},
                             {WB__OP_NAME, 0, "/rope_parameters/partial_rotary_factor"},
                             {WB__OP_NUMBER, 1, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_MUL, 0, NULL},
                             {WB__OP_CALL, 0, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {0}};
static const wb__value_row values[] = {
    {3, 30, "activation", e14},
    {1, 12, "rope_theta", e15},
    {1, 11, "norm_eps", e16},
    {1, 4, "n_kv_heads", e17},
    {1, 5, "head_dim", e18},
    {3, 61, "expert_gating_func", e19},
    {3, 63, "expert_weights_norm", e20},
    {1, 48, "rope_dimension_count", e21},
};
static const wb__op e22[] = {{WB__OP_NUMBER, 2, NULL}, {0}};
static const wb__op e23[] = {{WB__OP_NAME, 0, "rope_dimension_count"}, {0}};
static const wb__op e24[] = {{WB__OP_NUMBER, 0, NULL}, {0}};
static const wb__op e25[] = {{WB__OP_NAME, 0, "rope_dimension_count"}, {0}};
static const wb__op e26[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e27[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__key_row keys[] = {
    {"expert_gating_func", 1, 0, 0, e22, NULL},
    {"rotary_dim", 0, 2, 0, e23, NULL},
    {"shared_intermediate_size", 0, 2, 0, e24, NULL},
    {"rotary_dim", 0, 1, 0, e25, NULL},
    {"num_experts", 0, 1, 0, e26, NULL},
    {"moe_intermediate_size", 0, 1, 0, e27, NULL},
};
extern const wb__family wb__family_minimax_m2;
const wb__family wb__family_minimax_m2 = {
    .name = "minimax_m2",
    .base = &wb__family_unknown,
    .gguf = "minimax-m2",
    .types = "minimax_m2|minimax",
    .classes = "MiniMaxM2ForCausalLM",
    .rules = rules,
    .rule_count = 7,
    .values = values,
    .value_count = 8,
    .keys = keys,
    .key_count = 6,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
