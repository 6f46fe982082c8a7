/*
 * Decoding of scaled E2M1 and E4M3 with AVX2. E4M3 is first converted to binary16: its bits, moved
 * to their places in a binary16, give a number that is too small by a factor of 2^8. Groups that
 * contain a NaN code are left to the scalar code.
 */
#include "quant/mlx/x86/avx2.h"

#if WB__X86

extern const wb__mlx_kernels
    wb__mlx_kernels_scaled; /* scalar loops for the groups that this file does not decode */

/* ---- E2M1 ---- */

/* Returns the scaled values of codes 0 to 7. The other codes differ in the sign only. */
AVX2_INLINE __m256 magnitudes(float scale, float factor)
{
    __m256 values = _mm256_loadu_ps(wb__mlx_e2m1_values);
    return _mm256_mul_ps(_mm256_mul_ps(values, _mm256_set1_ps(scale)), _mm256_set1_ps(factor));
}

AVX2_INLINE void look_up_8(const uint8_t *packed, const wb__spread8 *spread, __m256 table,
                           uint8_t *dst)
{
    /* the permutation uses the low three bits only */
    __m256i codes = wb__codes_8(packed, 4, spread);
    __m256i sign = _mm256_slli_epi32(_mm256_srli_epi32(codes, 3), 31);
    __m256 value = _mm256_permutevar8x32_ps(table, codes);
    _mm256_storeu_ps((void *)dst, _mm256_xor_ps(value, _mm256_castsi256_ps(sign)));
}

AVX2 static void decode_e2m1_F32(const uint8_t *packed, const float *scales, float factor,
                                 size_t group, size_t groups, uint8_t *dst)
{
    const wb__spread8 spread[4] = {wb__spread_8(4, 0), wb__spread_8(4, 1), wb__spread_8(4, 2),
                                   wb__spread_8(4, 3)};
    size_t n = group * groups;
    for (size_t i = 0; i + 32 <= n; i += 32, packed += 16, dst += 128) {
        __m256 first = magnitudes(scales[i / group], factor);
        __m256 second = group == 16 ? magnitudes(scales[i / group + 1], factor) : first;
        look_up_8(packed, &spread[0], first, dst);
        look_up_8(packed, &spread[1], first, dst + 32);
        look_up_8(packed, &spread[2], second, dst + 64);
        look_up_8(packed, &spread[3], second, dst + 96);
    }
    if (n % 32 != 0)
        wb__mlx_kernels_scaled.e2m1_decode[WB__MLX_F32](packed, scales + groups - 1, factor, group,
                                                        1, dst);
}

AVX2_INLINE wb__table16 half_table(float scale, wb__mlx_format format)
{
    __m256 s = _mm256_set1_ps(scale);
    return wb__table_of(_mm256_mul_ps(_mm256_loadu_ps(wb__mlx_e2m1_values), s),
                        _mm256_mul_ps(_mm256_loadu_ps(wb__mlx_e2m1_values + 8), s), format);
}

/* Looks up 16 + 16 codes: the first 16 in the first table, the others in the second. */
AVX2_INLINE void look_up_16_16(const uint8_t *packed, wb__table16 first, wb__table16 second,
                               uint8_t *dst)
{
    const __m128i mask = _mm_set1_epi8(15);
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)packed);
    __m128i low = _mm_and_si128(bytes, mask);
    __m128i high = _mm_and_si128(_mm_srli_epi16(bytes, 4), mask);
    __m256i codes = _mm256_set_m128i(_mm_unpackhi_epi8(low, high), _mm_unpacklo_epi8(low, high));
    __m256i lows =
        _mm256_shuffle_epi8(_mm256_permute2x128_si256(first.low, second.low, 0x20), codes);
    __m256i highs =
        _mm256_shuffle_epi8(_mm256_permute2x128_si256(first.high, second.high, 0x20), codes);
    __m256i a = _mm256_unpacklo_epi8(lows, highs), b = _mm256_unpackhi_epi8(lows, highs);
    _mm256_storeu_si256((__m256i *)(void *)dst, _mm256_permute2x128_si256(a, b, 0x20));
    _mm256_storeu_si256((__m256i *)(void *)(dst + 32), _mm256_permute2x128_si256(a, b, 0x31));
}

