/* Decoding with AVX-512. */
#include "quant/kernel.h"

#include "cpu/cpu.h"

#if WB__X86

#include <immintrin.h>

#define KERNEL __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")))

WB__CONTRACTION_PROBE(KERNEL)

#include "quant/x86/byte_vectors.h"

/* Converts 16 signed bytes to floats. */
KERNEL static inline __m512 widen_16(bytes_16 q)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(q));
}

KERNEL static inline void put_16(float *out, bytes_16 q, float d)
{
    _mm512_storeu_ps(out, _mm512_mul_ps(widen_16(q), _mm512_set1_ps(d)));
}

KERNEL static inline void put_32(float *out, bytes_32 q, float d)
{
    put_16(out, b_low(q), d);
    put_16(out + 16, b_high(q), d);
}

KERNEL static inline void put_16_plus(float *out, bytes_16 q, float d, float m)
{
    __m512 scaled = _mm512_mul_ps(widen_16(q), _mm512_set1_ps(d));
    _mm512_storeu_ps(out, _mm512_add_ps(scaled, _mm512_set1_ps(m)));
}

KERNEL static inline void put_32_plus(float *out, bytes_32 q, float d, float m)
{
    put_16_plus(out, b_low(q), d, m);
    put_16_plus(out + 16, b_high(q), d, m);
}

KERNEL static inline bytes_32 b_spread(uint32_t word)
{
    return _mm256_movm_epi8(word);
}

#include "quant/x86/scales.h"

#include "quant/lanes/decode.h"

const wb__kernel_set wb__kernels_decode_avx512 = {WB__CPU_AVX512, contracted, kernels,
                                                  WB__KERNEL_COUNT(kernels)};

#else
static bool never(void)
{
    return true;
}
const wb__kernel_set wb__kernels_decode_avx512 = {0, never, NULL, 0};
#endif
