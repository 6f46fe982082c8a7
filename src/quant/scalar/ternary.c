/*
 * Types with 1-bit and 2-bit values and one scale per block.
 *
 *   Q1_0   128   d f16   16 bytes             18   x = d if the bit is set, else -d
 *   Q2_0    64   d f16   16 bytes             18   x = d (q - 1)
 *   TQ2_0  256   64 bytes   d f16             66   x = d (q - 1)
 *   TQ1_0  256   48 bytes   4 bytes   d f16   54   x = d (q - 1), q of 0, 1, 2
 *
 * Columns: values per block, layout, block size in bytes, value. Q1_0 and Q2_0 pack their quants in
 * order, lowest bits first. In TQ2_0, byte m of each half of the block contains the values m, m +
 * 32, m + 64 and m + 96 of this half.
 *
 * TQ1_0 combines five quants into a number Q in base 3, and stores 256 Q / 3^5, rounded up.
 * Multiplying the byte by three moves the first quant above bit 7. Byte m of each part contains the
 * following values; n is from 0 to 4, in the last part from 0 to 3:
 *
 *   bytes 0 to 31    m + 32 n
 *   bytes 32 to 47   160 + m + 16 n
 *   bytes 48 to 51   240 + m + 4 n
 */
#include "quant/kernel.h"
#include "quant/scalar/search.h"

WB__CONTRACTION_PROBE()

/* ---- one bit: Q1_0 ---- */

static void decode_q1_0(const uint8_t *blocks, float *values, size_t n)
{
    for (; n > 0; n--, blocks += 18, values += 128) {
        float d = wb__load_f16(blocks);
        for (size_t j = 0; j < 128; j++)
            values[j] = blocks[2 + j / 8] >> j % 8 & 1 ? d : -d;
    }
}

static void encode_q1_0(const float *x, const float *importance, uint8_t *out, size_t n)
{
    (void)importance;
    for (size_t i = 0; i < n; i += 128, out += 18) {
        float sum = 0;
        memset(out, 0, 18);
        for (size_t j = 0; j < 128; j++) {
            sum += fabsf(x[i + j]);
            out[2 + j / 8] = (uint8_t)(out[2 + j / 8] | (x[i + j] >= 0) << j % 8);
        }
        wb__store_f16(out, sum / 128);
    }
}

/* ---- two bits: Q2_0 and TQ2_0 ---- */

static void decode_q2_0(const uint8_t *blocks, float *values, size_t n)
{
    for (; n > 0; n--, blocks += 18, values += 64) {
        float d = wb__load_f16(blocks);
        for (size_t j = 0; j < 64; j++)
            values[j] = (float)((blocks[2 + j / 4] >> j % 4 * 2 & 3) - 1) * d;
    }
}

/* Returns the largest magnitude, and its reciprocal in *inverse. */
static float scale_of(const float *x, size_t n, float *inverse)
{
    float most;
    (void)wb__largest(x, n, &most);
    *inverse = most != 0 ? 1.0f / most : 0.0f;
    return most;
}

static void encode_q2_0(const float *x, const float *importance, uint8_t *out, size_t n)
{
    (void)importance;
    for (size_t i = 0; i < n; i += 64, out += 18) {
        float inverse;
        memset(out, 0, 18);
        wb__store_f16(out, scale_of(x + i, 64, &inverse));
        for (size_t j = 0; j < 64; j++) {
            int32_t q = wb__clamp(wb__round_away(x[i + j] * inverse), -1, 2) + 1;
            out[2 + j / 4] = (uint8_t)(out[2 + j / 4] | q << j % 4 * 2);
        }
    }
}

static void decode_tq2_0(const uint8_t *blocks, float *values, size_t n)
{
    for (; n > 0; n--, blocks += 66, values += 256) {
        float d = wb__load_f16(blocks + 64);
        for (size_t j = 0; j < 256; j++)
            values[j] = (float)((blocks[j / 128 * 32 + j % 32] >> j % 128 / 32 * 2 & 3) - 1) * d;
    }
}

/*
 * Returns x * inverse, rounded to -1, 0 or 1, plus 1. Other results occur only if the scale is
 * subnormal, so that its reciprocal is infinite; see rounding.h.
 */
static unsigned trit(float x, float inverse)
{
    return (unsigned)wb__round_away(x * inverse) + 1u;
}

static void encode_tq2_0(const float *x, const float *importance, uint8_t *out, size_t n)
{
    (void)importance;
    for (size_t i = 0; i < n; i += 256, out += 66) {
        float inverse;
        memset(out, 0, 64);
        wb__store_f16(out + 64, scale_of(x + i, 256, &inverse));
        for (size_t j = 0; j < 256; j++) {
            uint8_t *byte = &out[j / 128 * 32 + j % 32];
            *byte = (uint8_t)(*byte | (trit(x[i + j], inverse) & 3) << j % 128 / 32 * 2);
        }
    }
}

/* ---- five values per byte: TQ1_0 ---- */

/*
 * The value order of TQ1_0. Each run is a part of the block: `lanes` bytes, starting at `byte`. Its
 * values start at index `value`. Each byte contains `depth` of them, whose indices differ by
 * `lanes`.
 */
static const struct trit_run {
    uint8_t byte, value, lanes, depth;
} trit_runs[] = {{0, 0, 32, 5}, {32, 160, 16, 5}, {48, 240, 4, 4}};

static void decode_tq1_0(const uint8_t *blocks, float *values, size_t n)
{
    static const uint8_t powers[5] = {1, 3, 9, 27, 81};
    for (; n > 0; n--, blocks += 54, values += 256) {
        float d = wb__load_f16(blocks + 52);
        for (size_t r = 0; r < 3; r++) {
            const struct trit_run *run = &trit_runs[r];
            for (size_t k = 0; k < run->depth; k++) {
                for (size_t m = 0; m < run->lanes; m++) {
                    uint8_t rest = (uint8_t)(blocks[run->byte + m] * powers[k]);
                    values[run->value + k * run->lanes + m] = (float)((rest * 3 >> 8) - 1) * d;
                }
            }
        }
    }
}

static void encode_tq1_0(const float *x, const float *importance, uint8_t *out, size_t n)
{
    (void)importance;
    for (size_t i = 0; i < n; i += 256, out += 54) {
        float inverse;
        wb__store_f16(out + 52, scale_of(x + i, 256, &inverse));
        for (size_t r = 0; r < 3; r++) {
            const struct trit_run *run = &trit_runs[r];
            for (size_t m = 0; m < run->lanes; m++) {
                uint8_t q = 0;
                for (size_t k = 0; k < 5; k++) {
                    unsigned t =
                        k < run->depth ? trit(x[i + run->value + k * run->lanes + m], inverse) : 0;
                    q = (uint8_t)(q * 3 + t);
                }
                out[run->byte + m] = (uint8_t)((q * 256 + 242) / 243);
            }
        }
    }
}

static const wb__kernel kernels[] = {
    {WB_DTYPE_TQ1_0, decode_tq1_0, encode_tq1_0, WB_IMPORTANCE_IGNORED},
    {WB_DTYPE_TQ2_0, decode_tq2_0, encode_tq2_0, WB_IMPORTANCE_IGNORED},
    {WB_DTYPE_Q1_0, decode_q1_0, encode_q1_0, WB_IMPORTANCE_IGNORED},
    {WB_DTYPE_Q2_0, decode_q2_0, encode_q2_0, WB_IMPORTANCE_IGNORED},
};

const wb__kernel_set wb__kernels_ternary = {0, contracted, kernels, WB__KERNEL_COUNT(kernels)};
