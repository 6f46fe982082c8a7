/* Chooses the tensors to quantize and their types in the same way as the create package of
 * Ollama (as of August 2026). Embeddings, norms, routers, vision and audio tensors and small
 * tensors are not quantized. The most sensitive weights get the 8-bit type that corresponds to the
 * requested type, for example int8 for int4. Some architectures have rules of their own
 * (ollama_rules.c). */
#include "convert/plan/ollama_rules.h"

/* ---- types ---- */

static wb__ollama_type type_of(const wb__encoding_spec *spec)
{
    for (size_t i = 1; i < WB__OLLAMA_TYPES; i++) {
        if (wb__ollama_packings[i].scheme == spec->scheme)
            return (wb__ollama_type)i;
    }
    return WB__OLLAMA_KEEP;
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
    wb__scheme scheme = wb__ollama_packings[type].scheme;
    bool affine = scheme == WB__SCHEME_INT4 || scheme == WB__SCHEME_INT8;
    row->to =
        (wb__encoding_spec){affine ? WB__SCHEME_AFFINE : scheme, row->to.dtype,
                            wb__ollama_packings[type].bits, wb__ollama_group(conversion, type)};
}
