/*
 * A chunk is some rows of a tensor, on their way from the model to the result: read as they are
 * stored, their bytes put in order where that is enough; or decoded to binary32, put in order there,
 * moved by the offset, encoded, and, to tell what became of them, decoded again. What was binary64 stays
 * beside its binary32, since what the result lost of it is asked.
 */
#include "convert/convert.h"

#include <math.h>

#include "arch/row_order.h"
#include "convert/lora/lora.h"
#include "convert/recipe/repack.h"
#include "core/endian.h"
#include "cpu/cpu.h"
#include "dtype/dtype_block.h"
#include "read/raw_bytes.h"
#include "quant/quant.h"

/* ---- measures ---- */

/* Rows that have to stay together: a head whose rows change places. */
static uint64_t unit_rows(const wb__planned *planned)
{
    return planned->turns == WB__ROWS_AS_THEY_ARE ? 1 : planned->head_rows;
}

uint64_t wb__chunk_rows(const wb__planned *planned)
{
    uint64_t unit = unit_rows(planned);
    uint64_t rows = planned->columns == 0 ? planned->rows : WB__CHUNK_ELEMENTS / planned->columns;
    rows = rows / unit * unit;
    return rows == 0 ? unit : rows;
}

void wb__chunk_measure(const wb__planned *planned, uint64_t rows, wb__chunk_sizes *sizes)
{
    uint64_t in[WB__PARTS] = {0};
    uint64_t elements = rows * planned->columns;
    *sizes = (wb__chunk_sizes){0};
    if (!planned->by_view || planned->route == WB__ROUTE_COPY)
        (void)wb__form_measure(&planned->from, rows, planned->columns, in);
    else if (planned->wide)
        in[WB__PART_VALUES] = elements * sizeof(double);
    for (int i = 0; i < WB__PARTS; i++)
        sizes->raw += in[i];
    /* Rows that change places go through a second copy. */
    if (planned->turns != WB__ROWS_AS_THEY_ARE)
        sizes->raw *= 2;
    if (planned->route != WB__ROUTE_COPY) {
        sizes->values = elements * sizeof(float);
        if (planned->turns != WB__ROWS_AS_THEY_ARE)
            sizes->values *= 2;
        sizes->again = elements * sizeof(float);
    }
    (void)wb__form_measure(&planned->to, rows, planned->columns, sizes->parts);
}

/* ---- the order of rows ---- */

void wb__rows_reorder(wb__row_turns turns, uint64_t head_rows, uint8_t *dst, const uint8_t *src,
                      uint64_t rows, size_t bytes)
{
    for (uint64_t row = 0; row < rows; row++) {
        uint64_t from = turns == WB__ROWS_INTERLEAVE ? wb__row_order_plain(head_rows, row)
                                                     : wb__row_order_stored(head_rows, row);
        memcpy(dst + row * bytes, src + from * bytes, bytes);
    }
}

/* Those of a chunk. */
static void reorder(const wb__chunk *chunk, void *dst, const void *src, size_t bytes)
{
    const wb__planned *planned = chunk->planned;
    wb__rows_reorder(planned->turns, planned->head_rows, dst, src, chunk->rows, bytes);
}

/* ---- reading ---- */

/* The place of n bytes of a stored tensor. */
static wb__place place_in(const wb_model *model, size_t stored, uint64_t at, uint64_t n)
{
    const wb__model *logical = &model->logical;
    return (wb__place){.source = model->sources[wb__model_file_of(logical, stored)],
                       .offset = wb__model_offset_of(logical, stored) + at,
                       .bytes = (size_t)n};
}

