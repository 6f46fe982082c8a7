/*
 * Which tensor Ollama quantizes, and to what, when it makes a model of a folder: its create package, as of
 * August 2026. What it keeps is embeddings, norms, routers, what sees and hears, and what is small; the weights
 * that a model suffers most from get eight bits of the same family. Some architectures have rules of their own
 * (ollama_rules.c).
 */
#include "convert/plan/ollama_rules.h"

/* ---- names ---- */

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

/* ---- types ---- */

static const struct {
    wb__scheme scheme;
    uint32_t bits, group;
} types[] = {
    [WB__OLLAMA_KEEP] = {WB__SCHEME_PLAIN, 0, 1},   [WB__OLLAMA_INT4] = {WB__SCHEME_INT4, 4, 64},
    [WB__OLLAMA_INT8] = {WB__SCHEME_INT8, 8, 64},   [WB__OLLAMA_NVFP4] = {WB__SCHEME_NVFP4, 4, 16},
    [WB__OLLAMA_MXFP4] = {WB__SCHEME_MXFP4, 4, 32}, [WB__OLLAMA_MXFP8] = {WB__SCHEME_MXFP8, 8, 32},
};

static uint32_t group_of(const wb_conversion *conversion, wb__ollama_type type)
{
    return conversion->feb2026 && type == WB__OLLAMA_INT4 ? 32 : types[type].group;
}

static wb__ollama_type type_of(const wb__encoding_spec *spec)
{
    for (size_t i = 1; i < sizeof types / sizeof types[0]; i++) {
        if (types[i].scheme == spec->scheme)
            return (wb__ollama_type)i;
    }
    return WB__OLLAMA_KEEP;
}

wb__ollama_type wb__ollama_eight(wb__ollama_type type)
{
    return type == WB__OLLAMA_INT4 || type == WB__OLLAMA_INT8 ? WB__OLLAMA_INT8 : WB__OLLAMA_MXFP8;
}

wb__ollama_type wb__ollama_if_fits(const wb__ollama_ask *ask, wb__ollama_type type,
                                   wb__ollama_type otherwise)
{
    return ask->row->columns % group_of(ask->conversion, type) == 0 ? type : otherwise;
}

/* ---- what holds for all architectures ---- */

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

/* ---- the plan ---- */

bool wb__plan_ollama_has(const wb__encoding_spec *spec)
{
    return spec->scheme == WB__SCHEME_MXFP4 || spec->scheme == WB__SCHEME_MXFP8 ||
           spec->scheme == WB__SCHEME_NVFP4 ||
           (spec->scheme == WB__SCHEME_AFFINE && (spec->bits == 4 || spec->bits == 8));
}

void wb__plan_ollama(const wb_conversion *conversion, wb__planned_tensor *row)
{
    bool plain = conversion->quant.kind != WB__QUANT_NONE &&
                 conversion->quant.spec.scheme == WB__SCHEME_PLAIN;
    bool packed = !row->by_view && wb__plan_ollama_has(&row->from);
    bool fp8 = row->from.scheme == WB__SCHEME_FP8_BLOCK;
    row->to = wb__plan_is_other(&row->from) ? row->from : wb__plan_plain(conversion, &row->from);
    if (wb__plan_is_widened(conversion, row))
        row->to = (wb__encoding_spec){.dtype = conversion->common};
    row->nearest = true;
    if (plain) {
        if (!wb__plan_is_other(&row->from))
            row->to = conversion->quant.spec;
        return;
    }
    if (packed) {
        row->to = row->from;
        return;
    }
    if ((conversion->quant.kind == WB__QUANT_NONE && !fp8) || wb__plan_is_other(&row->from))
        return;
    const wb__ollama_ask ask = {conversion, row, row->name,
                                conversion->quant.kind == WB__QUANT_NONE
                                    ? WB__OLLAMA_MXFP8
                                    : type_of(&conversion->quant.spec)};
    wb__ollama_type type = wb__ollama_rule_of(conversion)(&ask);
    if (type == WB__OLLAMA_KEEP)
        return;
    wb__scheme scheme = types[type].scheme;
    bool affine = scheme == WB__SCHEME_INT4 || scheme == WB__SCHEME_INT8;
    row->to = (wb__encoding_spec){affine ? WB__SCHEME_AFFINE : scheme, row->to.dtype,
                                  types[type].bits, group_of(conversion, type)};
}
