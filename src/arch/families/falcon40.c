/* Generated from falcon40.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_falcon;

static const wb__op e0[] = {{WB__OP_NAME, 0, "attention.norm_count"},
                            {WB__OP_NAME, 0, "attention.head_count_kv"},
                            {WB__OP_NUMBER, 1, NULL},
                            {WB__OP_GT, 0, NULL},
                            {WB__OP_NAME, 0, "embedding_length"},
                            {WB__OP_NUMBER, 64, NULL},
                            {WB__OP_NAME, 0, "attention.head_count"},
                            {WB__OP_MUL, 0, NULL},
                            {WB__OP_EQ, 0, NULL},
                            {WB__OP_AND, 0, NULL},
                            {WB__OP_NUMBER, 2, NULL},
                            {WB__OP_NUMBER, 1, NULL},
                            {WB__OP_SELECT, 0, NULL},
                            {WB__OP_ELSE, 0, NULL},
                            {WB__OP_NUMBER, 2, NULL},
                            {WB__OP_EQ, 0, NULL},
                            {0}};
static const wb__op e1[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape0[] = {e1};
static const wb__spelling s0[] = {
    {"transformer.h.{n}.ln_mlp", 14, 3, false, 0, NULL},
    {"transformer.h.{n}.input_layernorm", 14, 3, true, 0, NULL},
    {"blk.{n}.attn_norm", 1, 3, false, 0, NULL},
};
static const wb__rule rules[] = {
    {.canonical = "layers.{n}.attention_norm",
     .spellings = s0,
     .spelling_count = 3,
     .shape = shape0,
     .rank = 1,
     .provides = 1073741825u,
     .suffix = 3},
};
static const wb__op e2[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e3[] = {{WB__OP_NUMBER, 2, NULL}, {0}};
static const wb__key_row keys[] = {
    {"new_decoder_architecture", 0, 1, 0, e2, NULL},
    {"num_ln_in_parallel_attn", 0, 1, 0, e3, NULL},
};
extern const wb__family wb__family_falcon40;
const wb__family wb__family_falcon40 = {
    .name = "falcon40",
    .base = &wb__family_falcon,
    .gguf = "falcon",
    .when = e0,
    .rules = rules,
    .rule_count = 1,
    .keys = keys,
    .key_count = 2,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
