/*
 * Conversions to and from binary16 with AVX2 and F16C. VCVTPS2PH rounds to nearest regardless of
 * the rounding mode and gives the same results as wb__f32_to_f16, including subnormals. For NaNs it
 * keeps part of the payload, so groups that contain a NaN are left to the scalar code. VCVTPH2PS
 * makes NaNs quiet, as wb__f16_to_f32 does.
 */
#include "dtype/halves.h"

#if WB__X86

#include <immintrin.h>

#define KERNEL __attribute__((target("avx2,f16c")))

KERNEL size_t wb__bf16_f16_avx2(const uint8_t *src, uint8_t *dst, size_t n)
{
    const __m256i infinity = _mm256_set1_epi16(0x7F80), magnitude = _mm256_set1_epi16(0x7FFF);
    size_t i = 0;
    for (; i + WB__HALVES_GROUP <= n; i += WB__HALVES_GROUP) {
        __m256i in = _mm256_loadu_si256((const void *)(src + 2 * i));
        __m256i nan = _mm256_cmpgt_epi16(_mm256_and_si256(in, magnitude), infinity);
        if (!_mm256_testz_si256(nan, nan))
            break;
        /* Unpacking works within 128-bit halves: `low` gets the elements 0 to 3 and 8 to 11, `high`
         * gets the others. */
        __m256i low = _mm256_unpacklo_epi16(_mm256_setzero_si256(), in);
        __m256i high = _mm256_unpackhi_epi16(_mm256_setzero_si256(), in);
        __m128i a = _mm256_cvtps_ph(_mm256_castsi256_ps(low), _MM_FROUND_TO_NEAREST_INT);
        __m128i b = _mm256_cvtps_ph(_mm256_castsi256_ps(high), _MM_FROUND_TO_NEAREST_INT);
        _mm_storeu_si128((void *)(dst + 2 * i), _mm_unpacklo_epi64(a, b));
        _mm_storeu_si128((void *)(dst + 2 * i + 16), _mm_unpackhi_epi64(a, b));
    }
    return i;
}

KERNEL size_t wb__f32_f16_avx2(const uint8_t *src, uint8_t *dst, size_t n)
{
    size_t i = 0;
    for (; i + WB__HALVES_GROUP <= n; i += WB__HALVES_GROUP) {
        __m256 a = _mm256_loadu_ps((const void *)(src + 4 * i));
        __m256 b = _mm256_loadu_ps((const void *)(src + 4 * i + 32));
        if (_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_UNORD_Q)) != 0)
            break;
        _mm_storeu_si128((void *)(dst + 2 * i), _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
        _mm_storeu_si128((void *)(dst + 2 * i + 16), _mm256_cvtps_ph(b, _MM_FROUND_TO_NEAREST_INT));
    }
    return i;
}

KERNEL size_t wb__f16_f32_avx2(const uint8_t *src, uint8_t *dst, size_t n)
{
    size_t i = 0;
    for (; i + WB__HALVES_GROUP <= n; i += WB__HALVES_GROUP) {
        __m128i a = _mm_loadu_si128((const void *)(src + 2 * i));
        __m128i b = _mm_loadu_si128((const void *)(src + 2 * i + 16));
        _mm256_storeu_ps((void *)(dst + 4 * i), _mm256_cvtph_ps(a));
        _mm256_storeu_ps((void *)(dst + 4 * i + 32), _mm256_cvtph_ps(b));
    }
    return i;
}

#endif
