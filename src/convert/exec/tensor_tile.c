/* Processes a tile, which consists of complete rows of a tensor or of a part of one row. The copy
 * route reads the stored bytes in the order of the output rows. The other routes decode the rows to
 * binary32, permute them, apply offset and factors, and encode them. They then decode the result to
 * measure the error. For a binary64 source the original values are kept, because the error is
 * measured against these values. */
#include "convert/convert.h"

#include <math.h>

#include "arch/row_order.h"
#include "convert/lora/lora.h"
#include "convert/recipe/repack.h"
#include "core/endian.h"
#include "cpu/cpu.h"
#include "dtype/dtype_block.h"
#include "quant/quant.h"
#include "read/raw_bytes.h"

/* Returns the number of elements of a tile. */
static uint64_t elements_of(const wb__tile *tile)
{
    return tile->range.rows * tile->range.columns;
}

/* Returns the index of the first element of a tile in its tensor. */
static uint64_t first_element(const wb__tile *tile)
{
    return tile->range.first * tile->planned->columns + tile->range.column;
}

/* ---- reading ---- */

static void decode_plain(const wb__encoding_spec *spec, const uint8_t *in, float *values, size_t n)
{
    wb__codec codec;
    const wb__dtype *dtype = wb__dtype_get(spec->dtype);
    if (wb__codec_get(spec->dtype, wb__cpu_features(), &codec) && codec.decode != NULL)
        codec.decode(in, values, n / dtype->block_size);
    else
        wb__dtype_convert(dtype, in, 0, wb__dtype_get(WB_DTYPE_F32), values, n);
}

static void decode_packed(const wb__encoding_spec *spec, const wb__mlx_type *type,
                          uint8_t *const in[WB__PARTS], float *values, size_t n)
{
    wb__mlx_parts parts = {.weight = in[WB__PART_VALUES],
                           .scales = in[WB__PART_SCALES],
                           .biases = in[WB__PART_BIASES],
                           .scales_dtype = spec->dtype,
                           .biases_dtype = spec->dtype};
    wb__mlx_decode(wb__cpu_features(), type, &parts, false, 0, n / type->group, WB_DTYPE_F32,
                   values);
}

static void decode(const wb__encoding_spec *spec, uint8_t *const in[WB__PARTS], float *values,
                   size_t n)
{
    wb__mlx_type type;
    if (wb__encoding_spec_mlx(spec, &type))
        decode_packed(spec, &type, in, values, n);
    else
        decode_plain(spec, in[WB__PART_VALUES], values, n);
}

/* Reads the binary64 values of a tile in output row order, sets in[] as wb__tile_read_parts does,
 * and converts the values to binary32 in tile->values. */
static wb_status read_wide_view(const wb_conversion *conversion, wb__context *context,
                                wb__tile *tile, uint8_t *in[WB__PARTS])
{
    uint64_t n = elements_of(tile), bytes = n * sizeof(double);
    wb_status status = wb__tile_read_values(conversion, context, tile, WB_DTYPE_F64, tile->raw,
                                            tile->raw + bytes, bytes);
    in[WB__PART_VALUES] = tile->raw;
    if (status == WB_OK)
        wb__dtype_convert(wb__dtype_get(WB_DTYPE_F64), tile->raw, 0, wb__dtype_get(WB_DTYPE_F32),
                          tile->values, (size_t)n);
    return status;
}

/* Reads the values of a tile in output row order, before factors, offset and adapters are
 * applied. */
static wb_status read_values(const wb_conversion *conversion, wb__context *context, wb__tile *tile,
                             uint8_t *in[WB__PARTS])
{
    const wb__planned_tensor *planned = tile->planned;
    uint64_t n = elements_of(tile);
    memset(in, 0, WB__PARTS * sizeof *in);
    if (planned->source == WB__NO_SOURCE) {
        memcpy(tile->values, planned->made + first_element(tile), (size_t)n * sizeof(float));
        return WB_OK;
    }
    if (!planned->by_view) {
        wb_status status = wb__tile_read_parts(conversion, context, tile, in);
        if (status == WB_OK)
            decode(&planned->from, in, tile->values, (size_t)n);
        return status;
    }
    if (planned->wide)
        return read_wide_view(conversion, context, tile, in);
    return wb__tile_read_values(conversion, context, tile, WB_DTYPE_F32, tile->values,
                                tile->values + n, n * sizeof(float));
}

