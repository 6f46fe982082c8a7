/* Generated from minicpm.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_decoder;

static const wb__op e0[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e1[] = {{WB__OP_TEXT, 0, "silu"}, {0}};
static const wb__op e2[] = {{WB__OP_NUMBER, 10000, NULL}, {0}};
static const wb__op e3[] = {{WB__OP_NUMBER, 9.9999999999999995e-07, NULL}, {0}};
static const wb__op e4[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e5[] = {{WB__OP_NUMBER, 1, NULL}, {0}};
static const wb__op e6[] = {{WB__OP_NAME, 0, "scale_depth"},
                            {WB__OP_NUMBER, 1, NULL},
                            {WB__OP_ELSE, 0, NULL},
                            {WB__OP_NAME, 0, "n_layers"},
                            {WB__OP_CALL, 2, NULL},
                            {WB__OP_DIV, 0, NULL},
                            {0}};
static const wb__op e7[] = {{WB__OP_NAME, 0, "dim_model_base"},
                            {WB__OP_NUMBER, 1, NULL},
                            {WB__OP_ELSE, 0, NULL},
                            {WB__OP_NAME, 0, "dim"},
                            {WB__OP_DIV, 0, NULL},
                            {0}};
static const wb__op e8[] = {{WB__OP_NUMBER, 12, NULL}, {0}};
static const wb__op e9[] = {{WB__OP_NUMBER, 1.3999999999999999, NULL},
                            {WB__OP_NAME, 0, "n_layers"},
                            {WB__OP_CALL, 2, NULL},
                            {WB__OP_DIV, 0, NULL},
                            {0}};
static const wb__op e10[] = {{WB__OP_NUMBER, 1, NULL},   {WB__OP_NAME, 0, "minicpm.logit_scale"},
                             {WB__OP_NUMBER, 256, NULL}, {WB__OP_NAME, 0, "dim"},
                             {WB__OP_DIV, 0, NULL},      {WB__OP_ELSE, 0, NULL},
                             {WB__OP_DIV, 0, NULL},      {0}};
static const wb__value_row values[] = {
    {5, -1, "loads_output_bias", e0}, {3, 30, "activation", e1},     {1, 12, "rope_theta", e2},
    {1, 11, "norm_eps", e3},          {1, 19, "tie_embeddings", e4}, {1, 34, "embedding_scale", e5},
    {1, 35, "residual_scale", e6},    {1, 37, "logit_scale", e7},    {2, 34, "embedding_scale", e8},
    {2, 35, "residual_scale", e9},    {2, 37, "logit_scale", e10},
};
static const wb__op e11[] = {{WB__OP_NAME, 0, "embedding_scale"}, {0}};
static const wb__op e12[] = {{WB__OP_NAME, 0, "residual_scale"}, {0}};
static const wb__op e13[] = {
    {WB__OP_NUMBER, 1, NULL}, {WB__OP_NAME, 0, "logit_scale"}, {WB__OP_DIV, 0, NULL}, {0}};
static const wb__op e14[] = {{WB__OP_NAME, 0, "embedding_scale"}, {0}};
static const wb__op e15[] = {{WB__OP_NAME, 0, "residual_scale"},
                             {WB__OP_NAME, 0, "n_layers"},
                             {WB__OP_CALL, 2, NULL},
                             {WB__OP_MUL, 0, NULL},
                             {0}};
static const wb__op e16[] = {
    {WB__OP_NAME, 0, "dim"}, {WB__OP_NAME, 0, "minicpm.logit_scale"}, {WB__OP_DIV, 0, NULL}, {0}};
static const wb__key_row keys[] = {
    {"embedding_scale", 2, 0, 0, e11, NULL}, {"residual_scale", 2, 0, 0, e12, NULL},
    {"logit_scale", 2, 0, 0, e13, NULL},     {"scale_emb", 0, 1, 0, e14, NULL},
    {"scale_depth", 0, 1, 0, e15, NULL},     {"dim_model_base", 0, 1, 0, e16, NULL},
};
extern const wb__family wb__family_minicpm;
const wb__family wb__family_minicpm = {
    .name = "minicpm",
    .base = &wb__family_decoder,
    .gguf = "minicpm",
    .types = "minicpm",
    .classes = "MiniCPMForCausalLM",
    .values = values,
    .value_count = 11,
    .keys = keys,
    .key_count = 6,
    .rope = 3,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
