/* Conversion of scales, biases and input to and from floats with AVX-512. */
#include "quant/mlx/x86/avx512.h"

#if WB__X86

AVX512_INLINE __m512 load_16(const uint8_t *src, wb__mlx_format format, __mmask16 lanes)
{
    if (format == WB__MLX_F32)
        return _mm512_maskz_loadu_ps(lanes, src);
    __m256i halves = _mm256_maskz_loadu_epi16(lanes, src);
    if (format == WB__MLX_F16)
        return _mm512_cvtph_ps(halves);
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

AVX512_INLINE __mmask16 specials(__m512 floats)
{
    const __m512i exponent = _mm512_set1_epi32((int)WB__FLOAT_INFINITY);
    __m512i bits = _mm512_and_si512(_mm512_castps_si512(floats), exponent);
    return _mm512_cmpeq_epi32_mask(bits, exponent);
}

AVX512_INLINE bool widen(const uint8_t *src, wb__mlx_format format, float *dst, size_t n)
{
    __mmask16 special = 0;
    size_t i = 0, size = format == WB__MLX_F32 ? 4 : 2;
    for (; i + 16 <= n; i += 16) {
        __m512 floats = load_16(src + i * size, format, 0xFFFF);
        special |= specials(floats);
        _mm512_storeu_ps(dst + i, floats);
    }
    if (i < n) {
        __mmask16 lanes = (__mmask16)((1u << (n - i)) - 1);
        __m512 floats = load_16(src + i * size, format, lanes);
        special |= specials(floats);
        _mm512_mask_storeu_ps(dst + i, lanes, floats);
    }
    return special == 0;
}

AVX512_INLINE void narrow(const float *floats, wb__mlx_format format, uint8_t *dst, size_t n)
{
    const __m512 nan = _mm512_castsi512_ps(_mm512_set1_epi32(WB__FLOAT_NAN));
    for (size_t i = 0; i < n; i += 16, dst += format == WB__MLX_F32 ? 64 : 32) {
        __mmask16 lanes = n - i >= 16 ? 0xFFFF : (__mmask16)((1u << (n - i)) - 1);
        __m512 x = _mm512_maskz_loadu_ps(lanes, floats + i);
        x = _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), nan);
        if (format == WB__MLX_F32)
            _mm512_mask_storeu_ps((void *)dst, lanes, x);
        else
            _mm256_mask_storeu_epi16(
                dst, lanes, _mm512_castsi512_si256(wb__to_halves(x, _mm512_setzero_ps(), format)));
    }
}

#define CONVERTERS(format)                                                                         \
    AVX512 static bool widen_##format(const uint8_t *src, float *dst, size_t n)                    \
    {                                                                                              \
        return widen(src, WB__MLX_##format, dst, n);                                               \
    }                                                                                              \
    AVX512 static void narrow_##format(const float *floats, uint8_t *dst, size_t n)                \
    {                                                                                              \
        narrow(floats, WB__MLX_##format, dst, n);                                                  \
    }
CONVERTERS(F32)
CONVERTERS(F16)
CONVERTERS(BF16)

WB__CONTRACTION_PROBE(AVX512)

const wb__mlx_kernels wb__mlx_kernels_convert_avx512 = {
    .features = WB__CPU_AVX512,
    .contracted = contracted,
    .widen = {widen_F32, widen_F16, widen_BF16},
    .narrow = {narrow_F32, narrow_F16, narrow_BF16},
};

#endif
