/* Chooses the encoding of each output tensor. For each target, a function below chooses the
 * preferred encoding. The steps that follow are the same for all targets: the caller's rules
 * replace the choice, the route is determined, and the existence of an encoder is checked. */
#include <stdio.h>

#include "convert/convert.h"
#include "convert/convert_messages.h"
#include "convert/recipe/imatrix.h"
#include "convert/recipe/overrides.h"
#include "convert/recipe/repack.h"
#include "cpu/cpu.h"
#include "quant/quant.h"

/* ---- dtypes of the source ---- */

static int32_t common_dtype(const wb_conversion *conversion)
{
    static const int32_t dtypes[] = {WB_DTYPE_F16, WB_DTYPE_BF16, WB_DTYPE_F32};
    double elements[3] = {0};
    size_t best = 0;
    for (size_t i = 0; i < conversion->tensors.count; i++) {
        const wb__planned_tensor *row = conversion->order[i];
        for (size_t t = 0; t < 3 && row->rank > 1 && row->from.scheme == WB__SCHEME_PLAIN; t++)
            elements[t] +=
                row->from.dtype == dtypes[t] ? (double)row->rows * (double)row->columns : 0;
    }
    for (size_t t = 1; t < 3; t++)
        best = elements[t] > elements[best] ? t : best;
    return dtypes[best];
}

/* ---- GGUF ---- */

/* Returns the GGUF type that is equivalent to an MLX encoding, or *spec itself if no type is
 * equivalent. */
static wb__encoding_spec ggml_form(const wb__encoding_spec *spec)
{
    wb__encoding_spec twin;
    if ((spec->scheme == WB__SCHEME_MXFP4 || spec->scheme == WB__SCHEME_NVFP4) &&
        wb__repack_to_ggml(spec, &twin))
        return twin;
    return *spec;
}

/* Returns true if the packed values can be repacked into GGML blocks without loss, and sets *to
 * to the encoding with these blocks. */
static bool repacks_to_ggml(const wb__planned_tensor *row, wb__encoding_spec *to)
{
    return !row->by_view && wb__repack_to_ggml(&row->from, to) &&
           row->columns % wb__dtype_get(to->dtype)->block_size == 0;
}

/* Returns true for an NVFP4 tensor whose values are decoded because its global scale is
 * multiplied into them. Its values can then no longer be copied as NVFP4 blocks. */
static bool is_decoded(const wb__planned_tensor *row)
{
    return row->by_view && row->from.scheme == WB__SCHEME_PLAIN &&
           row->from.dtype == WB_DTYPE_NVFP4;
}

/* Returns true for a tensor that keeps its dtype because --raw copies a model unchanged. */
static bool keeps_float(const wb_conversion *conversion, const wb__planned_tensor *row)
{
    return wb__plan_is_raw(conversion) && row->from.scheme == WB__SCHEME_PLAIN &&
           wb__encoding_spec_is_half_or_single(row->from.dtype);
}

static void to_gguf(wb_conversion *conversion, wb__recipe *recipe, wb__planned_tensor *row)
{
    const wb__recipe_tensor tensor = wb__plan_recipe_tensor(row, row->name);
    wb__recipe_choice choice = {-1, -1};
    if (!wb__recipe_applies(&tensor)) {
        row->to =
            (conversion->semantics->by_key || keeps_float(conversion, row)) && !is_decoded(row)
                ? row->from
                : wb__encoding_spec_plain(WB_DTYPE_F32);
        return;
    }
    switch (conversion->quant.kind) {
    case WB__QUANT_FILE_TYPE: wb__recipe_choose(recipe, &tensor, &choice); break;
    case WB__QUANT_FORM:
        choice.wanted = ggml_form(&conversion->quant.spec).dtype;
        choice.dtype = wb__recipe_fallback(choice.wanted, row->columns);
        break;
    default:
        if (!repacks_to_ggml(row, &row->to))
            row->to = row->from.scheme == WB__SCHEME_PLAIN &&
                              !wb__encoding_spec_is_float(&row->from) && !is_decoded(row)
                          ? row->from
                          : wb__plan_plain(conversion, &row->from);
        return;
    }
    row->to = wb__encoding_spec_plain(choice.dtype);
    row->wanted = choice.wanted == choice.dtype ? -1 : choice.wanted;
}

/* Returns the number of the llama.cpp file type for a dtype, or -1 if no file type exists for
 * it. */
