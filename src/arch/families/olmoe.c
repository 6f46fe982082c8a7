/* Generated from olmoe.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_unknown;

static const wb__op e0[] = {{WB__OP_NAME, 0, "q_dim"}, {0}};
static const wb__expr shape0[] = {e0};
static const wb__spelling s0[] = {
    {"model.layers.{n}.self_attn.q_norm", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_q_norm", 1, 3, false, 0, NULL},
};
static const wb__op e1[] = {{WB__OP_NAME, 0, "kv_dim"}, {0}};
static const wb__expr shape1[] = {e1};
static const wb__spelling s1[] = {
    {"model.layers.{n}.self_attn.k_norm", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_k_norm", 1, 3, false, 0, NULL},
};
static const wb__rule rules[] = {
    {.canonical = "layers.{n}.attention.q_norm",
     .spellings = s0,
     .spelling_count = 2,
     .shape = shape0,
     .rank = 1,
     .provides = 1073741824u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.k_norm",
     .spellings = s1,
     .spelling_count = 2,
     .shape = shape1,
     .rank = 1,
     .provides = 1073741824u,
     .suffix = 3},
};
static const wb__op e2[] = {{WB__OP_TEXT, 0, "silu"}, {0}};
static const wb__op e3[] = {{WB__OP_NUMBER, 10000, NULL}, {0}};
static const wb__op e4[] = {{WB__OP_NUMBER, 1.0000000000000001e-05, NULL}, {0}};
static const wb__op e5[] = {{WB__OP_FALSE, 0, NULL}, {0}};
static const wb__value_row values[] = {
    {3, 30, "activation", e2},
    {1, 12, "rope_theta", e3},
    {1, 11, "norm_eps", e4},
    {1, 63, "expert_weights_norm", e5},
};
static const wb__op e6[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e7[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e8[] = {{WB__OP_NAME, 0, "expert_weights_norm"}, {0}};
static const wb__key_row keys[] = {
    {"expert_feed_forward_length", 1, 0, 0, e6, NULL},
    {"moe_intermediate_size", 0, 1, 0, e7, NULL},
    {"norm_topk_prob", 0, 1, 0, e8, NULL},
};
static const wb__op e9[] = {
    {WB__OP_NAME, 0, "n_kv_heads"}, {WB__OP_NAME, 0, "n_heads"}, {WB__OP_NE, 0, NULL}, {0}};
static const wb__op e10[] = {
    {WB__OP_NAME, 0, "norm_topk_prob"}, {WB__OP_FALSE, 0, NULL}, {WB__OP_ELSE, 0, NULL}, {0}};
static const wb__op e11[] = {{WB__OP_NAME, 0, "clip_qkv"}, {WB__OP_NUMBER, 0, NULL},
                             {WB__OP_ELSE, 0, NULL},       {WB__OP_NUMBER, 0, NULL},
                             {WB__OP_NE, 0, NULL},         {0}};
static const wb__limit limits[] = {
    {1, 1, "num_key_value_heads", e9,
     "llama.cpp does not load models of this architecture with fewer heads of k and v than of q"},
    {1, 1, "norm_topk_prob", e10,
     "llama.cpp does not normalize the weights of the selected experts of this architecture; this "
     "model does"},
    {1, 1, "clip_qkv", e11, "llama.cpp does not clamp q, k and v of this architecture"},
};
extern const wb__family wb__family_olmoe;
const wb__family wb__family_olmoe = {
    .name = "olmoe",
    .base = &wb__family_unknown,
    .gguf = "olmoe",
    .types = "olmoe",
    .classes = "OlmoeForCausalLM",
    .rules = rules,
    .rule_count = 2,
    .values = values,
    .value_count = 4,
    .keys = keys,
    .key_count = 3,
    .limits = limits,
    .limit_count = 3,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
