/*
 * Encoding of scaled E2M1 and E4M3 with NEON.
 *
 * E2M1: every midpoint between two values, as a float, has zeros below bit 21. So for the bits u of
 * a magnitude, (u - 1) >> 21 determines the code, and ties go to the smaller value. The index into
 * a table of codes is this number minus 499; 499 is the number for 0.25, the first midpoint.
 * Magnitudes above 16 and NaN are left to the scalar code.
 */
#include "quant/mlx/arm/neon.h"

#if WB__ARM64

extern const wb__mlx_kernels
    wb__mlx_kernels_scaled; /* scalar loops for the groups that this file does not encode */

static void peak(const float *values, size_t group, size_t groups, float *peaks)
{
    for (size_t g = 0; g < groups; g++, values += group) {
        float32x4_t a = vdupq_n_f32(0), b = a;
        for (size_t i = 0; i < group; i += 8) {
            wb__floats8 x = wb__load8(values + i);
            a = wb__greater4(vabsq_f32(x.a), a);
            b = wb__greater4(vabsq_f32(x.b), b);
        }
        peaks[g] = vmaxvq_f32(vmaxq_f32(a, b));
    }
}

/* ---- E2M1 ---- */

#define FIRST (UINT32_C(499) << 21)
#define LARGE 24 /* the index for magnitude 16, the largest valid index */

NEON_INLINE int16x4_t index_of(float32x4_t q)
{
    uint32x4_t u = vsubq_u32(vreinterpretq_u32_f32(vabsq_f32(q)), vdupq_n_u32(FIRST + 1));
    return vqmovn_s32(vshrq_n_s32(vreinterpretq_s32_u32(u), 21));
}

NEON_INLINE int16x4_t sign_of(float32x4_t q)
{
    return vqmovn_s32(vreinterpretq_s32_f32(q));
}

/* Writes the 8 bytes of 16 codes. Returns false if a magnitude is above 16 or NaN. */
NEON_INLINE bool store_16(const float32x4_t q[4], uint8_t *packed)
{
    static const uint8_t code_of[16] = {0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 5};
    int8x16_t at = vcombine_s8(vqmovn_s16(vcombine_s16(index_of(q[0]), index_of(q[1]))),
                               vqmovn_s16(vcombine_s16(index_of(q[2]), index_of(q[3]))));
    if (vmaxvq_s8(at) > LARGE)
        return false;
    int8x16_t low = vminq_s8(vmaxq_s8(at, vdupq_n_s8(0)), vdupq_n_s8(15));
    uint8x16_t codes = vqtbl1q_u8(vld1q_u8(code_of), vreinterpretq_u8_s8(low));
    codes = vsubq_u8(codes, vcgtq_s8(at, vdupq_n_s8(15)));
    codes = vsubq_u8(codes, vcgtq_s8(at, vdupq_n_s8(17)));
    /* Saturated narrowing preserves signs. A code of zero gets no sign. */
    int8x16_t signs = vcombine_s8(vqmovn_s16(vcombine_s16(sign_of(q[0]), sign_of(q[1]))),
                                  vqmovn_s16(vcombine_s16(sign_of(q[2]), sign_of(q[3]))));
    uint8x16_t negative = vandq_u8(vcltzq_s8(signs), vtstq_u8(codes, codes));
    codes = vorrq_u8(codes, vandq_u8(negative, vdupq_n_u8(8)));
    uint16x8_t pairs = vreinterpretq_u16_u8(codes);
    vst1_u8(packed, vmovn_u16(vorrq_u16(pairs, vshrq_n_u16(pairs, 4))));
    return true;
}

static void encode_e2m1(const float *values, const float *multipliers, size_t group, size_t groups,
                        uint8_t *packed)
{
    for (size_t i = 0; i < group * groups; i += 16, values += 16, packed += 8) {
        const float *multiplier = multipliers + i / group;
        float32x4_t q[4];
        for (size_t k = 0; k < 4; k++)
            q[k] = vmulq_n_f32(vld1q_f32(values + 4 * k), *multiplier);
        if (!store_16(q, packed))
            wb__mlx_kernels_scaled.e2m1_encode(values, multiplier, 16, 1, packed);
    }
}

NEON_INLINE void divide(const float *values, const float *divisors, float factor,
                        wb__mlx_format format, size_t group, size_t groups, uint8_t *packed)
{
    for (size_t i = 0; i < group * groups; i += 16, values += 16, packed += 8) {
        const float *divisor = divisors + i / group;
        float32x4_t q[4];
        for (size_t k = 0; k < 4; k++) {
            float32x4_t quotient = vdivq_f32(vld1q_f32(values + 4 * k), vdupq_n_f32(*divisor));
            q[k] = vmulq_n_f32(wb__rounded4(quotient, format), factor);
        }
        if (!store_16(q, packed))
            wb__mlx_kernels_scaled.e2m1_divide[format](values, divisor, factor, 16, 1, packed);
    }
}

