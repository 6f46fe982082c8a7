/* Generated from dots1.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_routed;

static const wb__op e0[] = {{WB__OP_NUMBER, 9.9999999999999995e-07, NULL}, {0}};
static const wb__value_row values[] = {
    {1, 11, "norm_eps", e0},
};
static const wb__op e1[] = {
    {WB__OP_NAME, 0, "n_kv_heads"}, {WB__OP_NAME, 0, "n_heads"}, {WB__OP_NE, 0, NULL}, {0}};
static const wb__limit limits[] = {
    {1, "num_key_value_heads", e1,
     "llama.cpp does not load models of this architecture with fewer heads of k and v than of q"},
};
extern const wb__family wb__family_dots1;
const wb__family wb__family_dots1 = {
    .name = "dots1",
    .base = &wb__family_routed,
    .gguf = "dots1",
    .types = "dots1",
    .classes = "Dots1ForCausalLM",
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
