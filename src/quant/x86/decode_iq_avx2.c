/* Decoding of the codebook types with AVX2. */
#include "quant/kernel.h"

#include "cpu/cpu.h"
#include "quant/scalar/codebooks.h"

#if WB__X86

#include <immintrin.h>

#define KERNEL __attribute__((target("avx2,f16c")))

WB__CONTRACTION_PROBE(KERNEL)

typedef __m256 codes_table;

KERNEL static inline float load_f16(const uint8_t *p)
{
    return _cvtsh_ss(wb__load_le16(p));
}

KERNEL static inline codes_table codes_table_of(const float *values, float scale)
{
    return _mm256_mul_ps(_mm256_set1_ps(scale), _mm256_loadu_ps(values));
}

/*
 * Decodes eight values of IQ2. A coordinate has two bits, but the permutation uses three bits of
 * each index, and the third bit may have any value. The table therefore contains the four
 * magnitudes twice.
 */
KERNEL static inline void put_iq2(float *out, uint32_t word, codes_table table)
{
    __m256i w = _mm256_set1_epi32((int)word);
    __m256i at = _mm256_srlv_epi32(w, _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14));
    __m256i sign = _mm256_sllv_epi32(w, _mm256_setr_epi32(15, 14, 13, 12, 11, 10, 9, 8));
    sign = _mm256_and_si256(sign, _mm256_set1_epi32(INT32_MIN));
    _mm256_storeu_ps(out,
                     _mm256_xor_ps(_mm256_permutevar8x32_ps(table, at), _mm256_castsi256_ps(sign)));
}

KERNEL static inline void put_iq3(float *out, uint32_t word, codes_table table)
{
    __m256i w = _mm256_set1_epi32((int)word);
    __m256i at = _mm256_srlv_epi32(w, _mm256_setr_epi32(0, 3, 6, 9, 12, 15, 18, 21));
    __m256i sign = _mm256_sllv_epi32(w, _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0));
    sign = _mm256_and_si256(sign, _mm256_set1_epi32(INT32_MIN));
    _mm256_storeu_ps(out,
                     _mm256_xor_ps(_mm256_permutevar8x32_ps(table, at), _mm256_castsi256_ps(sign)));
}

KERNEL static inline void put_codes(float *out, uint32_t word, codes_table table)
{
    __m256i w = _mm256_set1_epi32((int)word);
    __m256i at = _mm256_srlv_epi32(w, _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14));
    _mm256_storeu_ps(out, _mm256_permutevar8x32_ps(table, at));
}

#include "quant/lanes/decode_iq.h"

const wb__kernel_set wb__kernels_decode_iq_avx2 = {WB__CPU_AVX2, contracted, kernels,
                                                   WB__KERNEL_COUNT(kernels)};

#else
static bool never(void)
{
    return true;
}
const wb__kernel_set wb__kernels_decode_iq_avx2 = {0, never, NULL, 0};
#endif
