/*
 * AWQ and GPTQ tiles with AVX2. Processes eight inputs of an output at a time. The codes of the
 * eight inputs are in the same nibble of eight words (AWQ), or in the eight nibbles of one word
 * (GPTQ). The only rounded operation is the product of an integer and a float.
 */
#include "quant/hub/tiles.h"

#include "quant/mlx/x86/avx2.h"

#if WB__X86

AVX2_INLINE void put_output(__m256i words, unsigned k, const wb__int4_group *group, float *values)
{
    __m256i codes = _mm256_and_si256(words, _mm256_set1_epi32(15));
    __m256i steps = _mm256_sub_epi32(codes, _mm256_set1_epi32(group->zeros[k]));
    __m256 product = _mm256_mul_ps(_mm256_cvtepi32_ps(steps), _mm256_set1_ps(group->scales[k]));
    __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32((int)WB__FLOAT_NAN));
    __m256 is_nan = _mm256_cmp_ps(product, product, _CMP_UNORD_Q);
    _mm256_storeu_ps(values, _mm256_blendv_ps(product, nan, is_nan));
}

AVX2 static void awq(const uint32_t words[8], unsigned first, unsigned n,
                     const wb__int4_group *group, float *values, uint64_t stride)
{
    static const int nibbles[8] = WB__AWQ_NIBBLES;
    __m256i all = _mm256_loadu_si256((const __m256i *)(const void *)words);
    (void)first, (void)n;
    for (unsigned k = 0; k < 8; k++)
        put_output(_mm256_srl_epi32(all, _mm_cvtsi32_si128(4 * nibbles[k])), k, group,
                   values + k * stride);
}

AVX2 static void gptq(const uint32_t words[8], unsigned first, unsigned n,
                      const wb__int4_group *group, float *values, uint64_t stride)
{
    const __m256i shifts = _mm256_set_epi32(28, 24, 20, 16, 12, 8, 4, 0);
    (void)first, (void)n;
    for (unsigned k = 0; k < 8; k++)
        put_output(_mm256_srlv_epi32(_mm256_set1_epi32((int)words[k]), shifts), k, group,
                   values + k * stride);
}

const wb__int4_tiles wb__int4_tiles_avx2 = {.features = WB__CPU_AVX2, .awq = awq, .gptq = gptq};

#endif