/* ---- E4M3 ---- */

NEON_INLINE uint32x4_t e4m3_of(float32x4_t x)
{
    float32x4_t magnitude = vabsq_f32(x);
    uint32x4_t u = vreinterpretq_u32_f32(magnitude);
    /* For magnitudes below 2^-6 (E4M3 subnormals), adding 2^14 rounds to multiples of 2^-9. */
    uint32x4_t small = vreinterpretq_u32_f32(vaddq_f32(magnitude, vdupq_n_f32(16384.0f)));
    small = vsubq_u32(small, vdupq_n_u32(0x46800000));
    uint32x4_t odd = vandq_u32(vshrq_n_u32(u, 20), vdupq_n_u32(1));
    uint32x4_t code = vaddq_u32(u, vdupq_n_u32(0x7FFFF - (UINT32_C(120) << 23)));
    code = vshrq_n_u32(vaddq_u32(code, odd), 20);
    code = vbslq_u32(vcltq_u32(u, vdupq_n_u32(0x3C800000)), small, code);
    code = vminq_u32(code, vdupq_n_u32(0x7E));
    uint32x4_t sign = vshrq_n_u32(vreinterpretq_u32_f32(x), 24);
    return vorrq_u32(code, vandq_u32(sign, vdupq_n_u32(0x80)));
}

NEON_INLINE uint8x8_t bytes_of(uint32x4_t a, uint32x4_t b)
{
    return vmovn_u16(vcombine_u16(vmovn_u32(a), vmovn_u32(b)));
}

static void encode_e4m3(const float *values, const float *multipliers, size_t group, size_t groups,
                        uint8_t *packed)
{
    for (size_t g = 0; g < groups; g++) {
        for (size_t i = 0; i < group; i += 8, values += 8, packed += 8) {
            wb__floats8 x = wb__load8(values);
            vst1_u8(packed, bytes_of(e4m3_of(vmulq_n_f32(x.a, multipliers[g])),
                                     e4m3_of(vmulq_n_f32(x.b, multipliers[g]))));
        }
    }
}

/* Returns the values of four E4M3 codes, but infinity for zero, so that all quotients become 0. */
NEON_INLINE float32x4_t scales_of(uint32x4_t code)
{
    uint32x4_t rest = vandq_u32(code, vdupq_n_u32(0x7F));
    uint32x4_t sign = vshlq_n_u32(vandq_u32(code, vdupq_n_u32(0x80)), 24);
    uint32x4_t bits = vorrq_u32(vshlq_n_u32(rest, 20), sign);
    uint32x4_t scale =
        vreinterpretq_u32_f32(vmulq_f32(vreinterpretq_f32_u32(bits), vdupq_n_f32(0x1p120f)));
    return vreinterpretq_f32_u32(
        vbslq_u32(vceqzq_u32(rest), vdupq_n_u32(WB__FLOAT_INFINITY), scale));
}

NEON_INLINE void fit(const float *peaks, float factor, wb__mlx_format format, size_t groups,
                     uint8_t *codes, float *scales)
{
    size_t g = 0;
    for (; g + 8 <= groups; g += 8) {
        uint32x4_t code[2];
        for (size_t k = 0; k < 2; k++) {
            float32x4_t s = vdivq_f32(vld1q_f32(peaks + g + 4 * k), vdupq_n_f32(6.0f));
            code[k] = e4m3_of(vmulq_n_f32(wb__rounded4(s, format), factor));
            vst1q_f32(scales + g + 4 * k, scales_of(code[k]));
        }
        vst1_u8(codes + g, bytes_of(code[0], code[1]));
    }
    wb__mlx_kernels_scaled.e4m3_fit[format](peaks + g, factor, groups - g, codes + g, scales + g);
}

#define ENCODERS(format)                                                                           \
    static void divide_##format(const float *values, const float *divisors, float factor,          \
                                size_t group, size_t groups, uint8_t *packed)                      \
    {                                                                                              \
        divide(values, divisors, factor, WB__MLX_##format, group, groups, packed);                 \
    }                                                                                              \
    static void fit_##format(const float *peaks, float factor, size_t groups, uint8_t *codes,      \
                             float *scales)                                                        \
    {                                                                                              \
        fit(peaks, factor, WB__MLX_##format, groups, codes, scales);                               \
    }
ENCODERS(F32)
ENCODERS(F16)
ENCODERS(BF16)

WB__CONTRACTION_PROBE()

const wb__mlx_kernels wb__mlx_kernels_scaled_encode_neon = {
    .features = WB__CPU_NEON,
    .contracted = contracted,
    .peak = peak,
    .e2m1_encode = encode_e2m1,
    .e4m3_encode = encode_e4m3,
    .e4m3_fit = {fit_F32, fit_F16, fit_BF16},
    .e2m1_divide = {divide_F32, divide_F16, divide_BF16},
};

#endif
