/* Names of the output tensors. A rule of a family (arch/family.h) contains one or more spellings
 * of a tensor name for GGUF, of which the first is used, and one or more for Hugging Face and
 * MLX. This file selects the spelling for the target. MLX stacks experts in tensors named
 * switch_mlp. Hugging Face stores experts separately. Mixtral has its own names. */
#include "convert/convert.h"

/* Returns true for Mixtral, which is the only model of architecture llama with experts. */
static bool is_mixtral(const wb_conversion *conversion)
{
    const char *architecture = conversion->semantics->config.architecture;
    return architecture != NULL && strcmp(architecture, "llama") == 0 &&
           conversion->semantics->config.n_experts > 0;
}

/* Returns true if the output stores all experts of a layer as a stack. Ollama stacks experts,
 * except for Mixtral and in the layout of February 2026. */
bool wb__plan_stacks(const wb_conversion *conversion)
{
    return conversion->target == WB_TARGET_GGUF || conversion->target == WB_TARGET_MLX ||
           (conversion->target == WB_TARGET_OLLAMA && !is_mixtral(conversion) &&
            !conversion->feb2026);
}

/* Returns a score for how well a spelling of a tensor name suits the model and the target. The
 * first spelling with the highest score is used. */
static int suits(const wb_conversion *conversion, wb__str spelling)
{
    int points =
        wb__str_has(spelling, WB__STR("block_sparse_moe")) == is_mixtral(conversion) ? 4 : 0;
    bool is_stack = !wb__str_has(spelling, WB__STR("{e}"));
    points += is_stack == wb__plan_stacks(conversion) ? 2 : 0;
    points += wb__str_has(spelling, WB__STR("switch_mlp")) == (conversion->target == WB_TARGET_MLX)
                  ? 1
                  : 0;
    return points;
}

static wb__str pick(const wb_conversion *conversion, const wb__rule *rule)
{
    const char *rest = conversion->target == WB_TARGET_GGUF ? rule->gguf : rule->native;
    wb__str spelling, best = {"", 0};
    int most = -1;
    while (wb__spelling_next(&rest, &spelling)) {
        int points = conversion->target == WB_TARGET_GGUF ? 0 : suits(conversion, spelling);
        if (points > most) {
            best = spelling;
            most = points;
        }
    }
    return best;
}

/* Returns the prefix of the names of decoder tensors. The name of the output matrix (lm_head)
 * has no prefix. */
static wb__str prefix_of(const wb_conversion *conversion, wb__str spelling)
{
    uint32_t flags = conversion->semantics->family->flags;
    if (conversion->target == WB_TARGET_GGUF || wb__str_equal(spelling, WB__STR("lm_head")) ||
        (flags & WB__FAMILY_NO_HEAD))
        return WB__STR("");
    return WB__STR("model.");
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
    wb__str spelling = pick(conversion, rule);
    wb__str prefix = prefix_of(conversion, spelling);
    memcpy(text, prefix.ptr, prefix.len);
    size_t n = wb__pattern_expand(spelling, layer, expert, suffix, text + prefix.len,
                                  sizeof text - prefix.len);
    return wb__plan_text(conversion, (wb__str){text, prefix.len + n});
}
