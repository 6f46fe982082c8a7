/* Plans the global scales of NVFP4 tensors. Producers other than MLX store a scale for all
 * values of a tensor, or of an expert, in addition to the group scales. Producers and targets
 * define this global scale by different conventions (model/packed.h). The global scales become a
 * separate output tensor. Converting a global scale to another convention rounds it at most
 * once. The error statistics of the output tensor include this rounding. */
#include "convert/convert.h"

#include <math.h>

#define MAXIMUM_OF_A_FACTOR 2688.0f /* product of the largest values of E2M1 (6) and E4M3 (448) */

static uint64_t companion_of(const wb_conversion *conversion, uint64_t number)
{
    const wb__packed *packed;
    (void)wb__tensors_stored(&conversion->model->tensors, number, &packed);
    return wb__tensors_number(&conversion->model->tensors, packed->parts[WB__PART_GLOBAL_SCALE]);
}

static wb__global global_of(const wb_conversion *conversion, uint64_t number)
{
    const wb__packed *packed;
    (void)wb__tensors_stored(&conversion->model->tensors, number, &packed);
    return packed == NULL ? WB__GLOBAL_NONE : packed->packing->global;
}

/*
 * The targets that have global scales. `suffix` is the suffix of the tensor with the global scales.
 * It replaces ".weight" if `in_place` is true, and is otherwise appended to the name of the weight.
 * `to` is the convention of the target.
 */
static const struct saying {
    wb_target target;
    bool in_place;
    wb__str suffix;
    wb__global to;
} sayings[] = {
    {WB_TARGET_OLLAMA, false, {".global_scale", 13}, WB__GLOBAL_LAST},
    {WB_TARGET_MLX, true, {".global_scale", 13}, WB__GLOBAL_MAXIMUM},
    {WB_TARGET_GGUF, true, {".scale", 6}, WB__GLOBAL_LAST},
};

/* Returns the entry of `sayings` for the target, or NULL if the target has no global scales. */
static const struct saying *saying_of(const wb_conversion *conversion)
{
    for (size_t i = 0; i < sizeof sayings / sizeof sayings[0]; i++) {
        if (sayings[i].target == conversion->target)
            return &sayings[i];
    }
    return NULL;
}

static wb__str name_of(wb_conversion *conversion, bool in_place, wb__str suffix, wb__str name)
{
    size_t stem = name.len;
    if (in_place && wb__str_ends_with(name, WB__STR(".weight")))
        stem -= sizeof ".weight" - 1;
    char *text = wb__arena_alloc(&conversion->arena, stem + suffix.len + 1);
    if (text != NULL) {
        memcpy(text, name.ptr, stem);
        memcpy(text + stem, suffix.ptr, suffix.len + 1);
    }
    return (wb__str){text, stem + suffix.len};
}

/* A function that returns the index of the scale tensor that belongs to source tensor `part`. */
typedef uint64_t scale_function(const wb_conversion *conversion, uint64_t part);

/* Adds a row for the scale tensors of *row to the plan. `of` returns the scale tensor of each
 * source tensor of *row. `name` is the name of the new row and is allocated in the plan's arena. */
static wb_status add(wb_conversion *conversion, wb__context *context, const wb__planned_tensor *row,
                     scale_function *of, wb__global from, wb__global to, wb__str name)
{
    uint64_t pieces = row->piece_count;
    uint64_t first = row->pieces == NULL ? row->source : row->pieces[0];
    wb__planned_tensor made;
    wb_status status = wb__plan_row(conversion, context, of(conversion, first), &made);
    if (status != WB_OK)
        return status;
    const wb__kind *kind = wb__names_kind(&conversion->semantics->names, made.source);
    uint64_t *shape = wb__arena_alloc(&conversion->arena, sizeof *shape);
    uint32_t *numbers = wb__arena_alloc(&conversion->arena, ((size_t)pieces + 1) * sizeof *numbers);
    if (shape == NULL || numbers == NULL)
        return wb__fail_memory(context);
    for (uint64_t i = 0; row->pieces != NULL && i < pieces; i++)
        numbers[i] = (uint32_t)of(conversion, row->pieces[i]);
    made.name = name;
    made.rows = kind->elements;
    if (pieces > 0) /* each of the concatenated source tensors has one scale */
        made.rows = pieces;
    if (pieces > 0 || conversion->target == WB_TARGET_GGUF) {
        shape[0] = made.rows;
        made.shape = shape;
        made.rank = 1;
    }
    made.columns = 1;
    made.pieces = pieces > 0 ? numbers : NULL;
    made.piece_count = pieces;
    made.piece_rows = 1;
    made.global = from == WB__GLOBAL_FACTOR ? WB__GLOBAL_LAST : from;
    made.global_to = to;
    return wb__plan_append(conversion, context, &made);
}