static int number_of(int32_t dtype)
{
    const wb__file_type *type = wb__file_type_of(dtype);
    /* wb__file_type_of does not know the file type NVFP4, because it has no recipe: llama.cpp
     * creates such files only from models that are already quantized */
    if (dtype == WB_DTYPE_NVFP4)
        return WB__FILE_TYPE_NVFP4;
    return type == NULL ? -1 : (int)type->number;
}

/* Returns the value of general.file_type if the caller requested no recipe: the file type of the
 * dtype that has the most matrix elements. */
static uint32_t guess_file_type(const wb_conversion *conversion)
{
    double elements[WB__FILE_TYPES] = {0};
    uint32_t best = 0;
    for (size_t i = 0; i < conversion->tensors.count; i++) {
        const wb__planned_tensor *row = conversion->order[i];
        int number = number_of(row->to.dtype);
        if (number < 0 || row->rank < 2)
            continue;
        elements[number] += (double)row->rows * (double)row->columns;
        best = elements[number] > elements[best] ? (uint32_t)number : best;
    }
    return best;
}

/* ---- MLX ---- */

/* Returns the number of bits that the mixed recipes of mlx-lm, such as mixed_2_6, give a tensor.
 * The output matrix, and v_proj and down_proj in some layers, are sensitive and get more bits than
 * the other tensors. */
static uint32_t mixed_bits(const wb_conversion *conversion, const wb__planned_tensor *row)
{
    uint64_t n = conversion->semantics->config.n_layers, i = row->layer;
    bool more = i < n / 8 || i >= 7 * n / 8 || (i - n / 8) % 3 == 2;
    bool matters =
        wb__str_has(row->name, WB__STR("v_proj")) || wb__str_has(row->name, WB__STR("down_proj"));
    return (matters && more) || wb__str_has(row->name, WB__STR("lm_head"))
               ? conversion->quant.high_bits
               : conversion->quant.spec.bits;
}

/*
 * Returns true if the tensor is a router that mlx-lm quantizes to 8 bits, whatever encoding was
 * requested. This depends on the family. Mixed recipes do not call this function, because they
 * treat routers like other tensors.
 */
static bool is_router(const wb_conversion *conversion, const wb__planned_tensor *row)
{
    return row->rule != NULL && (row->rule->provides & WB__RULE_ROUTER) != 0 &&
           (wb__family_flags(conversion->semantics->family) & WB__FAMILY_ROUTER_8) != 0;
}

static bool mlx_takes(const wb__planned_tensor *row)
{
    return row->rank >= 2 && row->rank <= 3 && row->suffix == WB__SUFFIX_WEIGHT &&
           !wb__plan_is_other(&row->from);
}

static void to_mlx(wb_conversion *conversion, wb__recipe *recipe, wb__planned_tensor *row)
{
    (void)recipe;
    wb__encoding_spec asked = conversion->quant.spec, packed;
    row->to = wb__plan_is_other(&row->from) ? row->from : wb__plan_plain(conversion, &row->from);
    if (wb__plan_is_widened(conversion, row))
        row->to = wb__encoding_spec_plain(conversion->common);
    if (conversion->quant.kind == WB__QUANT_NONE) {
        wb__mlx_type type;
        if (wb__encoding_spec_mlx(&row->from, &type) && !row->by_view)
            row->to = row->from;
        else if (!row->by_view && row->factors == NULL && wb__repack_to_mlx(&row->from, &packed) &&
                 row->columns % packed.group == 0)
            row->to = packed;
        return;
    }
    if (asked.scheme == WB__SCHEME_PLAIN) {
        row->to = wb__plan_is_other(&row->from) ? row->from : asked;
        return;
    }
    if (!mlx_takes(row))
        return;
    if (conversion->quant.kind == WB__QUANT_MIXED)
        asked.bits = mixed_bits(conversion, row);
    else if (is_router(conversion, row))
        asked = (wb__encoding_spec){WB__SCHEME_AFFINE, WB_DTYPE_F16, 8, 64};
    if (asked.scheme == WB__SCHEME_INT4 || asked.scheme == WB__SCHEME_INT8)
        asked.scheme = WB__SCHEME_AFFINE;
    if (row->columns % asked.group != 0) {
        /* The tensor stays unquantized, because its row length is not a multiple of the group
         * size. `wanted` shows the caller that this is a fallback. */
        row->wanted = row->to.dtype;
        return;
    }
    asked.dtype = row->to.dtype;
    row->to = asked;
}

