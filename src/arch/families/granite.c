/* Generated from granite.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_decoder;

static const wb__op e0[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e1[] = {{WB__OP_TEXT, 0, "silu"}, {0}};
static const wb__op e2[] = {{WB__OP_NUMBER, 10000, NULL}, {0}};
static const wb__op e3[] = {{WB__OP_NUMBER, 9.9999999999999995e-07, NULL}, {0}};
static const wb__op e4[] = {{WB__OP_NUMBER, 1, NULL}, {0}};
static const wb__op e5[] = {{WB__OP_NUMBER, 1, NULL}, {WB__OP_NAME, 0, "/logits_scaling"},
                            {WB__OP_NUMBER, 1, NULL}, {WB__OP_ELSE, 0, NULL},
                            {WB__OP_DIV, 0, NULL},    {0}};
static const wb__op e6[] = {
    {WB__OP_NUMBER, 1, NULL}, {WB__OP_NAME, 0, "granite.logit_scale"}, {WB__OP_DIV, 0, NULL}, {0}};
static const wb__value_row values[] = {
    {5, -1, "loads_output_bias", e0}, {3, 30, "activation", e1},      {1, 12, "rope_theta", e2},
    {1, 11, "norm_eps", e3},          {1, 36, "attention_scale", e4}, {1, 37, "logit_scale", e5},
    {2, 37, "logit_scale", e6},
};
static const wb__op e7[] = {{WB__OP_NAME, 0, "attention_scale"}, {0}};
static const wb__op e8[] = {{WB__OP_NAME, 0, "embedding_scale"}, {0}};
static const wb__op e9[] = {{WB__OP_NAME, 0, "residual_scale"}, {0}};
static const wb__op e10[] = {
    {WB__OP_NAME, 0, "/logits_scaling"}, {WB__OP_NUMBER, 1, NULL}, {WB__OP_ELSE, 0, NULL}, {0}};
static const wb__op e11[] = {{WB__OP_NAME, 0, "attention_scale"}, {0}};
static const wb__op e12[] = {{WB__OP_NAME, 0, "embedding_scale"}, {0}};
static const wb__op e13[] = {{WB__OP_NAME, 0, "residual_scale"}, {0}};
static const wb__op e14[] = {{WB__OP_NAME, 0, "granite.logit_scale"}, {0}};
static const wb__key_row keys[] = {
    {"attention.scale", 2, 0, 0, e7, NULL},       {"embedding_scale", 2, 0, 0, e8, NULL},
    {"residual_scale", 2, 0, 0, e9, NULL},        {"logit_scale", 2, 0, 0, e10, NULL},
    {"attention_multiplier", 0, 1, 0, e11, NULL}, {"embedding_multiplier", 0, 1, 0, e12, NULL},
    {"residual_multiplier", 0, 1, 0, e13, NULL},  {"logits_scaling", 0, 1, 0, e14, NULL},
};
extern const wb__family wb__family_granite;
const wb__family wb__family_granite = {
    .name = "granite",
    .base = &wb__family_decoder,
    .gguf = "granite",
    .types = "granite",
    .classes = "GraniteForCausalLM",
    .values = values,
    .value_count = 7,
    .keys = keys,
    .key_count = 8,
    .rope = 3,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
