/* Generated from qwen2moe.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_unknown;

static const wb__op e0[] = {{WB__OP_TEXT, 0, "silu"}, {0}};
static const wb__op e1[] = {{WB__OP_NUMBER, 10000, NULL}, {0}};
static const wb__op e2[] = {{WB__OP_NUMBER, 9.9999999999999995e-07, NULL}, {0}};
static const wb__op e3[] = {{WB__OP_FALSE, 0, NULL}, {0}};
static const wb__value_row values[] = {
    {3, 30, "activation", e0},
    {1, 12, "rope_theta", e1},
    {1, 11, "norm_eps", e2},
    {5, -1, "normalizes", e3},
};
static const wb__op e4[] = {{WB__OP_NAME, 0, "norm_topk_prob"},
                            {WB__OP_FALSE, 0, NULL},
                            {WB__OP_ELSE, 0, NULL},
                            {WB__OP_NAME, 0, "normalizes"},
                            {WB__OP_NOT, 0, NULL},
                            {WB__OP_AND, 0, NULL},
                            {0}};
static const wb__op e5[] = {{WB__OP_NAME, 0, "decoder_sparse_step"},
                            {WB__OP_NUMBER, 1, NULL},
                            {WB__OP_ELSE, 0, NULL},
                            {WB__OP_NUMBER, 1, NULL},
                            {WB__OP_NE, 0, NULL},
                            {0}};
static const wb__op e6[] = {
    {WB__OP_CALL, 8, "mlp_only_layers"}, {WB__OP_NUMBER, 0, NULL}, {WB__OP_NE, 0, NULL}, {0}};
static const wb__limit limits[] = {
    {1, 1, "norm_topk_prob", e4,
     "llama.cpp does not normalize the weights of the selected experts of this architecture; this "
     "model does"},
    {1, 1, "decoder_sparse_step", e5,
     "llama.cpp expects experts in every layer of this architecture"},
    {1, 1, "mlp_only_layers", e6, "llama.cpp expects experts in every layer of this architecture"},
};
extern const wb__family wb__family_qwen2moe;
const wb__family wb__family_qwen2moe = {
    .name = "qwen2moe",
    .base = &wb__family_unknown,
    .gguf = "qwen2moe",
    .types = "qwen2_moe",
    .classes = "Qwen2MoeForCausalLM",
    .values = values,
    .value_count = 4,
    .limits = limits,
    .limit_count = 3,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 128u,
    .needs = 0u,
};
