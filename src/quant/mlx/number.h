/*
 * quant/mlx/number.h: the numbers these modes are made of, as bits.
 *
 * Floats are handled as float where they are computed with and as their bits where they are rounded
 * to a smaller format. All roundings are to nearest, ties to even.
 */
#ifndef WB_QUANT_MLX_NUMBER_H
#define WB_QUANT_MLX_NUMBER_H

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("-ffp-contract=off")
#endif

#include <float.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/endian.h"
#include "quant/mlx/kernels.h"
#include "weighbridge.h"

_Static_assert(FLT_EVAL_METHOD == 0, "float expressions must be computed in float (-mfpmath=sse)");

#define WB__CONTRACTION_PROBE(attributes)                                                          \
    attributes static bool contracted(void)                                                        \
    {                                                                                              \
        const volatile float factor = 0x1.001p0f, minus_square = -0x1.002p0f;                      \
        float a = factor, b = minus_square;                                                        \
        return a * a + b != 0.0f;                                                                  \
    }

#define WB__FLOAT_INFINITY UINT32_C(0x7F800000)
#define WB__FLOAT_NAN UINT32_C(0x7FC00000)

static inline uint32_t wb__float_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float wb__float_from(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline bool wb__float_is_nan(float x)
{
    return (wb__float_bits(x) & 0x7FFFFFFF) > WB__FLOAT_INFINITY;
}

static inline bool wb__float_is_finite(float x)
{
    return (wb__float_bits(x) & WB__FLOAT_INFINITY) != WB__FLOAT_INFINITY;
}

/* x, or the one NaN we write. */
static inline float wb__float_canonical(float x)
{
    return wb__float_is_nan(x) ? wb__float_from(WB__FLOAT_NAN) : x;
}

static inline float wb__float_magnitude(float x)
{
    return wb__float_from(wb__float_bits(x) & 0x7FFFFFFF);
}

/* 2^e for -149 <= e <= 127. */
static inline float wb__float_power(int e)
{
    return wb__float_from(e >= -126 ? (uint32_t)(e + 127) << 23 : UINT32_C(1) << (e + 149));
}

/* The nearest integer, ties to even, whatever the size of x. */
static inline float wb__float_rint(float x)
{
    const float whole = 8388608.0f; /* from 2^23 on every float is an integer */
    if (!(wb__float_magnitude(x) < whole))
        return x;
    return x < 0 ? x - whole + whole : x + whole - whole;
}

/* ---- binary16 ---- */

static inline float wb__float_from_f16(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16;
    uint32_t exponent = h >> 10 & 0x1F;
    uint32_t mantissa = h & 0x3FF;
    if (exponent == 0x1F)
        return wb__float_from(sign | WB__FLOAT_INFINITY | mantissa << 13);
    if (exponent != 0)
        return wb__float_from(sign | (exponent + 112) << 23 | mantissa << 13);
    float subnormal = (float)mantissa * wb__float_power(-24);
    return wb__float_from(sign | wb__float_bits(subnormal));
}

static inline uint16_t wb__float_to_f16(float x)
{
    uint32_t sign = wb__float_bits(x) >> 16 & 0x8000;
    uint32_t magnitude = wb__float_bits(x) & 0x7FFFFFFF;
    if (magnitude > WB__FLOAT_INFINITY)
        return 0x7E00;
    if (magnitude >= 0x477FF000) /* 65520, halfway to 2^16 */
        return (uint16_t)(sign | 0x7C00);
    if (magnitude < 0x38800000) { /* below 2^-14: adding 1/2 leaves units of 2^-24 */
        float shifted = wb__float_from(magnitude) + 0.5f;
        return (uint16_t)(sign | (wb__float_bits(shifted) - wb__float_bits(0.5f)));
    }
    uint32_t rounded = magnitude - (UINT32_C(112) << 23) + 0xFFF + (magnitude >> 13 & 1);
    return (uint16_t)(sign | rounded >> 13);
}

/* ---- bfloat16 ---- */

static inline float wb__float_from_bf16(uint16_t h)
{
    return wb__float_from((uint32_t)h << 16);
}

static inline uint16_t wb__float_to_bf16(float x)
{
    uint32_t bits = wb__float_bits(x);
    if (wb__float_is_nan(x))
        return 0x7FC0;
    return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

/* ---- the three dtypes that MLX computes in ---- */

static inline float wb__float_round(int32_t dtype, float x)
{
    if (dtype == WB_DTYPE_F16)
        return wb__float_from_f16(wb__float_to_f16(x));
    if (dtype == WB_DTYPE_BF16)
        return wb__float_from_bf16(wb__float_to_bf16(x));
    return wb__float_canonical(x);
}

static inline size_t wb__float_size(int32_t dtype)
{
    return dtype == WB_DTYPE_F32 ? 4 : 2;
}

static inline float wb__float_load(int32_t dtype, const uint8_t *src)
{
    if (dtype == WB_DTYPE_F16)
        return wb__float_from_f16(wb__load_le16(src));
    if (dtype == WB_DTYPE_BF16)
        return wb__float_from_bf16(wb__load_le16(src));
    return wb__float_from(wb__load_le32(src));
}

static inline void wb__float_store(int32_t dtype, uint8_t *dst, float x)
{
    if (dtype == WB_DTYPE_F16)
        wb__store_le16(dst, wb__float_to_f16(x));
    else if (dtype == WB_DTYPE_BF16)
        wb__store_le16(dst, wb__float_to_bf16(x));
    else
        wb__store_le32(dst, wb__float_bits(wb__float_canonical(x)));
}

/* ---- E8M0, E4M3, E2M1 ---- */

/* As MLX reads it: 0 is 2^-127, and 255 infinity rather than NaN. */
static inline float wb__float_from_e8m0(uint8_t byte)
{
    return wb__float_from(byte == 0 ? UINT32_C(0x400000) : (uint32_t)byte << 23);
}

static inline float wb__float_from_e4m3(uint8_t byte)
{
    uint32_t sign = (uint32_t)(byte & 0x80) << 24;
    uint32_t magnitude = byte & 0x7F;
    if (magnitude == 0x7F)
        return wb__float_from(WB__FLOAT_NAN);
    /* Exponent and mantissa moved to their places in a float, whose bias is larger by 120: normal
     * numbers are too small by 2^120, and so are subnormal ones. */
    float value = wb__float_from(magnitude << 20) * wb__float_power(120);
    return wb__float_from(sign | wb__float_bits(value));
}

/* Saturating: 448 for all that is larger, infinite or NaN. */
static inline uint8_t wb__float_to_e4m3(float x)
{
    uint32_t sign = wb__float_bits(x) >> 24 & 0x80;
    uint32_t magnitude = wb__float_bits(x) & 0x7FFFFFFF;
    if (magnitude >= 0x43E00000) /* 448 */
        return (uint8_t)(sign | 0x7E);
    if (magnitude < 0x3C800000) { /* below 2^-6: adding 2^14 leaves units of 2^-9 */
        float shifted = wb__float_from(magnitude) + 16384.0f;
        return (uint8_t)(sign | (wb__float_bits(shifted) - wb__float_bits(16384.0f)));
    }
    uint32_t rounded = magnitude - (UINT32_C(120) << 23) + 0x7FFFF + (magnitude >> 20 & 1);
    return (uint8_t)(sign | rounded >> 20);
}

/* The values of E2M1; bit 3 is the sign. */
extern const float wb__mlx_e2m1_values[16];

#endif
