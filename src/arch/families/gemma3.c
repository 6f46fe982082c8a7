/* Generated from gemma3.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_gemma2;

static const wb__op e0[] = {{WB__OP_NAME, 0, "q_dim"}, {0}};
static const wb__op e1[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape0[] = {e0, e1};
static const wb__spelling s0[] = {
    {"model.layers.{n}.self_attn.q_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_q", 1, 3, false, 0, NULL},
};
static const wb__op e2[] = {{WB__OP_NAME, 0, "head_dim"}, {0}};
static const wb__expr shape1[] = {e2};
static const wb__op e3[] = {{WB__OP_NAME, 0, "gguf_query_scalar"},
                            {WB__OP_NAME, 0, "query_pre_attn_scalar"},
                            {WB__OP_NAME, 0, "gguf_query_scalar"},
                            {WB__OP_ELSE, 0, NULL},
                            {WB__OP_DIV, 0, NULL},
                            {WB__OP_CALL, 2, NULL},
                            {0}};
static const wb__transform c0[] = {
    {0, e3},
};
static const wb__spelling s1[] = {
    {"model.layers.{n}.self_attn.q_norm", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_q_norm", 1, 3, false, 1, c0},
};
static const wb__rule rules[] = {
    {.canonical = "layers.{n}.attention.q",
     .spellings = s0,
     .spelling_count = 2,
     .shape = shape0,
     .rank = 2,
     .provides = 268435458u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.q_norm",
     .spellings = s1,
     .spelling_count = 2,
     .shape = shape1,
     .rank = 1,
     .provides = 1073741824u,
     .suffix = 3},
};
static const wb__op e4[] = {{WB__OP_NUMBER, 8, NULL}, {0}};
static const wb__op e5[] = {{WB__OP_NUMBER, 4, NULL}, {0}};
static const wb__op e6[] = {{WB__OP_NUMBER, 131072, NULL}, {0}};
static const wb__op e7[] = {{WB__OP_NUMBER, 1000000, NULL}, {0}};
static const wb__op e8[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e9[] = {{WB__OP_NUMBER, 6, NULL}, {0}};
static const wb__op e10[] = {{WB__OP_NUMBER, 10000, NULL}, {0}};
static const wb__op e11[] = {{WB__OP_NUMBER, 0, NULL}, {0}};
static const wb__op e12[] = {{WB__OP_NUMBER, 0, NULL}, {0}};
static const wb__op e13[] = {{WB__OP_NAME, 0, "sliding_window_pattern"}, {0}};
static const wb__op e14[] = {{WB__OP_NAME, 0, "n_layers"}, {WB__OP_NUMBER, 62, NULL},
                             {WB__OP_EQ, 0, NULL},         {WB__OP_NAME, 0, "dim"},
                             {WB__OP_NAME, 0, "n_heads"},  {WB__OP_DIV, 0, NULL},
                             {WB__OP_CALL, 0, NULL},       {WB__OP_NAME, 0, "head_dim"},
                             {WB__OP_SELECT, 0, NULL},     {0}};
static const wb__value_row values[] = {
    {1, 3, "n_heads", e4},
    {1, 4, "n_kv_heads", e5},
    {1, 10, "max_seq_len", e6},
    {1, 12, "rope_theta", e7},
    {3, 13, "sliding_window", e8},
    {3, 14, "sliding_window_pattern", e9},
    {3, 15, "rope_local_theta", e10},
    {3, 38, "attn_logit_softcapping", e11},
    {3, 39, "final_logit_softcapping", e12},
    {5, -1, "usual_pattern", e13},
    {5, -1, "gguf_query_scalar", e14},
};
static const wb__op e15[] = {{WB__OP_NAME, 0, "/attn_logit_softcapping"}, {0}};
static const wb__op e16[] = {{WB__OP_NAME, 0, "/final_logit_softcapping"}, {0}};
static const wb__key_row keys[] = {
    {"attn_logit_softcapping", 2, 0, 0, e15, NULL},
    {"final_logit_softcapping", 2, 0, 0, e16, NULL},
};
extern const wb__family wb__family_gemma3;
const wb__family wb__family_gemma3 = {
    .name = "gemma3",
    .base = &wb__family_gemma2,
    .gguf = "gemma3",
    .types = "gemma3_text|gemma3",
    .classes = "Gemma3ForCausalLM",
    .signature = "layers.{n}.pre_feedforward_layernorm",
    .rules = rules,
    .rule_count = 2,
    .values = values,
    .value_count = 11,
    .keys = keys,
    .key_count = 2,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
