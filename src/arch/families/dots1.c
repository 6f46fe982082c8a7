/* Generated from dots1.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_routed;

static const wb__op e0[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__op e1[] = {{WB__OP_NAME, 0, "expert_ffn_dim"}, {0}};
static const wb__op e2[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape0[] = {e0, e1, e2};
static const wb__spelling s0[] = {
    {"model.layers.{n}.mlp.experts.{e}.gate_proj", 10, 3, false, 0, NULL},
    {"model.layers.{n}.mlp.experts.gate_proj", 4, 3, false, 0, NULL},
    {"blk.{n}.ffn_gate_exps", 1, 3, false, 0, NULL},
};
static const wb__op e3[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__op e4[] = {{WB__OP_NAME, 0, "expert_ffn_dim"}, {0}};
static const wb__op e5[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape1[] = {e3, e4, e5};
static const wb__spelling s1[] = {
    {"model.layers.{n}.mlp.experts.{e}.up_proj", 10, 3, false, 0, NULL},
    {"model.layers.{n}.mlp.experts.up_proj", 4, 3, false, 0, NULL},
    {"blk.{n}.ffn_up_exps", 1, 3, false, 0, NULL},
};
static const wb__op e6[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__op e7[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e8[] = {{WB__OP_NAME, 0, "expert_ffn_dim"}, {0}};
static const wb__expr shape2[] = {e6, e7, e8};
static const wb__spelling s2[] = {
    {"model.layers.{n}.mlp.experts.{e}.down_proj", 10, 3, false, 0, NULL},
    {"model.layers.{n}.mlp.experts.down_proj", 4, 3, false, 0, NULL},
    {"blk.{n}.ffn_down_exps", 1, 3, false, 0, NULL},
};
static const wb__rule rules[] = {
    {.canonical = "layers.{n}.ffn.experts.gate",
     .spellings = s0,
     .spelling_count = 3,
     .shape = shape0,
     .rank = 3,
     .provides = 64u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.experts.up",
     .spellings = s1,
     .spelling_count = 3,
     .shape = shape1,
     .rank = 3,
     .provides = 128u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.experts.down",
     .spellings = s2,
     .spelling_count = 3,
     .shape = shape2,
     .rank = 3,
     .provides = 256u,
     .suffix = 3},
};
static const wb__op e9[] = {{WB__OP_NUMBER, 9.9999999999999995e-07, NULL}, {0}};
static const wb__value_row values[] = {
    {1, 11, "norm_eps", e9},
};
static const wb__op e10[] = {
    {WB__OP_NAME, 0, "n_kv_heads"}, {WB__OP_NAME, 0, "n_heads"}, {WB__OP_NE, 0, NULL}, {0}};
static const wb__limit limits[] = {
    {1, 1, "num_key_value_heads", e10,
     "llama.cpp does not load models of this architecture with fewer heads of k and v than of q"},
};
extern const wb__family wb__family_dots1;
const wb__family wb__family_dots1 = {
    .name = "dots1",
    .base = &wb__family_routed,
    .gguf = "dots1",
    .types = "dots1",
    .classes = "Dots1ForCausalLM",
    .rules = rules,
    .rule_count = 3,
    .values = values,
    .value_count = 1,
    .limits = limits,
    .limit_count = 1,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
