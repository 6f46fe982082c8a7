/* Determines the encodings of source tensors, and finds the caller's rule for a tensor. */
#include "convert/convert.h"
#include "convert/recipe/overrides.h"

wb__encoding_spec wb__plan_form_of(const wb_conversion *conversion, uint64_t source, bool *by_view,
                                   wb__global *global)
{
    const wb__tensors *tensors = &conversion->model->tensors;
    const wb__packed *packed = NULL;
    size_t stored = wb__tensors_stored(tensors, source, &packed);
    const wb__table *table = &conversion->model->catalog.table;
    wb__encoding_spec spec = {.dtype = wb__table_kind_of(table, stored)->dtype->id};
    /* Only compressed, column-major and big-endian tensors have a wb__storing entry. They are read
     * as decoded values, because their stored bytes cannot be used directly. */
    *by_view = wb__catalog_storing_of(&conversion->model->catalog, stored) != NULL;
    *global = WB__GLOBAL_NONE;
    if (packed == NULL)
        return spec;
    wb__mlx_type type;
    *global = packed->packing->global;
    if (packed->packing->scheme == WB__SCHEME_PLAIN)
        return spec;
    spec = (wb__encoding_spec){packed->packing->scheme, WB_DTYPE_F16, packed->packing->bits,
                               packed->packing->group};
    if (spec.scheme == WB__SCHEME_INT4 || spec.scheme == WB__SCHEME_INT8)
        spec.scheme = WB__SCHEME_AFFINE;
    if (!wb__encoding_spec_mlx(&spec, &type)) {
        *by_view = true;
        return spec;
    }
    if (packed->parts[WB__PART_BIASES] != WB__NO_TENSOR) {
        spec.dtype = wb__table_kind_of(table, packed->parts[WB__PART_SCALES])->dtype->id;
        *by_view =
            *by_view ||
            wb__table_kind_of(table, packed->parts[WB__PART_BIASES])->dtype->id != spec.dtype;
    }
    return spec;
}

static const wb__expert_view *view_of(const wb_conversion *conversion, uint64_t source)
{
    const wb__tensors *tensors = &conversion->model->tensors;
    uint64_t first = (uint64_t)tensors->count + tensors->stored_count;
    return source < first ? NULL : &conversion->semantics->names.views[source - first];
}

/* Returns true if all experts of a view have encoding *spec, are stored as contiguous elements,
 * and have no global scales. */
static bool is_alike(const wb_conversion *conversion, const wb__expert_view *view,
                     const wb__encoding_spec *spec)
{
    for (uint32_t i = 0; i < view->count; i++) {
        bool by_view;
        wb__global global;
        wb__encoding_spec other = wb__plan_form_of(conversion, view->parts[i], &by_view, &global);
        if (by_view || global != WB__GLOBAL_NONE || !wb__encoding_spec_equal(&other, spec))
            return false;
    }
    return true;
}

/* Returns true if the elements have whole bytes, and no element shares data with others. */
static bool has_byte_elements(const wb__encoding_spec *spec)
{
    const wb__dtype *dtype = wb__dtype_get(spec->dtype);
    return spec->scheme == WB__SCHEME_PLAIN && wb__dtype_is_plain(dtype) &&
           dtype->block_bits % 8 == 0;
}

/* Sets the encoding of a row with several sources. If the sources have different encodings, the row
 * is read as decoded values, and row->from is the encoding of a quantized source if there is one.
 * Values whose bytes cannot be moved one by one are also read as decoded values. */
static void take_gathered(const wb_conversion *conversion, wb__planned_tensor *row)
{
    const wb__row_gather *gather = row->gather;
    bool alike = true;
    for (uint32_t i = 0; i < gather->count; i++) {
        bool by_view;
        wb__global global;
        const wb__expert_view *view = view_of(conversion, gather->parts[i].source);
        wb__encoding_spec spec = wb__plan_form_of(
            conversion, view == NULL ? gather->parts[i].source : view->parts[0], &by_view, &global);
        if (i == 0)
            row->from = spec;
        alike = alike && wb__encoding_spec_equal(&spec, &row->from);
        if (!wb__encoding_spec_is_float(&spec))
            row->from = spec;
        row->by_view = row->by_view || by_view || view != NULL || global != WB__GLOBAL_NONE;
    }
    row->reads_part_rows = false;
    if (!alike && wb__encoding_spec_is_float(&row->from))
        row->from = wb__encoding_spec_plain(WB_DTYPE_F32);
    row->by_view =
        row->by_view || !alike || (wb__planned_transposes(row) && !has_byte_elements(&row->from));
    row->wide = row->from.scheme == WB__SCHEME_PLAIN && row->from.dtype == WB_DTYPE_F64;
}

