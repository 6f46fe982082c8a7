/*
 * The first types of ggml: blocks of 32 values with a scale, and possibly a minimum. Columns: type,
 * layout (with byte offsets in the first line), block size in bytes, value.
 *
 *          0       2       4       6       8
 *   Q4_0   d f16   16 bytes of quants                  18   x = d (q - 8)
 *   Q4_1   d f16   m f16   16 bytes of quants          20   x = d q + m
 *   Q5_0   d f16   high bits u32   16 bytes            22   x = d (q - 16)
 *   Q5_1   d f16   m f16   high bits u32   16 bytes    24   x = d q + m
 *   Q8_0   d f16   32 signed bytes                     34   x = d q
 *   Q8_1   d f16   s f16   32 signed bytes             36   x = d q; s = d Σq, for dot products
 *
 * Byte j of the quants contains value j in its low half and value j + 16 in its high half. Bit i of
 * the high bits is the fifth bit of value i.
 *
 * Without an importance matrix, the scale is derived from the value of largest magnitude or from
 * the range. With an importance matrix, the scale is searched for. Q8_0 and Q8_1 ignore the matrix.
 */
#include "quant/kernel.h"
#include "quant/scalar/search.h"

#define BLOCK 32
#define HALF 16

WB__CONTRACTION_PROBE()

/* ---- packing of quants ---- */

static void unpack_4(const uint8_t *packed, uint8_t *q)
{
    for (size_t j = 0; j < HALF; j++) {
        q[j] = packed[j] & 0xF;
        q[j + HALF] = packed[j] >> 4;
    }
}

static void unpack_5(const uint8_t *high, const uint8_t *packed, uint8_t *q)
{
    uint32_t bits = wb__load_le32(high);
    unpack_4(packed, q);
    for (size_t j = 0; j < BLOCK; j++)
        q[j] = (uint8_t)(q[j] | (bits >> j & 1) << 4);
}

static void pack_4(const uint8_t *q, uint8_t *packed)
{
    for (size_t j = 0; j < HALF; j++)
        packed[j] = (uint8_t)((q[j] & 0xF) | (q[j + HALF] & 0xF) << 4);
}

static void pack_5(const uint8_t *q, uint8_t *high, uint8_t *packed)
{
    uint32_t bits = 0;
    for (size_t j = 0; j < BLOCK; j++)
        bits |= (uint32_t)(q[j] >> 4 & 1) << j;
    wb__store_le32(high, bits);
    pack_4(q, packed);
}

/* ---- decoding ---- */

static void scale_signed(const uint8_t *q, int offset, float d, float *values)
{
    for (size_t j = 0; j < BLOCK; j++)
        values[j] = (float)(q[j] - offset) * d;
}

static void scale_and_shift(const uint8_t *q, float d, float m, float *values)
{
    for (size_t j = 0; j < BLOCK; j++)
        values[j] = (float)q[j] * d + m;
}

static void decode_q4_0(const uint8_t *blocks, float *values, size_t n)
{
    uint8_t q[BLOCK];
    for (; n > 0; n--, blocks += 18, values += BLOCK) {
        unpack_4(blocks + 2, q);
        scale_signed(q, 8, wb__load_f16(blocks), values);
    }
}

static void decode_q4_1(const uint8_t *blocks, float *values, size_t n)
{
    uint8_t q[BLOCK];
    for (; n > 0; n--, blocks += 20, values += BLOCK) {
        unpack_4(blocks + 4, q);
        scale_and_shift(q, wb__load_f16(blocks), wb__load_f16(blocks + 2), values);
    }
}

static void decode_q5_0(const uint8_t *blocks, float *values, size_t n)
{
    uint8_t q[BLOCK];
    for (; n > 0; n--, blocks += 22, values += BLOCK) {
        unpack_5(blocks + 2, blocks + 6, q);
        scale_signed(q, 16, wb__load_f16(blocks), values);
    }
}

