/* Generated from hunyuan_moe.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_unknown;

static const wb__op e0[] = {{WB__OP_NAME, 0, "head_dim"}, {0}};
static const wb__expr shape0[] = {e0};
static const wb__spelling s0[] = {
    {"model.layers.{n}.self_attn.query_layernorm", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_q_norm", 1, 3, false, 0, NULL},
};
static const wb__op e1[] = {{WB__OP_NAME, 0, "head_dim"}, {0}};
static const wb__expr shape1[] = {e1};
static const wb__spelling s1[] = {
    {"model.layers.{n}.self_attn.key_layernorm", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_k_norm", 1, 3, false, 0, NULL},
};
static const wb__op e2[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__op e3[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape2[] = {e2, e3};
static const wb__spelling s2[] = {
    {"model.layers.{n}.mlp.gate.wg", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_gate_inp", 1, 3, false, 0, NULL},
};
static const wb__op e4[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape3[] = {NULL, e4};
static const wb__spelling s3[] = {
    {"model.layers.{n}.mlp.shared_mlp.gate_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_gate_shexp", 1, 3, false, 0, NULL},
};
static const wb__op e5[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape4[] = {NULL, e5};
static const wb__spelling s4[] = {
    {"model.layers.{n}.mlp.shared_mlp.up_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_up_shexp", 1, 3, false, 0, NULL},
};
static const wb__op e6[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape5[] = {e6, NULL};
static const wb__spelling s5[] = {
    {"model.layers.{n}.mlp.shared_mlp.down_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_down_shexp", 1, 3, false, 0, NULL},
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
    {.canonical = "layers.{n}.ffn.router",
     .spellings = s2,
     .spelling_count = 2,
     .shape = shape2,
     .rank = 2,
     .provides = 134217728u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.shared_experts.gate",
     .spellings = s3,
     .spelling_count = 2,
     .shape = shape3,
     .rank = 2,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.shared_experts.up",
     .spellings = s4,
     .spelling_count = 2,
     .shape = shape4,
     .rank = 2,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.shared_experts.down",
     .spellings = s5,
     .spelling_count = 2,
     .shape = shape5,
     .rank = 2,
     .suffix = 3},
};
static const wb__op e7[] = {{WB__OP_TEXT, 0, "silu"}, {0}};
static const wb__op e8[] = {{WB__OP_NUMBER, 10000, NULL}, {0}};
static const wb__op e9[] = {{WB__OP_NUMBER, 1.0000000000000001e-05, NULL}, {0}};
static const wb__op e10[] = {{WB__OP_NAME, 0, "moe_topk"},
                             {WB__OP_NUMBER, 0, NULL},
                             {WB__OP_ELEMENT, 0, "moe_topk"},
                             {WB__OP_ELSE, 0, NULL},
                             {0}};
static const wb__op e11[] = {{WB__OP_NUMBER, 0, NULL},
                             {WB__OP_ELEMENT, 0, "moe_intermediate_size"},
                             {WB__OP_NAME, 0, "ffn_dim"},
                             {WB__OP_ELSE, 0, NULL},
                             {0}};
static const wb__op e12[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e13[] = {{WB__OP_NAME, 0, "/rope_scaling/alpha"},
                             {WB__OP_NAME, 0, "/rope_parameters/alpha"},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NUMBER, 1, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {0}};
static const wb__op e14[] = {{WB__OP_NAME, 0, "num_shared_expert"},
                             {WB__OP_NUMBER, 0, NULL},
                             {WB__OP_ELEMENT, 0, "num_shared_expert"},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NUMBER, 1, NULL},
                             {WB__OP_ELSE, 0, NULL},
                             {0}};
static const wb__value_row values[] = {
    {3, 30, "activation", e7},      {1, 12, "rope_theta", e8},
    {1, 11, "norm_eps", e9},        {1, 17, "n_experts_used", e10},
    {1, 18, "expert_ffn_dim", e11}, {4, 63, "expert_weights_norm", e12},
    {5, -1, "alpha", e13},          {5, -1, "shared", e14},
};
static const wb__op e15[] = {{WB__OP_NAME, 0, "rope_theta"}, {WB__OP_NAME, 0, "alpha"},
                             {WB__OP_NAME, 0, "head_dim"},   {WB__OP_NAME, 0, "head_dim"},
                             {WB__OP_NUMBER, 2, NULL},       {WB__OP_SUB, 0, NULL},
                             {WB__OP_DIV, 0, NULL},          {WB__OP_CALL, 4, NULL},
                             {WB__OP_MUL, 0, NULL},          {0}};
static const wb__op e16[] = {
    {WB__OP_NAME, 0, "ffn_dim"}, {WB__OP_NAME, 0, "shared"}, {WB__OP_MUL, 0, NULL}, {0}};
static const wb__op e17[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e18[] = {{WB__OP_NAME, 0, "n_experts_used"}, {0}};
static const wb__key_row keys[] = {
    {"rope.freq_base", 2, 0, 0, e15, NULL},
    {"expert_shared_feed_forward_length", 1, 0, 0, e16, NULL},
    {"num_local_experts", 0, 1, 0, e17, NULL},
    {"moe_topk", 0, 1, 0, e18, NULL},
};
extern const wb__family wb__family_hunyuan_moe;
const wb__family wb__family_hunyuan_moe = {
    .name = "hunyuan_moe",
    .base = &wb__family_unknown,
    .gguf = "hunyuan-moe",
    .types = "hunyuan_v1_moe",
    .classes = "HunYuanMoEV1ForCausalLM",
    .tokenizer = "ntk_alpha",
    .rules = rules,
    .rule_count = 6,
    .values = values,
    .value_count = 8,
    .keys = keys,
    .key_count = 4,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
