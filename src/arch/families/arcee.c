/* Generated from arcee.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_decoder;

static const wb__rule rules[] = {
    {.canonical = "layers.{n}.ffn.gate", .suffix = 3, .is_dropped = true},
};
static const wb__op e0[] = {{WB__OP_TEXT, 0, "relu2"}, {0}};
static const wb__op e1[] = {{WB__OP_NUMBER, 10000, NULL}, {0}};
static const wb__op e2[] = {{WB__OP_NUMBER, 1.0000000000000001e-05, NULL}, {0}};
static const wb__value_row values[] = {
    {3, 30, "activation", e0},
    {1, 12, "rope_theta", e1},
    {1, 11, "norm_eps", e2},
};
extern const wb__family wb__family_arcee;
const wb__family wb__family_arcee = {
    .name = "arcee",
    .base = &wb__family_decoder,
    .gguf = "arcee",
    .types = "arcee",
    .classes = "ArceeForCausalLM",
    .tokenizer = "llama3",
    .rules = rules,
    .rule_count = 1,
    .values = values,
    .value_count = 3,
    .rope = 3,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 459199u,
};
