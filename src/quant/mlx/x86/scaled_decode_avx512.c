/*
 * Decoding E2M1 and E4M3 under a scale with AVX-512. The sixteen values of E2M1 times the scale are a
 * table of the group; E4M3 goes through binary16, which holds it with the exponent moved by eight.
 */
#include "quant/mlx/x86/avx512.h"

#if WB__X86

extern const wb__mlx_kernels wb__mlx_kernels_scaled; /* does what is left over */

AVX512_INLINE __m512 table_of(float scale, float factor)
{
    __m512 values = _mm512_loadu_ps(wb__mlx_e2m1_values);
    return _mm512_mul_ps(_mm512_mul_ps(values, _mm512_set1_ps(scale)), _mm512_set1_ps(factor));
}

/* Group 16 is nvfp4, and 32 mxfp4. */
AVX512_INLINE void decode_e2m1_f32(const uint8_t *packed, const float *scales, float factor,
                                   size_t group, size_t groups, uint8_t *dst)
{
    const wb__spread low = wb__spread_codes(4, 0, 32), high = wb__spread_codes(4, 16, 32);
    size_t n = group * groups;
    for (size_t i = 0; i + 32 <= n; i += 32, packed += 16, dst += 128) {
        __m512 first = table_of(scales[i / group], factor);
        __m512 second = group == 16 ? table_of(scales[i / group + 1], factor) : first;
        __m512i bytes = wb__load_codes(packed, 4);
        _mm512_storeu_ps((void *)dst, _mm512_permutexvar_ps(wb__codes_at(bytes, low), first));
        _mm512_storeu_ps((void *)(dst + 64),
                         _mm512_permutexvar_ps(wb__codes_at(bytes, high), second));
    }
    if (n % 32 != 0)
        wb__mlx_kernels_scaled.e2m1_decode[WB__MLX_F32](packed, scales + groups - 1, factor, group,
                                                        1, dst);
}

/* 32 codes under two tables, of 16 codes each or one for all. */
AVX512_INLINE void look_up(const uint8_t *packed, wb__spread spread, __m512i table, __m512i offset,
                           uint8_t *dst)
{
    __m512i at = wb__codes_at(wb__load_codes(packed, 4), spread);
    at = _mm512_or_si512(_mm512_and_si512(at, _mm512_set1_epi16(15)), offset);
    wb__store512(dst, _mm512_permutexvar_epi16(at, table));
}

AVX512_INLINE void decode_e2m1_half(const uint8_t *packed, wb__mlx_format format,
                                    const float *scales, float factor, size_t group, size_t groups,
                                    uint8_t *dst)
{
    const wb__spread spread = wb__spread_codes(4, 0, 16);
    const __m512i none = _mm512_setzero_si512(), second = _mm512_set1_epi16(16);
    const __m512i halves = _mm512_inserti64x4(none, _mm256_set1_epi16(16), 1);
    size_t g = 0;
    for (; g + 2 <= groups; g += 2, packed += group, dst += 4 * group) {
        __m512i table =
            wb__to_halves(table_of(scales[g], 1.0f), table_of(scales[g + 1], 1.0f), format);
        if (group == 16) {
            look_up(packed, spread, table, halves, dst);
        } else {
            look_up(packed, spread, table, none, dst);
            look_up(packed + 16, spread, table, second, dst + 64);
        }
    }
    if (g < groups)
        wb__mlx_kernels_scaled.e2m1_decode[format](packed, scales + g, factor, group, 1, dst);
}

/* ---- E4M3 ---- */

/* 16 codes, which lie in words, as floats; lanes of `nan` are NaN. */
AVX512_INLINE __m512 values_of(__m256i words, __mmask16 nan)
{
    __m256i bits = _mm256_and_si256(_mm256_slli_epi16(words, 7), _mm256_set1_epi16((short)0xBF80));
    __m512 values = _mm512_mul_ps(_mm512_cvtph_ps(bits), _mm512_set1_ps(256.0f));
    return _mm512_mask_mov_ps(values, nan, _mm512_castsi512_ps(_mm512_set1_epi32(WB__FLOAT_NAN)));
}

AVX512_INLINE void decode_e4m3(const uint8_t *packed, wb__mlx_format format, const float *scales,
                               float factor, size_t group, size_t groups, uint8_t *dst)
{
    const __m256i magnitude = _mm256_set1_epi8(0x7F);
    for (size_t g = 0; g < groups; g++) {
        __m512 scale = _mm512_set1_ps(scales[g]), last = _mm512_set1_ps(factor);
        for (size_t i = 0; i < group; i += 32, packed += 32) {
            __m256i codes = _mm256_loadu_si256((const __m256i *)(const void *)packed);
            __mmask32 nan =
                _mm256_cmpeq_epi8_mask(_mm256_and_si256(codes, magnitude), magnitude);
            __m256i low = _mm256_cvtepi8_epi16(_mm256_castsi256_si128(codes));
            __m256i high = _mm256_cvtepi8_epi16(_mm256_extracti128_si256(codes, 1));
            __m512 x = _mm512_mul_ps(values_of(low, (__mmask16)nan), scale);
            __m512 y = _mm512_mul_ps(values_of(high, (__mmask16)(nan >> 16)), scale);
            if (format == WB__MLX_F32) {
                _mm512_storeu_ps((void *)dst, _mm512_mul_ps(x, last));
                _mm512_storeu_ps((void *)(dst + 64), _mm512_mul_ps(y, last));
                dst += 128;
            } else {
                wb__store512(dst, wb__to_halves(x, y, format));
                dst += 64;
            }
        }
    }
}

/* Rounding a NaN to bfloat16 by its bits keeps it one: 0x7FC00000 + 0x7FFF. */

#define DECODERS(format, e2m1)                                                                     \
    AVX512 static void decode_e2m1_##format(const uint8_t *packed, const float *scales,            \
                                            float factor, size_t group, size_t groups,             \
                                            uint8_t *dst)                                          \
    {                                                                                              \
        e2m1;                                                                                      \
    }                                                                                              \
    AVX512 static void decode_e4m3_##format(const uint8_t *packed, const float *scales,            \
                                            float factor, size_t group, size_t groups,             \
                                            uint8_t *dst)                                          \
    {                                                                                              \
        decode_e4m3(packed, WB__MLX_##format, scales, factor, group, groups, dst);                 \
    }
DECODERS(F32, decode_e2m1_f32(packed, scales, factor, group, groups, dst))
DECODERS(F16, decode_e2m1_half(packed, WB__MLX_F16, scales, factor, group, groups, dst))
DECODERS(BF16, decode_e2m1_half(packed, WB__MLX_BF16, scales, factor, group, groups, dst))

WB__CONTRACTION_PROBE(AVX512)

const wb__mlx_kernels wb__mlx_kernels_scaled_decode_avx512 = {
    .features = WB__CPU_AVX512,
    .contracted = contracted,
    .e2m1_decode = {decode_e2m1_F32, decode_e2m1_F16, decode_e2m1_BF16},
    .e4m3_decode = {decode_e4m3_F32, decode_e4m3_F16, decode_e4m3_BF16},
};

#endif
