/*
 * F4 values (0, 0.5, 1, 1.5, 2, 3, 4, 6, and their negatives) under a scale.
 *
 *   MXFP4   32   e u8   16 bytes             17   scale 2^(e - 127)
 *   NVFP4   64   4 scales u8   4 × 8 bytes   36   a scale for every 16 values: E4M3 without its
 * sign
 *
 * In each group byte j has value j in its low half and, half a group further on, another in its
 * high half. Everything is counted in halves, so that the values are integers and the scales half
 * as large. Encoding takes, of the values, the first that is nearest.
 *
 * Two bytes are not what OCP says: e = 255 is 2^128, not NaN, and a scale of 0x7F is 0.
 */
#include "quant/kernel.h"
#include "quant/scalar/search.h"

static const int8_t halves[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

WB__CONTRACTION_PROBE()

static void decode_group(const uint8_t *packed, size_t group, float d, float *values)
{
    for (size_t j = 0; j < group / 2; j++) {
        values[j] = (float)halves[packed[j] & 0xF] * d;
        values[j + group / 2] = (float)halves[packed[j] >> 4] * d;
    }
}

static uint8_t nearest(float x, float d)
{
    uint8_t best = 0;
    float least = fabsf((float)halves[0] * d - x);
    for (uint8_t q = 1; q < 16; q++) {
        float error = fabsf((float)halves[q] * d - x);
        if (error < least) {
            best = q;
            least = error;
        }
    }
    return best;
}

static void encode_group(const float *x, size_t group, float d, uint8_t *packed)
{
    for (size_t j = 0; j < group / 2; j++)
        packed[j] = (uint8_t)(nearest(x[j], d) | nearest(x[j + group / 2], d) << 4);
}

static float largest_magnitude(const float *x, size_t n)
{
    float most;
    (void)wb__largest(x, n, &most);
    return most;
}

/* ---- MXFP4 ---- */

/* 2^(e - 128) */
static float half_of_e8m0(uint8_t e)
{
    return wb__float_of_bits(e < 2 ? UINT32_C(0x200000) << e : (uint32_t)(e - 1) << 23);
}

/*
 * 125 + floor(log2(x)), which puts x into the upper binade that F4 has; below 2^-125 it wraps.
 *
 * The reference takes the floor of a logarithm that was rounded to a binary32, and so of some x
 * just below 2^n takes n. With x = 2^n (1 - j 2^-24) the logarithm is n - j 2^-24 / ln 2 but for
 * terms that do not matter here, and is rounded to n if that is nearer than half the distance of
 * the floats below n: j < ln 2 · 2^p, with 2^p <= |n|, or half of that below a power of two.
 */
static uint8_t e8m0_for(float x)
{
    static const uint8_t least_j[8] = {1, 2, 3, 6, 12, 23, 45, 89}; /* that is not rounded to n */
    if (!(x > 0))
        return 0;
    uint32_t bits = wb__bits_of_float(x);
    int exponent = (int)(bits >> 23);
    if (exponent == 0) { /* subnormal: the leading one decides */
        for (exponent = 1; bits >> 23 == 0; exponent--)
            bits <<= 1;
    }
    int n = exponent - 126;
    unsigned magnitude = (unsigned)(n < 0 ? -n : n), p = 0;
    while (magnitude >> (p + 1) != 0)
        p++;
    bool below_power = n > 0 && (magnitude & (magnitude - 1)) == 0;
    unsigned distance = 0x800000 - (bits & 0x7FFFFF);
    if (n != 0 && !(below_power && p == 0) && distance < least_j[p - below_power])
        exponent++;
    return (uint8_t)(exponent - 2);
}

static void decode_mxfp4(const uint8_t *blocks, float *values, size_t n)
{
    for (; n > 0; n--, blocks += 17, values += 32)
        decode_group(blocks + 1, 32, half_of_e8m0(blocks[0]), values);
}

static void encode_mxfp4(const float *x, const float *importance, uint8_t *out, size_t n)
{
    (void)importance;
    for (size_t i = 0; i < n; i += 32, out += 17) {
        out[0] = e8m0_for(largest_magnitude(x + i, 32));
        encode_group(x + i, 32, half_of_e8m0(out[0]), out + 1);
    }
}

/* ---- NVFP4 ---- */

static float half_of_e4m3(uint8_t bits)
{
    uint32_t exponent = bits >> 3 & 0xF, mantissa = bits & 7;
    if (bits == 0x7F)
        return 0;
    if (exponent == 0)
        return (float)mantissa * 0x1p-10f;
    return wb__float_of_bits((exponent + 119) << 23 | mantissa << 20);
}

/* To nearest, ties upwards; all from 240 on, where the exponent is largest, becomes 448. */
static uint8_t e4m3_for(float x)
{
    if (!(x > 0))
        return 0;
    uint32_t bits = wb__bits_of_float(x);
    if (bits < (uint32_t)121 << 23) /* 2^-6: subnormal, in units of 2^-9 */
        return (uint8_t)wb__clamp(wb__truncate(x * 512 + 0.5f), 0, 7);
    uint32_t rounded = (bits + (UINT32_C(1) << 19)) >> 20;
    uint32_t code = rounded - (120 << 3);
    return (uint8_t)(code < 15 << 3 ? code : 0x7E);
}

static void decode_nvfp4(const uint8_t *blocks, float *values, size_t n)
{
    for (; n > 0; n--, blocks += 36, values += 64) {
        for (size_t group = 0; group < 4; group++)
            decode_group(blocks + 4 + 8 * group, 16, half_of_e4m3(blocks[group]),
                         values + 16 * group);
    }
}

static void encode_nvfp4(const float *x, const float *importance, uint8_t *out, size_t n)
{
    (void)importance;
    for (size_t i = 0; i < n; i += 64, out += 36) {
        for (size_t group = 0; group < 4; group++) {
            const float *values = x + i + 16 * group;
            out[group] = e4m3_for(largest_magnitude(values, 16) / 6);
            encode_group(values, 16, half_of_e4m3(out[group]), out + 4 + 8 * group);
        }
    }
}

static const wb__kernel kernels[] = {
    {WB_DTYPE_MXFP4, decode_mxfp4, encode_mxfp4, WB_IMPORTANCE_IGNORED},
    {WB_DTYPE_NVFP4, decode_nvfp4, encode_nvfp4, WB_IMPORTANCE_IGNORED},
};

const wb__kernel_set wb__kernels_fp4 = {0, contracted, kernels, WB__KERNEL_COUNT(kernels)};
