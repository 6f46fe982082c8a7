/* Generated from qwen3vl.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_qwen3;

static const wb__op e0[] = {{WB__OP_NUMBER, 500000, NULL}, {0}};
static const wb__op e1[] = {{WB__OP_NUMBER, 128, NULL}, {0}};
static const wb__value_row values[] = {
    {1, 12, "rope_theta", e0},
    {1, 5, "head_dim", e1},
};
static const wb__op e2[] = {{WB__OP_NAME, 0, "i"},
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
static const wb__op e3[] = {{WB__OP_CALL, 8, "/vision_config/deepstack_visual_indexes"}, {0}};
static const wb__key_row keys[] = {
    {"rope.dimension_sections", 5, 0, 4, e2, NULL},
    {"n_deepstack_layers", 1, 0, 0, e3, NULL},
};
extern const wb__family wb__family_qwen3vl;
const wb__family wb__family_qwen3vl = {
    .name = "qwen3vl",
    .base = &wb__family_qwen3,
    .gguf = "qwen3vl",
    .types = "qwen3_vl_text|qwen3_vl",
    .classes = "Qwen3VLForConditionalGeneration",
    .values = values,
    .value_count = 2,
    .keys = keys,
    .key_count = 2,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