/* ---- safetensors ---- */

static void to_safetensors(wb_conversion *conversion, wb__recipe *recipe, wb__planned_tensor *row)
{
    (void)recipe;
    if (wb__plan_is_other(&row->from)) {
        row->to = row->from;
    } else if (conversion->quant.kind == WB__QUANT_FORM) {
        row->to = conversion->quant.spec;
    } else if (wb__encoding_spec_is_float(&row->from)) {
        row->to = wb__plan_is_widened(conversion, row) ? wb__encoding_spec_plain(conversion->common)
                                                       : row->from;
    } else {
        row->to = wb__plan_plain(conversion, &row->from);
    }
}

/* ---- NPZ ---- */

/* NumPy has no floating-point types with 8 or fewer bits. Values of these types become BF16,
 * which represents them exactly. NumPy reads BF16 as 2-byte raw data. */
static void to_npz(wb_conversion *conversion, wb__recipe *recipe, wb__planned_tensor *row)
{
    to_safetensors(conversion, recipe, row);
    if (wb__encoding_spec_is_float(&row->to) && row->to.dtype != WB_DTYPE_F64 &&
        !wb__encoding_spec_is_half_or_single(row->to.dtype))
        row->to = wb__encoding_spec_plain(WB_DTYPE_BF16);
}

/* ---- all targets ---- */

static void apply_rules(const wb_conversion *conversion, wb__planned_tensor *row)
{
    const wb__encoding_spec *said = wb__plan_ruled(conversion, row);
    const wb__recipe_tensor tensor = wb__plan_recipe_tensor(row, row->name);
    wb__mlx_type type;
    if (said == NULL || wb__plan_is_other(&row->from))
        return;
    wb__encoding_spec spec = conversion->target == WB_TARGET_GGUF ? ggml_form(said) : *said;
    bool blocks = !wb__encoding_spec_is_float(&spec);
    if (blocks &&
        (conversion->target == WB_TARGET_GGUF ? !wb__recipe_applies(&tensor) : !mlx_takes(row)))
        return;
    row->wanted = -1;
    if (spec.scheme == WB__SCHEME_PLAIN) {
        int32_t dtype = wb__recipe_fallback(spec.dtype, row->columns);
        row->wanted = dtype == spec.dtype ? -1 : spec.dtype;
        row->to = wb__encoding_spec_plain(dtype);
    } else if (wb__encoding_spec_mlx(&spec, &type) && row->columns % spec.group == 0) {
        spec.dtype = wb__encoding_spec_is_half_or_single(row->from.dtype) ? row->from.dtype
                                                                          : conversion->common;
        row->to = spec;
    }
}

/* Returns true if it is certain that the floating-point dtype `to` represents all values of dtype
 * `from`. Recognizes only equal dtypes, F64, and F32 for dtypes of at most 16 bits. */
static bool includes(int32_t from, int32_t to)
{
    return from == to || to == WB_DTYPE_F64 ||
           (to == WB_DTYPE_F32 && wb__dtype_get(from)->block_bits <= 16);
}

static void choose_route(wb__planned_tensor *row)
{
    bool kept = !wb__planned_changes_values(row) && row->global == row->global_to;
    /* Elements of quantized blocks cannot be transposed, only their decoded values. */
    bool is_block = !wb__encoding_spec_is_float(&row->from) && !wb__plan_is_other(&row->from);
    bool same = wb__encoding_spec_equal(&row->from, &row->to) && kept &&
                !(is_block && wb__planned_transposes(row));
    if (same && row->source != WB__NO_SOURCE &&
        (!row->by_view || row->from.scheme == WB__SCHEME_PLAIN))
        row->route = WB__ROUTE_COPY;
    else if (kept && !row->by_view && wb__repack_can(&row->from, &row->to))
        row->route = WB__ROUTE_REPACK;
    else
        row->route = WB__ROUTE_COMPUTE;
    row->known_exact =
        row->route == WB__ROUTE_COPY ||
        (wb__encoding_spec_is_float(&row->from) && wb__encoding_spec_is_float(&row->to) && kept &&
         includes(row->from.dtype, row->to.dtype));
}

