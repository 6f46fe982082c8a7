/* Generated from glm4_moe.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_routed;

static const wb__op e0[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape0[] = {e0};
static const wb__spelling s0[] = {
    {"model.layers.{n}.post_attention_layernorm", 14, 3, false, 0, NULL},
    {"blk.{n}.post_attention_norm", 1, 3, false, 0, NULL},
};
static const wb__op e1[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e2[] = {
    {WB__OP_NUMBER, 2, NULL}, {WB__OP_NAME, 0, "dim"}, {WB__OP_MUL, 0, NULL}, {0}};
static const wb__expr shape1[] = {e1, e2};
static const wb__spelling s1[] = {
    {"model.layers.{n}.eh_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.nextn.eh_proj", 1, 3, false, 0, NULL},
};
static const wb__op e3[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape2[] = {e3};
static const wb__spelling s2[] = {
    {"model.layers.{n}.enorm", 14, 3, false, 0, NULL},
    {"blk.{n}.nextn.enorm", 1, 3, false, 0, NULL},
};
static const wb__op e4[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape3[] = {e4};
static const wb__spelling s3[] = {
    {"model.layers.{n}.hnorm", 14, 3, false, 0, NULL},
    {"blk.{n}.nextn.hnorm", 1, 3, false, 0, NULL},
};
static const wb__op e5[] = {{WB__OP_NAME, 0, "vocab_size"}, {0}};
static const wb__op e6[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape4[] = {e5, e6};
static const wb__spelling s4[] = {
    {"model.layers.{n}.embed_tokens", 14, 3, false, 0, NULL},
    {"blk.{n}.nextn.embed_tokens", 1, 3, false, 0, NULL},
};
static const wb__op e7[] = {{WB__OP_NAME, 0, "vocab_size"}, {0}};
static const wb__op e8[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape5[] = {e7, e8};
static const wb__spelling s5[] = {
    {"model.layers.{n}.shared_head.head", 14, 3, false, 0, NULL},
    {"blk.{n}.nextn.shared_head_head", 1, 3, false, 0, NULL},
};
static const wb__op e9[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape6[] = {e9};
static const wb__spelling s6[] = {
    {"model.layers.{n}.shared_head.norm", 14, 3, false, 0, NULL},
    {"blk.{n}.nextn.shared_head_norm", 1, 3, false, 0, NULL},
};
static const wb__rule rules[] = {
    {.canonical = "layers.{n}.ffn_norm",
     .spellings = s0,
     .spelling_count = 2,
     .shape = shape0,
     .rank = 1,
     .provides = 1073741856u,
     .suffix = 3},
    {.canonical = "layers.{n}.nextn.eh_proj",
     .spellings = s1,
     .spelling_count = 2,
     .shape = shape1,
     .rank = 2,
     .suffix = 3},
    {.canonical = "layers.{n}.nextn.enorm",
     .spellings = s2,
     .spelling_count = 2,
     .shape = shape2,
     .rank = 1,
     .suffix = 3},
    {.canonical = "layers.{n}.nextn.hnorm",
     .spellings = s3,
     .spelling_count = 2,
     .shape = shape3,
     .rank = 1,
     .suffix = 3},
    {.canonical = "layers.{n}.nextn.embed_tokens",
     .spellings = s4,
     .spelling_count = 2,
     .shape = shape4,
     .rank = 2,
     .suffix = 3},
    {.canonical = "layers.{n}.nextn.shared_head_head",
     .spellings = s5,
     .spelling_count = 2,
     .shape = shape5,
     .rank = 2,
     .suffix = 3},
    {.canonical = "layers.{n}.nextn.shared_head_norm",
     .spellings = s6,
     .spelling_count = 2,
     .shape = shape6,
     .rank = 1,
     .suffix = 3},
};
static const wb__op e10[] = {{WB__OP_NUMBER, 1.0000000000000001e-05, NULL}, {0}};
static const wb__op e11[] = {{WB__OP_NUMBER, 8, NULL}, {0}};
static const wb__op e12[] = {{WB__OP_NUMBER, 1, NULL}, {0}};
static const wb__op e13[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e14[] = {{WB__OP_NAME, 0, "head_dim"},
                             {WB__OP_NAME, 0, "partial_rotary_factor"},
                             {WB__OP_NAME, 0, "/rope_parameters/partial_rotary_factor"},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NUMBER, 0.5, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_MUL, 0, NULL},
                             {WB__OP_CALL, 0, NULL},
                             {0}};
static const wb__op e15[] = {{WB__OP_CALL, 13, "layers.{n}.nextn.eh_proj.weight"},
                             {WB__OP_NAME, 0, "num_nextn_predict_layers"},
                             {WB__OP_NUMBER, 1, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NUMBER, 0, NULL},
                             {WB__OP_SELECT, 0, NULL},
                             {0}};
static const wb__value_row values[] = {
    {1, 11, "norm_eps", e10},
    {1, 4, "n_kv_heads", e11},
    {1, 66, "leading_dense_block_count", e12},
    {1, 63, "expert_weights_norm", e13},
    {1, 48, "rope_dimension_count", e14},
    {5, -1, "mtp", e15},
};
static const wb__op e16[] = {
    {WB__OP_NAME, 0, "n_layers"}, {WB__OP_NAME, 0, "mtp"}, {WB__OP_ADD, 0, NULL}, {0}};
static const wb__op e17[] = {{WB__OP_NAME, 0, "mtp"}, {0}};
static const wb__op e18[] = {{WB__OP_NAME, 0, "n_layers"},
                             {WB__OP_NAME, 0, "nextn_predict_layers"},
                             {WB__OP_SUB, 0, NULL},
                             {0}};
static const wb__op e19[] = {{WB__OP_NAME, 0, "nextn_predict_layers"}, {0}};
static const wb__op e20[] = {{WB__OP_CALL, 13, "layers.0.attention.q_norm.weight"}, {0}};
static const wb__op e21[] = {{WB__OP_NAME, 0, "rope_dimension_count"},
                             {WB__OP_NAME, 0, "head_dim"},
                             {WB__OP_DIV, 0, NULL},
                             {0}};
static const wb__key_row keys[] = {
    {"block_count", 1, 0, 0, e16, NULL},       {"nextn_predict_layers", 1, 0, 0, e17, NULL},
    {"num_hidden_layers", 0, 1, 0, e18, NULL}, {"num_nextn_predict_layers", 0, 1, 0, e19, NULL},
    {"use_qk_norm", 0, 1, 0, e20, NULL},       {"partial_rotary_factor", 0, 1, 0, e21, NULL},
};
extern const wb__family wb__family_glm4_moe;
const wb__family wb__family_glm4_moe = {
    .name = "glm4_moe",
    .base = &wb__family_routed,
    .gguf = "glm4moe",
    .types = "glm4_moe",
    .classes = "Glm4MoeForCausalLM",
    .rules = rules,
    .rule_count = 7,
    .values = values,
    .value_count = 6,
    .keys = keys,
    .key_count = 6,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
