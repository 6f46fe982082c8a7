/* Generated from ernie4_5_moe.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_unknown;

static const wb__op e0[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__expr shape0[] = {NULL, e0};
static const wb__spelling s0[] = {
    {"model.layers.{n}.mlp.moe_statics.e_score_correction_bias", 14, 0, false, 0, NULL},
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
     .rank = 2,
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
static const wb__op e5[] = {{WB__OP_NUMBER, 500000, NULL}, {0}};
static const wb__op e6[] = {{WB__OP_NUMBER, 1.0000000000000001e-05, NULL}, {0}};
static const wb__op e7[] = {{WB__OP_NUMBER, 4, NULL}, {0}};
static const wb__op e8[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e9[] = {
    {WB__OP_NAME, 0, "moe_num_experts"}, {WB__OP_NUMBER, 64, NULL}, {WB__OP_ELSE, 0, NULL}, {0}};
static const wb__op e10[] = {
    {WB__OP_NAME, 0, "moe_k"}, {WB__OP_NUMBER, 6, NULL}, {WB__OP_ELSE, 0, NULL}, {0}};
static const wb__op e11[] = {{WB__OP_NUMBER, 1, NULL}, {0}};
static const wb__op e12[] = {{WB__OP_NUMBER, 1, NULL}, {0}};
static const wb__op e13[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e14[] = {{WB__OP_NAME, 0, "moe_num_shared_experts"},
                             {WB__OP_NUMBER, 2, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {0}};
static const wb__value_row values[] = {
    {3, 30, "activation", e4},
    {1, 12, "rope_theta", e5},
    {1, 11, "norm_eps", e6},
    {1, 4, "n_kv_heads", e7},
    {1, 19, "tie_embeddings", e8},
    {1, 16, "n_experts", e9},
    {1, 17, "n_experts_used", e10},
    {1, 66, "leading_dense_block_count", e11},
    {1, 67, "interleave_moe_layer_step", e12},
    {4, 63, "expert_weights_norm", e13},
    {5, -1, "shared", e14},
};
static const wb__op e15[] = {{WB__OP_NAME, 0, "leading_dense_block_count"}, {0}};
static const wb__op e16[] = {{WB__OP_NAME, 0, "interleave_moe_layer_step"}, {0}};
static const wb__op e17[] = {{WB__OP_NAME, 0, "shared"}, {0}};
static const wb__op e18[] = {
    {WB__OP_NAME, 0, "expert_ffn_dim"}, {WB__OP_NAME, 0, "shared"}, {WB__OP_MUL, 0, NULL}, {0}};
static const wb__op e19[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e20[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e21[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e22[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e23[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e24[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__op e25[] = {{WB__OP_NAME, 0, "n_experts_used"}, {0}};
static const wb__op e26[] = {{WB__OP_NAME, 0, "expert_shared_count"}, {0}};
static const wb__op e27[] = {{WB__OP_NAME, 0, "leading_dense_block_count"}, {0}};
static const wb__op e28[] = {{WB__OP_NAME, 0, "interleave_moe_layer_step"}, {0}};
static const wb__op e29[] = {{WB__OP_CALL, 13, "layers.0.attention.q.bias"}, {0}};
static const wb__key_row keys[] = {
    {"leading_dense_block_count", 1, 0, 0, e15, NULL},
    {"interleave_moe_layer_step", 1, 0, 0, e16, NULL},
    {"expert_shared_count", 1, 0, 0, e17, NULL},
    {"expert_shared_feed_forward_length", 1, 0, 0, e18, NULL},
    {"num_experts", 0, 1, 0, e19, NULL},
    {"num_local_experts", 0, 1, 0, e20, NULL},
    {"num_experts_per_tok", 0, 1, 0, e21, NULL},
    {"n_shared_experts", 0, 1, 0, e22, NULL},
    {"shared_expert_intermediate_size", 0, 1, 0, e23, NULL},
    {"moe_num_experts", 0, 1, 0, e24, NULL},
    {"moe_k", 0, 1, 0, e25, NULL},
    {"moe_num_shared_experts", 0, 1, 0, e26, NULL},
    {"moe_layer_start_index", 0, 1, 0, e27, NULL},
    {"moe_layer_interval", 0, 1, 0, e28, NULL},
    {"use_bias", 0, 1, 0, e29, NULL},
};
static const wb__op e30[] = {{WB__OP_NAME, 0, "moe_layer_end_index"},
                             {WB__OP_NAME, 0, "n_layers"},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NUMBER, 0, NULL},
                             {WB__OP_GE, 0, NULL},
                             {WB__OP_NAME, 0, "moe_layer_end_index"},
                             {WB__OP_NAME, 0, "n_layers"},
                             {WB__OP_NUMBER, 1, NULL},
                             {WB__OP_SUB, 0, NULL},
                             {WB__OP_LT, 0, NULL},
                             {WB__OP_AND, 0, NULL},
                             {0}};
static const wb__op e31[] = {{WB__OP_CALL, 13, "layers.{n}.ffn.router_bias"}, {0}};
static const wb__limit limits[] = {
    {1, 1, "moe_layer_end_index", e30,
     "llama.cpp expects experts up to the last layer of this architecture"},
    {4, 0, "e_score_correction_bias", e31,
     "mlx-lm ignores the bias with which this model chooses experts"},
};
extern const wb__family wb__family_ernie4_5_moe;
const wb__family wb__family_ernie4_5_moe = {
    .name = "ernie4_5_moe",
    .base = &wb__family_unknown,
    .gguf = "ernie4_5-moe",
    .types = "ernie4_5_moe",
    .classes = "Ernie4_5_MoeForCausalLM",
    .rules = rules,
    .rule_count = 4,
    .values = values,
    .value_count = 11,
    .keys = keys,
    .key_count = 15,
    .limits = limits,
    .limit_count = 2,
    .rope = 4,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
