/*
 * Affine decoding with NEON. For 16-bit results and codes of up to 4 bits, the values of a group
 * form a table, and byte shuffles look them up. All other elements are computed individually.
 */
#include "quant/mlx/arm/neon.h"

#if WB__ARM64

NEON_INLINE wb__floats8 dequantized(uint16x8_t codes, float scale, float bias,
                                    wb__mlx_format format)
{
    wb__floats8 x = wb__floats_of(codes);
    float32x4_t s = vdupq_n_f32(scale), b = vdupq_n_f32(bias);
    return (wb__floats8){vaddq_f32(wb__rounded4(vmulq_f32(x.a, s), format), b),
                         vaddq_f32(wb__rounded4(vmulq_f32(x.b, s), format), b)};
}

#define SPREADS(bits)                                                                              \
    {wb__spread_8(bits, 0), wb__spread_8(bits, 1), wb__spread_8(bits, 2), wb__spread_8(bits, 3)}

NEON_INLINE void decode_each(const uint8_t *packed, int bits, wb__mlx_format format,
                             const float *scales, const float *biases, size_t group, size_t groups,
                             uint8_t *dst)
{
    const wb__spread8 spread[4] = SPREADS(bits);
    size_t size = format == WB__MLX_F32 ? 32 : 16;
    for (size_t g = 0; g < groups; g++) {
        for (size_t i = 0; i < group; i += 32, packed += 4 * bits) {
            for (int k = 0; k < 4; k++, dst += size) {
                uint16x8_t codes = wb__codes_8(packed, bits, &spread[k]);
                wb__store8(dst, dequantized(codes, scales[g], biases[g], format), format);
            }
        }
    }
}

/* A table of sixteen 16-bit values, with low and high bytes in separate registers. */
typedef struct table_16 {
    uint8x16_t low, high;
} table_16;

NEON_INLINE table_16 table_of(float scale, float bias, wb__mlx_format format)
{
    static const uint16_t counting[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    uint16x8_t first = wb__halves8(dequantized(vld1q_u16(counting), scale, bias, format), format);
    uint16x8_t second =
        wb__halves8(dequantized(vld1q_u16(counting + 8), scale, bias, format), format);
    uint8x16_t a = vreinterpretq_u8_u16(first), b = vreinterpretq_u8_u16(second);
    return (table_16){vuzp1q_u8(a, b), vuzp2q_u8(a, b)};
}

NEON_INLINE void decode_table(const uint8_t *packed, int bits, wb__mlx_format format,
                              const float *scales, const float *biases, size_t group, size_t groups,
                              uint8_t *dst)
{
    const wb__spread8 spread[4] = SPREADS(bits);
    for (size_t g = 0; g < groups; g++) {
        table_16 table = table_of(scales[g], biases[g], format);
        for (size_t i = 0; i < group; i += 32, packed += 4 * bits) {
            for (int k = 0; k < 4; k += 2, dst += 32) {
                uint8x16_t codes;
                if (bits == 4)
                    codes = wb__nibbles_16(packed + 4 * k);
                else
                    codes = vcombine_u8(vmovn_u16(wb__codes_8(packed, bits, &spread[k])),
                                        vmovn_u16(wb__codes_8(packed, bits, &spread[k + 1])));
                uint8x16_t low = vqtbl1q_u8(table.low, codes);
                uint8x16_t high = vqtbl1q_u8(table.high, codes);
                vst1q_u8(dst, vzip1q_u8(low, high));
                vst1q_u8(dst + 16, vzip2q_u8(low, high));
            }
        }
    }
}

#define DECODER(bits, format, loop)                                                                \
    static void decode_##bits##_##format(const uint8_t *packed, const float *scales,               \
                                         const float *biases, size_t group, size_t groups,         \
                                         uint8_t *dst)                                             \
    {                                                                                              \
        loop(packed, bits, WB__MLX_##format, scales, biases, group, groups, dst);                  \
    }
#define DECODERS(bits, half)                                                                       \
    DECODER(bits, F32, decode_each)                                                                \
    DECODER(bits, F16, half)                                                                       \
    DECODER(bits, BF16, half)
DECODERS(1, decode_table)
DECODERS(2, decode_table)
DECODERS(3, decode_table)
DECODERS(4, decode_table)
DECODERS(5, decode_each)
DECODERS(6, decode_each)
DECODERS(8, decode_each)

WB__CONTRACTION_PROBE()

#define LISTED(bits) [bits] = {decode_##bits##_F32, decode_##bits##_F16, decode_##bits##_BF16}

const wb__mlx_kernels wb__mlx_kernels_affine_decode_neon = {
    .features = WB__CPU_NEON,
    .contracted = contracted,
    .affine_decode = {LISTED(1), LISTED(2), LISTED(3), LISTED(4), LISTED(5), LISTED(6), LISTED(8)},
};

#endif
