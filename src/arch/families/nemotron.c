/* Generated from nemotron.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_layer_norm;

static const wb__rule rules[] = {
    {.canonical = "layers.{n}.ffn.gate", .suffix = 3, .is_dropped = true},
};
static const wb__op e0[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e1[] = {{WB__OP_TEXT, 0, "relu2"}, {0}};
static const wb__op e2[] = {{WB__OP_NUMBER, 10000, NULL}, {0}};
static const wb__op e3[] = {{WB__OP_NUMBER, 1.0000000000000001e-05, NULL}, {0}};
static const wb__op e4[] = {{WB__OP_NAME, 0, "head_dim"},
                            {WB__OP_NAME, 0, "partial_rotary_factor"},
                            {WB__OP_NAME, 0, "/rope_parameters/partial_rotary_factor"},
                            {WB__OP_ELSE, 0, NULL},
                            {WB__OP_NUMBER, 0.5, NULL},
                            {WB__OP_ELSE, 0, NULL},
                            {WB__OP_MUL, 0, NULL},
                            {WB__OP_CALL, 0, NULL},
                            {0}};
static const wb__value_row values[] = {
    {5, -1, "loads_output_bias", e0},    {3, 30, "activation", e1},
    {1, 12, "rope_theta", e2},           {1, 11, "norm_eps", e3},
    {1, 48, "rope_dimension_count", e4},
};
static const wb__op e5[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e6[] = {{WB__OP_NAME, 0, "norm_eps"}, {0}};
static const wb__op e7[] = {{WB__OP_NAME, 0, "rope_dimension_count"},
                            {WB__OP_NAME, 0, "head_dim"},
                            {WB__OP_DIV, 0, NULL},
                            {0}};
static const wb__key_row keys[] = {
    {"layer_norm_eps", 0, 1, 0, e5, NULL},
    {"norm_eps", 0, 1, 0, e6, NULL},
    {"partial_rotary_factor", 0, 1, 0, e7, NULL},
};
extern const wb__family wb__family_nemotron;
const wb__family wb__family_nemotron = {
    .name = "nemotron",
    .base = &wb__family_layer_norm,
    .gguf = "nemotron",
    .types = "nemotron",
    .classes = "NemotronForCausalLM",
    .rules = rules,
    .rule_count = 1,
    .values = values,
    .value_count = 5,
    .keys = keys,
    .key_count = 3,
    .rope = 0,
    .norm_sides = 1,
    .has_norm_sides = 1,
    .flags = 0u,
    .needs = 459199u,
};
