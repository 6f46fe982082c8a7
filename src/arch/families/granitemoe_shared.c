/* Generated from granitemoe_shared.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_granitemoe;

static const wb__op e0[] = {{WB__OP_CALL, 7, "expert_shared_feed_forward_length"}, {0}};
static const wb__op e1[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape0[] = {NULL, e1};
static const wb__spelling s0[] = {
    {"model.layers.{n}.shared_mlp.input_linear", 14, 3, false, 0, NULL},
};
static const wb__op e2[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape1[] = {NULL, e2};
static const wb__spelling s1[] = {
    {"blk.{n}.ffn_gate_shexp", 1, 3, false, 0, NULL},
};
static const wb__op e3[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape2[] = {NULL, e3};
static const wb__spelling s2[] = {
    {"blk.{n}.ffn_up_shexp", 1, 3, false, 0, NULL},
};
static const wb__op e4[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape3[] = {e4, NULL};
static const wb__spelling s3[] = {
    {"model.layers.{n}.shared_mlp.output_linear", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_down_shexp", 1, 3, false, 0, NULL},
};
static const wb__rule rules[] = {
    {.canonical = "layers.{n}.ffn.shared_experts.gate_up",
     .spellings = s0,
     .spelling_count = 1,
     .shape = shape0,
     .rank = 2,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.shared_experts.gate",
     .spellings = s1,
     .spelling_count = 1,
     .shape = shape1,
     .rank = 2,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.shared_experts.up",
     .spellings = s2,
     .spelling_count = 1,
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
static const wb__fused fused[] = {
    {"layers.{n}.ffn.shared_experts.gate_up",
     {
         "layers.{n}.ffn.shared_experts.gate",
         "layers.{n}.ffn.shared_experts.up",
     },
     2},
};
static const wb__op e5[] = {{WB__OP_NAME, 0, "shared_intermediate_size"},
                            {WB__OP_NUMBER, 1024, NULL},
                            {WB__OP_ELSE, 0, NULL},
                            {0}};
static const wb__value_row values[] = {
    {5, -1, "shared", e5},
};
static const wb__op e6[] = {{WB__OP_NAME, 0, "shared"}, {0}};
static const wb__op e7[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e8[] = {{WB__OP_NAME, 0, "expert_shared_feed_forward_length"}, {0}};
static const wb__key_row keys[] = {
    {"expert_shared_feed_forward_length", 1, 0, 0, e6, NULL},
    {"shared_expert_intermediate_size", 0, 1, 0, e7, NULL},
    {"shared_intermediate_size", 0, 1, 0, e8, NULL},
};
extern const wb__family wb__family_granitemoe_shared;
const wb__family wb__family_granitemoe_shared = {
    .name = "granitemoe_shared",
    .base = &wb__family_granitemoe,
    .gguf = "granitemoe",
    .types = "granitemoeshared",
    .classes = "GraniteMoeSharedForCausalLM",
    .when = e0,
    .rules = rules,
    .rule_count = 4,
    .fused = fused,
    .fused_count = 1,
    .values = values,
    .value_count = 1,
    .keys = keys,
    .key_count = 3,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