void wb__plan_take_source_encoding(const wb_conversion *conversion, wb__planned_tensor *row)
{
    wb__global global;
    row->from = (wb__encoding_spec){.dtype = WB_DTYPE_F32};
    row->reads_part_rows = true;
    if (row->source == WB__NO_SOURCE)
        return;
    if (row->gather != NULL) {
        take_gathered(conversion, row);
        return;
    }
    const wb__expert_view *view = view_of(conversion, row->source);
    row->from = wb__plan_form_of(conversion, view == NULL ? row->source : view->parts[0],
                                 &row->by_view, &global);
    row->wide = row->from.scheme == WB__SCHEME_PLAIN && row->from.dtype == WB_DTYPE_F64;
    /* Some packed encodings are decoded in complete rows only, so a part of a row takes as long to
     * read as the whole row. */
    row->reads_part_rows = !row->by_view || (view == NULL && row->from.scheme == WB__SCHEME_PLAIN &&
                                             wb__dtype_is_plain(wb__dtype_get(row->from.dtype)));
    if (row->keeps_global)
        return;
    if (view != NULL && is_alike(conversion, view, &row->from)) {
        row->pieces = view->parts;
        row->piece_count = view->count;
        row->piece_rows = row->rows / view->count;
    } else if (view != NULL || global != WB__GLOBAL_NONE) {
        row->by_view = true;
        row->reads_part_rows = false;
    }
}

bool wb__encoding_spec_is_float(const wb__encoding_spec *spec)
{
    const wb__dtype *dtype = wb__dtype_get(spec->dtype);
    return spec->scheme == WB__SCHEME_PLAIN && wb__dtype_is_plain(dtype) &&
           wb__dtype_is_float(dtype);
}

bool wb__plan_is_other(const wb__encoding_spec *spec)
{
    const wb__dtype *dtype = wb__dtype_get(spec->dtype);
    return spec->scheme == WB__SCHEME_PLAIN && wb__dtype_is_plain(dtype) &&
           !wb__dtype_is_float(dtype);
}

bool wb__encoding_spec_is_half_or_single(int32_t dtype)
{
    return dtype == WB_DTYPE_F32 || dtype == WB_DTYPE_F16 || dtype == WB_DTYPE_BF16;
}

wb__encoding_spec wb__encoding_spec_plain(int32_t dtype)
{
    return (wb__encoding_spec){.dtype = dtype};
}

wb__encoding_spec wb__plan_plain(const wb_conversion *conversion, const wb__encoding_spec *from)
{
    if (wb__encoding_spec_is_float(from) && wb__encoding_spec_is_half_or_single(from->dtype))
        return *from;
    if (from->scheme == WB__SCHEME_MXFP8 || from->scheme == WB__SCHEME_FP8_BLOCK)
        return wb__encoding_spec_plain(WB_DTYPE_BF16);
    return wb__encoding_spec_plain(wb__encoding_spec_is_float(from) && from->dtype == WB_DTYPE_F64
                                       ? WB_DTYPE_F32
                                       : conversion->common);
}

bool wb__plan_is_widened(const wb_conversion *conversion, const wb__planned_tensor *row)
{
    const wb__recipe_tensor tensor = wb__plan_recipe_tensor(row, row->source_name);
    return !wb__plan_is_raw(conversion) && conversion->semantics->by_key &&
           row->from.scheme == WB__SCHEME_PLAIN && row->from.dtype == WB_DTYPE_F32 &&
           !wb__recipe_applies(&tensor);
}

const wb__encoding_spec *wb__plan_ruled(const wb_conversion *conversion,
                                        const wb__planned_tensor *row)
{
    const wb__encoding_spec *said = wb__overrides_find(conversion->rules, row->name.ptr);
    return said == NULL && row->source_name.len != 0
               ? wb__overrides_find(conversion->rules, row->source_name.ptr)
               : said;
}