static wb_status fail_row(wb__context *context, wb_status status, wb__finding_id id,
                          const wb__planned_tensor *row, const char *what)
{
    char to[48], from[48];
    wb__encoding_spec_name(&row->to, to, sizeof to);
    wb__encoding_spec_name(&row->from, from, sizeof from);
    return wb__fail(context, status, id, WB_NO_OFFSET, row->name,
                    "%s (target type %s, source type %s)", what, to, from);
}

/* Returns true if llama-quantize would refuse the type of the row, because the row has no
 * importance values. The encoder of this library can encode the type without them. */
static bool misses_matrix(const wb_conversion *conversion, const wb__planned_tensor *row)
{
    static const int32_t types[] = {WB_DTYPE_IQ1_S,  WB_DTYPE_IQ1_M, WB_DTYPE_IQ2_XXS,
                                    WB_DTYPE_IQ2_XS, WB_DTYPE_IQ2_S, WB_DTYPE_IQ3_XXS};
    const wb__file_type *type = conversion->quant.file_type;
    bool is_needed = row->to.dtype == WB_DTYPE_Q2_K &&
                     conversion->quant.kind == WB__QUANT_FILE_TYPE &&
                     strcmp(type->name, "Q2_K_S") == 0;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        is_needed = is_needed || row->to.dtype == types[i];
    return is_needed && row->to.scheme == WB__SCHEME_PLAIN && row->importance == NULL &&
           row->route == WB__ROUTE_COMPUTE && conversion->target == WB_TARGET_GGUF &&
           !wb__str_equal(row->name, WB__STR("token_embd.weight")) &&
           !wb__str_equal(row->name, WB__STR("output.weight"));
}

/* Reports a missing importance matrix. It is an error if the caller requested a file type,
 * because the result must be the same as that of llama-quantize. It is a warning if the caller
 * chose the type for single tensors. */
static wb_status check_matrix(wb_conversion *conversion, wb__context *context,
                              const wb__planned_tensor *row)
{
    if (!misses_matrix(conversion, row))
        return WB_OK;
    if (conversion->strict ||
        (conversion->quant.kind == WB__QUANT_FILE_TYPE && wb__plan_ruled(conversion, row) == NULL))
        return fail_row(context, WB_ERROR_UNSUPPORTED, WB__FINDING_QUANT_IMPORTANCE, row,
                        WB__MSG_CONVERT_TYPE_NEEDS_IMATRIX_LLAMA);
    return wb__plan_note(conversion, context, WB_WARNING, WB__FINDING_QUANT_IMPORTANCE, row->name,
                         WB__MSG_CONVERT_TYPE_WITHOUT_IMATRIX);
}

static wb_status check(const wb_conversion *conversion, wb__context *context,
                       const wb__planned_tensor *row)
{
    const wb__dtype *to = wb__dtype_get(row->to.dtype);
    wb__mlx_type type;
    wb__codec codec;
    if (to == NULL)
        return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_QUANT_ROW, WB_NO_OFFSET,
                        row->name, WB__MSG_CONVERT_NO_BLOCK_FITS, (unsigned long long)row->columns);
    if (conversion->target == WB_TARGET_NPZ && row->to.scheme != WB__SCHEME_PLAIN)
        return fail_row(context, WB_ERROR_UNSUPPORTED, WB__FINDING_CONVERT_TYPE, row,
                        WB__MSG_CONVERT_NPZ_PLAIN);
    if (conversion->strict && row->wanted >= 0)
        return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_QUANT_ROW, WB_NO_OFFSET,
                        row->name, WB__MSG_CONVERT_ROW_BLOCKS, (unsigned long long)row->columns,
                        wb__dtype_get(row->wanted)->name);
    if (row->route == WB__ROUTE_COPY || row->route == WB__ROUTE_REPACK)
        return WB_OK;
    if (wb__plan_is_other(&row->from))
        return fail_row(context, WB_ERROR_UNSUPPORTED, WB__FINDING_UNSUPPORTED, row,
                        WB__MSG_CONVERT_NOT_FLOAT);
    if (wb__encoding_spec_mlx(&row->to, &type))
        return WB_OK;
    bool has = wb__codec_get(to->id, wb__cpu_features(), &codec) && codec.encode != NULL;
    if (!has && !(wb__dtype_is_plain(to) && wb__dtype_is_float(to)))
        return fail_row(context, WB_ERROR_UNSUPPORTED, WB__FINDING_QUANT_ENCODER, row,
                        WB__MSG_CONVERT_NO_ENCODER);
    if (has && codec.importance == WB_IMPORTANCE_REQUIRED && row->importance == NULL)
        return fail_row(context, WB_ERROR_UNSUPPORTED, WB__FINDING_QUANT_IMPORTANCE, row,
                        WB__MSG_CONVERT_TYPE_NEEDS_IMATRIX);
    return WB_OK;
}

