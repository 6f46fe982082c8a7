/* Generated from qwen3vlmoe.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_qwen3moe;

static const wb__op e0[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__op e1[] = {
    {WB__OP_NUMBER, 2, NULL}, {WB__OP_NAME, 0, "expert_ffn_dim"}, {WB__OP_MUL, 0, NULL}, {0}};
static const wb__op e2[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape0[] = {e0, e1, e2};
static const wb__transform c0[] = {
    {2, NULL},
};
static const wb__spelling s0[] = {
    {"model.layers.{n}.mlp.experts.gate_up_proj", 14, 0, false, 1, c0},
};
static const wb__op e3[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__op e4[] = {{WB__OP_NAME, 0, "expert_ffn_dim"}, {0}};
static const wb__op e5[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape1[] = {e3, e4, e5};
static const wb__spelling s1[] = {
    {"blk.{n}.ffn_gate_exps", 1, 3, false, 0, NULL},
};
static const wb__op e6[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__op e7[] = {{WB__OP_NAME, 0, "expert_ffn_dim"}, {0}};
static const wb__op e8[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape2[] = {e6, e7, e8};
static const wb__spelling s2[] = {
    {"blk.{n}.ffn_up_exps", 1, 3, false, 0, NULL},
};
static const wb__op e9[] = {{WB__OP_NAME, 0, "n_experts"}, {0}};
static const wb__op e10[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e11[] = {{WB__OP_NAME, 0, "expert_ffn_dim"}, {0}};
static const wb__expr shape3[] = {e9, e10, e11};
static const wb__transform c1[] = {
    {2, NULL},
};
static const wb__spelling s3[] = {
    {"model.layers.{n}.mlp.experts.down_proj", 14, 0, false, 1, c1},
    {"blk.{n}.ffn_down_exps", 1, 3, false, 0, NULL},
};
static const wb__rule rules[] = {
    {.canonical = "layers.{n}.ffn.experts.gate_up",
     .spellings = s0,
     .spelling_count = 1,
     .shape = shape0,
     .rank = 3,
     .provides = 192u,
     .suffix = 1},
    {.canonical = "layers.{n}.ffn.experts.gate",
     .spellings = s1,
     .spelling_count = 1,
     .shape = shape1,
     .rank = 3,
     .provides = 64u,
     .suffix = 1},
    {.canonical = "layers.{n}.ffn.experts.up",
     .spellings = s2,
     .spelling_count = 1,
     .shape = shape2,
     .rank = 3,
     .provides = 128u,
     .suffix = 1},
    {.canonical = "layers.{n}.ffn.experts.down",
     .spellings = s3,
     .spelling_count = 2,
     .shape = shape3,
     .rank = 3,
     .provides = 256u,
     .suffix = 1},
};
static const wb__fused fused[] = {
    {"layers.{n}.ffn.experts.gate_up",
     {
         "layers.{n}.ffn.experts.gate",
         "layers.{n}.ffn.experts.up",
     },
     2},
};
static const wb__op e12[] = {{WB__OP_NUMBER, 500000, NULL}, {0}};
static const wb__op e13[] = {{WB__OP_NUMBER, 16, NULL}, {0}};
static const wb__op e14[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e15[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__value_row values[] = {
    {1, 12, "rope_theta", e12},
    {1, 4, "n_kv_heads", e13},
    {4, 63, "expert_weights_norm", e14},
    {5, -1, "is_normalized", e15},
};
static const wb__op e16[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e17[] = {{WB__OP_NAME, 0, "i"},
                             {WB__OP_NUMBER, 3, NULL},
                             {WB__OP_LT, 0, NULL},
                             {WB__OP_NAME, 0, "i"},
                             {WB__OP_ELEMENT, 0, "/rope_scaling/mrope_section"},
                             {WB__OP_NAME, 0, "i"},
                             {WB__OP_ELEMENT, 0, "/rope_parameters/mrope_section"},
                             {WB__OP_ELSE, 0, NULL},
                             {WB__OP_NUMBER, 0, NULL},
                             {WB__OP_SELECT, 0, NULL},
                             {0}};
static const wb__op e18[] = {{WB__OP_CALL, 8, "/vision_config/deepstack_visual_indexes"}, {0}};
static const wb__op e19[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__key_row keys[] = {
    {"norm_topk_prob", 0, 1, 0, e16, NULL},
    {"rope.dimension_sections", 5, 0, 4, e17, NULL},
    {"n_deepstack_layers", 1, 0, 0, e18, NULL},
    {"num_local_experts", 0, 1, 0, e19, NULL},
};
extern const wb__family wb__family_qwen3vlmoe;
const wb__family wb__family_qwen3vlmoe = {
    .name = "qwen3vlmoe",
    .base = &wb__family_qwen3moe,
    .gguf = "qwen3vlmoe",
    .types = "qwen3_vl_moe_text|qwen3_vl_moe",
    .classes = "Qwen3VLMoeForConditionalGeneration",
    .rules = rules,
    .rule_count = 4,
    .fused = fused,
    .fused_count = 1,
    .values = values,
    .value_count = 4,
    .keys = keys,
    .key_count = 4,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