/* ---- encoding ---- */

static void encode_plain(const wb__tile *tile, const float *values)
{
    const wb__planned_tensor *planned = tile->planned;
    const wb__dtype *dtype = wb__dtype_get(planned->to.dtype);
    wb__codec codec;
    bool has = wb__codec_get(dtype->id, wb__cpu_features(), &codec) && codec.encode != NULL;
    if (!has) {
        wb__dtype_convert(wb__dtype_get(WB_DTYPE_F32), values, 0, dtype,
                          tile->parts[WB__PART_VALUES], (size_t)elements_of(tile));
        return;
    }
    uint64_t columns = tile->range.columns, row_bytes = wb__codec_bytes(&codec, columns);
    for (uint64_t row = 0; row < tile->range.rows; row++) {
        const float *importance = planned->importance;
        if (importance != NULL)
            importance += (planned->first_row + tile->range.first + row) /
                          planned->rows_an_importance * columns;
        codec.encode(values + row * columns, importance,
                     tile->parts[WB__PART_VALUES] + row * row_bytes, (size_t)columns);
    }
}

/* Encodes values in a packed encoding of MLX. The input of MLX's quantization has the dtype of the
 * scales (planned->to.dtype). `plain` contains the values in this dtype. If `plain` is NULL, the
 * binary32 `values` are converted to it first. */
static void encode_packed(const wb__tile *tile, const wb__mlx_type *type, float *values,
                          const uint8_t *plain)
{
    const wb__planned_tensor *planned = tile->planned;
    size_t n = (size_t)elements_of(tile);
    int32_t dtype = planned->to.dtype;
    wb__mlx_encoding encoding = {.e8m0 = planned->nearest ? WB__MLX_E8M0_NEAREST : WB__MLX_E8M0_UP};
    wb__mlx_encoded out = {tile->parts[WB__PART_VALUES], tile->parts[WB__PART_SCALES],
                           tile->parts[WB__PART_BIASES]};
    const void *src = plain;
    if (plain == NULL && dtype != WB_DTYPE_F32) {
        /* tile->again is used here as scratch buffer, because the result is decoded into it only
         * later. */
        wb__dtype_convert(wb__dtype_get(WB_DTYPE_F32), values, 0, wb__dtype_get(dtype), tile->again,
                          n);
        src = tile->again;
    } else if (plain == NULL) {
        src = values;
    }
    wb__mlx_encode(wb__cpu_features(), type, &encoding, dtype, src, 0, n / type->group, &out);
}

static void encode(wb__tile *tile, uint8_t *const in[WB__PARTS], float *moved)
{
    const wb__planned_tensor *planned = tile->planned;
    wb__mlx_type type;
    if (!wb__encoding_spec_mlx(&planned->to, &type)) {
        encode_plain(tile, moved);
        return;
    }
    bool same = planned->from.scheme == WB__SCHEME_PLAIN && !wb__planned_changes_values(planned) &&
                planned->from.dtype == planned->to.dtype;
    encode_packed(tile, &type, moved, same ? in[WB__PART_VALUES] : NULL);
}

/* ---- routes ---- */

static wb_status copy(const wb_conversion *conversion, wb__context *context, wb__tile *tile)
{
    const wb__planned_tensor *planned = tile->planned;
    uint8_t *in[WB__PARTS];
    if (planned->by_view)
        return wb__tile_read_values(conversion, context, tile, -1, tile->parts[WB__PART_VALUES],
                                    tile->raw, tile->part_bytes[WB__PART_VALUES]);
    wb_status status = wb__tile_read_parts(conversion, context, tile, in);
    for (int part = 0; part < WB__PARTS && status == WB_OK; part++) {
        if (in[part] != NULL)
            memcpy(tile->parts[part], in[part], (size_t)tile->part_bytes[part]);
    }
    return status;
}

