/*
 * Decoding of the codebook types; codebooks.h defines the terms. A block has 256 values in 8 groups
 * of 4 octets. Columns: type, layout, block size in bytes.
 *
 *   IQ2_XXS  d f16   8 × (4 point numbers u8, u32: 4 × 7 signs, 4-bit scale)            66
 *   IQ2_XS   d f16   32 × u16: 9-bit number, 7 signs   8 bytes: two 4-bit scales        74
 *   IQ2_S    d f16   32 numbers u8   32 signs u8   8 × 4 × 2 high bits   8 scale bytes  82
 *   IQ3_XXS  d f16   64 numbers u8   8 × u32: 4 × 7 signs, 4-bit scale                  98
 *   IQ3_S    d f16   64 numbers u8   8 × 8 high bits   32 signs u8   4 scale bytes     110
 *   IQ1_S    d f16   32 numbers u8   8 × u16: 4 × 3 high bits, 3-bit scale, shift       50
 *   IQ1_M    32 numbers u8   16 bytes: 2 × (3 high bits, shift)   4 × u16: 4 × 3-bit
 *            scale, and in the upper 4 bits a quarter of d f16, lowest quarter first   56
 *
 * A number is the index of a point in the codebook; high bits are its bits above the lowest 8. d is
 * the scale of the block. A 4-bit scale s means d (s + 1/2) / 4, in IQ3_XXS d (s + 1/2) / 2, in
 * IQ3_S d (1 + 2 s). A 3-bit scale s means d (2 s + 1). Each group has a scale; in IQ2_XS, IQ2_S
 * and IQ1_M each half of a group has one. Sign bit i is set if value i of the octet is negative. If
 * only 7 signs of an octet are stored, wb__with_parity computes the eighth. The shift bit is set if
 * the values are shifted down.
 */
#include "quant/scalar/iq.h"
#include "quant/kernel.h"
#include "quant/scalar/codebooks.h"

static const float magnitudes_iq2[3] = {8, 25, 43};
static const float magnitudes_iq3_xxs[8] = {4, 12, 20, 28, 36, 44, 52, 62};
static const float magnitudes_iq3_s[8] = {1, 3, 5, 7, 9, 11, 13, 15};

WB__CONTRACTION_PROBE()

static void signed_values(const float *magnitudes, unsigned bits, unsigned code, size_t n,
                          unsigned signs, float d, float *values)
{
    for (size_t i = 0; i < n; i++) {
        float v = d * magnitudes[code >> bits * i & ((1u << bits) - 1)];
        values[i] = signs >> i & 1 ? -v : v;
    }
}

static void octet_iq2(unsigned code, unsigned signs, float d, float *values)
{
    signed_values(magnitudes_iq2, 2, code, 8, signs, d, values);
}

static void octet_iq3(const float *magnitudes, const uint16_t codes[2], unsigned signs, float d,
                      float *values)
{
    signed_values(magnitudes, 3, codes[0], 4, signs, d, values);
    signed_values(magnitudes, 3, codes[1], 4, signs >> 4, d, values + 4);
}

static void decode_iq2_xxs(const uint8_t *blocks, float *values, size_t n)
{
    for (; n > 0; n--, blocks += 66) {
        float d = wb__load_f16(blocks);
        for (size_t g = 0; g < 8; g++) {
            const uint8_t *numbers = blocks + 2 + 8 * g;
            uint32_t rest = wb__load_le32(numbers + 4);
            float scale = d * (0.5f + (float)(rest >> 28)) * 0.25f;
            for (size_t o = 0; o < 4; o++, values += 8)
                octet_iq2(wb__codes_iq2_xxs[numbers[o]], wb__with_parity(rest >> 7 * o & 127),
                          scale, values);
        }
    }
}

/* Returns the scale of octet o of IQ2_XS and IQ2_S: 4 bits for every two octets. */
static float scale_of_pair(const uint8_t *scales, size_t o, float d)
{
    return d * (0.5f + (float)(scales[o / 4] >> o % 4 / 2 * 4 & 0xF)) * 0.25f;
}

static void decode_iq2_xs(const uint8_t *blocks, float *values, size_t n)
{
    for (; n > 0; n--, blocks += 74) {
        float d = wb__load_f16(blocks);
        for (size_t o = 0; o < 32; o++, values += 8) {
            unsigned q = wb__load_le16(blocks + 2 + 2 * o);
            octet_iq2(wb__codes_iq2_xs[q & 511], wb__with_parity(q >> 9),
                      scale_of_pair(blocks + 66, o, d), values);
        }
    }
}

static void decode_iq2_s(const uint8_t *blocks, float *values, size_t n)
{
    for (; n > 0; n--, blocks += 82) {
        float d = wb__load_f16(blocks);
        for (size_t o = 0; o < 32; o++, values += 8) {
            unsigned high = (unsigned)blocks[66 + o / 4] >> o % 4 * 2 & 3;
            octet_iq2(wb__codes_iq2_s[blocks[2 + o] | high << 8], blocks[34 + o],
                      scale_of_pair(blocks + 74, o, d), values);
        }
    }
}

