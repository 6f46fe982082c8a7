/* Contains the rule by which Ollama chooses the type of a tensor if the architecture has no rule of
 * its own, and helper functions for all rules. */
#include "convert/plan/ollama_rules.h"

const wb__ollama_packing wb__ollama_packings[WB__OLLAMA_TYPES] = {
    [WB__OLLAMA_KEEP] = {WB__SCHEME_PLAIN, 0, 1},   [WB__OLLAMA_INT4] = {WB__SCHEME_INT4, 4, 64},
    [WB__OLLAMA_INT8] = {WB__SCHEME_INT8, 8, 64},   [WB__OLLAMA_NVFP4] = {WB__SCHEME_NVFP4, 4, 16},
    [WB__OLLAMA_MXFP4] = {WB__SCHEME_MXFP4, 4, 32}, [WB__OLLAMA_MXFP8] = {WB__SCHEME_MXFP8, 8, 32},
};

bool wb__ollama_has(const wb__ollama_ask *ask, const char *part)
{
    return wb__str_has(ask->name, wb__str_from(part, SIZE_MAX));
}

bool wb__ollama_has_any(const wb__ollama_ask *ask, const char *const *parts)
{
    for (; *parts != NULL; parts++) {
        if (wb__ollama_has(ask, *parts))
            return true;
    }
    return false;
}

bool wb__ollama_ends(const wb__ollama_ask *ask, const char *end)
{
    return wb__str_ends_with(ask->name, wb__str_from(end, SIZE_MAX));
}

bool wb__ollama_ends_any(const wb__ollama_ask *ask, const char *const *ends)
{
    for (; *ends != NULL; ends++) {
        if (wb__ollama_ends(ask, *ends))
            return true;
    }
    return false;
}

uint32_t wb__ollama_group(const wb_conversion *conversion, wb__ollama_type type)
{
    return conversion->feb2026 && type == WB__OLLAMA_INT4 ? 32 : wb__ollama_packings[type].group;
}

wb__ollama_type wb__ollama_eight(wb__ollama_type type)
{
    return type == WB__OLLAMA_INT4 || type == WB__OLLAMA_INT8 ? WB__OLLAMA_INT8 : WB__OLLAMA_MXFP8;
}

wb__ollama_type wb__ollama_if_fits(const wb__ollama_ask *ask, wb__ollama_type type,
                                   wb__ollama_type otherwise)
{
    return ask->row->columns % wb__ollama_group(ask->conversion, type) == 0 ? type : otherwise;
}

static bool is_expert(const wb__ollama_ask *ask)
{
    static const char *const ends[] = {".bias", ".scale", ".qbias", NULL};
    static const char *const marks[] = {".experts.", ".mlp.switch_mlp.", ".mlp.shared_experts.",
                                        ".mixer.shared_experts.", NULL};
    return !wb__ollama_ends_any(ask, ends) && wb__ollama_has_any(ask, marks);
}

static bool is_kept(const wb__ollama_ask *ask)
{
    static const char *const kept[] = {"audio_tower", "embed", "norm", "ln_", NULL};
    static const char *const gates[] = {".mlp.gate.weight", ".mixer.gate.weight",
                                        ".shared_expert_gate.weight", ".router.proj.weight", NULL};
    bool expert = is_expert(ask);
    if (!expert && (wb__ollama_has_any(ask, kept) || !wb__ollama_ends(ask, ".weight")))
        return true;
    return (ask->row->rank != 2 && !(ask->row->rank == 3 && expert)) ||
           ask->row->rows * ask->row->columns < 1024 || wb__ollama_ends_any(ask, gates);
}

wb__ollama_type wb__ollama_default(const wb__ollama_ask *ask)
{
    static const char *const seen[] = {"vision", "visual", NULL};
    static const char *const sensitive[] = {".v_proj", ".k_proj", "down_proj", NULL};
    wb__ollama_type type = ask->type, eight = wb__ollama_eight(type);
    if (is_kept(ask))
        return WB__OLLAMA_KEEP;
    if (wb__ollama_ends(ask, "lm_head.weight"))
        return wb__ollama_if_fits(ask, eight, WB__OLLAMA_KEEP);
    if (wb__ollama_has_any(ask, seen) ||
        wb__ollama_if_fits(ask, type, WB__OLLAMA_KEEP) == WB__OLLAMA_KEEP)
        return WB__OLLAMA_KEEP;
    bool four = type == WB__OLLAMA_NVFP4 || type == WB__OLLAMA_MXFP4;
    bool promotes = type == WB__OLLAMA_INT4 || (four && !is_expert(ask));
    return promotes && wb__ollama_has_any(ask, sensitive) ? wb__ollama_if_fits(ask, eight, type)
                                                          : type;
}
