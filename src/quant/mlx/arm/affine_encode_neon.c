/*
 * Affine encoding with NEON: the scalar loops, with elements or groups in the lanes of registers.
 */
#include "quant/mlx/arm/neon.h"

#if WB__ARM64

extern const wb__mlx_kernels
    wb__mlx_kernels_affine; /* scalar loops for the groups that this file does not encode */

/* ---- range ---- */

/* Finds the range of each group. Ignores NaNs, because a comparison with NaN is false. */
static void range(const float *values, size_t group, size_t groups, float *least, float *greatest)
{
    const float32x4_t infinity = vreinterpretq_f32_u32(vdupq_n_u32(WB__FLOAT_INFINITY));
    for (size_t g = 0; g < groups; g++, values += group) {
        wb__floats8 low = {infinity, infinity};
        wb__floats8 high = {vnegq_f32(infinity), vnegq_f32(infinity)};
        for (size_t i = 0; i < group; i += 8) {
            wb__floats8 x = wb__load8(values + i);
            low = (wb__floats8){wb__less4(x.a, low.a), wb__less4(x.b, low.b)};
            high = (wb__floats8){wb__greater4(x.a, high.a), wb__greater4(x.b, high.b)};
        }
        least[g] = vminvq_f32(vminq_f32(low.a, low.b));
        greatest[g] = vmaxvq_f32(vmaxq_f32(high.a, high.b));
    }
}

/* ---- scales and biases ---- */

static void fit(const float *least, const float *greatest, unsigned bits, size_t groups,
                float *scales, float *biases)
{
    const float32x4_t steps = vdupq_n_f32((float)((1u << bits) - 1));
    const float32x4_t smallest = vdupq_n_f32(WB__MLX_AFFINE_SCALE_MIN);
    size_t g = 0;
    for (; g + 4 <= groups; g += 4) {
        float32x4_t low = vld1q_f32(least + g), high = vld1q_f32(greatest + g);
        uint32x4_t low_is_edge = vcgtq_f32(vabsq_f32(low), vabsq_f32(high));
        float32x4_t edge = vbslq_f32(low_is_edge, low, high);
        float32x4_t scale = wb__greater4(vdivq_f32(vsubq_f32(high, low), steps), smallest);
        scale = vbslq_f32(low_is_edge, scale, vnegq_f32(scale));
        float32x4_t edge_code = vrndnq_f32(vdivq_f32(edge, scale));
        uint32x4_t off_grid = vceqzq_f32(edge_code);
        scale = vbslq_f32(off_grid, scale, vdivq_f32(edge, edge_code));
        vst1q_f32(scales + g, scale);
        vst1q_f32(biases + g, vbslq_f32(off_grid, vdupq_n_f32(0), edge));
    }
    wb__mlx_kernels_affine.affine_fit(least + g, greatest + g, bits, groups - g, scales + g,
                                      biases + g);
}

/* ---- codes ---- */

/* Packs and writes sixteen codes, given as bytes, for 1, 2, 4 or 8 bits. */
NEON_INLINE void pack_whole(uint8x16_t codes, int bits, uint8_t *packed)
{
    if (bits == 8) {
        vst1q_u8(packed, codes);
        return;
    }
    /* Move the second code of each pair to the bits directly above the first code. */
    uint16x8_t pairs = vreinterpretq_u16_u8(codes);
    pairs = vorrq_u16(pairs, vshrq_n_u16(pairs, 8 - 4));
    if (bits == 4) {
        vst1_u8(packed, vmovn_u16(pairs));
        return;
    }
    pairs = vreinterpretq_u16_u8(codes);
    pairs = vorrq_u16(pairs, vshrq_n_u16(pairs, 8 - 2));
    uint16x4_t fours = vreinterpret_u16_u8(vmovn_u16(pairs));
    fours = vorr_u16(fours, vshr_n_u16(fours, 8 - 4));
    uint8x8_t bytes = vmovn_u16(vcombine_u16(fours, fours));
    wb__store_le32(packed, vget_lane_u32(vreinterpret_u32_u8(bytes), 0));
}

/* Packs and writes sixteen codes for 3, 5 or 6 bits. Each half of the register becomes `bits`
 * bytes. */