static void decode_iq3_xxs(const uint8_t *blocks, float *values, size_t n)
{
    for (; n > 0; n--, blocks += 98) {
        float d = wb__load_f16(blocks);
        for (size_t o = 0; o < 32; o++, values += 8) {
            const uint8_t *numbers = blocks + 2 + 2 * o;
            uint32_t rest = wb__load_le32(blocks + 66 + o / 4 * 4);
            float scale = d * (0.5f + (float)(rest >> 28)) * 0.5f;
            octet_iq3(
                magnitudes_iq3_xxs,
                (const uint16_t[2]){wb__codes_iq3_xxs[numbers[0]], wb__codes_iq3_xxs[numbers[1]]},
                wb__with_parity(rest >> o % 4 * 7 & 127), scale, values);
        }
    }
}

static void decode_iq3_s(const uint8_t *blocks, float *values, size_t n)
{
    for (; n > 0; n--, blocks += 110) {
        float d = wb__load_f16(blocks);
        for (size_t o = 0; o < 32; o++, values += 8) {
            const uint8_t *numbers = blocks + 2 + 2 * o;
            unsigned high = (unsigned)blocks[66 + o / 4] >> o % 4 * 2;
            float scale = d * (float)(1 + 2 * (blocks[106 + o / 8] >> o % 8 / 4 * 4 & 0xF));
            octet_iq3(magnitudes_iq3_s,
                      (const uint16_t[2]){wb__codes_iq3_s[numbers[0] | (high & 1) << 8],
                                          wb__codes_iq3_s[numbers[1] | (high >> 1 & 1) << 8]},
                      blocks[74 + o], scale, values);
        }
    }
}

static void octet_iq1(unsigned number, bool down, float d, float *values)
{
    unsigned code = wb__codes_iq1[number];
    for (size_t i = 0; i < 8; i++)
        values[i] = d * ((float)(code >> 2 * i & 3) - 1 + (down ? -0.125f : 0.125f));
}

static void decode_iq1_s(const uint8_t *blocks, float *values, size_t n)
{
    for (; n > 0; n--, blocks += 50) {
        float d = wb__load_f16(blocks);
        for (size_t o = 0; o < 32; o++, values += 8) {
            unsigned rest = wb__load_le16(blocks + 34 + o / 4 * 2);
            octet_iq1(blocks[2 + o] | (rest >> o % 4 * 3 & 7) << 8, rest >> 15,
                      d * (float)(2 * (rest >> 12 & 7) + 1), values);
        }
    }
}

static void decode_iq1_m(const uint8_t *blocks, float *values, size_t n)
{
    for (; n > 0; n--, blocks += 56) {
        unsigned bits = 0;
        for (size_t i = 0; i < 4; i++)
            bits |= (unsigned)(wb__load_le16(blocks + 48 + 2 * i) >> 12) << 4 * i;
        float d = wb__float_of_bits(wb__f16_to_f32((uint16_t)bits));
        for (size_t o = 0; o < 32; o++, values += 8) {
            unsigned rest = (unsigned)blocks[32 + o / 2] >> o % 2 * 4;
            unsigned scale = wb__load_le16(blocks + 48 + o / 8 * 2) >> o % 8 / 2 * 3 & 7;
            octet_iq1(blocks[o] | (rest & 7) << 8, rest & 8, d * (float)(2 * scale + 1), values);
        }
    }
}

static const wb__kernel kernels[] = {
    {WB_DTYPE_IQ2_XXS, decode_iq2_xxs, wb__encode_iq2_xxs, WB_IMPORTANCE_REQUIRED},
    {WB_DTYPE_IQ2_XS, decode_iq2_xs, wb__encode_iq2_xs, WB_IMPORTANCE_REQUIRED},
    {WB_DTYPE_IQ2_S, decode_iq2_s, wb__encode_iq2_s, WB_IMPORTANCE_OPTIONAL},
    {WB_DTYPE_IQ3_XXS, decode_iq3_xxs, wb__encode_iq3_xxs, WB_IMPORTANCE_OPTIONAL},
    {WB_DTYPE_IQ3_S, decode_iq3_s, wb__encode_iq3_s, WB_IMPORTANCE_OPTIONAL},
    {WB_DTYPE_IQ1_S, decode_iq1_s, wb__encode_iq1_s, WB_IMPORTANCE_REQUIRED},
    {WB_DTYPE_IQ1_M, decode_iq1_m, wb__encode_iq1_m, WB_IMPORTANCE_OPTIONAL},
};

const wb__kernel_set wb__kernels_iq = {0, contracted, kernels, WB__KERNEL_COUNT(kernels)};
