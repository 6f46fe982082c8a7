/*
 * Decoding of scaled E2M1 and E4M3 with NEON. Both are first converted to binary16. An E2M1 value
 * determines only the upper byte of the binary16; the lower byte is 0. The bits of an E4M3 value,
 * moved to their places in a binary16, give a number that is too small by a factor of 2^8. Groups
 * that contain a NaN code of E4M3 are left to the scalar code.
 */
#include "quant/mlx/arm/neon.h"

#if WB__ARM64

extern const wb__mlx_kernels
    wb__mlx_kernels_scaled; /* scalar loops for the groups that this file does not decode */

NEON_INLINE void put_8(uint8_t *dst, wb__floats8 x, float scale, float factor,
                       wb__mlx_format format)
{
    x = (wb__floats8){vmulq_n_f32(x.a, scale), vmulq_n_f32(x.b, scale)};
    if (format == WB__MLX_F32)
        x = (wb__floats8){vmulq_n_f32(x.a, factor), vmulq_n_f32(x.b, factor)};
    wb__store8(dst, x, format);
}

/* ---- E2M1 ---- */

NEON_INLINE void decode_e2m1(const uint8_t *packed, wb__mlx_format format, const float *scales,
                             float factor, size_t group, size_t groups, uint8_t *dst)
{
    static const uint8_t values[16] = {0x00, 0x38, 0x3C, 0x3E, 0x40, 0x42, 0x44, 0x46,
                                       0x80, 0xB8, 0xBC, 0xBE, 0xC0, 0xC2, 0xC4, 0xC6};
    const uint8x16_t table = vld1q_u8(values), zero = vdupq_n_u8(0);
    size_t size = format == WB__MLX_F32 ? 4 : 2;
    for (size_t g = 0; g < groups; g++) {
        for (size_t i = 0; i < group; i += 16, packed += 8, dst += 16 * size) {
            uint8x16_t upper = vqtbl1q_u8(table, wb__nibbles_16(packed));
            uint16x8_t low = vreinterpretq_u16_u8(vzip1q_u8(zero, upper));
            uint16x8_t high = vreinterpretq_u16_u8(vzip2q_u8(zero, upper));
            put_8(dst, wb__widened8(low, WB__MLX_F16), scales[g], factor, format);
            put_8(dst + 8 * size, wb__widened8(high, WB__MLX_F16), scales[g], factor, format);
        }
    }
}

/* ---- E4M3 ---- */

NEON_INLINE bool holds_nan(const uint8_t *codes, size_t n)
{
    const uint8x16_t magnitude = vdupq_n_u8(0x7F);
    uint8x16_t most = vdupq_n_u8(0);
    for (size_t i = 0; i < n; i += 16)
        most = vmaxq_u8(most, vandq_u8(vld1q_u8(codes + i), magnitude));
    return vmaxvq_u8(most) == 0x7F;
}

NEON_INLINE wb__floats8 values_8(const uint8_t *codes)
{
    int16x8_t words = vshll_n_s8(vreinterpret_s8_u8(vld1_u8(codes)), 7);
    uint16x8_t bits = vandq_u16(vreinterpretq_u16_s16(words), vdupq_n_u16(0xBF80));
    wb__floats8 x = wb__widened8(bits, WB__MLX_F16);
    return (wb__floats8){vmulq_n_f32(x.a, 256), vmulq_n_f32(x.b, 256)};
}

NEON_INLINE void decode_e4m3(const uint8_t *packed, wb__mlx_format format, const float *scales,
                             float factor, size_t group, size_t groups, uint8_t *dst)
{
    size_t size = format == WB__MLX_F32 ? 4 : 2;
    for (size_t g = 0; g < groups; g++, packed += group, dst += group * size) {
        if (holds_nan(packed, group)) {
            wb__mlx_kernels_scaled.e4m3_decode[format](packed, scales + g, factor, group, 1, dst);
            continue;
        }
        for (size_t i = 0; i < group; i += 8)
            put_8(dst + i * size, values_8(packed + i), scales[g], factor, format);
    }
}

#define DECODERS(format)                                                                           \
    static void decode_e2m1_##format(const uint8_t *packed, const float *scales, float factor,     \
                                     size_t group, size_t groups, uint8_t *dst)                    \
    {                                                                                              \
        decode_e2m1(packed, WB__MLX_##format, scales, factor, group, groups, dst);                 \
    }                                                                                              \
    static void decode_e4m3_##format(const uint8_t *packed, const float *scales, float factor,     \
                                     size_t group, size_t groups, uint8_t *dst)                    \
    {                                                                                              \
        decode_e4m3(packed, WB__MLX_##format, scales, factor, group, groups, dst);                 \
    }
DECODERS(F32)
DECODERS(F16)
DECODERS(BF16)

WB__CONTRACTION_PROBE()

const wb__mlx_kernels wb__mlx_kernels_scaled_decode_neon = {
    .features = WB__CPU_NEON,
    .contracted = contracted,
    .e2m1_decode = {decode_e2m1_F32, decode_e2m1_F16, decode_e2m1_BF16},
    .e4m3_decode = {decode_e4m3_F32, decode_e4m3_F16, decode_e4m3_BF16},
};

#endif