/* n bytes: *bytes is room for them, and becomes where they are. */
static wb_status read_stored(const wb_conversion *plan, wb__context *context, wb__ahead *ahead,
                             size_t stored, uint64_t at, uint8_t **bytes, uint64_t n)
{
    const wb__model *logical = &plan->model->logical;
    wb__stored source;
    wb__place place = place_in(plan->model, stored, at, n);
    wb_status status = WB_OK;
    uint8_t *there = NULL;
    context->file = logical->files[wb__model_file_of(logical, stored)].path;
    if (ahead != NULL)
        status = wb__ahead_take(ahead, context, &place, &there);
    if (there != NULL) {
        *bytes = there;
    } else if (status == WB_OK) {
        wb__stored_open(&source, plan->model, context, stored);
        status = wb__stored_read(&source, at, *bytes, (size_t)n);
        wb__stored_close(&source);
    }
    const wb__dtype *dtype = wb__table_kind_of(&logical->table, stored)->dtype;
    if (status == WB_OK && wb__model_is_swapped(logical, stored))
        wb__dtype_swap(dtype, *bytes, (size_t)(n * 8 / dtype->block_bits));
    return status;
}

/* Where rows, which are all of one piece, begin. */
static uint64_t source_of(const wb__planned *planned, uint64_t row, uint64_t *first)
{
    *first = planned->first_row + row;
    if (planned->pieces == NULL)
        return planned->source;
    uint64_t piece = *first / planned->piece_rows;
    *first %= planned->piece_rows;
    return planned->pieces[piece];
}

bool wb__chunk_place(const wb_conversion *plan, const wb__planned *planned, uint64_t first,
                     uint64_t rows, wb__place *place)
{
    uint64_t row_bytes[WB__PARTS];
    const wb__packed *packed;
    if (planned->by_view || planned->source == WB__NO_SOURCE)
        return false;
    uint64_t row, source = source_of(planned, first, &row);
    size_t stored = wb__tensors_stored(&plan->model->tensors, source, &packed);
    stored = packed == NULL ? stored : packed->parts[WB__PART_VALUES];
    (void)wb__form_measure(&planned->from, 1, planned->columns, row_bytes);
    *place = place_in(plan->model, stored, row * row_bytes[WB__PART_VALUES],
                      rows * row_bytes[WB__PART_VALUES]);
    return place->bytes > 0 && wb__model_storing_of(&plan->model->logical, stored) == NULL;
}

/* Reads the stored bytes of the rows, part after part; `in` is where each then lies. */
static wb_status read_parts(const wb_conversion *plan, wb__context *context, const wb__chunk *chunk,
                            uint8_t *in[WB__PARTS])
{
    const wb__planned *planned = chunk->planned;
    uint64_t row_bytes[WB__PARTS];
    const wb__packed *packed;
    uint64_t first, source = source_of(planned, chunk->first, &first);
    size_t stored = wb__tensors_stored(&plan->model->tensors, source, &packed);
    uint8_t *to = chunk->raw;
    (void)wb__form_measure(&planned->from, 1, planned->columns, row_bytes);
    for (int part = 0; part < WB__PARTS; part++) {
        in[part] = NULL;
        if (row_bytes[part] == 0)
            continue;
        uint64_t bytes = row_bytes[part] * chunk->rows;
        bool moves = planned->turns != WB__ROWS_AS_THEY_ARE;
        uint8_t *read = moves ? to + bytes : to;
        wb_status status = read_stored(plan, context, part == WB__PART_VALUES ? chunk->ahead : NULL,
                                       packed == NULL ? stored : packed->parts[part],
                                       first * row_bytes[part], &read, bytes);
        if (status != WB_OK)
            return status;
        if (moves)
            reorder(chunk, to, read, (size_t)row_bytes[part]);
        in[part] = moves ? to : read;
        to += moves ? 2 * bytes : bytes;
    }
    return WB_OK;
}

static wb_status read_view(const wb_conversion *plan, wb__context *context, wb__chunk *chunk,
                           int32_t dtype, void *dst, uint64_t size)
{
    const wb__planned *planned = chunk->planned;
    uint64_t first, source = source_of(planned, chunk->first, &first);
    wb_slice slice = {.size = sizeof slice,
                      .first = first * planned->columns,
                      .count = chunk->rows * planned->columns};
    return wb_tensor_read(plan->model, source, &slice, dtype, dst, size, context->error);
}

