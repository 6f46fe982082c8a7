/* Generated from llama.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_unknown;

static const wb__op e0[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e1[] = {{WB__OP_NAME, 0, "n_layers"},   {WB__OP_NUMBER, 80, NULL},
                            {WB__OP_EQ, 0, NULL},           {WB__OP_NAME, 0, "n_heads"},
                            {WB__OP_NAME, 0, "n_kv_heads"}, {WB__OP_NE, 0, NULL},
                            {WB__OP_AND, 0, NULL},          {0}};
static const wb__op e2[] = {{WB__OP_TEXT, 0, "silu"}, {0}};
static const wb__op e3[] = {{WB__OP_NUMBER, 10000, NULL}, {0}};
static const wb__op e4[] = {{WB__OP_NUMBER, 9.9999999999999995e-07, NULL}, {0}};
static const wb__value_row values[] = {
    {5, -1, "loads_output_bias", e0}, {5, -1, "is_70b", e1},   {3, 30, "activation", e2},
    {1, 12, "rope_theta", e3},        {1, 11, "norm_eps", e4},
};
extern const wb__family wb__family_llama;
const wb__family wb__family_llama = {
    .name = "llama",
    .base = &wb__family_unknown,
    .gguf = "llama",
    .types = "llama",
    .classes = "LlamaForCausalLM",
    .tokenizer = "llama3",
    .values = values,
    .value_count = 5,
    .rope = 3,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 32u,
    .needs = 0u,
};