static wb_status measure(wb__context *context, wb__planned_tensor *row)
{
    uint64_t sum = 0, in[WB__PARTS];
    if (!row->by_view && !wb__encoding_spec_measure(&row->from, row->rows, row->columns, in))
        return fail_row(context, WB_ERROR_UNSUPPORTED, WB__FINDING_QUANT_ROW, row,
                        WB__MSG_CONVERT_ROWS_PACKED);
    if (!wb__encoding_spec_measure(&row->to, row->rows, row->columns, row->part_bytes))
        return fail_row(context, WB_ERROR_UNSUPPORTED, WB__FINDING_QUANT_ROW, row,
                        WB__MSG_CONVERT_ROW_NOT_BLOCKS);
    for (int part = 0; part < WB__PARTS; part++)
        sum += row->part_bytes[part];
    row->bytes = sum;
    return WB_OK;
}

static wb_status check_quant(const wb_conversion *conversion, wb__context *context)
{
    static const char *const targets[] = {"", "GGUF", "safetensors", "MLX", "Ollama", "npz"};
    const wb__quant *quant = &conversion->quant;
    bool packed = quant->kind == WB__QUANT_MIXED || quant->spec.scheme != WB__SCHEME_PLAIN;
    bool blocks =
        quant->kind == WB__QUANT_FORM && !packed && !wb__encoding_spec_is_float(&quant->spec);
    bool half = quant->kind == WB__QUANT_FORM && !packed &&
                wb__encoding_spec_is_half_or_single(quant->spec.dtype);
    bool fits = true;
    if (conversion->target == WB_TARGET_GGUF)
        fits =
            quant->kind != WB__QUANT_MIXED && (half || blocks || quant->kind != WB__QUANT_FORM ||
                                               ggml_form(&quant->spec).scheme == WB__SCHEME_PLAIN);
    else if (conversion->target == WB_TARGET_OLLAMA)
        fits = quant->kind == WB__QUANT_NONE || half ||
               (quant->kind == WB__QUANT_FORM && packed && quant->spec.scheme != WB__SCHEME_AFFINE);
    else
        fits = quant->kind == WB__QUANT_NONE || half ||
               (conversion->target == WB_TARGET_MLX && packed);
    if (fits)
        return WB_OK;
    return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_CONVERT_TYPE, WB_NO_OFFSET, WB__STR(""),
                    WB__MSG_CONVERT_TARGET_QUANTIZATION, targets[conversion->target]);
}

/* The name that the caller requests, for example F16, can denote both a llama.cpp file type and a
 * dtype. Targets other than GGUF have no file types, so the dtype is used for them. */
static void settle_quant(wb_conversion *conversion)
{
    if (conversion->quant.kind == WB__QUANT_FILE_TYPE && conversion->target != WB_TARGET_GGUF) {
        const wb__file_type *type = conversion->quant.file_type;
        conversion->quant =
            (wb__quant){.kind = WB__QUANT_FORM, .spec = wb__encoding_spec_plain(type->dtype)};
    }
}

/* Treats a tensor whose rows do not end at byte boundaries (possible with F4 and F6) as a single
 * row. This is correct because the output encoding of such a tensor never has blocks: its row
 * length is not a multiple of a block size. */
static void join_rows(wb__planned_tensor *row)
{
    const wb__dtype *dtype = wb__dtype_get(row->from.dtype);
    if (row->from.scheme != WB__SCHEME_PLAIN || !wb__dtype_is_plain(dtype) ||
        row->columns * dtype->block_bits % 8 == 0 || row->gather != NULL)
        return;
    row->by_view = true;
    row->columns *= row->rows;
    row->rows = row->columns == 0 ? 0 : 1;
}

