/* Generated from qwen3moe.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_qwen2moe;

static const wb__op e0[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e1[] = {
    {WB__OP_NAME, 0, "norm_topk_prob"}, {WB__OP_FALSE, 0, NULL}, {WB__OP_ELSE, 0, NULL}, {0}};
static const wb__op e2[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__value_row values[] = {
    {5, -1, "normalizes", e0},
    {5, -1, "is_normalized", e1},
    {2, 63, "expert_weights_norm", e2},
};
static const wb__op e3[] = {{WB__OP_NAME, 0, "expert_weights_norm"}, {0}};
static const wb__op e4[] = {{WB__OP_NUMBER, 1, NULL}, {0}};
static const wb__op e5[] = {{WB__OP_EMPTY, 0, NULL}, {0}};
static const wb__key_row keys[] = {
    {"norm_topk_prob", 0, 1, 0, e3, NULL},
    {"decoder_sparse_step", 0, 1, 0, e4, NULL},
    {"mlp_only_layers", 0, 1, 0, e5, NULL},
};
static const wb__op e6[] = {{WB__OP_NAME, 0, "is_normalized"}, {WB__OP_NOT, 0, NULL}, {0}};
static const wb__limit limits[] = {
    {1, 0, "norm_topk_prob", e6,
     "llama.cpp always normalizes the weights of the selected experts of this architecture; this "
     "model does not"},
};
extern const wb__family wb__family_qwen3moe;
const wb__family wb__family_qwen3moe = {
    .name = "qwen3moe",
    .base = &wb__family_qwen2moe,
    .gguf = "qwen3moe",
    .types = "qwen3_moe",
    .classes = "Qwen3MoeForCausalLM",
    .values = values,
    .value_count = 3,
    .keys = keys,
    .key_count = 3,
    .limits = limits,
    .limit_count = 1,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 32u,
    .needs = 0u,
};
