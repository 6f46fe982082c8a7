/*
 * quant/scalar/k.h: how K-quants pack their values and scales. k.c shows the whole blocks.
 */
#ifndef WB_QUANT_SCALAR_K_H
#define WB_QUANT_SCALAR_K_H

#include "quant/quant.h"

#define WB__K 256

wb__encode wb__encode_q2_k, wb__encode_q3_k, wb__encode_q4_k, wb__encode_q5_k, wb__encode_q6_k,
    wb__encode_q8_k;

/* ---- what all encoders do once the groups have their scales ---- */

/* What an encoder of Q2_K, Q4_K or Q5_K finds for a block. */
typedef struct wb__k_pairs {
    float d, m;
    uint8_t scales[16], minima[16];
    uint8_t q[WB__K];
} wb__k_pairs;

/* Scales and minima as multiples, up to `top`, of d and m. `sums` of the groups' weights are there
 * if there is an importance matrix. */
void wb__k_quantize_pairs(size_t groups, int top, const float *scales, const float *minima,
                          const float *sums, wb__k_pairs *block);

/* What Q4_K and Q5_K begin with. */
void wb__k_store_pairs(const wb__k_pairs *block, uint8_t *out);

/* Q3_K: scales as multiples, -32 to 31, of the d they return, with and without importance matrix.
 */
float wb__k_quantize_scales_q3(const float *scales, int8_t *quantized);
float wb__k_search_scales_q3(const float *scales, const float *sums, int8_t *quantized);
void wb__k_store_scales_q3(const int8_t *scales, uint8_t *out);

/* Q6_K: likewise, -128 to 127; false if all are zero. */
bool wb__k_quantize_scales_q6(const float *scales, int8_t *quantized, float *d);

/* ---- packing ---- */

/* Two bits: byte m of 32 has values m, m + 32, m + 64, m + 96 of its half of the block. */
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

/* Four bits: byte m of 32 has values m and m + 32 of its quarter. */
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

/* One bit of every value, bit j / 32 of byte j % 32. `shift` says which. */
static inline void wb__k_pack_1(const uint8_t *q, int shift, uint8_t *packed)
{
    for (size_t m = 0; m < 32; m++) {
        unsigned bits = 0;
        for (size_t i = 0; i < 8; i++)
            bits |= (unsigned)(q[m + 32 * i] >> shift & 1) << i;
        packed[m] = (uint8_t)bits;
    }
}

/* Six bits: the upper two as above; the lower four of m and m + 64 in byte m of the half's 64. */
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

/* Scale i of the 16 of Q3_K: four bits in the first eight bytes, two in the last four. */
static inline int wb__k_scale_6(const uint8_t *scales, size_t i)
{
    unsigned low = (unsigned)scales[i % 8] >> i / 8 * 4 & 0xF;
    unsigned high = (unsigned)scales[8 + i % 4] >> i / 4 * 2 & 3;
    return (int)(low | high << 4);
}

/*
 * Scale and minimum i of the eight of Q4_K and Q5_K, six bits each: bytes 0 to 3 begin with the
 * first four scales, 4 to 7 with the first four minima; 8 to 11 have the lower halves of the
 * others, whose upper two bits top up bytes 0 to 7.
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
