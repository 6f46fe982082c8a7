/* Generated from smollm3.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_decoder;

static const wb__op e0[] = {{WB__OP_TEXT, 0, "silu"}, {0}};
static const wb__op e1[] = {{WB__OP_NUMBER, 2000000, NULL}, {0}};
static const wb__op e2[] = {{WB__OP_NUMBER, 9.9999999999999995e-07, NULL}, {0}};
static const wb__op e3[] = {{WB__OP_NUMBER, 4, NULL}, {0}};
static const wb__op e4[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__value_row values[] = {
    {3, 30, "activation", e0}, {1, 12, "rope_theta", e1},     {1, 11, "norm_eps", e2},
    {1, 4, "n_kv_heads", e3},  {1, 19, "tie_embeddings", e4},
};
static const wb__op e5[] = {{WB__OP_NAME, 0, "i"},    {WB__OP_ELEMENT, 0, "no_rope_layers"},
                            {WB__OP_NUMBER, 0, NULL}, {WB__OP_EQ, 0, NULL},
                            {WB__OP_NAME, 0, "i"},    {WB__OP_NUMBER, 1, NULL},
                            {WB__OP_ADD, 0, NULL},    {WB__OP_NUMBER, 4, NULL},
                            {WB__OP_DIV, 0, NULL},    {WB__OP_CALL, 0, NULL},
                            {WB__OP_NUMBER, 4, NULL}, {WB__OP_MUL, 0, NULL},
                            {WB__OP_NAME, 0, "i"},    {WB__OP_NUMBER, 1, NULL},
                            {WB__OP_ADD, 0, NULL},    {WB__OP_EQ, 0, NULL},
                            {WB__OP_NE, 0, NULL},     {0}};
static const wb__op e6[] = {{WB__OP_CALL, 7, "no_rope_layers"},
                            {WB__OP_NOT, 0, NULL},
                            {WB__OP_NAME, 0, "no_rope_layer_interval"},
                            {WB__OP_NUMBER, 4, NULL},
                            {WB__OP_ELSE, 0, NULL},
                            {WB__OP_NUMBER, 4, NULL},
                            {WB__OP_NE, 0, NULL},
                            {WB__OP_AND, 0, NULL},
                            {0}};
static const wb__limit limits[] = {
    {1, 1, "no_rope_layers", e5,
     "llama.cpp omits RoPE in every fourth layer of this architecture; this model omits it in "
     "other layers"},
    {1, 1, "no_rope_layer_interval", e6,
     "llama.cpp omits RoPE in every fourth layer of this architecture; this model omits it in "
     "other layers"},
};
extern const wb__family wb__family_smollm3;
const wb__family wb__family_smollm3 = {
    .name = "smollm3",
    .base = &wb__family_decoder,
    .gguf = "smollm3",
    .types = "smollm3",
    .classes = "SmolLM3ForCausalLM",
    .values = values,
    .value_count = 5,
    .limits = limits,
    .limit_count = 2,
    .rope = 3,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