static void decode_q5_1(const uint8_t *blocks, float *values, size_t n)
{
    uint8_t q[BLOCK];
    for (; n > 0; n--, blocks += 24, values += BLOCK) {
        unpack_5(blocks + 4, blocks + 8, q);
        scale_and_shift(q, wb__load_f16(blocks), wb__load_f16(blocks + 2), values);
    }
}

static void decode_bytes(const uint8_t *blocks, size_t block_bytes, float *values, size_t n)
{
    for (; n > 0; n--, blocks += block_bytes, values += BLOCK) {
        const uint8_t *q = blocks + block_bytes - BLOCK;
        float d = wb__load_f16(blocks);
        for (size_t j = 0; j < BLOCK; j++)
            values[j] = (float)(int8_t)q[j] * d;
    }
}

static void decode_q8_0(const uint8_t *blocks, float *values, size_t n)
{
    decode_bytes(blocks, 34, values, n);
}

static void decode_q8_1(const uint8_t *blocks, float *values, size_t n)
{
    decode_bytes(blocks, 36, values, n);
}

/* ---- encoding ---- */

/*
 * Returns 1 / d, or 0 if d is 0. The result is infinite if d is too small (subnormal); rounding.h
 * defines the quants that result from this.
 */
static float reciprocal(float d)
{
    return d != 0 ? 1.0f / d : 0.0f;
}

/*
 * Returns the quant of a value that was already divided by the scale: adds `shift`, converts to
 * int8_t, and limits the result to `top`.
 */
static uint8_t quant_of(float x, float shift, int top)
{
    int8_t q = (int8_t)(uint8_t)wb__truncate(x + shift);
    return (uint8_t)(q < top ? q : top);
}

/*
 * Quantizes a block with the scale that maps the value of largest magnitude to -range. Returns the
 * scale.
 */
static float quantize_signed(const float *x, int range, uint8_t *q)
{
    float most;
    float d = wb__largest(x, BLOCK, &most) / (float)-range;
    float inverse = reciprocal(d);
    for (size_t j = 0; j < BLOCK; j++)
        q[j] = quant_of(x[j] * inverse, (float)range + 0.5f, 2 * range - 1);
    return d;
}

static float quantize_range(const float *x, int top, uint8_t *q, float *minimum)
{
    float min = FLT_MAX, max = -FLT_MAX;
    for (size_t j = 0; j < BLOCK; j++) {
        if (x[j] < min)
            min = x[j];
        if (x[j] > max)
            max = x[j];
    }
    float d = (max - min) / (float)top;
    float inverse = reciprocal(d);
    for (size_t j = 0; j < BLOCK; j++)
        q[j] = quant_of((x[j] - min) * inverse, 0.5f, top);
    *minimum = min;
    return d;
}

/*
 * Computes weights from an importance matrix: importance · sqrt(variance + x²). The variance is the
 * mean square of the row.
 */
static void weigh(const float *x, const float *importance, float variance, float *weights)
{
    for (size_t j = 0; j < BLOCK; j++)
        weights[j] = importance[j] * sqrtf(variance + x[j] * x[j]);
}

/* Quantizes a block that has a scale but no minimum. Returns the scale. */
static float encode_signed(const float *x, const float *importance, float variance, int range,
                           uint8_t *q)
{
    float weights[BLOCK];
    if (importance == NULL)
        return quantize_signed(x, range, q);
    weigh(x, importance, variance, weights);
    return wb__search_signed(BLOCK, range, x, weights, q);
}

static float encode_range(const float *x, const float *importance, float variance, int top,
                          uint8_t *q, float *minimum)
{
    static const wb__scale_tries tries = {-0.9f, 0.05f, 36, false};
    float weights[BLOCK];
    if (importance == NULL)
        return quantize_range(x, top, q, minimum);
    weigh(x, importance, variance, weights);
    float d = wb__search_minimum(BLOCK, top, x, weights, &tries, q, minimum);
    *minimum = -*minimum;
    return d;
}

static float variance_of(const float *x, const float *importance, size_t n)
{
    return importance == NULL ? 0 : wb__sum_of_squares(x, n) / (float)n;
}

