/* Generated from gemma2.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_gemma;

static const wb__op e0[] = {{WB__OP_NAME, 0, "q_dim"}, {0}};
static const wb__op e1[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape0[] = {e0, e1};
static const wb__op e2[] = {{WB__OP_NAME, 0, "gguf_query_scalar"},
                            {WB__OP_NAME, 0, "query_pre_attn_scalar"},
                            {WB__OP_NAME, 0, "gguf_query_scalar"},
                            {WB__OP_ELSE, 0, NULL},
                            {WB__OP_DIV, 0, NULL},
                            {WB__OP_CALL, 2, NULL},
                            {0}};
static const wb__transform c0[] = {
    {0, e2},
};
static const wb__spelling s0[] = {
    {"model.layers.{n}.self_attn.q_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_q", 1, 3, false, 1, c0},
};
static const wb__op e3[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape1[] = {e3};
static const wb__spelling s1[] = {
    {"model.layers.{n}.post_attention_layernorm", 14, 3, false, 0, NULL},
    {"blk.{n}.post_attention_norm", 1, 3, false, 0, NULL},
};
static const wb__op e4[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape2[] = {e4};
static const wb__spelling s2[] = {
    {"model.layers.{n}.pre_feedforward_layernorm", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_norm", 1, 3, false, 0, NULL},
};
static const wb__op e5[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape3[] = {e5};
static const wb__spelling s3[] = {
    {"model.layers.{n}.post_feedforward_layernorm", 14, 3, false, 0, NULL},
    {"blk.{n}.post_ffw_norm", 1, 3, false, 0, NULL},
};
static const wb__rule rules[] = {
    {.canonical = "layers.{n}.attention.q",
     .spellings = s0,
     .spelling_count = 2,
     .shape = shape0,
     .rank = 2,
     .provides = 268435458u,
     .suffix = 3},
    {.canonical = "layers.{n}.post_attention_norm",
     .spellings = s1,
     .spelling_count = 2,
     .shape = shape1,
     .rank = 1,
     .provides = 1073741824u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn_norm",
     .spellings = s2,
     .spelling_count = 2,
     .shape = shape2,
     .rank = 1,
     .provides = 1073741856u,
     .suffix = 3},
    {.canonical = "layers.{n}.post_ffn_norm",
     .spellings = s3,
     .spelling_count = 2,
     .shape = shape3,
     .rank = 1,
     .provides = 1073741824u,
     .suffix = 3},
};
static const wb__op e6[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e7[] = {{WB__OP_NUMBER, 4096, NULL}, {0}};
static const wb__op e8[] = {{WB__OP_NUMBER, 2, NULL}, {0}};
static const wb__op e9[] = {{WB__OP_NUMBER, 50, NULL}, {0}};
static const wb__op e10[] = {{WB__OP_NUMBER, 30, NULL}, {0}};
static const wb__op e11[] = {{WB__OP_NUMBER, 2, NULL}, {0}};
static const wb__op e12[] = {{WB__OP_NAME, 0, "n_layers"}, {WB__OP_NUMBER, 46, NULL},
                             {WB__OP_EQ, 0, NULL},         {WB__OP_NAME, 0, "dim"},
                             {WB__OP_NAME, 0, "n_heads"},  {WB__OP_DIV, 0, NULL},
                             {WB__OP_CALL, 0, NULL},       {WB__OP_NAME, 0, "head_dim"},
                             {WB__OP_SELECT, 0, NULL},     {0}};
static const wb__op e13[] = {{WB__OP_NUMBER, 1, NULL},
                             {WB__OP_NAME, 0, "query_pre_attn_scalar"},
                             {WB__OP_NAME, 0, "head_dim"},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_CALL, 2, NULL},
                             {WB__OP_DIV, 0, NULL},
                             {0}};
static const wb__op e14[] = {{WB__OP_NUMBER, 1, NULL},
                             {WB__OP_NAME, 0, "gguf_query_scalar"},
                             {WB__OP_CALL, 2, NULL},
                             {WB__OP_DIV, 0, NULL},
                             {0}};
static const wb__value_row values[] = {
    {5, -1, "has_windows", e6},
    {3, 13, "sliding_window", e7},
    {3, 14, "sliding_window_pattern", e8},
    {3, 38, "attn_logit_softcapping", e9},
    {3, 39, "final_logit_softcapping", e10},
    {5, -1, "usual_pattern", e11},
    {5, -1, "gguf_query_scalar", e12},
    {1, 36, "attention_scale", e13},
    {2, 36, "attention_scale", e14},
};
static const wb__op e15[] = {{WB__OP_NAME, 0, "/attn_logit_softcapping"},
                             {WB__OP_NUMBER, 50, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {0}};
static const wb__op e16[] = {{WB__OP_NAME, 0, "/final_logit_softcapping"},
                             {WB__OP_NUMBER, 30, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {0}};
static const wb__op e17[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e18[] = {{WB__OP_NAME, 0, "gguf_query_scalar"}, {0}};
static const wb__key_row keys[] = {
    {"attn_logit_softcapping", 2, 0, 0, e15, NULL},
    {"final_logit_softcapping", 2, 0, 0, e16, NULL},
    {"attention.causal", 3, 0, 0, e17, NULL},
    {"query_pre_attn_scalar", 0, 1, 0, e18, NULL},
};
static const wb__op e19[] = {{WB__OP_NAME, 0, "i"},
                             {WB__OP_ELEMENT, 0, "layer_types"},
                             {WB__OP_TEXT, 0, "sliding_attention"},
                             {WB__OP_EQ, 0, NULL},
                             {WB__OP_NAME, 0, "i"},
                             {WB__OP_NUMBER, 1, NULL},
                             {WB__OP_ADD, 0, NULL},
                             {WB__OP_NAME, 0, "sliding_window_pattern"},
                             {WB__OP_DIV, 0, NULL},
                             {WB__OP_CALL, 0, NULL},
                             {WB__OP_NAME, 0, "sliding_window_pattern"},
                             {WB__OP_MUL, 0, NULL},
                             {WB__OP_NAME, 0, "i"},
                             {WB__OP_NUMBER, 1, NULL},
                             {WB__OP_ADD, 0, NULL},
                             {WB__OP_EQ, 0, NULL},
                             {WB__OP_EQ, 0, NULL},
                             {0}};
static const wb__op e20[] = {{WB__OP_CALL, 8, "layer_types"},
                             {WB__OP_NUMBER, 0, NULL},
                             {WB__OP_GT, 0, NULL},
                             {WB__OP_NAME, 0, "sliding_window_pattern"},
                             {WB__OP_NAME, 0, "usual_pattern"},
                             {WB__OP_NE, 0, NULL},
                             {WB__OP_AND, 0, NULL},
                             {0}};
static const wb__limit limits[] = {
    {1, 1, "layer_types", e19,
     "llama.cpp knows only layers of full attention at equal distances in this architecture"},
    {1, 1, "layer_types", e20,
     "llama.cpp has another distance of the layers with full attention in this architecture"},
};
extern const wb__family wb__family_gemma2;
const wb__family wb__family_gemma2 = {
    .name = "gemma2",
    .base = &wb__family_gemma,
    .gguf = "gemma2",
    .types = "gemma2",
    .classes = "Gemma2ForCausalLM",
    .rules = rules,
    .rule_count = 4,
    .values = values,
    .value_count = 9,
    .keys = keys,
    .key_count = 4,
    .limits = limits,
    .limit_count = 2,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
