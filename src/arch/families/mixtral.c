/* Generated from mixtral.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_llama;

static const wb__op e0[] = {{WB__OP_CALL, 7, "expert_count"},
                            {WB__OP_NAME, 0, "expert_count"},
                            {WB__OP_NUMBER, 0, NULL},
                            {WB__OP_NE, 0, NULL},
                            {WB__OP_AND, 0, NULL},
                            {0}};
static const wb__op e1[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__op e2[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape0[] = {e1, e2};
static const wb__spelling s0[] = {
    {"model.layers.{n}.block_sparse_moe.gate", 14, 3, false, 0, NULL},
    {"model.layers.{n}.mlp.gate", 14, 3, true, 0, NULL},
    {"model.layers.{n}.mlp.router", 14, 3, true, 0, NULL},
    {"blk.{n}.ffn_gate_inp", 1, 3, false, 0, NULL},
};
static const wb__op e3[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__op e4[] = {{WB__OP_NAME, 0, "expert_ffn_dim"}, {0}};
static const wb__op e5[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape1[] = {e3, e4, e5};
static const wb__spelling s1[] = {
    {"model.layers.{n}.block_sparse_moe.experts.{e}.w1", 10, 3, false, 0, NULL},
    {"model.layers.{n}.block_sparse_moe.switch_mlp.gate_proj", 4, 3, false, 0, NULL},
    {"model.layers.{n}.mlp.experts.{e}.gate_proj", 14, 3, true, 0, NULL},
    {"model.layers.{n}.mlp.switch_mlp.gate_proj", 14, 3, true, 0, NULL},
    {"model.layers.{n}.mlp.experts.gate_proj", 14, 3, true, 0, NULL},
    {"blk.{n}.ffn_gate_exps", 1, 3, false, 0, NULL},
    {"blk.{n}.ffn_gate.{e}", 1, 3, true, 0, NULL},
};
static const wb__op e6[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__op e7[] = {{WB__OP_NAME, 0, "expert_ffn_dim"}, {0}};
static const wb__op e8[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape2[] = {e6, e7, e8};
static const wb__spelling s2[] = {
    {"model.layers.{n}.block_sparse_moe.experts.{e}.w3", 10, 3, false, 0, NULL},
    {"model.layers.{n}.block_sparse_moe.switch_mlp.up_proj", 4, 3, false, 0, NULL},
    {"model.layers.{n}.mlp.experts.{e}.up_proj", 14, 3, true, 0, NULL},
    {"model.layers.{n}.mlp.switch_mlp.up_proj", 14, 3, true, 0, NULL},
    {"model.layers.{n}.mlp.experts.up_proj", 14, 3, true, 0, NULL},
    {"blk.{n}.ffn_up_exps", 1, 3, false, 0, NULL},
    {"blk.{n}.ffn_up.{e}", 1, 3, true, 0, NULL},
};
static const wb__op e9[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__op e10[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e11[] = {{WB__OP_NAME, 0, "expert_ffn_dim"}, {0}};
static const wb__expr shape3[] = {e9, e10, e11};
static const wb__spelling s3[] = {
    {"model.layers.{n}.block_sparse_moe.experts.{e}.w2", 10, 3, false, 0, NULL},
    {"model.layers.{n}.block_sparse_moe.switch_mlp.down_proj", 4, 3, false, 0, NULL},
    {"model.layers.{n}.mlp.experts.{e}.down_proj", 14, 3, true, 0, NULL},
    {"model.layers.{n}.mlp.switch_mlp.down_proj", 14, 3, true, 0, NULL},
    {"model.layers.{n}.mlp.experts.down_proj", 14, 3, true, 0, NULL},
    {"blk.{n}.ffn_down_exps", 1, 3, false, 0, NULL},
    {"blk.{n}.ffn_down.{e}", 1, 3, true, 0, NULL},
};
static const wb__rule rules[] = {
    {.canonical = "layers.{n}.ffn.router",
     .spellings = s0,
     .spelling_count = 4,
     .shape = shape0,
     .rank = 2,
     .provides = 134217728u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.experts.gate",
     .spellings = s1,
     .spelling_count = 7,
     .shape = shape1,
     .rank = 3,
     .provides = 64u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.experts.up",
     .spellings = s2,
     .spelling_count = 7,
     .shape = shape2,
     .rank = 3,
     .provides = 128u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.experts.down",
     .spellings = s3,
     .spelling_count = 7,
     .shape = shape3,
     .rank = 3,
     .provides = 256u,
     .suffix = 3},
};
static const wb__op e12[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__value_row values[] = {
    {4, 63, "expert_weights_norm", e12},
};
extern const wb__family wb__family_mixtral;
const wb__family wb__family_mixtral = {
    .name = "mixtral",
    .base = &wb__family_llama,
    .gguf = "llama",
    .types = "mixtral",
    .classes = "MixtralForCausalLM",
    .when = e0,
    .rules = rules,
    .rule_count = 4,
    .values = values,
    .value_count = 1,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