AVX2_INLINE void decode_e2m1_half(const uint8_t *packed, wb__mlx_format format, const float *scales,
                                  float factor, size_t group, size_t groups, uint8_t *dst)
{
    size_t n = group * groups;
    for (size_t i = 0; i + 32 <= n; i += 32, packed += 16, dst += 64) {
        wb__table16 table = half_table(scales[i / group], format);
        if (group == 16)
            look_up_16_16(packed, table, half_table(scales[i / group + 1], format), dst);
        else
            wb__look_up(table, wb__nibbles(packed), dst);
    }
    if (n % 32 != 0)
        wb__mlx_kernels_scaled.e2m1_decode[format](packed, scales + groups - 1, factor, group, 1,
                                                   dst);
}

AVX2 static void decode_e2m1_F16(const uint8_t *packed, const float *scales, float factor,
                                 size_t group, size_t groups, uint8_t *dst)
{
    decode_e2m1_half(packed, WB__MLX_F16, scales, factor, group, groups, dst);
}

AVX2 static void decode_e2m1_BF16(const uint8_t *packed, const float *scales, float factor,
                                  size_t group, size_t groups, uint8_t *dst)
{
    decode_e2m1_half(packed, WB__MLX_BF16, scales, factor, group, groups, dst);
}

/* ---- E4M3 ---- */

AVX2_INLINE bool holds_nan(const uint8_t *codes, size_t n)
{
    const __m256i magnitude = _mm256_set1_epi8(0x7F);
    __m256i found = _mm256_setzero_si256();
    for (size_t i = 0; i < n; i += 32) {
        __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)(codes + i));
        x = _mm256_cmpeq_epi8(_mm256_and_si256(x, magnitude), magnitude);
        found = _mm256_or_si256(found, x);
    }
    return _mm256_movemask_epi8(found) != 0;
}

AVX2_INLINE __m256 values_8(const uint8_t *codes)
{
    __m128i words = _mm_cvtepi8_epi16(_mm_loadl_epi64((const __m128i *)(const void *)codes));
    __m128i bits = _mm_and_si128(_mm_slli_epi16(words, 7), _mm_set1_epi16((short)0xBF80));
    return _mm256_mul_ps(_mm256_cvtph_ps(bits), _mm256_set1_ps(256.0f));
}

AVX2_INLINE void decode_e4m3(const uint8_t *packed, wb__mlx_format format, const float *scales,
                             float factor, size_t group, size_t groups, uint8_t *dst)
{
    size_t size = format == WB__MLX_F32 ? 4 : 2;
    __m256 last = _mm256_set1_ps(factor);
    for (size_t g = 0; g < groups; g++, packed += group, dst += group * size) {
        if (holds_nan(packed, group)) {
            wb__mlx_kernels_scaled.e4m3_decode[format](packed, scales + g, factor, group, 1, dst);
            continue;
        }
        __m256 scale = _mm256_set1_ps(scales[g]);
        for (size_t i = 0; i < group; i += 8) {
            __m256 x = _mm256_mul_ps(values_8(packed + i), scale);
            if (format == WB__MLX_F32)
                x = _mm256_mul_ps(x, last);
            wb__store8(dst + i * size, x, format);
        }
    }
}

#define DECODER(format)                                                                            \
    AVX2 static void decode_e4m3_##format(const uint8_t *packed, const float *scales,              \
                                          float factor, size_t group, size_t groups, uint8_t *dst) \
    {                                                                                              \
        decode_e4m3(packed, WB__MLX_##format, scales, factor, group, groups, dst);                 \
    }
DECODER(F32)
DECODER(F16)
DECODER(BF16)

WB__CONTRACTION_PROBE(AVX2)

const wb__mlx_kernels wb__mlx_kernels_scaled_decode_avx2 = {
    .features = WB__CPU_AVX2,
    .contracted = contracted,
    .e2m1_decode = {decode_e2m1_F32, decode_e2m1_F16, decode_e2m1_BF16},
    .e4m3_decode = {decode_e4m3_F32, decode_e4m3_F16, decode_e4m3_BF16},
};

#endif
