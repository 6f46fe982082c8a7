/* Generated from qwen3.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_qwen2;

static const wb__op e0[] = {{WB__OP_FALSE, 0, NULL}, {0}};
static const wb__value_row values[] = {
    {5, -1, "is_70b", e0},
};
extern const wb__family wb__family_qwen3;
const wb__family wb__family_qwen3 = {
    .name = "qwen3",
    .base = &wb__family_qwen2,
    .gguf = "qwen3",
    .types = "qwen3",
    .classes = "Qwen3ForCausalLM",
    .values = values,
    .value_count = 1,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 32u,
    .needs = 0u,
};