/* Applies the row factors and the adapter to the binary64 values, in the same way as they were
 * applied to the binary32 copies in tile->values. */
static void follow(const wb__tile *tile, uint8_t *wide)
{
    const wb__planned_tensor *planned = tile->planned;
    for (uint64_t i = 0; i < elements_of(tile); i++, wide += sizeof(double)) {
        uint64_t bits = wb__load_le64(wide), row = planned->first_row + tile->range.first;
        double value;
        memcpy(&value, &bits, sizeof value);
        row += i / tile->range.columns;
        float factor =
            planned->factors == NULL ? 1 : planned->factors[row / planned->rows_a_factor];
        float narrow = (float)value * factor;
        value *= (double)factor;
        if (isfinite(narrow))
            value += (double)tile->values[i] - (double)narrow;
        memcpy(&bits, &value, sizeof bits);
        wb__store_le64(wide, bits);
    }
}

/*
 * Measures the error of the encoding. Compares the decoded values in tile->again with the source
 * values: `wide` for a binary64 source, otherwise tile->values. The offset, for example the 1 that
 * some formats add to norm weights, is added to the source values first.
 */
static void tell(wb__tile *tile, const uint8_t *wide, float offset)
{
    const wb__planned_tensor *planned = tile->planned;
    size_t n = (size_t)elements_of(tile);
    if (wide == NULL)
        wb__error_stats_measure(&tile->error_stats, tile->values, offset, tile->again, n);
    else
        wb__error_stats_measure_wide(&tile->error_stats, wide, planned->offset, planned->factor,
                                     tile->again, n);
}

static wb_status compute(const wb_conversion *conversion, wb__context *context, wb__tile *tile)
{
    const wb__planned_tensor *planned = tile->planned;
    uint64_t n = elements_of(tile);
    float offset = planned->offset;
    uint8_t *in[WB__PARTS];
    wb_status status = read_values(conversion, context, tile, in);
    if (status != WB_OK)
        return status;
    if (planned->global != WB__GLOBAL_NONE) {
        wb__global_scales_convert(tile);
        return WB_OK;
    }
    wb__scale_tensors_multiply(tile);
    wb__lora_add(planned->lora, tile->range.first, tile->range.rows, planned->columns,
                 tile->values);
    uint8_t *wide = planned->wide ? in[WB__PART_VALUES] : NULL;
    if (wide != NULL && (planned->factors != NULL || planned->lora != NULL))
        follow(tile, wide);
    if (planned->route == WB__ROUTE_REPACK) {
        const uint8_t *from[WB__PARTS];
        memcpy(from, in, sizeof from);
        wb__repack(&planned->from, from, &planned->to, tile->parts, (size_t)n);
    } else if (planned->factor != 1) {
        /* The factor is applied in tile->values itself, because the error is measured against
         * tile->values. */
        for (uint64_t i = 0; i < n; i++)
            tile->values[i] = (tile->values[i] + offset) * planned->factor;
        offset = 0;
        encode(tile, in, tile->values);
    } else if (offset != 0) {
        for (uint64_t i = 0; i < n; i++)
            tile->again[i] = tile->values[i] + offset;
        encode(tile, in, tile->again);
    } else {
        encode(tile, in, tile->values);
    }
    if (planned->known_exact)
        return WB_OK;
    decode(&planned->to, tile->parts, tile->again, (size_t)n);
    tell(tile, wide, offset);
    return WB_OK;
}

wb_status wb__tile_run(const wb_conversion *conversion, wb__context *context, wb__tile *tile)
{
    const wb__planned_tensor *planned = tile->planned;
    tile->error_stats = (wb__error_stats){0};
    (void)wb__encoding_spec_measure(&planned->to, tile->range.rows, tile->range.columns,
                                    tile->part_bytes);
    return planned->route == WB__ROUTE_COPY ? copy(conversion, context, tile)
                                            : compute(conversion, context, tile);
}
