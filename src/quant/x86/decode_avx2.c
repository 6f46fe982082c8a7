/* Decoding with AVX2 and F16C. */
#include "quant/kernel.h"

#include "cpu/cpu.h"

#if WB__X86

#include <immintrin.h>

#define KERNEL __attribute__((target("avx2,f16c")))

WB__CONTRACTION_PROBE(KERNEL)

#include "quant/x86/byte_vectors.h"

/* Converts 8 signed bytes to floats. */
KERNEL static inline __m256 widen_8(bytes_16 q)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(q));
}

KERNEL static inline void put_16(float *out, bytes_16 q, float d)
{
    __m256 scale = _mm256_set1_ps(d);
    _mm256_storeu_ps(out, _mm256_mul_ps(widen_8(q), scale));
    _mm256_storeu_ps(out + 8, _mm256_mul_ps(widen_8(_mm_srli_si128(q, 8)), scale));
}

KERNEL static inline void put_32(float *out, bytes_32 q, float d)
{
    put_16(out, b_low(q), d);
    put_16(out + 16, b_high(q), d);
}

KERNEL static inline void put_16_plus(float *out, bytes_16 q, float d, float m)
{
    __m256 scale = _mm256_set1_ps(d), minimum = _mm256_set1_ps(m);
    __m256 low = _mm256_mul_ps(widen_8(q), scale);
    __m256 high = _mm256_mul_ps(widen_8(_mm_srli_si128(q, 8)), scale);
    _mm256_storeu_ps(out, _mm256_add_ps(low, minimum));
    _mm256_storeu_ps(out + 8, _mm256_add_ps(high, minimum));
}

KERNEL static inline void put_32_plus(float *out, bytes_32 q, float d, float m)
{
    put_16_plus(out, b_low(q), d, m);
    put_16_plus(out + 16, b_high(q), d, m);
}

KERNEL static inline bytes_32 b_spread(uint32_t word)
{
    const __m256i places =
        _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i bits = _mm256_set1_epi64x((int64_t)0x8040201008040201);
    __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi32((int)word), places);
    return _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bits), bits);
}

#include "quant/x86/scales.h"

#include "quant/lanes/decode.h"

const wb__kernel_set wb__kernels_decode_avx2 = {WB__CPU_AVX2, contracted, kernels,
                                                WB__KERNEL_COUNT(kernels)};

#else
static bool never(void)
{
    return true;
}
const wb__kernel_set wb__kernels_decode_avx2 = {0, never, NULL, 0};
#endif
