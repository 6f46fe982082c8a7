/* Determines the names of the output tensors. The description of an architecture family
 * (arch/family.h) contains a rule for each tensor, with the name of the tensor in each format. */
#include "convert/convert.h"

/* Returns the format whose names the output has. Ollama's layout of February 2026 has the names of
 * Hugging Face. */
uint8_t wb__plan_side(const wb_conversion *conversion)
{
    switch (conversion->target) {
    case WB_TARGET_GGUF: return WB__SIDE_GGUF;
    case WB_TARGET_MLX: return WB__SIDE_MLX;
    case WB_TARGET_OLLAMA: return conversion->feb2026 ? WB__SIDE_HF : WB__SIDE_OLLAMA;
    default: return WB__SIDE_HF;
    }
}

bool wb__plan_stacks(const wb_conversion *conversion, const wb__rule *rule)
{
    const wb__spelling *spelling = wb__rule_spelling(rule, wb__plan_side(conversion));
    return spelling == NULL || strstr(spelling->name, "{e}") == NULL;
}

wb__str wb__plan_text(wb_conversion *conversion, wb__str text)
{
    char *copy = wb__arena_copy(&conversion->arena, text.ptr, text.len);
    return (wb__str){copy, text.len};
}

wb__str wb__plan_name(wb_conversion *conversion, const wb__rule *rule, uint32_t layer,
                      uint32_t expert, wb__suffix suffix)
{
    char text[WB__STEM_MAX * 2];
    const wb__spelling *spelling = wb__rule_spelling(rule, wb__plan_side(conversion));
    if (spelling == NULL)
        return (wb__str){"", 0};
    size_t n = wb__pattern_expand(wb__str_from(spelling->name, SIZE_MAX), layer, expert,
                                  wb__spelling_suffix(spelling, suffix), text, sizeof text);
    return wb__plan_text(conversion, (wb__str){text, n});
}
