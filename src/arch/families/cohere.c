/* Generated from cohere.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_layer_norm;

static const wb__op e0[] = {{WB__OP_NAME, 0, "n_heads"}, {0}};
static const wb__op e1[] = {{WB__OP_NAME, 0, "head_dim"}, {0}};
static const wb__expr shape1[] = {e0, e1};
static const wb__spelling s1[] = {
    {"model.layers.{n}.self_attn.q_norm", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_q_norm", 1, 3, false, 0, NULL},
};
static const wb__op e2[] = {{WB__OP_NAME, 0, "n_kv_heads"}, {0}};
static const wb__op e3[] = {{WB__OP_NAME, 0, "head_dim"}, {0}};
static const wb__expr shape2[] = {e2, e3};
static const wb__spelling s2[] = {
    {"model.layers.{n}.self_attn.k_norm", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_k_norm", 1, 3, false, 0, NULL},
};
static const wb__rule rules[] = {
    {.canonical = "layers.{n}.ffn_norm", .suffix = 3, .is_dropped = true},
    {.canonical = "layers.{n}.attention.q_norm",
     .spellings = s1,
     .spelling_count = 2,
     .shape = shape1,
     .rank = 2,
     .provides = 1073741824u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.k_norm",
     .spellings = s2,
     .spelling_count = 2,
     .shape = shape2,
     .rank = 2,
     .provides = 1073741824u,
     .suffix = 3},
};
static const wb__op e4[] = {{WB__OP_TEXT, 0, "silu"}, {0}};
static const wb__op e5[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e6[] = {{WB__OP_NUMBER, 500000, NULL}, {0}};
static const wb__op e7[] = {{WB__OP_NUMBER, 1.0000000000000001e-05, NULL}, {0}};
static const wb__op e8[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e9[] = {
    {WB__OP_NAME, 0, "/logit_scale"}, {WB__OP_NUMBER, 0.0625, NULL}, {WB__OP_ELSE, 0, NULL}, {0}};
static const wb__op e10[] = {{WB__OP_NAME, 0, "command-r.logit_scale"}, {0}};
static const wb__value_row values[] = {
    {3, 30, "activation", e4},   {3, 33, "parallel_residual", e5}, {1, 12, "rope_theta", e6},
    {1, 11, "norm_eps", e7},     {1, 19, "tie_embeddings", e8},    {1, 37, "logit_scale", e9},
    {2, 37, "logit_scale", e10},
};
static const wb__op e11[] = {{WB__OP_NAME, 0, "model_max_length"},
                             {WB__OP_NAME, 0, "max_seq_len"},
                             {WB__OP_ELSE, 0, NULL},
                             {0}};
static const wb__op e12[] = {{WB__OP_NAME, 0, "logit_scale"}, {0}};
static const wb__op e13[] = {{WB__OP_NAME, 0, "logit_scale"}, {0}};
static const wb__op e14[] = {{WB__OP_CALL, 13, "layers.0.attention.q_norm.weight"}, {0}};
static const wb__key_row keys[] = {
    {"context_length", 1, 0, 0, e11, NULL},
    {"logit_scale", 2, 0, 0, e12, NULL},
    {"logit_scale", 0, 1, 0, e13, NULL},
    {"use_qk_norm", 0, 1, 0, e14, NULL},
};
static const wb__op e15[] = {{WB__OP_NAME, 0, "use_qk_norm"},
                             {WB__OP_FALSE, 0, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NAME, 0, "n_layers"},
                             {WB__OP_NUMBER, 64, NULL},
                             {WB__OP_GE, 0, NULL},
                             {WB__OP_NE, 0, NULL},
                             {0}};
static const wb__limit limits[] = {
    {1, 1, "use_qk_norm", e15,
     "llama.cpp expects norms of q and k in models of this architecture with at least 64 layers, "
     "and in no others"},
};
extern const wb__family wb__family_cohere;
const wb__family wb__family_cohere = {
    .name = "cohere",
    .base = &wb__family_layer_norm,
    .gguf = "command-r",
    .types = "cohere",
    .classes = "CohereForCausalLM",
    .rules = rules,
    .rule_count = 3,
    .values = values,
    .value_count = 7,
    .keys = keys,
    .key_count = 4,
    .limits = limits,
    .limit_count = 1,
    .rope = 4,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 328159u,
};
