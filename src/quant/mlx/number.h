/*
 * quant/mlx/number.h: the number formats of the MLX modes, handled as bits.
 *
 * All roundings are to nearest, ties to even.
 */
#ifndef WB_QUANT_MLX_NUMBER_H
#define WB_QUANT_MLX_NUMBER_H

#include "quant/kernel.h"
#include "quant/mlx/mlx_kernels.h"

#define WB__FLOAT_INFINITY UINT32_C(0x7F800000)
#define WB__FLOAT_NAN UINT32_C(0x7FC00000)

static inline bool wb__float_is_nan(float x)
{
    return (wb__bits_of_float(x) & 0x7FFFFFFF) > WB__FLOAT_INFINITY;
}

static inline bool wb__float_is_finite(float x)
{
    return (wb__bits_of_float(x) & WB__FLOAT_INFINITY) != WB__FLOAT_INFINITY;
}

/* Returns x; if x is NaN, returns the positive quiet NaN. */
static inline float wb__float_canonical(float x)
{
    return wb__float_is_nan(x) ? wb__float_of_bits(WB__FLOAT_NAN) : x;
}

static inline float wb__float_magnitude(float x)
{
    return wb__float_of_bits(wb__bits_of_float(x) & 0x7FFFFFFF);
}

/* Returns 2^e for -149 <= e <= 127. */
static inline float wb__float_power(int e)
{
    return wb__float_of_bits(e >= -126 ? (uint32_t)(e + 127) << 23 : UINT32_C(1) << (e + 149));
}

/* Returns the nearest integer, ties to even, for x of any size. */
static inline float wb__float_rint(float x)
{
    const float whole = 8388608.0f; /* every float of at least 2^23 is an integer */
    if (!(wb__float_magnitude(x) < whole))
        return x;
    return x < 0 ? x - whole + whole : x + whole - whole;
}

/* ---- the dtypes MLX computes in: F32, F16 and BF16 ---- */

static inline size_t wb__float_size(int32_t dtype)
{
    return dtype == WB_DTYPE_F32 ? 4 : 2;
}

static inline float wb__float_load(int32_t dtype, const uint8_t *src)
{
    if (dtype == WB_DTYPE_F16)
        return wb__float_of_bits(wb__f16_to_f32(wb__load_le16(src)));
    if (dtype == WB_DTYPE_BF16)
        return wb__float_of_bits((uint32_t)wb__load_le16(src) << 16);
    return wb__float_of_bits(wb__load_le32(src));
}

static inline void wb__float_store(int32_t dtype, uint8_t *dst, float x)
{
    uint32_t bits = wb__bits_of_float(wb__float_canonical(x));
    if (dtype == WB_DTYPE_F16)
        wb__store_le16(dst, wb__f32_to_f16(bits));
    else if (dtype == WB_DTYPE_BF16)
        wb__store_le16(dst, wb__f32_to_bf16(bits));
    else
        wb__store_le32(dst, bits);
}

/* Returns x rounded to the dtype, as a float. */
static inline float wb__float_round(int32_t dtype, float x)
{
    uint32_t bits = wb__bits_of_float(wb__float_canonical(x));
    if (dtype == WB_DTYPE_F16)
        bits = wb__f16_to_f32(wb__f32_to_f16(bits));
    else if (dtype == WB_DTYPE_BF16)
        bits = (uint32_t)wb__f32_to_bf16(bits) << 16;
    return wb__float_of_bits(bits);
}

/* ---- E8M0, E4M3, E2M1 ---- */

/* Converts an E8M0 scale as MLX does: byte 0 is 2^-127, and byte 255 is infinity instead of NaN. */
static inline float wb__float_from_e8m0(uint8_t byte)
{
    return wb__float_of_bits(byte == 0 ? UINT32_C(0x400000) : (uint32_t)byte << 23);
}

static inline float wb__float_from_e4m3(uint8_t byte)
{
    uint32_t sign = (uint32_t)(byte & 0x80) << 24;
    uint32_t magnitude = byte & 0x7F;
    if (magnitude == 0x7F)
        return wb__float_of_bits(WB__FLOAT_NAN);
    /* Move exponent and mantissa to their places in a float, whose exponent bias is larger by 120.
     * The result is too small by a factor of 2^120, for normal and for subnormal numbers. */
    float value = wb__float_of_bits(magnitude << 20) * wb__float_power(120);
    return wb__float_of_bits(sign | wb__bits_of_float(value));
}

/* Converts to E4M3. Magnitudes above 448, infinities and NaN become 448; the sign is kept. */
static inline uint8_t wb__float_to_e4m3(float x)
{
    uint32_t sign = wb__bits_of_float(x) >> 24 & 0x80;
    uint32_t magnitude = wb__bits_of_float(x) & 0x7FFFFFFF;
    if (magnitude >= 0x43E00000) /* 448 */
        return (uint8_t)(sign | 0x7E);
    if (magnitude < 0x3C800000) { /* below 2^-6: adding 2^14 rounds to multiples of 2^-9 */
        float shifted = wb__float_of_bits(magnitude) + 16384.0f;
        return (uint8_t)(sign | (wb__bits_of_float(shifted) - wb__bits_of_float(16384.0f)));
    }
    uint32_t rounded = magnitude - (UINT32_C(120) << 23) + 0x7FFFF + (magnitude >> 20 & 1);
    return (uint8_t)(sign | rounded >> 20);
}

/* The values of E2M1; bit 3 of the index is the sign. */
extern const float wb__mlx_e2m1_values[16];

#endif
