/*
 * Which tensor Ollama quantizes, and to what, when it makes a model of a folder: its create package, as of
 * August 2026, but for the exceptions it has for single architectures. What it keeps is embeddings, norms,
 * routers, what sees and hears, and what is small; the weights that a model suffers most from get eight
 * bits of the same family.
 */
#include "convert/convert.h"

static bool has(wb__str text, const char *part)
{
    size_t n = strlen(part);
    for (size_t i = 0; i + n <= text.len; i++) {
        if (memcmp(text.ptr + i, part, n) == 0)
            return true;
    }
    return false;
}

static bool has_any(wb__str text, const char *const *parts)
{
    for (; *parts != NULL; parts++) {
        if (has(text, *parts))
            return true;
    }
    return false;
}

static bool is_expert(wb__str name)
{
    static const char *const marks[] = {".mlp.experts.", ".mlp.switch_mlp.", ".moe.experts.",
                                        ".mixer.experts.", NULL};
    return has_any(name, marks);
}

static bool is_kept(const wb__planned *row)
{
    static const char *const kept[] = {
        "embed",  "norm",       "ln_",          "audio_tower",          "vision",
        "visual", ".mlp.gate.", ".mixer.gate.", ".shared_expert_gate.", ".router.proj.",
        NULL};
    return has_any(row->name, kept) || !wb__str_ends_with(row->name, WB__STR(".weight")) ||
           row->rows * row->columns < 1024 || row->rank < 2 ||
           row->rank > (is_expert(row->name) ? 3u : 2u) || wb__plan_is_other(&row->from);
}

static wb__form eight_bits(const wb__form *asked)
{
    if (asked->scheme == WB__SCHEME_INT4)
        return (wb__form){WB__SCHEME_INT8, asked->dtype, 8, 64};
    return (wb__form){WB__SCHEME_MXFP8, asked->dtype, 8, 32};
}

/* False: the tensor stays as it is. */
static bool choose(const wb_conversion *plan, const wb__planned *row, wb__form *form)
{
    static const char *const sensitive[] = {"k_proj", "v_proj", "down_proj", NULL};
    *form = plan->quant.form;
    bool four = form->scheme == WB__SCHEME_INT4 || form->scheme == WB__SCHEME_NVFP4 ||
                form->scheme == WB__SCHEME_MXFP4;
    if (is_kept(row))
        return false;
    if (plan->feb2026 && form->scheme == WB__SCHEME_INT4)
        form->group = 32;
    if (has(row->name, "lm_head")) {
        if (!four)
            return false;
        *form = eight_bits(form);
    } else if (four && has_any(row->name, sensitive) &&
               (form->scheme == WB__SCHEME_INT4 || !is_expert(row->name))) {
        *form = eight_bits(form);
    }
    return row->columns % form->group == 0;
}

/* A packing of MLX's that Ollama has a word for goes over byte for byte. */
static bool has_word(const wb__form *form)
{
    return form->scheme == WB__SCHEME_MXFP4 || form->scheme == WB__SCHEME_MXFP8 ||
           form->scheme == WB__SCHEME_NVFP4 ||
           (form->scheme == WB__SCHEME_AFFINE && (form->bits == 4 || form->bits == 8));
}

void wb__plan_ollama(const wb_conversion *plan, wb__planned *row)
{
    wb__form form;
    row->to = wb__plan_is_other(&row->from) ? row->from : wb__plan_plain(plan, &row->from);
    if (wb__plan_is_widened(plan, row))
        row->to = (wb__form){.dtype = plan->common};
    row->nearest = true;
    if (plan->quant.kind == WB__QUANT_NONE || (!row->by_view && has_word(&row->from))) {
        if (!row->by_view && has_word(&row->from))
            row->to = row->from;
        return;
    }
    if (plan->quant.form.scheme == WB__SCHEME_PLAIN) {
        if (!wb__plan_is_other(&row->from))
            row->to = plan->quant.form;
        return;
    }
    if (!choose(plan, row, &form))
        return;
    form.dtype = row->to.dtype;
    if (form.scheme == WB__SCHEME_INT4 || form.scheme == WB__SCHEME_INT8)
        form.scheme = WB__SCHEME_AFFINE;
    row->to = form;
}
