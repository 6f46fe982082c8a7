/* Encoding with AVX2, with one group of values per lane. */
#include "quant/kernel.h"

#include "cpu/cpu.h"
#include "quant/scalar/fp4.h"
#include "quant/scalar/k.h"
#include "quant/scalar/rounding.h"

#if WB__X86

#include <immintrin.h>
#include <math.h>

#include "quant/x86/lanes_avx2.h"

WB__CONTRACTION_PROBE(KERNEL)

#include "quant/x86/byte_vectors.h"
#include "quant/x86/eights.h"

#include "quant/lanes/encode_search.h"

#include "quant/lanes/encode_k.h"

#include "quant/lanes/encode_blocks.h"

/*
 * Finds the level of IQ4 nearest to x by binary search (see lanes/encode_iq4.h). Returns the upper
 * three of the four bits of the level's index. A lane of the mask *last is set if the lowest bit of
 * the index is 1.
 */
KERNEL static inline __m256i iq4_halving(lanes x, __m256 *last)
{
    const __m256 quarters = _mm256_setr_ps(-93.5f, -28.5f, 19, 79, 0, 0, 0, 0);
    const __m256 eighths = _mm256_setr_ps(-115.5f, -74, -42, -16, 7, 31.5f, 61, 101);
    __m256 above = _mm256_cmp_ps(x, _mm256_set1_ps(-4.5f), _CMP_NLT_UQ);
    __m256i index = _mm256_srli_epi32(_mm256_castps_si256(above), 31);
    __m256 middle = _mm256_blendv_ps(_mm256_set1_ps(-57), _mm256_set1_ps(45.5f), above);
    above = _mm256_cmp_ps(x, middle, _CMP_NLT_UQ);
    index = _mm256_sub_epi32(_mm256_add_epi32(index, index), _mm256_castps_si256(above));
    above = _mm256_cmp_ps(x, _mm256_permutevar8x32_ps(quarters, index), _CMP_NLT_UQ);
    index = _mm256_sub_epi32(_mm256_add_epi32(index, index), _mm256_castps_si256(above));
    *last = _mm256_cmp_ps(x, _mm256_permutevar8x32_ps(eighths, index), _CMP_NLT_UQ);
    return index;
}

KERNEL static inline lanes iq4_level(lanes x)
{
    const __m256 even = _mm256_setr_ps(-127, -83, -49, -22, 1, 25, 53, 89);
    const __m256 odd = _mm256_setr_ps(-104, -65, -35, -10, 13, 38, 69, 113);
    __m256 last;
    __m256i index = iq4_halving(x, &last);
    return _mm256_blendv_ps(_mm256_permutevar8x32_ps(even, index),
                            _mm256_permutevar8x32_ps(odd, index), last);
}

KERNEL static inline lanes iq4_index(lanes x)
{
    __m256 last;
    __m256i index = iq4_halving(x, &last);
    index = _mm256_sub_epi32(_mm256_add_epi32(index, index), _mm256_castps_si256(last));
    return _mm256_cvtepi32_ps(index);
}

#include "quant/lanes/encode_iq4.h"
#include "quant/lanes/encode_table.h"

const wb__kernel_set wb__kernels_encode_avx2 = {WB__CPU_AVX2, contracted, kernels,
                                                WB__KERNEL_COUNT(kernels)};

#else
static bool never(void)
{
    return true;
}
const wb__kernel_set wb__kernels_encode_avx2 = {0, never, NULL, 0};
#endif
