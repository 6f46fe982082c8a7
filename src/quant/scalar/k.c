/*
 * Decoding of K-quants: blocks of 256 values in groups of 16 or 32. The scales (and minima) of the
 * groups are quantized and share a common scale.
 *
 *   Q2_K   16 scales and minima, 4 bits each   64 bytes   d f16   m f16               84
 *   Q3_K   32 bytes of high bits   64 bytes   12 bytes of scales   d f16             110
 *   Q4_K   d f16   m f16   12 bytes of scales and minima   128 bytes                 144
 *   Q5_K   d f16   m f16   12 bytes of scales and minima   32 of high bits   128     176
 *   Q6_K   128 bytes   64 bytes of high bits   16 scales i8   d f16                  210
 *   Q8_K   d f32   256 signed bytes   16 sums of 16 values i16                       292
 *
 *   Q2_K   x = (d s) q - (m t)          groups of 16
 *   Q3_K   x = (d (s - 32)) (q - 4)     groups of 16
 *   Q4_K   x = (d s) q - (m t)          groups of 32; Q5_K the same
 *   Q6_K   x = (d s) (q - 32)           groups of 16
 *   Q8_K   x = d q
 *
 * The first table shows the layout and the block size in bytes, the second one the value. d is the
 * common scale of the scales of the groups, and m that of their minima. s and t are the quantized
 * scale and minimum of a group, and q is the quant of the value. Packed bits of a value never cross
 * a byte boundary: byte i of each 32 bytes contains, from its lowest bits upwards, bits of the
 * values i, i + 32, i + 64 …; see wb__k_unpack_2 and the other functions in k.h.
 */
#include "quant/scalar/k.h"
#include "quant/kernel.h"

WB__CONTRACTION_PROBE()

static void decode_q2_k(const uint8_t *blocks, float *values, size_t n)
{
    uint8_t q[WB__K];
    for (; n > 0; n--, blocks += 84, values += WB__K) {
        float d = wb__load_f16(blocks + 80), m = wb__load_f16(blocks + 82);
        wb__k_unpack_2(blocks + 16, q);
        for (size_t j = 0; j < WB__K; j++) {
            uint8_t scales = blocks[j / 16];
            float scale = d * (float)(scales & 0xF), minimum = m * (float)(scales >> 4);
            values[j] = scale * (float)q[j] - minimum;
        }
    }
}

static void decode_q3_k(const uint8_t *blocks, float *values, size_t n)
{
    uint8_t q[WB__K];
    for (; n > 0; n--, blocks += 110, values += WB__K) {
        float d = wb__load_f16(blocks + 108);
        wb__k_unpack_2(blocks + 32, q);
        for (size_t j = 0; j < WB__K; j++) {
            float scale = d * (float)(wb__k_scale_6(blocks + 96, j / 16) - 32);
            int high = blocks[j % 32] >> j / 32 & 1;
            values[j] = scale * (float)(q[j] + 4 * high - 4);
        }
    }
}

/* Decodes a block of Q4_K or Q5_K from its unpacked quants. Both types have the same scales. */
static void decode_pair(const uint8_t *block, const uint8_t *q, float *values)
{
    float d = wb__load_f16(block), m = wb__load_f16(block + 2);
    for (size_t g = 0; g < 8; g++) {
        uint8_t s, t;
        wb__k_pair(block + 4, g, &s, &t);
        float scale = d * (float)s, minimum = m * (float)t;
        for (size_t j = 32 * g; j < 32 * g + 32; j++)
            values[j] = scale * (float)q[j] - minimum;
    }
}

static void decode_q4_k(const uint8_t *blocks, float *values, size_t n)
{
    uint8_t q[WB__K];
    for (; n > 0; n--, blocks += 144, values += WB__K) {
        wb__k_unpack_4(blocks + 16, q);
        decode_pair(blocks, q, values);
    }
}

static void decode_q5_k(const uint8_t *blocks, float *values, size_t n)
{
    uint8_t q[WB__K];
    for (; n > 0; n--, blocks += 176, values += WB__K) {
        wb__k_unpack_4(blocks + 48, q);
        for (size_t j = 0; j < WB__K; j++)
            q[j] = (uint8_t)(q[j] | (blocks[16 + j % 32] >> j / 32 & 1) << 4);
        decode_pair(blocks, q, values);
    }
}

static void decode_q6_k(const uint8_t *blocks, float *values, size_t n)
{
    uint8_t q[WB__K];
    for (; n > 0; n--, blocks += 210, values += WB__K) {
        float d = wb__load_f16(blocks + 208);
        wb__k_unpack_6(blocks, blocks + 128, q);
        for (size_t j = 0; j < WB__K; j++) {
            float scale = d * (float)(int8_t)blocks[192 + j / 16];
            values[j] = scale * (float)(q[j] - 32);
        }
    }
}

static void decode_q8_k(const uint8_t *blocks, float *values, size_t n)
{
    for (; n > 0; n--, blocks += 292, values += WB__K) {
        float d = wb__float_of_bits(wb__load_le32(blocks));
        for (size_t j = 0; j < WB__K; j++)
            values[j] = d * (float)(int8_t)blocks[4 + j];
    }
}

static const wb__kernel kernels[] = {
    {WB_DTYPE_Q2_K, decode_q2_k, wb__encode_q2_k, WB_IMPORTANCE_OPTIONAL},
    {WB_DTYPE_Q3_K, decode_q3_k, wb__encode_q3_k, WB_IMPORTANCE_OPTIONAL},
    {WB_DTYPE_Q4_K, decode_q4_k, wb__encode_q4_k, WB_IMPORTANCE_OPTIONAL},
    {WB_DTYPE_Q5_K, decode_q5_k, wb__encode_q5_k, WB_IMPORTANCE_OPTIONAL},
    {WB_DTYPE_Q6_K, decode_q6_k, wb__encode_q6_k, WB_IMPORTANCE_OPTIONAL},
    {WB_DTYPE_Q8_K, decode_q8_k, wb__encode_q8_k, WB_IMPORTANCE_IGNORED},
};

const wb__kernel_set wb__kernels_k = {0, contracted, kernels, WB__KERNEL_COUNT(kernels)};