static void decode_plain(const wb__form *form, const uint8_t *in, float *values, size_t n)
{
    wb__codec codec;
    const wb__dtype *dtype = wb__dtype_get(form->dtype);
    if (wb__codec_get(form->dtype, wb__cpu_features(), &codec) && codec.decode != NULL)
        codec.decode(in, values, n / dtype->block_size);
    else
        wb__dtype_convert(dtype, in, 0, wb__dtype_get(WB_DTYPE_F32), values, n);
}

static void decode_packed(const wb__form *form, const wb__mlx_type *type,
                          uint8_t *const in[WB__PARTS], float *values, size_t n)
{
    wb__mlx_parts parts = {.weight = in[WB__PART_VALUES],
                           .scales = in[WB__PART_SCALES],
                           .biases = in[WB__PART_BIASES],
                           .scales_dtype = form->dtype,
                           .biases_dtype = form->dtype};
    wb__mlx_decode(wb__cpu_features(), type, &parts, false, 0, n / type->group, WB_DTYPE_F32,
                   values);
}

static void decode(const wb__form *form, uint8_t *const in[WB__PARTS], float *values, size_t n)
{
    wb__mlx_type type;
    if (wb__form_mlx(form, &type))
        decode_packed(form, &type, in, values, n);
    else
        decode_plain(form, in[WB__PART_VALUES], values, n);
}

/* Of a view too: F64, in the order of the result, which is what `in` of a tensor's own parts is. */
static wb_status read_wide_view(const wb_conversion *plan, wb__context *context, wb__chunk *chunk,
                                uint8_t *in[WB__PARTS])
{
    const wb__planned *planned = chunk->planned;
    uint64_t n = chunk->rows * planned->columns, bytes = n * sizeof(double);
    bool moves = planned->turns != WB__ROWS_AS_THEY_ARE;
    uint8_t *read = moves ? chunk->raw + bytes : chunk->raw;
    wb_status status = read_view(plan, context, chunk, WB_DTYPE_F64, read, bytes);
    if (status == WB_OK && moves)
        reorder(chunk, chunk->raw, read, (size_t)planned->columns * sizeof(double));
    in[WB__PART_VALUES] = chunk->raw;
    if (status == WB_OK)
        wb__dtype_convert(wb__dtype_get(WB_DTYPE_F64), chunk->raw, 0, wb__dtype_get(WB_DTYPE_F32),
                          chunk->values, (size_t)n);
    return status;
}

/* The values of the rows, in the order of the result, and before anything is added. */
static wb_status read_values(const wb_conversion *plan, wb__context *context, wb__chunk *chunk,
                             uint8_t *in[WB__PARTS])
{
    const wb__planned *planned = chunk->planned;
    uint64_t n = chunk->rows * planned->columns;
    memset(in, 0, WB__PARTS * sizeof *in);
    if (planned->source == WB__NO_SOURCE) {
        memcpy(chunk->values, planned->made + chunk->first * planned->columns,
               (size_t)n * sizeof(float));
        return WB_OK;
    }
    if (!planned->by_view) {
        wb_status status = read_parts(plan, context, chunk, in);
        if (status == WB_OK)
            decode(&planned->from, in, chunk->values, (size_t)n);
        return status;
    }
    if (planned->wide)
        return read_wide_view(plan, context, chunk, in);
    if (planned->turns == WB__ROWS_AS_THEY_ARE)
        return read_view(plan, context, chunk, WB_DTYPE_F32, chunk->values, n * sizeof(float));
    float *read = chunk->values + n;
    wb_status status = read_view(plan, context, chunk, WB_DTYPE_F32, read, n * sizeof(float));
    if (status == WB_OK)
        reorder(chunk, chunk->values, read, (size_t)planned->columns * sizeof(float));
    return status;
}

