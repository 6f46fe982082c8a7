/* Generated from mistral.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_llama;

extern const wb__family wb__family_mistral;
const wb__family wb__family_mistral = {
    .name = "mistral",
    .base = &wb__family_llama,
    .types = "mistral",
    .classes = "MistralForCausalLM",
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
