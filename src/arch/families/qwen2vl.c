/* Generated from qwen2vl.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_qwen2;

static const wb__op e0[] = {{WB__OP_FALSE, 0, NULL}, {0}};
static const wb__value_row values[] = {
    {5, -1, "is_70b", e0},
};
static const wb__op e1[] = {{WB__OP_NAME, 0, "i"},
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
static const wb__key_row keys[] = {
    {"rope.dimension_sections", 5, 0, 4, e1, NULL},
};
extern const wb__family wb__family_qwen2vl;
const wb__family wb__family_qwen2vl = {
    .name = "qwen2vl",
    .base = &wb__family_qwen2,
    .gguf = "qwen2vl",
    .types = "qwen2_vl_text|qwen2_5_vl_text|qwen2_vl|qwen2_5_vl",
    .classes = "Qwen2VLForConditionalGeneration|Qwen2_5_VLForConditionalGeneration",
    .values = values,
    .value_count = 1,
    .keys = keys,
    .key_count = 1,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