/* ---- encoding ---- */

static void encode_plain(const wb__chunk *chunk, const float *values)
{
    const wb__planned *planned = chunk->planned;
    const wb__dtype *dtype = wb__dtype_get(planned->to.dtype);
    wb__codec codec;
    bool has = wb__codec_get(dtype->id, wb__cpu_features(), &codec) && codec.encode != NULL;
    if (!has) {
        wb__dtype_convert(wb__dtype_get(WB_DTYPE_F32), values, 0, dtype,
                          chunk->parts[WB__PART_VALUES], (size_t)(chunk->rows * planned->columns));
        return;
    }
    uint64_t row_bytes = wb__codec_bytes(&codec, planned->columns);
    for (uint64_t row = 0; row < chunk->rows; row++) {
        const float *importance = planned->importance;
        if (importance != NULL)
            importance += (planned->first_row + chunk->first + row) / planned->rows_an_importance *
                          planned->columns;
        codec.encode(values + row * planned->columns, importance,
                     chunk->parts[WB__PART_VALUES] + row * row_bytes, (size_t)planned->columns);
    }
}

/*
 * MLX encodes what the weights are stored as, and gives scales of the same dtype. `plain` is where
 * such values lie already; NULL: they have to be made of the binary32, in their place.
 */
static void encode_packed(const wb__chunk *chunk, const wb__mlx_type *type, float *values,
                          const uint8_t *plain)
{
    const wb__planned *planned = chunk->planned;
    size_t n = (size_t)(chunk->rows * planned->columns);
    int32_t dtype = planned->to.dtype;
    wb__mlx_encoding encoding = {.e8m0 = planned->nearest ? WB__MLX_E8M0_NEAREST : WB__MLX_E8M0_UP};
    wb__mlx_encoded out = {chunk->parts[WB__PART_VALUES], chunk->parts[WB__PART_SCALES],
                           chunk->parts[WB__PART_BIASES]};
    const void *src = plain;
    if (plain == NULL && dtype != WB_DTYPE_F32) {
        /* Into the second half: what is decoded again goes there later. */
        wb__dtype_convert(wb__dtype_get(WB_DTYPE_F32), values, 0, wb__dtype_get(dtype),
                          chunk->again, n);
        src = chunk->again;
    } else if (plain == NULL) {
        src = values;
    }
    wb__mlx_encode(wb__cpu_features(), type, &encoding, dtype, src, 0, n / type->group, &out);
}

static void encode(wb__chunk *chunk, uint8_t *const in[WB__PARTS], float *moved)
{
    const wb__planned *planned = chunk->planned;
    wb__mlx_type type;
    if (!wb__form_mlx(&planned->to, &type)) {
        encode_plain(chunk, moved);
        return;
    }
    bool same = planned->from.scheme == WB__SCHEME_PLAIN && !wb__planned_moves(planned) &&
                planned->from.dtype == planned->to.dtype;
    encode_packed(chunk, &type, moved, same ? in[WB__PART_VALUES] : NULL);
}

/* ---- routes ---- */

static wb_status copy(const wb_conversion *plan, wb__context *context, wb__chunk *chunk)
{
    const wb__planned *planned = chunk->planned;
    uint8_t *in[WB__PARTS];
    if (planned->by_view) {
        uint64_t bytes = chunk->part_bytes[WB__PART_VALUES];
        bool moves = planned->turns != WB__ROWS_AS_THEY_ARE;
        uint8_t *to = moves ? chunk->raw : chunk->parts[WB__PART_VALUES];
        wb_status status = read_view(plan, context, chunk, -1, to, bytes);
        if (status == WB_OK && moves)
            reorder(chunk, chunk->parts[WB__PART_VALUES], to, (size_t)(bytes / chunk->rows));
        return status;
    }
    wb_status status = read_parts(plan, context, chunk, in);
    for (int part = 0; part < WB__PARTS && status == WB_OK; part++) {
        if (in[part] != NULL)
            memcpy(chunk->parts[part], in[part], (size_t)chunk->part_bytes[part]);
    }
    return status;
}