NEON_INLINE void pack_odd(uint8x16_t codes, int bits, uint8_t *packed)
{
    const int16x8_t by_pair = vdupq_n_s16((int16_t)(bits - 8));
    const int32x4_t by_four = vdupq_n_s32(2 * bits - 16);
    const int64x2_t by_eight = vdupq_n_s64(4 * bits - 32);
    uint16x8_t two = vreinterpretq_u16_u8(codes);
    two = vorrq_u16(vandq_u16(two, vdupq_n_u16(0xFF)),
                    vshlq_u16(vandq_u16(two, vdupq_n_u16(0xFF00)), by_pair));
    uint32x4_t four = vreinterpretq_u32_u16(two);
    four = vorrq_u32(vandq_u32(four, vdupq_n_u32(0xFFFF)),
                     vshlq_u32(vandq_u32(four, vdupq_n_u32(0xFFFF0000)), by_four));
    uint64x2_t eight = vreinterpretq_u64_u32(four);
    eight = vorrq_u64(vandq_u64(eight, vdupq_n_u64(0xFFFFFFFF)),
                      vshlq_u64(vandq_u64(eight, vdupq_n_u64(0xFFFFFFFF00000000)), by_eight));
    uint64_t first = vgetq_lane_u64(eight, 0), second = vgetq_lane_u64(eight, 1);
    memcpy(packed, &first, (size_t)bits);
    memcpy(packed + bits, &second, (size_t)bits);
}

NEON_INLINE uint16x4_t code_4(const float *values, float scale, float bias, float last)
{
    float32x4_t q = vsubq_f32(vld1q_f32(values), vdupq_n_f32(bias));
    q = vdivq_f32(q, vdupq_n_f32(scale));
    q = wb__greater4(q, vdupq_n_f32(0)); /* NaN becomes 0 */
    q = wb__less4(q, vdupq_n_f32(last));
    return vmovn_u32(vcvtnq_u32_f32(q));
}

NEON_INLINE uint8x8_t code_8(const float *values, float scale, float bias, float last)
{
    return vmovn_u16(
        vcombine_u16(code_4(values, scale, bias, last), code_4(values + 4, scale, bias, last)));
}

NEON_INLINE void encode(const float *values, int bits, const float *scales, const float *biases,
                        size_t group, size_t groups, uint8_t *packed)
{
    const float last = (float)((1 << bits) - 1);
    for (size_t g = 0; g < groups; g++) {
        for (size_t i = 0; i < group; i += 16, values += 16, packed += 2 * bits) {
            wb__mlx_fetch(values, 16);
            uint8x16_t codes = vcombine_u8(code_8(values, scales[g], biases[g], last),
                                           code_8(values + 8, scales[g], biases[g], last));
            if (bits == 2 || bits == 4 || bits == 8)
                pack_whole(codes, bits, packed);
            else
                pack_odd(codes, bits, packed);
        }
    }
}

/* With one bit, a comparison gives the code; see x86/affine_encode_avx512.c. */
static void encode_1(const float *values, const float *scales, const float *biases, size_t group,
                     size_t groups, uint8_t *packed)
{
    static const uint16_t places[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    for (size_t g = 0; g < groups; g++) {
        float32x4_t half = vdupq_n_f32(scales[g] * 0.5f), bias = vdupq_n_f32(biases[g]);
        for (size_t i = 0; i < group; i += 8, values += 8, packed++) {
            wb__floats8 x = wb__load8(values);
            uint16x8_t above = vcombine_u16(vmovn_u32(vcgtq_f32(vsubq_f32(x.a, bias), half)),
                                            vmovn_u32(vcgtq_f32(vsubq_f32(x.b, bias), half)));
            *packed = (uint8_t)vaddvq_u16(vandq_u16(above, vld1q_u16(places)));
        }
    }
}

#define ENCODER(bits)                                                                              \
    static void encode_##bits(const float *values, const float *scales, const float *biases,       \
                              size_t group, size_t groups, uint8_t *packed)                        \
    {                                                                                              \
        encode(values, bits, scales, biases, group, groups, packed);                               \
    }
ENCODER(2)
ENCODER(3)
ENCODER(4)
ENCODER(5)
ENCODER(6)
ENCODER(8)

WB__CONTRACTION_PROBE()

const wb__mlx_kernels wb__mlx_kernels_affine_encode_neon = {
    .features = WB__CPU_NEON,
    .contracted = contracted,
    .range = range,
    .affine_fit = fit,
    .affine_encode = {NULL, encode_1, encode_2, encode_3, encode_4, encode_5, encode_6, NULL,
                      encode_8},
};

#endif
