/* Generated from ministral3.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_decoder;

static const wb__op e0[] = {{WB__OP_TEXT, 0, "silu"}, {0}};
static const wb__op e1[] = {{WB__OP_NUMBER, 1000000, NULL}, {0}};
static const wb__op e2[] = {{WB__OP_NUMBER, 1.0000000000000001e-05, NULL}, {0}};
static const wb__op e3[] = {{WB__OP_NUMBER, 8, NULL}, {0}};
static const wb__op e4[] = {{WB__OP_NUMBER, 128, NULL}, {0}};
static const wb__value_row values[] = {
    {3, 30, "activation", e0}, {1, 12, "rope_theta", e1}, {1, 11, "norm_eps", e2},
    {1, 4, "n_kv_heads", e3},  {1, 5, "head_dim", e4},
};
static const wb__op e5[] = {{WB__OP_NAME, 0, "attention_temperature_scale"}, {0}};
static const wb__op e6[] = {{WB__OP_NAME, 0, "attention_temperature_scale"}, {0}};
static const wb__op e7[] = {{WB__OP_NAME, 0, "rope.scaling.yarn_log_multiplier"}, {0}};
static const wb__op e8[] = {{WB__OP_NAME, 0, "rope.scaling.yarn_log_multiplier"}, {0}};
static const wb__op e9[] = {{WB__OP_NAME, 0, "/rope_parameters/mscale_all_dim"}, {0}};
static const wb__key_row keys[] = {
    {"attention.temperature_scale", 2, 0, 0, e5, NULL},
    {"rope_scaling.llama_4_scaling_beta", 0, 1, 0, e6, NULL},
    {"rope_scaling.mscale_all_dim", 0, 1, 0, e7, NULL},
    {"rope_scaling.mscale", 0, 1, 0, e8, NULL},
    {"rope.scaling.yarn_log_multiplier", 2, 0, 0, e9, NULL},
};
extern const wb__family wb__family_ministral3;
const wb__family wb__family_ministral3 = {
    .name = "ministral3",
    .base = &wb__family_decoder,
    .gguf = "mistral3",
    .types = "ministral3",
    .classes = "Ministral3ForCausalLM",
    .values = values,
    .value_count = 5,
    .keys = keys,
    .key_count = 5,
    .rope = 3,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