wb_status wb__global_scales_add(wb_conversion *conversion, wb__context *context,
                                wb__planned_tensor *row)
{
    const struct saying *saying = saying_of(conversion);
    wb__global from = global_of(conversion, row->pieces == NULL ? row->source : row->pieces[0]);
    if (from == WB__GLOBAL_NONE)
        return WB_OK;
    row->keeps_global = true;
    return add(conversion, context, row, companion_of, from, saying->to,
               name_of(conversion, saying->in_place, saying->suffix, row->name));
}

/* ---- global scales that the programs of a target format read ---- */

static bool has_bias(const wb_conversion *conversion, const wb__planned_tensor *row)
{
    static const char weight[] = "weight", bias[] = "bias";
    char text[2 * WB__STEM_MAX];
    const wb__name_entry *entry = row->source < conversion->model->tensors.count
                                      ? wb__names_of(&conversion->semantics->names, row->source)
                                      : NULL;
    if (entry == NULL || entry->len < sizeof weight || entry->len >= sizeof text)
        return false;
    size_t stem = entry->len - (sizeof weight - 1);
    memcpy(text, entry->text, stem);
    memcpy(text + stem, bias, sizeof bias);
    return wb__names_find(&conversion->semantics->names, (wb__str){text, stem + sizeof bias - 1}) !=
           NULL;
}

/* Returns true if llama.cpp applies NAME.scale of the tensor correctly. llama.cpp loads NAME.scale
 * for matrices in layers and for a separate output matrix. For most families it applies the scale
 * only to attention matrices. For other families it also applies the scale to feed-forward
 * matrices, but after the bias is added, so the result is wrong if the matrix has a bias (as of
 * ggml 0.25). A tensor for which the result would be wrong is decoded instead. llama.cpp does not
 * load files of unknown families, so their scales are preserved. */
static bool llama_reads(const wb_conversion *conversion, const wb__planned_tensor *row)
{
    const uint32_t everywhere =
        WB__NEED_Q | WB__NEED_K | WB__NEED_V | WB__NEED_OUTPUT | WB__NEED_HEAD;
    const uint32_t in_some = WB__NEED_GATE | WB__NEED_UP | WB__NEED_DOWN;
    const wb__recipe_tensor tensor = wb__plan_recipe_tensor(row, row->name);
    if (!wb__recipe_applies(&tensor))
        return false;
    if (!conversion->semantics->is_family)
        return true;
    uint32_t flags = wb__family_flags(conversion->semantics->family);
    uint32_t provides = row->rule == NULL || (flags & WB__FAMILY_ENCODER) ? 0 : row->rule->provides;
    return (provides & everywhere) != 0 ||
           ((provides & in_some) != 0 && (flags & WB__FAMILY_FACTORS) != 0 &&
            (row->rank > 2 || !has_bias(conversion, row)));
}

/* Returns the number of global scales that the target reads for the tensor, or 0 if it reads
 * none. mlx-lm reads global scales only for experts. */
static uint64_t count_for(const wb_conversion *conversion, const wb__planned_tensor *row)
{
    uint64_t experts = row->rank == 3 ? row->shape[0] : 0;
    if (conversion->target == WB_TARGET_MLX)
        return experts;
    if (conversion->target != WB_TARGET_GGUF || row->rank < 2 || row->rank > 3 ||
        row->columns % wb__dtype_get(WB_DTYPE_NVFP4)->block_size != 0 ||
        !wb__str_ends_with(row->name, WB__STR(".weight")) || !llama_reads(conversion, row))
        return 0;
    return row->rank == 3 ? experts : 1;
}

static bool is_nvfp4(const wb__encoding_spec *spec)
{
    return spec->scheme == WB__SCHEME_NVFP4 ||
           (spec->scheme == WB__SCHEME_PLAIN && spec->dtype == WB_DTYPE_NVFP4);
}

/* Returns true if the tensor may keep its NVFP4 encoding, because the caller requested no other
 * encoding. If the caller requested nvfp4 of MLX, the values are encoded again, because MLX
 * computes the scales in another way. */
