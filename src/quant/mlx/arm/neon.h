/*
 * quant/mlx/arm/neon.h: unpacks codes eight at a time, and rounds floats.
 *
 * Eight codes of b bits fill b bytes. An 8-byte load reads them. A byte table lookup then gives
 * each 16-bit lane the two bytes that contain its code. A shift, with a separate count per lane,
 * and a mask extract the code. The last loads for 32 codes start before the first byte of their
 * codes, so that they do not read past the end.
 */
#ifndef WB_QUANT_MLX_ARM_NEON_H
#define WB_QUANT_MLX_ARM_NEON_H

#include "quant/mlx/number.h"

#include "cpu/cpu.h"

#if WB__ARM64

#include <arm_neon.h>

#define NEON_INLINE __attribute__((always_inline)) static inline

/* ---- codes ---- */

/* Describes how to expand eight codes to eight 16-bit lanes. */
typedef struct wb__spread8 {
    int offset; /* offset of the 8 bytes to load, from the first byte of the 32 codes */
    uint8x16_t bytes;
    int16x8_t shifts;
} wb__spread8;

/* Describes how to expand the codes 8 k to 8 k + 7 of 32 codes. */
NEON_INLINE wb__spread8 wb__spread_8(int bits, int k)
{
    static const uint16_t counting[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    int first = k * bits, latest = 4 * bits - (bits == 1 ? 4 : 8);
    int offset = first < latest ? first : latest;
    uint16x8_t at = vmlaq_n_u16(vdupq_n_u16((uint16_t)(8 * (first - offset))), vld1q_u16(counting),
                                (uint16_t)bits);
    uint16x8_t byte = vmulq_n_u16(vshrq_n_u16(at, 3), 0x0101);
    /* The second byte of a lane may be past the eighth byte. The lookup then returns 0, and the
     * mask in wb__codes_8 removes the bits of this byte. */
    uint8x16_t bytes = vreinterpretq_u8_u16(vaddq_u16(byte, vdupq_n_u16(0x0100)));
    int16x8_t shifts = vreinterpretq_s16_u16(vandq_u16(at, vdupq_n_u16(7)));
    return (wb__spread8){offset, bytes, vnegq_s16(shifts)};
}

NEON_INLINE uint16x8_t wb__codes_8(const uint8_t *packed, int bits, const wb__spread8 *spread)
{
    if (bits == 8)
        return vmovl_u8(vld1_u8(packed + spread->offset));
    uint64_t eight =
        bits == 1 ? wb__load_le32(packed + spread->offset) : wb__load_le64(packed + spread->offset);
    uint8x16_t all = vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(eight), vcreate_u64(0)));
    uint16x8_t words = vreinterpretq_u16_u8(vqtbl1q_u8(all, spread->bytes));
    return vandq_u16(vshlq_u16(words, spread->shifts), vdupq_n_u16((uint16_t)((1 << bits) - 1)));
}

/* Unpacks sixteen 4-bit codes. */
NEON_INLINE uint8x16_t wb__nibbles_16(const uint8_t *packed)
{
    uint8x8_t bytes = vld1_u8(packed);
    uint8x8_t low = vand_u8(bytes, vdup_n_u8(15)), high = vshr_n_u8(bytes, 4);
    return vcombine_u8(vzip1_u8(low, high), vzip2_u8(low, high));
}

/* ---- eight floats ---- */

typedef struct wb__floats8 {
    float32x4_t a, b;
} wb__floats8;

NEON_INLINE wb__floats8 wb__load8(const float *p)
{
    return (wb__floats8){vld1q_f32(p), vld1q_f32(p + 4)};
}

NEON_INLINE wb__floats8 wb__floats_of(uint16x8_t words)
{
    return (wb__floats8){vcvtq_f32_u32(vmovl_u16(vget_low_u16(words))),
                         vcvtq_f32_u32(vmovl_high_u16(words))};
}

NEON_INLINE wb__floats8 wb__widened8(uint16x8_t halves, wb__mlx_format format)
{
    if (format == WB__MLX_F16) {
        float16x8_t h = vreinterpretq_f16_u16(halves);
        return (wb__floats8){vcvt_f32_f16(vget_low_f16(h)), vcvt_high_f32_f16(h)};
    }
    return (wb__floats8){vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(halves), 16)),
                         vreinterpretq_f32_u32(vshll_high_n_u16(halves, 16))};
}

/* ---- rounding of values that are not NaN ---- */

NEON_INLINE uint32x4_t wb__round4_bf16_bits(float32x4_t x)
{
    uint32x4_t bits = vreinterpretq_u32_f32(x);
    uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    return vaddq_u32(vaddq_u32(bits, vdupq_n_u32(0x7FFF)), odd);
}

NEON_INLINE float32x4_t wb__rounded4(float32x4_t x, wb__mlx_format format)
{
    if (format == WB__MLX_F16)
        return vcvt_f32_f16(vcvt_f16_f32(x));
    if (format == WB__MLX_BF16)
        return vreinterpretq_f32_u32(vandq_u32(wb__round4_bf16_bits(x), vdupq_n_u32(0xFFFF0000)));
    return x;
}

NEON_INLINE uint16x8_t wb__halves8(wb__floats8 x, wb__mlx_format format)
{
    if (format == WB__MLX_F16)
        return vreinterpretq_u16_f16(vcombine_f16(vcvt_f16_f32(x.a), vcvt_f16_f32(x.b)));
    return vcombine_u16(vshrn_n_u32(wb__round4_bf16_bits(x.a), 16),
                        vshrn_n_u32(wb__round4_bf16_bits(x.b), 16));
}

NEON_INLINE void wb__store8(uint8_t *dst, wb__floats8 x, wb__mlx_format format)
{
    if (format == WB__MLX_F32) {
        vst1q_u8(dst, vreinterpretq_u8_f32(x.a));
        vst1q_u8(dst + 16, vreinterpretq_u8_f32(x.b));
    } else {
        vst1q_u8(dst, vreinterpretq_u8_u16(wb__halves8(x, format)));
    }
}

/* ---- maximum and minimum by comparison, because FMAX and FMIN treat NaN differently ---- */

NEON_INLINE float32x4_t wb__greater4(float32x4_t x, float32x4_t otherwise)
{
    return vbslq_f32(vcgtq_f32(x, otherwise), x, otherwise);
}

NEON_INLINE float32x4_t wb__less4(float32x4_t x, float32x4_t otherwise)
{
    return vbslq_f32(vcltq_f32(x, otherwise), x, otherwise);
}

#endif
#endif
