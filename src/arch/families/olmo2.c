/* Generated from olmo2.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_decoder;

static const wb__op e0[] = {{WB__OP_NAME, 0, "q_dim"}, {0}};
static const wb__expr shape2[] = {e0};
static const wb__spelling s2[] = {
    {"model.layers.{n}.self_attn.q_norm", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_q_norm", 1, 3, false, 0, NULL},
};
static const wb__op e1[] = {{WB__OP_NAME, 0, "kv_dim"}, {0}};
static const wb__expr shape3[] = {e1};
static const wb__spelling s3[] = {
    {"model.layers.{n}.self_attn.k_norm", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_k_norm", 1, 3, false, 0, NULL},
};
static const wb__op e2[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape4[] = {e2};
static const wb__spelling s4[] = {
    {"model.layers.{n}.post_attention_layernorm", 14, 3, false, 0, NULL},
    {"blk.{n}.post_attention_norm", 1, 3, false, 0, NULL},
};
static const wb__op e3[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape5[] = {e3};
static const wb__spelling s5[] = {
    {"model.layers.{n}.post_feedforward_layernorm", 14, 3, false, 0, NULL},
    {"blk.{n}.post_ffw_norm", 1, 3, false, 0, NULL},
};
static const wb__rule rules[] = {
    {.canonical = "layers.{n}.attention_norm", .suffix = 3, .is_dropped = true},
    {.canonical = "layers.{n}.ffn_norm", .suffix = 3, .is_dropped = true},
    {.canonical = "layers.{n}.attention.q_norm",
     .spellings = s2,
     .spelling_count = 2,
     .shape = shape2,
     .rank = 1,
     .provides = 1073741824u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.k_norm",
     .spellings = s3,
     .spelling_count = 2,
     .shape = shape3,
     .rank = 1,
     .provides = 1073741824u,
     .suffix = 3},
    {.canonical = "layers.{n}.post_attention_norm",
     .spellings = s4,
     .spelling_count = 2,
     .shape = shape4,
     .rank = 1,
     .provides = 1073741825u,
     .suffix = 3},
    {.canonical = "layers.{n}.post_ffn_norm",
     .spellings = s5,
     .spelling_count = 2,
     .shape = shape5,
     .rank = 1,
     .provides = 1073741856u,
     .suffix = 3},
};
static const wb__op e4[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e5[] = {{WB__OP_TEXT, 0, "silu"}, {0}};
static const wb__op e6[] = {{WB__OP_NUMBER, 10000, NULL}, {0}};
static const wb__op e7[] = {{WB__OP_NUMBER, 1.0000000000000001e-05, NULL}, {0}};
static const wb__value_row values[] = {
    {5, -1, "has_windows", e4},
    {3, 30, "activation", e5},
    {1, 12, "rope_theta", e6},
    {1, 11, "norm_eps", e7},
};
extern const wb__family wb__family_olmo2;
const wb__family wb__family_olmo2 = {
    .name = "olmo2",
    .base = &wb__family_decoder,
    .gguf = "olmo2",
    .types = "olmo2",
    .classes = "Olmo2ForCausalLM",
    .rules = rules,
    .rule_count = 6,
    .values = values,
    .value_count = 4,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