static bool is_asked(const wb_conversion *conversion, const wb__planned_tensor *row)
{
    const wb__encoding_spec *said = wb__plan_ruled(conversion, row);
    if (said == NULL && conversion->quant.kind == WB__QUANT_FORM)
        said = &conversion->quant.spec;
    return said == NULL ? conversion->quant.kind == WB__QUANT_NONE
                        : conversion->target == WB_TARGET_GGUF && is_nvfp4(said);
}

/* Returns true if the target can store the global scales of the source tensors `parts`. The number
 * of global scales must be the number that the target reads for the output tensor *row, all scales
 * must have the same convention (factor, divisor …), and the conversion must not change the values
 * of the tensor. */
static bool is_for_target(const wb_conversion *conversion, const wb__planned_tensor *row,
                          const uint32_t *parts, uint64_t count, bool are_experts)
{
    bool as_is = conversion->target == WB_TARGET_GGUF && conversion->semantics->by_key;
    uint64_t factors = as_is ? 0 : count_for(conversion, row);
    bool whole =
        are_experts || wb__names_kind(&conversion->semantics->names, parts[0])->rank == row->rank;
    bool fits = (as_is || factors != 0) && whole && is_asked(conversion, row) &&
                conversion->lora_count == 0 && row->factor == 1 && row->offset == 0;
    for (uint64_t i = 0; i < count && fits; i++) {
        bool by_view;
        wb__global global;
        wb__encoding_spec spec = wb__plan_form_of(conversion, parts[i], &by_view, &global);
        const wb__kind *kind =
            global == WB__GLOBAL_NONE
                ? NULL
                : wb__names_kind(&conversion->semantics->names, companion_of(conversion, parts[i]));
        fits = kind != NULL && !by_view && is_nvfp4(&spec) &&
               global == global_of(conversion, parts[0]) &&
               (as_is || kind->elements == (are_experts ? 1 : factors));
    }
    return fits;
}

/*
 * Converts a global scale, whose stored value is `said`, from one convention to another. Sets
 * *result to the binary32 value that the output contains, and *exact to the binary64 reference for
 * the error.
 */
static void turn(wb__global from, wb__global to, float said, float *result, double *exact)
{
    float times = to == WB__GLOBAL_MAXIMUM ? MAXIMUM_OF_A_FACTOR : 1.0f;
    if (from == WB__GLOBAL_DIVISOR) {
        *result = times / said;
        *exact = (double)times / (double)said;
    } else if (from == WB__GLOBAL_MAXIMUM) {
        *result = said / MAXIMUM_OF_A_FACTOR;
        *exact = (double)said / (double)MAXIMUM_OF_A_FACTOR;
    } else {
        *result = said * times;
        *exact = (double)said * (double)times;
    }
}

/* Sets *result to true if all scales in tensor `number` are 1. The converter of llama.cpp omits
 * such tensors. */
static wb_status are_one(const wb_conversion *conversion, wb__context *context, uint64_t number,
                         wb__global from, bool *result)
{
    float said[64], factor;
    double exact;
    uint64_t left = wb__names_kind(&conversion->semantics->names, number)->elements;
    wb_slice slice = {.size = sizeof slice};
    *result = true;
    while (left > 0 && *result) {
        slice.count = left < 64 ? left : 64;
        wb_status status = wb_tensor_read(conversion->model, number, &slice, WB_DTYPE_F32, said,
                                          slice.count * sizeof *said, context->error);
        if (status != WB_OK)
            return status;
        for (uint64_t i = 0; i < slice.count; i++) {
            turn(from, WB__GLOBAL_LAST, said[i], &factor, &exact);
            *result = *result && factor == 1;
        }
        slice.first += slice.count;
        left -= slice.count;
    }
    return WB_OK;
}

/* Sets *result to true if all scales of all source tensors `parts` are 1. */
static wb_status are_ones(const wb_conversion *conversion, wb__context *context,
                          const uint32_t *parts, uint64_t count, scale_function *of, bool *result)
{
    *result = true;
    for (uint64_t i = 0; i < count && *result; i++) {
        wb_status status = are_one(conversion, context, of(conversion, parts[i]),
                                   global_of(conversion, parts[0]), result);
        if (status != WB_OK)
            return status;
    }
    return WB_OK;
}

/* ---- activation scales ---- */

/* Returns the tensor with the input scale of a weight, or UINT64_MAX if the weight has none. A
 * program divides the activations by this scale before it quantizes them. ModelOpt stores the
 * scale itself, and compressed-tensors stores its reciprocal, as for the global scale of the
 * weight. llama.cpp's converter writes NAME.input_scale for weights that stay NVFP4, with one
 * value per expert. llama.cpp loads this tensor, but does not use it as of August 2026. */
