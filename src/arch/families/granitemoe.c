/* Generated from granitemoe.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_granite;

static const wb__op e0[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__op e1[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape0[] = {e0, e1};
static const wb__spelling s0[] = {
    {"model.layers.{n}.block_sparse_moe.router.layer", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_gate_inp", 1, 3, false, 0, NULL},
};
static const wb__op e2[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__op e3[] = {
    {WB__OP_NUMBER, 2, NULL}, {WB__OP_NAME, 0, "ffn_dim"}, {WB__OP_MUL, 0, NULL}, {0}};
static const wb__op e4[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape1[] = {e2, e3, e4};
static const wb__spelling s1[] = {
    {"model.layers.{n}.block_sparse_moe.input_linear", 2, 3, false, 0, NULL},
    {"model.layers.{n}.block_sparse_moe.input_linear", 8, 3, false, 0, NULL},
};
static const wb__op e5[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__op e6[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__op e7[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape2[] = {e5, e6, e7};
static const wb__spelling s2[] = {
    {"model.layers.{n}.block_sparse_moe.switch_mlp.gate_proj", 4, 3, false, 0, NULL},
    {"blk.{n}.ffn_gate_exps", 1, 3, false, 0, NULL},
};
static const wb__op e8[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__op e9[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__op e10[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape3[] = {e8, e9, e10};
static const wb__spelling s3[] = {
    {"model.layers.{n}.block_sparse_moe.switch_mlp.up_proj", 4, 3, false, 0, NULL},
    {"blk.{n}.ffn_up_exps", 1, 3, false, 0, NULL},
};
static const wb__op e11[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__op e12[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e13[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__expr shape4[] = {e11, e12, e13};
static const wb__spelling s4[] = {
    {"model.layers.{n}.block_sparse_moe.output_linear", 10, 3, false, 0, NULL},
    {"model.layers.{n}.block_sparse_moe.switch_mlp.down_proj", 4, 3, false, 0, NULL},
    {"blk.{n}.ffn_down_exps", 1, 3, false, 0, NULL},
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
     .spelling_count = 2,
     .shape = shape1,
     .rank = 3,
     .provides = 192u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.experts.gate",
     .spellings = s2,
     .spelling_count = 2,
     .shape = shape2,
     .rank = 3,
     .provides = 64u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.experts.up",
     .spellings = s3,
     .spelling_count = 2,
     .shape = shape3,
     .rank = 3,
     .provides = 128u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.experts.down",
     .spellings = s4,
     .spelling_count = 3,
     .shape = shape4,
     .rank = 3,
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
static const wb__op e14[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e15[] = {{WB__OP_NUMBER, 8, NULL}, {0}};
static const wb__op e16[] = {{WB__OP_NUMBER, 2, NULL}, {0}};
static const wb__op e17[] = {{WB__OP_NUMBER, 1, NULL},
                             {WB__OP_NAME, 0, "granitemoe.logit_scale"},
                             {WB__OP_DIV, 0, NULL},
                             {0}};
static const wb__value_row values[] = {
    {4, 63, "expert_weights_norm", e14},
    {1, 16, "n_experts", e15},
    {1, 17, "n_experts_used", e16},
    {2, 37, "logit_scale", e17},
};
static const wb__op e18[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e19[] = {{WB__OP_NAME, 0, "granitemoe.logit_scale"}, {0}};
static const wb__op e20[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e21[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__key_row keys[] = {
    {"expert_feed_forward_length", 1, 0, 0, e18, NULL},
    {"logits_scaling", 0, 1, 0, e19, NULL},
    {"num_experts", 0, 1, 0, e20, NULL},
    {"moe_intermediate_size", 0, 1, 0, e21, NULL},
};
extern const wb__family wb__family_granitemoe;
const wb__family wb__family_granitemoe = {
    .name = "granitemoe",
    .base = &wb__family_granite,
    .gguf = "granitemoe",
    .types = "granitemoe",
    .classes = "GraniteMoeForCausalLM",
    .rules = rules,
    .rule_count = 5,
    .fused = fused,
    .fused_count = 1,
    .values = values,
    .value_count = 4,
    .keys = keys,
    .key_count = 4,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 128u,
    .needs = 0u,
};
