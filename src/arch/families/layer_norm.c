/* Generated from layer_norm.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_decoder;

static const wb__op e0[] = {{WB__OP_TEXT, 0, "layer"}, {0}};
static const wb__value_row values[] = {
    {3, 31, "norm_type", e0},
};
static const wb__op e1[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e2[] = {{WB__OP_NAME, 0, "norm_eps"}, {0}};
static const wb__op e3[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e4[] = {{WB__OP_NAME, 0, "norm_eps"}, {0}};
static const wb__key_row keys[] = {
    {"attention.layer_norm_rms_epsilon", 2, 0, 0, e1, NULL},
    {"attention.layer_norm_epsilon", 2, 0, 0, e2, NULL},
    {"rms_norm_eps", 0, 1, 0, e3, NULL},
    {"layer_norm_eps", 0, 1, 0, e4, NULL},
};
extern const wb__family wb__family_layer_norm;
const wb__family wb__family_layer_norm = {
    .name = "layer_norm",
    .base = &wb__family_decoder,
    .values = values,
    .value_count = 1,
    .keys = keys,
    .key_count = 4,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
