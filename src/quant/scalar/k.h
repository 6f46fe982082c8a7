/*
 * quant/scalar/k.h: packing of the values and scales of K-quants. k.c documents the block layouts.
 */
#ifndef WB_QUANT_SCALAR_K_H
#define WB_QUANT_SCALAR_K_H

#include "quant/quant.h"

#define WB__K 256

wb__encode wb__encode_q2_k, wb__encode_q3_k, wb__encode_q4_k, wb__encode_q5_k, wb__encode_q6_k,
    wb__encode_q8_k;

/* ---- steps common to all encoders, after the scales of the groups are known ---- */

/* The result of encoding a block of Q2_K, Q4_K or Q5_K. */
typedef struct wb__k_pairs {
    float d, m;
    uint8_t scales[16], minima[16];
    uint8_t q[WB__K];
} wb__k_pairs;

/*
 * Quantizes the scales to multiples of block->d, and the minima to multiples of block->m, with
 * factors of at most `top`. `sums` has the sum of the weights of each group, or is NULL without an
 * importance matrix.
 */
void wb__k_quantize_pairs(size_t groups, int top, const float *scales, const float *minima,
                          const float *sums, wb__k_pairs *block);

/* Stores the first part of a Q4_K or Q5_K block: d, m, scales and minima. */
void wb__k_store_pairs(const wb__k_pairs *block, uint8_t *out);

/*
 * Q3_K: quantize the scales to multiples of d, with factors from -32 to 31, and return d.
 * wb__k_search_scales_q3 is used with an importance matrix, wb__k_quantize_scales_q3 without one.
 */
float wb__k_quantize_scales_q3(const float *scales, int8_t *quantized);
float wb__k_search_scales_q3(const float *scales, const float *sums, int8_t *quantized);
void wb__k_store_scales_q3(const int8_t *scales, uint8_t *out);

/*
 * Q6_K: quantizes the scales to multiples of d, with factors from -128 to 127. Returns false if all
 * scales are zero.
 */
bool wb__k_quantize_scales_q6(const float *scales, int8_t *quantized, float *d);

/* ---- packing ---- */

/*
 * Two bits per value. Each half of the block has 32 bytes. Byte i contains the values i, i + 32,
 * i + 64 and i + 96 of this half.
 */
static inline void wb__k_unpack_2(const uint8_t *packed, uint8_t *q)
{
    for (size_t j = 0; j < WB__K; j++)
        q[j] = packed[j / 128 * 32 + j % 32] >> j % 128 / 32 * 2 & 3;
}

static inline void wb__k_pack_2(const uint8_t *q, uint8_t *packed)
{
    for (size_t half = 0; half < 2; half++, q += 128) {
        for (size_t m = 0; m < 32; m++)
            packed[32 * half + m] = (uint8_t)((q[m] & 3) | (q[m + 32] & 3) << 2 |
                                              (q[m + 64] & 3) << 4 | (q[m + 96] & 3) << 6);
    }
}

/*
 * Four bits per value. Each quarter of the block has 32 bytes. Byte i contains the values i and
 * i + 32 of this quarter.
 */
static inline void wb__k_unpack_4(const uint8_t *packed, uint8_t *q)
{
    for (size_t j = 0; j < WB__K; j++)
        q[j] = packed[j / 64 * 32 + j % 32] >> j % 64 / 32 * 4 & 0xF;
}

static inline void wb__k_pack_4(const uint8_t *q, uint8_t *packed)
{
    for (size_t quarter = 0; quarter < 4; quarter++, q += 64) {
        for (size_t m = 0; m < 32; m++)
            packed[32 * quarter + m] = (uint8_t)((q[m] & 0xF) | (q[m + 32] & 0xF) << 4);
    }
}

/* Packs bit `shift` of every value: the bit of value j becomes bit j / 32 of byte j % 32. */
static inline void wb__k_pack_1(const uint8_t *q, int shift, uint8_t *packed)
{
    for (size_t m = 0; m < 32; m++) {
        unsigned bits = 0;
        for (size_t i = 0; i < 8; i++)
            bits |= (unsigned)(q[m + 32 * i] >> shift & 1) << i;
        packed[m] = (uint8_t)bits;
    }
}

/*
 * Six bits per value. The upper two are packed as in wb__k_unpack_2. For the lower four, each half
 * of the block has 64 bytes. Byte i contains the lower four bits of the values i and i + 64 of this
 * half.
 */
static inline void wb__k_unpack_6(const uint8_t *low, const uint8_t *high, uint8_t *q)
{
    wb__k_unpack_2(high, q);
    for (size_t j = 0; j < WB__K; j++) {
        unsigned nibble = (unsigned)low[j / 128 * 64 + j % 64] >> j % 128 / 64 * 4 & 0xF;
        q[j] = (uint8_t)((unsigned)q[j] << 4 | nibble);
    }
}

static inline void wb__k_pack_6(const uint8_t *q, uint8_t *low, uint8_t *high)
{
    uint8_t upper[WB__K] = {0};
    for (size_t j = 0; j < WB__K; j++)
        upper[j] = q[j] >> 4;
    wb__k_pack_2(upper, high);
    for (size_t half = 0; half < 2; half++, q += 128) {
        for (size_t m = 0; m < 64; m++)
            low[64 * half + m] = (uint8_t)((q[m] & 0xF) | (q[m + 64] & 0xF) << 4);
    }
}

/*
 * Returns the stored scale s (0 to 63) of group i of Q3_K. The first eight bytes contain the lower
 * four bits of the 16 scales, the last four bytes the upper two bits.
 */
static inline int wb__k_scale_6(const uint8_t *scales, size_t i)
{
    unsigned low = (unsigned)scales[i % 8] >> i / 8 * 4 & 0xF;
    unsigned high = (unsigned)scales[8 + i % 4] >> i / 4 * 2 & 3;
    return (int)(low | high << 4);
}

/*
 * Reads scale i and minimum i of Q4_K or Q5_K. There are eight of each, 6 bits wide. The first four
 * scales are in the low 6 bits of bytes 0 to 3, the first four minima in the low 6 bits of bytes 4
 * to 7. Bytes 8 to 11 contain the lower 4 bits of the other scales and minima; their upper 2 bits
 * are in the top bits of bytes 0 to 7.
 */
static inline void wb__k_pair(const uint8_t *scales, size_t i, uint8_t *scale, uint8_t *minimum)
{
    if (i < 4) {
        *scale = scales[i] & 63;
        *minimum = scales[i + 4] & 63;
    } else {
        *scale = (uint8_t)((scales[i + 4] & 0xF) | scales[i - 4] >> 6 << 4);
        *minimum = (uint8_t)(scales[i + 4] >> 4 | scales[i] >> 6 << 4);
    }
}

#endif
