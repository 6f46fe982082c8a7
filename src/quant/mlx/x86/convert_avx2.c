/* Conversion of scales, biases and input to and from floats with AVX2. */
#include "quant/mlx/x86/avx2.h"

#if WB__X86

static const int32_t dtypes[WB__MLX_FORMATS] = {WB_DTYPE_F32, WB_DTYPE_F16, WB_DTYPE_BF16};

AVX2_INLINE __m256 load_8(const uint8_t *src, wb__mlx_format format)
{
    if (format == WB__MLX_F32)
        return _mm256_loadu_ps((const void *)src);
    __m128i halves = _mm_loadu_si128((const __m128i *)(const void *)src);
    if (format == WB__MLX_F16)
        return _mm256_cvtph_ps(halves);
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
}

AVX2_INLINE bool widen(const uint8_t *src, wb__mlx_format format, float *dst, size_t n)
{
    const __m256i exponent = _mm256_set1_epi32((int)WB__FLOAT_INFINITY);
    __m256i special = _mm256_setzero_si256();
    size_t i = 0, size = format == WB__MLX_F32 ? 4 : 2;
    for (; i + 8 <= n; i += 8) {
        __m256 floats = load_8(src + i * size, format);
        __m256i bits = _mm256_and_si256(_mm256_castps_si256(floats), exponent);
        special = _mm256_or_si256(special, _mm256_cmpeq_epi32(bits, exponent));
        _mm256_storeu_ps(dst + i, floats);
    }
    bool finite = _mm256_movemask_epi8(special) == 0;
    for (; i < n; i++) {
        dst[i] = wb__float_load(dtypes[format], src + i * size);
        finite &= wb__float_is_finite(dst[i]);
    }
    return finite;
}

AVX2_INLINE void narrow(const float *floats, wb__mlx_format format, uint8_t *dst, size_t n)
{
    const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(WB__FLOAT_NAN));
    size_t i = 0, size = format == WB__MLX_F32 ? 4 : 2;
    for (; i + 8 <= n; i += 8) {
        __m256 x = _mm256_loadu_ps(floats + i);
        wb__store8(dst + i * size, _mm256_blendv_ps(x, nan, _mm256_cmp_ps(x, x, _CMP_UNORD_Q)),
                   format);
    }
    for (; i < n; i++)
        wb__float_store(dtypes[format], dst + i * size, floats[i]);
}

#define CONVERTERS(format)                                                                         \
    AVX2 static bool widen_##format(const uint8_t *src, float *dst, size_t n)                      \
    {                                                                                              \
        return widen(src, WB__MLX_##format, dst, n);                                               \
    }                                                                                              \
    AVX2 static void narrow_##format(const float *floats, uint8_t *dst, size_t n)                  \
    {                                                                                              \
        narrow(floats, WB__MLX_##format, dst, n);                                                  \
    }
CONVERTERS(F32)
CONVERTERS(F16)
CONVERTERS(BF16)

WB__CONTRACTION_PROBE(AVX2)

const wb__mlx_kernels wb__mlx_kernels_convert_avx2 = {
    .features = WB__CPU_AVX2,
    .contracted = contracted,
    .widen = {widen_F32, widen_F16, widen_BF16},
    .narrow = {narrow_F32, narrow_F16, narrow_BF16},
};

#endif
