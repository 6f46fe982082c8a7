/* Generated from internlm3.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_llama;

extern const wb__family wb__family_internlm3;
const wb__family wb__family_internlm3 = {
    .name = "internlm3",
    .base = &wb__family_llama,
    .types = "internlm3",
    .classes = "InternLM3ForCausalLM",
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
