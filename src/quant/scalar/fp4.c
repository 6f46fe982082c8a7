/*
 * F4 (E2M1) values (0, 0.5, 1, 1.5, 2, 3, 4, 6, and their negatives) with a scale.
 *
 *   MXFP4   32   e u8   16 bytes             17   scale 2^(e - 127)
 *   NVFP4   64   4 scales u8   4 × 8 bytes   36   one scale per 16 values: E4M3 without sign
 *
 * Columns: values per block, layout, block size in bytes, scale. In each group of n values, byte j
 * contains value j in its low half and value j + n / 2 in its high half. The code uses doubled
 * values, which are integers, and halved scales. The encoder chooses the first of equally near
 * codes.
 *
 * Two scale bytes differ from the OCP specification: the E8M0 scale 255 is 2^128 instead of NaN,
 * and the E4M3 scale 0x7F is 0.
 */
#include "quant/scalar/fp4.h"
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

static void decode_mxfp4(const uint8_t *blocks, float *values, size_t n)
{
    for (; n > 0; n--, blocks += 17, values += 32)
        decode_group(blocks + 1, 32, wb__half_of_e8m0(blocks[0]), values);
}

static void encode_mxfp4(const float *x, const float *importance, uint8_t *out, size_t n)
{
    (void)importance;
    for (size_t i = 0; i < n; i += 32, out += 17) {
        out[0] = wb__e8m0_for(largest_magnitude(x + i, 32));
        encode_group(x + i, 32, wb__half_of_e8m0(out[0]), out + 1);
    }
}

/* ---- NVFP4 ---- */

static void decode_nvfp4(const uint8_t *blocks, float *values, size_t n)
{
    for (; n > 0; n--, blocks += 36, values += 64) {
        for (size_t group = 0; group < 4; group++)
            decode_group(blocks + 4 + 8 * group, 16, wb__half_of_e4m3(blocks[group]),
                         values + 16 * group);
    }
}

static void encode_nvfp4(const float *x, const float *importance, uint8_t *out, size_t n)
{
    (void)importance;
    for (size_t i = 0; i < n; i += 64, out += 36) {
        for (size_t group = 0; group < 4; group++) {
            const float *values = x + i + 16 * group;
            out[group] = wb__e4m3_for(largest_magnitude(values, 16) / 6);
            encode_group(values, 16, wb__half_of_e4m3(out[group]), out + 4 + 8 * group);
        }
    }
}

static const wb__kernel kernels[] = {
    {WB_DTYPE_MXFP4, decode_mxfp4, encode_mxfp4, WB_IMPORTANCE_IGNORED},
    {WB_DTYPE_NVFP4, decode_nvfp4, encode_nvfp4, WB_IMPORTANCE_IGNORED},
};

const wb__kernel_set wb__kernels_fp4 = {0, contracted, kernels, WB__KERNEL_COUNT(kernels)};
