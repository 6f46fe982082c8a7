/* quant/scalar/fp4.h: the scales of MXFP4 and NVFP4, divided by two. The code in fp4.c
 * multiplies them by doubled values, which are integers. */
#ifndef WB_QUANT_SCALAR_FP4_H
#define WB_QUANT_SCALAR_FP4_H

#include "quant/scalar/rounding.h"

/* Returns 2^(e - 128). */
static inline float wb__half_of_e8m0(uint8_t e)
{
    return wb__float_of_bits(e < 2 ? UINT32_C(0x200000) << e : (uint32_t)(e - 1) << 23);
}

/*
 * Returns the E8M0 code 125 + floor(log2(x)). x divided by this scale is from 4 to 8, the upper
 * binade of F4. Wraps for x below 2^-125.
 *
 * ggml rounds the logarithm to binary32 before it takes the floor. So for some x just below 2^n it
 * gets n, and so does this function. For x = 2^n (1 - j 2^-24), the logarithm is, except for
 * negligible terms, n - j 2^-24 / ln 2. It rounds to n if the difference from n is less than half
 * the spacing of the floats below n. This means j < ln 2 · 2^p, where 2^p is the largest power of
 * two up to |n|; or half of that, if n is a positive power of two.
 */
static inline uint8_t wb__e8m0_for(float x)
{
    /* least_j[p] is the smallest j for which the logarithm of x does not round to n; the comment
     * above defines j, n and p */
    static const uint8_t least_j[8] = {1, 2, 3, 6, 12, 23, 45, 89};
    if (!(x > 0))
        return 0;
    uint32_t bits = wb__bits_of_float(x);
    int exponent = (int)(bits >> 23);
    if (exponent == 0) { /* subnormal: the leading one bit determines the exponent */
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

static inline float wb__half_of_e4m3(uint8_t bits)
{
    uint32_t exponent = bits >> 3 & 0xF, mantissa = bits & 7;
    if (bits == 0x7F)
        return 0;
    if (exponent == 0)
        return (float)mantissa * 0x1p-10f;
    return wb__float_of_bits((exponent + 119) << 23 | mantissa << 20);
}

/*
 * Returns the E4M3 code of x, rounded to nearest, ties upwards. Returns 0 if x <= 0. Values of at
 * least 248, which would round to 256 or more, become 448.
 */
static inline uint8_t wb__e4m3_for(float x)
{
    if (!(x > 0))
        return 0;
    uint32_t bits = wb__bits_of_float(x);
    if (bits < (uint32_t)121 << 23) /* below 2^-6: subnormal, in units of 2^-9 */
        return (uint8_t)wb__clamp(wb__truncate(x * 512 + 0.5f), 0, 7);
    uint32_t rounded = (bits + (UINT32_C(1) << 19)) >> 20;
    uint32_t code = rounded - (120 << 3);
    return (uint8_t)(code < 15 << 3 ? code : 0x7E);
}

#endif
