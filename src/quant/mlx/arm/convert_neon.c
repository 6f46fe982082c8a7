/* Conversion of scales, biases and input to and from floats with NEON. */
#include "quant/mlx/arm/neon.h"

#if WB__ARM64

static const int32_t dtypes[WB__MLX_FORMATS] = {WB_DTYPE_F32, WB_DTYPE_F16, WB_DTYPE_BF16};

NEON_INLINE wb__floats8 load_8(const uint8_t *src, wb__mlx_format format)
{
    if (format == WB__MLX_F32)
        return (wb__floats8){vreinterpretq_f32_u8(vld1q_u8(src)),
                             vreinterpretq_f32_u8(vld1q_u8(src + 16))};
    return wb__widened8(vreinterpretq_u16_u8(vld1q_u8(src)), format);
}

NEON_INLINE uint32x4_t not_finite(float32x4_t x)
{
    const uint32x4_t exponent = vdupq_n_u32(WB__FLOAT_INFINITY);
    return vceqq_u32(vandq_u32(vreinterpretq_u32_f32(x), exponent), exponent);
}

NEON_INLINE bool widen(const uint8_t *src, wb__mlx_format format, float *dst, size_t n)
{
    uint32x4_t special = vdupq_n_u32(0);
    size_t i = 0, size = format == WB__MLX_F32 ? 4 : 2;
    for (; i + 8 <= n; i += 8) {
        wb__floats8 floats = load_8(src + i * size, format);
        special = vorrq_u32(special, vorrq_u32(not_finite(floats.a), not_finite(floats.b)));
        vst1q_f32(dst + i, floats.a);
        vst1q_f32(dst + i + 4, floats.b);
    }
    bool finite = vmaxvq_u32(special) == 0;
    for (; i < n; i++) {
        dst[i] = wb__float_load(dtypes[format], src + i * size);
        finite &= wb__float_is_finite(dst[i]);
    }
    return finite;
}

NEON_INLINE float32x4_t canonical(float32x4_t x)
{
    const float32x4_t nan = vreinterpretq_f32_u32(vdupq_n_u32(WB__FLOAT_NAN));
    return vbslq_f32(vceqq_f32(x, x), x, nan);
}

NEON_INLINE void narrow(const float *floats, wb__mlx_format format, uint8_t *dst, size_t n)
{
    size_t i = 0, size = format == WB__MLX_F32 ? 4 : 2;
    for (; i + 8 <= n; i += 8) {
        wb__floats8 x = wb__load8(floats + i);
        wb__store8(dst + i * size, (wb__floats8){canonical(x.a), canonical(x.b)}, format);
    }
    for (; i < n; i++)
        wb__float_store(dtypes[format], dst + i * size, floats[i]);
}

#define CONVERTERS(format)                                                                         \
    static bool widen_##format(const uint8_t *src, float *dst, size_t n)                           \
    {                                                                                              \
        return widen(src, WB__MLX_##format, dst, n);                                               \
    }                                                                                              \
    static void narrow_##format(const float *floats, uint8_t *dst, size_t n)                       \
    {                                                                                              \
        narrow(floats, WB__MLX_##format, dst, n);                                                  \
    }
CONVERTERS(F32)
CONVERTERS(F16)
CONVERTERS(BF16)

WB__CONTRACTION_PROBE()

const wb__mlx_kernels wb__mlx_kernels_convert_neon = {
    .features = WB__CPU_NEON,
    .contracted = contracted,
    .widen = {widen_F32, widen_F16, widen_BF16},
    .narrow = {narrow_F32, narrow_F16, narrow_BF16},
};

#endif