static wb_status choose(wb_conversion *conversion, wb__context *context, wb__recipe *recipe,
                        wb__planned_tensor *row)
{
    if (conversion->target == WB_TARGET_GGUF)
        to_gguf(conversion, recipe, row);
    else if (conversion->target == WB_TARGET_SAFETENSORS)
        to_safetensors(conversion, recipe, row);
    else if (conversion->target == WB_TARGET_MLX)
        to_mlx(conversion, recipe, row);
    else if (conversion->target == WB_TARGET_NPZ)
        to_npz(conversion, recipe, row);
    else
        wb__plan_ollama(conversion, row);
    apply_rules(conversion, row);
    if (row->source == WB__NO_SOURCE || row->global != WB__GLOBAL_NONE)
        row->to = wb__encoding_spec_plain(WB_DTYPE_F32);
    wb_status status = wb__imatrix_take(conversion->matrix, context, row);
    if (status != WB_OK)
        return status;
    join_rows(row);
    if (row->to.dtype >= 0)
        choose_route(row);
    status = check(conversion, context, row);
    if (status == WB_OK)
        status = check_matrix(conversion, context, row);
    return status == WB_OK ? measure(context, row) : status;
}

/* ---- warnings about options without effect ---- */

static bool is_ruled_by(const wb_conversion *conversion, const wb__planned_tensor *row, size_t rule)
{
    return wb__overrides_match(conversion->rules, rule, row->name.ptr) ||
           (row->source_name.len != 0 &&
            wb__overrides_match(conversion->rules, rule, row->source_name.ptr));
}

/* Adds a warning for each rule that matches no tensor. Its pattern is probably misspelt. */
static wb_status note_idle_rules(wb_conversion *conversion, wb__context *context)
{
    const char *pattern;
    wb_status status = WB_OK;
    for (size_t r = 0;
         (pattern = wb__overrides_pattern(conversion->rules, r)) != NULL && status == WB_OK; r++) {
        size_t i = 0;
        while (i < conversion->tensors.count && !is_ruled_by(conversion, conversion->order[i], r))
            i++;
        if (i == conversion->tensors.count)
            status = wb__plan_note(conversion, context, WB_WARNING, WB__FINDING_CONVERT_RULE,
                                   wb__str_from(pattern, SIZE_MAX), WB__MSG_CONVERT_RULE_UNUSED);
    }
    return status;
}

static wb_status note_idle_matrix(wb_conversion *conversion, wb__context *context)
{
    size_t i = 0;
    while (i < conversion->tensors.count && conversion->order[i]->importance == NULL)
        i++;
    if (conversion->matrix == NULL || i < conversion->tensors.count)
        return WB_OK;
    return wb__plan_note(conversion, context, WB_WARNING, WB__FINDING_CONVERT_MATRIX, WB__STR(""),
                         WB__MSG_CONVERT_IMATRIX_UNUSED);
}

/* Returns true if the family of the model has a definition of this name whose value is true. */
static bool is_defined(const wb_conversion *conversion, const char *name)
{
    wb__family_scope scope = wb__semantics_scope(conversion->semantics);
    const wb__scope names = wb__family_names(&scope);
    wb__fact fact = names.value(names.ctx, name);
    return fact.type == WB__FACT_BOOL && fact.number != 0;
}

wb_status wb__plan_forms(wb_conversion *conversion, wb__context *context)
{
    const wb_config *config = &conversion->semantics->config;
    settle_quant(conversion);
    wb_status status = check_quant(conversion, context);
    if (status != WB_OK)
        return status;
    wb__recipe recipe = {.file_type = conversion->quant.file_type,
                         .is_70b = is_defined(conversion, "is_70b"),
                         .other_types = is_defined(conversion, "other_types"),
                         .layers = config->n_layers,
                         .heads = config->n_heads,
                         .kv_heads = config->n_kv_heads,
                         .experts = config->n_experts,
                         .matrix = conversion->matrix != NULL};
    for (size_t i = 0; i < conversion->tensors.count; i++) {
        wb__planned_tensor *row = conversion->order[i];
        wb__plan_take_source_encoding(conversion, row);
        wb__recipe_count(&recipe, row->name);
    }
    conversion->common = common_dtype(conversion);
    for (size_t i = 0; i < conversion->tensors.count && status == WB_OK; i++)
        status = choose(conversion, context, &recipe, conversion->order[i]);
    if (status == WB_OK)
        status = note_idle_rules(conversion, context);
    if (status == WB_OK)
        status = note_idle_matrix(conversion, context);
    conversion->file_type = conversion->quant.kind == WB__QUANT_FILE_TYPE
                                ? conversion->quant.file_type->number
                                : guess_file_type(conversion);
    return status;
}
