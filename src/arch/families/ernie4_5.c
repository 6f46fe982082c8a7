/* Generated from ernie4_5.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_decoder;

static const wb__op e0[] = {{WB__OP_TEXT, 0, "silu"}, {0}};
static const wb__op e1[] = {{WB__OP_NUMBER, 500000, NULL}, {0}};
static const wb__op e2[] = {{WB__OP_NUMBER, 1.0000000000000001e-05, NULL}, {0}};
static const wb__op e3[] = {{WB__OP_NUMBER, 2, NULL}, {0}};
static const wb__op e4[] = {{WB__OP_NUMBER, 128, NULL}, {0}};
static const wb__op e5[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__value_row values[] = {
    {3, 30, "activation", e0}, {1, 12, "rope_theta", e1}, {1, 11, "norm_eps", e2},
    {1, 4, "n_kv_heads", e3},  {1, 5, "head_dim", e4},    {1, 19, "tie_embeddings", e5},
};
static const wb__op e6[] = {{WB__OP_CALL, 13, "layers.0.attention.q.bias"}, {0}};
static const wb__key_row keys[] = {
    {"use_bias", 0, 1, 0, e6, NULL},
};
extern const wb__family wb__family_ernie4_5;
const wb__family wb__family_ernie4_5 = {
    .name = "ernie4_5",
    .base = &wb__family_decoder,
    .gguf = "ernie4_5",
    .types = "ernie4_5",
    .classes = "Ernie4_5ForCausalLM|Ernie4_5_ForCausalLM",
    .values = values,
    .value_count = 6,
    .keys = keys,
    .key_count = 1,
    .rope = 4,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