#define IMPORTANCE_AT(i) (importance == NULL ? NULL : importance + (i))

static void encode_q4_0(const float *x, const float *importance, uint8_t *out, size_t n)
{
    float variance = variance_of(x, importance, n);
    uint8_t q[BLOCK];
    for (size_t i = 0; i < n; i += BLOCK, out += 18) {
        wb__store_f16(out, encode_signed(x + i, IMPORTANCE_AT(i), variance, 8, q));
        pack_4(q, out + 2);
    }
}

static void encode_q4_1(const float *x, const float *importance, uint8_t *out, size_t n)
{
    float variance = variance_of(x, importance, n), minimum;
    uint8_t q[BLOCK];
    for (size_t i = 0; i < n; i += BLOCK, out += 20) {
        wb__store_f16(out, encode_range(x + i, IMPORTANCE_AT(i), variance, 15, q, &minimum));
        wb__store_f16(out + 2, minimum);
        pack_4(q, out + 4);
    }
}

static void encode_q5_0(const float *x, const float *importance, uint8_t *out, size_t n)
{
    float variance = variance_of(x, importance, n);
    uint8_t q[BLOCK];
    for (size_t i = 0; i < n; i += BLOCK, out += 22) {
        wb__store_f16(out, encode_signed(x + i, IMPORTANCE_AT(i), variance, 16, q));
        pack_5(q, out + 2, out + 6);
    }
}

static void encode_q5_1(const float *x, const float *importance, uint8_t *out, size_t n)
{
    float variance = variance_of(x, importance, n), minimum;
    uint8_t q[BLOCK];
    for (size_t i = 0; i < n; i += BLOCK, out += 24) {
        wb__store_f16(out, encode_range(x + i, IMPORTANCE_AT(i), variance, 31, q, &minimum));
        wb__store_f16(out + 2, minimum);
        pack_5(q, out + 4, out + 8);
    }
}

/* Quantizes a block with the scale that maps the largest magnitude to 127. Returns the scale. */
static float quantize_bytes(const float *x, uint8_t *q)
{
    float most;
    (void)wb__largest(x, BLOCK, &most);
    float d = most / 127;
    float inverse = reciprocal(d);
    for (size_t j = 0; j < BLOCK; j++)
        q[j] = (uint8_t)wb__round_away(x[j] * inverse);
    return d;
}

static void encode_q8_0(const float *x, const float *importance, uint8_t *out, size_t n)
{
    (void)importance;
    for (size_t i = 0; i < n; i += BLOCK, out += 34)
        wb__store_f16(out, quantize_bytes(x + i, out + 2));
}

static void encode_q8_1(const float *x, const float *importance, uint8_t *out, size_t n)
{
    (void)importance;
    for (size_t i = 0; i < n; i += BLOCK, out += 36) {
        float d = quantize_bytes(x + i, out + 4);
        int sum = 0;
        for (size_t j = 0; j < BLOCK; j++)
            sum += (int8_t)out[4 + j];
        wb__store_f16(out, d);
        wb__store_f16(out + 2, (float)sum * d);
    }
}

static const wb__kernel kernels[] = {
    {WB_DTYPE_Q4_0, decode_q4_0, encode_q4_0, WB_IMPORTANCE_OPTIONAL},
    {WB_DTYPE_Q4_1, decode_q4_1, encode_q4_1, WB_IMPORTANCE_OPTIONAL},
    {WB_DTYPE_Q5_0, decode_q5_0, encode_q5_0, WB_IMPORTANCE_OPTIONAL},
    {WB_DTYPE_Q5_1, decode_q5_1, encode_q5_1, WB_IMPORTANCE_OPTIONAL},
    {WB_DTYPE_Q8_0, decode_q8_0, encode_q8_0, WB_IMPORTANCE_IGNORED},
    {WB_DTYPE_Q8_1, decode_q8_1, encode_q8_1, WB_IMPORTANCE_IGNORED},
};

const wb__kernel_set wb__kernels_legacy = {0, contracted, kernels, WB__KERNEL_COUNT(kernels)};
