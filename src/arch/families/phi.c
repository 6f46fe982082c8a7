/* Generated from phi.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_layer_norm;

static const wb__op e0[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape2[] = {e0};
static const wb__spelling s2[] = {
    {"model.final_layernorm", 14, 3, false, 0, NULL},
    {"output_norm", 1, 3, false, 0, NULL},
};
static const wb__op e1[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e2[] = {{WB__OP_NAME, 0, "q_dim"}, {0}};
static const wb__expr shape3[] = {e1, e2};
static const wb__spelling s3[] = {
    {"model.layers.{n}.self_attn.dense", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_output", 1, 3, false, 0, NULL},
};
static const wb__op e3[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__op e4[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape4[] = {e3, e4};
static const wb__spelling s4[] = {
    {"model.layers.{n}.mlp.fc1", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_up", 1, 3, false, 0, NULL},
};
static const wb__op e5[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e6[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__expr shape5[] = {e5, e6};
static const wb__spelling s5[] = {
    {"model.layers.{n}.mlp.fc2", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_down", 1, 3, false, 0, NULL},
};
static const wb__rule rules[] = {
    {.canonical = "layers.{n}.ffn_norm", .suffix = 3, .is_dropped = true},
    {.canonical = "layers.{n}.ffn.gate", .suffix = 3, .is_dropped = true},
    {.canonical = "output_norm",
     .spellings = s2,
     .spelling_count = 2,
     .shape = shape2,
     .rank = 1,
     .provides = 1074003968u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.output",
     .spellings = s3,
     .spelling_count = 2,
     .shape = shape3,
     .rank = 2,
     .provides = 16u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.up",
     .spellings = s4,
     .spelling_count = 2,
     .shape = shape4,
     .rank = 2,
     .provides = 128u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.down",
     .spellings = s5,
     .spelling_count = 2,
     .shape = shape5,
     .rank = 2,
     .provides = 256u,
     .suffix = 3},
};
static const wb__op e7[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e8[] = {{WB__OP_TEXT, 0, "gelu_pytorch_tanh"}, {0}};
static const wb__op e9[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e10[] = {{WB__OP_NUMBER, 10000, NULL}, {0}};
static const wb__op e11[] = {{WB__OP_NUMBER, 1.0000000000000001e-05, NULL}, {0}};
static const wb__op e12[] = {{WB__OP_NAME, 0, "head_dim"},
                             {WB__OP_NAME, 0, "partial_rotary_factor"},
                             {WB__OP_NAME, 0, "/rope_parameters/partial_rotary_factor"},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NUMBER, 0.5, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_MUL, 0, NULL},
                             {WB__OP_CALL, 0, NULL},
                             {0}};
static const wb__value_row values[] = {
    {5, -1, "loads_output_bias", e7}, {3, 30, "activation", e8},
    {3, 33, "parallel_residual", e9}, {1, 12, "rope_theta", e10},
    {1, 11, "norm_eps", e11},         {1, 48, "rope_dimension_count", e12},
};
static const wb__op e13[] = {{WB__OP_NAME, 0, "rope_dimension_count"},
                             {WB__OP_NAME, 0, "head_dim"},
                             {WB__OP_DIV, 0, NULL},
                             {0}};
static const wb__key_row keys[] = {
    {"partial_rotary_factor", 0, 1, 0, e13, NULL},
};
static const wb__op e14[] = {
    {WB__OP_NAME, 0, "qk_layernorm"}, {WB__OP_FALSE, 0, NULL}, {WB__OP_ELSE, 0, NULL}, {0}};
static const wb__limit limits[] = {
    {1, 1, "qk_layernorm", e14, "llama.cpp has no norms of q and k in this architecture"},
};
extern const wb__family wb__family_phi;
const wb__family wb__family_phi = {
    .name = "phi",
    .base = &wb__family_layer_norm,
    .gguf = "phi2",
    .types = "phi",
    .classes = "PhiForCausalLM",
    .rules = rules,
    .rule_count = 6,
    .values = values,
    .value_count = 6,
    .keys = keys,
    .key_count = 1,
    .limits = limits,
    .limit_count = 1,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 459167u,
};