/* Has binary64 follow its binary32, which were multiplied with factors of rows, and had an adapter added to them. */
static void follow(const wb__chunk *chunk, uint8_t *wide)
{
    const wb__planned *planned = chunk->planned;
    for (uint64_t i = 0; i < chunk->rows * planned->columns; i++, wide += sizeof(double)) {
        uint64_t bits = wb__load_le64(wide), row = planned->first_row + chunk->first;
        double value;
        memcpy(&value, &bits, sizeof value);
        row += i / planned->columns;
        float factor =
            planned->factors == NULL ? 1 : planned->factors[row / planned->rows_a_factor];
        float narrow = (float)value * factor;
        value *= (double)factor;
        if (isfinite(narrow))
            value += (double)chunk->values[i] - (double)narrow;
        memcpy(&bits, &value, sizeof bits);
        wb__store_le64(wide, bits);
    }
}

/* What became of the values: of those that were encoded, before the offset, or of binary64. */
static void tell(wb__chunk *chunk, const uint8_t *wide, float offset)
{
    const wb__planned *planned = chunk->planned;
    size_t n = (size_t)(chunk->rows * planned->columns);
    if (wide == NULL)
        wb__fidelity_measure(&chunk->fidelity, chunk->values, offset, chunk->again, n);
    else
        wb__fidelity_measure_wide(&chunk->fidelity, wide, planned->offset, planned->factor,
                                  chunk->again, n);
}

static wb_status compute(const wb_conversion *plan, wb__context *context, wb__chunk *chunk)
{
    const wb__planned *planned = chunk->planned;
    uint64_t n = chunk->rows * planned->columns;
    float offset = planned->offset;
    uint8_t *in[WB__PARTS];
    wb_status status = read_values(plan, context, chunk, in);
    if (status != WB_OK)
        return status;
    if (planned->global != WB__GLOBAL_NONE) {
        wb__globals_turn(chunk);
        return WB_OK;
    }
    wb__factors_multiply(chunk);
    wb__lora_add(planned->lora, chunk->first, chunk->rows, planned->columns, chunk->values);
    uint8_t *wide = planned->wide ? in[WB__PART_VALUES] : NULL;
    if (wide != NULL && (planned->factors != NULL || planned->lora != NULL))
        follow(chunk, wide);
    if (planned->route == WB__ROUTE_REPACK) {
        const uint8_t *from[WB__PARTS];
        memcpy(from, in, sizeof from);
        wb__repack(&planned->from, from, &planned->to, chunk->parts, (size_t)n);
    } else if (planned->factor != 1) { /* what is lost is told of the products */
        for (uint64_t i = 0; i < n; i++)
            chunk->values[i] = (chunk->values[i] + offset) * planned->factor;
        offset = 0;
        encode(chunk, in, chunk->values);
    } else if (offset != 0) {
        for (uint64_t i = 0; i < n; i++)
            chunk->again[i] = chunk->values[i] + offset;
        encode(chunk, in, chunk->again);
    } else {
        encode(chunk, in, chunk->values);
    }
    if (planned->known_exact)
        return WB_OK;
    decode(&planned->to, chunk->parts, chunk->again, (size_t)n);
    tell(chunk, wide, offset);
    return WB_OK;
}

wb_status wb__chunk_do(const wb_conversion *plan, wb__context *context, wb__chunk *chunk)
{
    const wb__planned *planned = chunk->planned;
    chunk->fidelity = (wb__fidelity){0};
    (void)wb__form_measure(&planned->to, chunk->rows, planned->columns, chunk->part_bytes);
    return planned->route == WB__ROUTE_COPY ? copy(plan, context, chunk)
                                            : compute(plan, context, chunk);
}
