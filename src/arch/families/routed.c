/* Generated from routed.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_unknown;

static const wb__op e0[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__expr shape0[] = {e0};
static const wb__spelling s0[] = {
    {"model.layers.{n}.mlp.gate.e_score_correction_bias", 14, 0, false, 0, NULL},
    {"blk.{n}.exp_probs_b", 1, 2, false, 0, NULL},
};
static const wb__op e1[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape1[] = {NULL, e1};
static const wb__spelling s1[] = {
    {"model.layers.{n}.mlp.shared_experts.gate_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_gate_shexp", 1, 3, false, 0, NULL},
};
static const wb__op e2[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape2[] = {NULL, e2};
static const wb__spelling s2[] = {
    {"model.layers.{n}.mlp.shared_experts.up_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_up_shexp", 1, 3, false, 0, NULL},
};
static const wb__op e3[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape3[] = {e3, NULL};
static const wb__spelling s3[] = {
    {"model.layers.{n}.mlp.shared_experts.down_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_down_shexp", 1, 3, false, 0, NULL},
};
static const wb__rule rules[] = {
    {.canonical = "layers.{n}.ffn.router_bias",
     .spellings = s0,
     .spelling_count = 2,
     .shape = shape0,
     .rank = 1,
     .suffix = 0},
    {.canonical = "layers.{n}.ffn.shared_experts.gate",
     .spellings = s1,
     .spelling_count = 2,
     .shape = shape1,
     .rank = 2,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.shared_experts.up",
     .spellings = s2,
     .spelling_count = 2,
     .shape = shape2,
     .rank = 2,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.shared_experts.down",
     .spellings = s3,
     .spelling_count = 2,
     .shape = shape3,
     .rank = 2,
     .suffix = 3},
};
static const wb__op e4[] = {{WB__OP_TEXT, 0, "silu"}, {0}};
static const wb__op e5[] = {{WB__OP_NUMBER, 10000, NULL}, {0}};
static const wb__op e6[] = {{WB__OP_NUMBER, 0, NULL}, {0}};
static const wb__op e7[] = {{WB__OP_FALSE, 0, NULL}, {0}};
static const wb__op e8[] = {{WB__OP_NUMBER, 1, NULL}, {0}};
static const wb__op e9[] = {{WB__OP_TEXT, 0, "sigmoid"}, {0}};
static const wb__value_row values[] = {
    {3, 30, "activation", e4},
    {1, 12, "rope_theta", e5},
    {3, 66, "leading_dense_block_count", e6},
    {3, 63, "expert_weights_norm", e7},
    {3, 62, "expert_weights_scale", e8},
    {3, 61, "expert_gating_func", e9},
};
static const wb__op e10[] = {{WB__OP_NAME, 0, "leading_dense_block_count"}, {0}};
static const wb__op e11[] = {{WB__OP_NUMBER, 2, NULL}, {0}};
static const wb__op e12[] = {{WB__OP_NAME, 0, "expert_weights_scale"}, {0}};
static const wb__op e13[] = {{WB__OP_NAME, 0, "expert_weights_norm"}, {0}};
static const wb__op e14[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__op e15[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e16[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e17[] = {{WB__OP_NAME, 0, "leading_dense_block_count"}, {0}};
static const wb__op e18[] = {{WB__OP_NAME, 0, "expert_weights_scale"}, {0}};
static const wb__op e19[] = {{WB__OP_NAME, 0, "expert_weights_norm"}, {0}};
static const wb__op e20[] = {{WB__OP_NAME, 0, "/n_group"}, {0}};
static const wb__op e21[] = {{WB__OP_NAME, 0, "/topk_group"}, {0}};
static const wb__op e22[] = {{WB__OP_NAME, 0, "expert_group_count"}, {0}};
static const wb__op e23[] = {{WB__OP_NAME, 0, "expert_group_used_count"}, {0}};
static const wb__key_row keys[] = {
    {"leading_dense_block_count", 1, 0, 0, e10, NULL},
    {"expert_gating_func", 1, 0, 0, e11, NULL},
    {"expert_weights_scale", 2, 0, 0, e12, NULL},
    {"expert_weights_norm", 3, 0, 0, e13, NULL},
    {"n_routed_experts", 0, 1, 0, e14, NULL},
    {"num_experts", 0, 1, 0, e15, NULL},
    {"num_local_experts", 0, 1, 0, e16, NULL},
    {"first_k_dense_replace", 0, 1, 0, e17, NULL},
    {"routed_scaling_factor", 0, 1, 0, e18, NULL},
    {"norm_topk_prob", 0, 1, 0, e19, NULL},
    {"expert_group_count", 1, 0, 0, e20, NULL},
    {"expert_group_used_count", 1, 0, 0, e21, NULL},
    {"n_group", 0, 1, 0, e22, NULL},
    {"topk_group", 0, 1, 0, e23, NULL},
};
extern const wb__family wb__family_routed;
const wb__family wb__family_routed = {
    .name = "routed",
    .base = &wb__family_unknown,
    .rules = rules,
    .rule_count = 4,
    .values = values,
    .value_count = 6,
    .keys = keys,
    .key_count = 14,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
