/* Generated from qwen2.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_decoder;

static const wb__op e0[] = {
    {WB__OP_NAME, 0, "n_layers"}, {WB__OP_NUMBER, 80, NULL}, {WB__OP_EQ, 0, NULL}, {0}};
static const wb__op e1[] = {{WB__OP_TEXT, 0, "silu"}, {0}};
static const wb__op e2[] = {{WB__OP_NUMBER, 10000, NULL}, {0}};
static const wb__op e3[] = {{WB__OP_NUMBER, 9.9999999999999995e-07, NULL}, {0}};
static const wb__value_row values[] = {
    {5, -1, "is_70b", e0},
    {3, 30, "activation", e1},
    {1, 12, "rope_theta", e2},
    {1, 11, "norm_eps", e3},
};
extern const wb__family wb__family_qwen2;
const wb__family wb__family_qwen2 = {
    .name = "qwen2",
    .base = &wb__family_decoder,
    .gguf = "qwen2",
    .types = "qwen2",
    .classes = "Qwen2ForCausalLM",
    .values = values,
    .value_count = 4,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
