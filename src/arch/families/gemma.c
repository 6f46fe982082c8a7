/* Generated from gemma.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_decoder;

static const wb__op e0[] = {{WB__OP_TEXT, 0, "gelu_pytorch_tanh"}, {0}};
static const wb__op e1[] = {{WB__OP_NAME, 0, "dim"}, {WB__OP_CALL, 2, NULL}, {0}};
static const wb__op e2[] = {{WB__OP_NUMBER, 256, NULL}, {0}};
static const wb__op e3[] = {{WB__OP_NUMBER, 10000, NULL}, {0}};
static const wb__op e4[] = {{WB__OP_NUMBER, 9.9999999999999995e-07, NULL}, {0}};
static const wb__op e5[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__value_row values[] = {
    {3, 30, "activation", e0}, {3, 34, "embedding_scale", e1}, {1, 5, "head_dim", e2},
    {1, 12, "rope_theta", e3}, {1, 11, "norm_eps", e4},        {1, 19, "tie_embeddings", e5},
};
static const wb__op e6[] = {{WB__OP_CALL, 13, "layers.{n}.attention.q.bias"}, {0}};
static const wb__limit limits[] = {
    {1, 1, "attention_bias", e6,
     "llama.cpp does not load biases of q, k and v in this architecture"},
};
extern const wb__family wb__family_gemma;
const wb__family wb__family_gemma = {
    .name = "gemma",
    .base = &wb__family_decoder,
    .gguf = "gemma",
    .types = "gemma",
    .classes = "GemmaForCausalLM",
    .values = values,
    .value_count = 6,
    .limits = limits,
    .limit_count = 1,
    .rope = 0,
    .norm_sides = 1,
    .has_norm_sides = 1,
    .flags = 0u,
    .needs = 328191u,
};