static uint64_t input_of(const wb_conversion *conversion, uint64_t part)
{
    static const struct {
        wb__global said;
        wb__str weight, input;
    } namings[] = {{WB__GLOBAL_FACTOR, {".weight", 7}, {".input_scale", 12}},
                   {WB__GLOBAL_DIVISOR, {".weight_packed", 14}, {".input_global_scale", 19}}};
    char text[2 * WB__STEM_MAX];
    const wb__packed *packed;
    const wb__table *table = &conversion->model->catalog.table;
    wb__str name =
        wb__table_name(table, wb__tensors_stored(&conversion->model->tensors, part, &packed));
    for (size_t i = 0; i < sizeof namings / sizeof namings[0]; i++) {
        size_t stem = name.len - namings[i].weight.len, n = stem + namings[i].input.len;
        if (global_of(conversion, part) != namings[i].said ||
            !wb__str_ends_with(name, namings[i].weight) || n > sizeof text)
            continue;
        memcpy(text, name.ptr, stem);
        memcpy(text + stem, namings[i].input.ptr, namings[i].input.len);
        uint32_t stored = wb__table_find(table, (wb__str){text, n});
        if (stored != WB__NO_TENSOR)
            return wb__tensors_number(&conversion->model->tensors, stored);
    }
    return UINT64_MAX;
}

static bool has_input(const wb_conversion *conversion, uint64_t part)
{
    uint64_t input = input_of(conversion, part);
    if (input >= conversion->model->tensors.count)
        return false;
    const wb__kind *kind = wb__names_kind(&conversion->semantics->names, input);
    return kind->dtype->id == WB_DTYPE_F32 &&
           kind->elements ==
               wb__names_kind(&conversion->semantics->names, companion_of(conversion, part))
                   ->elements;
}

/* Adds a row for the input scales if each of the source tensors `parts` has an input scale, unless
 * all these scales are 1. */
static wb_status add_inputs(wb_conversion *conversion, wb__context *context,
                            const wb__planned_tensor *row, const uint32_t *parts, uint64_t count)
{
    bool ones;
    for (uint64_t i = 0; i < count; i++) {
        if (!has_input(conversion, parts[i]))
            return WB_OK;
    }
    conversion->input_scales += count;
    wb_status status = are_ones(conversion, context, parts, count, input_of, &ones);
    if (status != WB_OK || ones)
        return status;
    return add(conversion, context, row, input_of, global_of(conversion, parts[0]), WB__GLOBAL_LAST,
               name_of(conversion, true, WB__STR(".input_scale"), row->name));
}

wb_status wb__global_scales_keep(wb_conversion *conversion, wb__context *context,
                                 wb__planned_tensor *row, const wb__expert_view *view)
{
    uint32_t own = (uint32_t)row->source;
    const uint32_t *parts = view == NULL ? &own : view->parts;
    uint64_t count = view == NULL ? 1 : view->count;
    bool into = conversion->target == WB_TARGET_GGUF && !conversion->semantics->by_key,
         ones = false;
    wb_status status = WB_OK;
    if (!is_for_target(conversion, row, parts, count, view != NULL))
        return WB_OK;
    if (view != NULL) {
        row->pieces = view->parts;
        row->piece_count = count;
        row->piece_rows = row->rows / count;
    }
    row->keeps_global = true;
    if (into && conversion->semantics->is_family)
        status = add_inputs(conversion, context, row, parts, count);
    if (into && status == WB_OK)
        status = are_ones(conversion, context, parts, count, companion_of, &ones);
    return status != WB_OK || ones ? status : wb__global_scales_add(conversion, context, row);
}

void wb__global_scales_convert(wb__tile *tile)
{
    const wb__planned_tensor *planned = tile->planned;
    wb__error_stats *derived = &tile->error_stats;
    for (uint64_t i = 0; i < tile->range.rows; i++) {
        float result;
        double exact;
        turn(planned->global, planned->global_to, tile->values[i], &result, &exact);
        memcpy(tile->parts[WB__PART_VALUES] + i * sizeof result, &result, sizeof result);
        if (!isfinite(result)) {
            derived->overflowed += isfinite(tile->values[i]) ? 1 : 0;
            continue;
        }
        wb__error_stats_add_one(derived, exact, (double)result);
    }
}
