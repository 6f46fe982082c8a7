/*
 * Affine encoding with AVX2: the scalar loops, with eight elements or groups in the lanes of a
 * register.
 */
#include "quant/mlx/x86/avx2.h"

#if WB__X86

extern const wb__mlx_kernels
    wb__mlx_kernels_affine; /* scalar loops for the groups that this file does not encode */

/* ---- range ---- */

AVX2_INLINE __m256 swap_halves(__m256 x)
{
    return _mm256_permute2f128_ps(x, x, 1);
}

/*
 * Finds the range of each group. Ignores NaNs, because min and max return their second operand if
 * an operand is NaN.
 */
AVX2 static void range(const float *values, size_t group, size_t groups, float *least,
                       float *greatest)
{
    const __m256 infinity = _mm256_castsi256_ps(_mm256_set1_epi32((int)WB__FLOAT_INFINITY));
    for (size_t g = 0; g < groups; g++, values += group) {
        __m256 low = infinity, high = _mm256_sub_ps(_mm256_setzero_ps(), infinity);
        for (size_t i = 0; i < group; i += 8) {
            __m256 x = _mm256_loadu_ps(values + i);
            low = _mm256_min_ps(x, low);
            high = _mm256_max_ps(x, high);
        }
        low = _mm256_min_ps(low, swap_halves(low));
        high = _mm256_max_ps(high, swap_halves(high));
        low = _mm256_min_ps(low, _mm256_permute_ps(low, 0x4E));
        high = _mm256_max_ps(high, _mm256_permute_ps(high, 0x4E));
        low = _mm256_min_ps(low, _mm256_permute_ps(low, 0xB1));
        high = _mm256_max_ps(high, _mm256_permute_ps(high, 0xB1));
        least[g] = _mm256_cvtss_f32(low);
        greatest[g] = _mm256_cvtss_f32(high);
    }
}

/* ---- scales and biases ---- */

AVX2 static void fit(const float *least, const float *greatest, unsigned bits, size_t groups,
                     float *scales, float *biases)
{
    const __m256 steps = _mm256_set1_ps((float)((1u << bits) - 1)), zero = _mm256_setzero_ps();
    const __m256 smallest = _mm256_set1_ps(WB__MLX_AFFINE_SCALE_MIN);
    const __m256 sign = _mm256_castsi256_ps(_mm256_set1_epi32(INT32_MIN));
    size_t g = 0;
    for (; g + 8 <= groups; g += 8) {
        __m256 low = _mm256_loadu_ps(least + g), high = _mm256_loadu_ps(greatest + g);
        __m256 low_is_edge =
            _mm256_cmp_ps(_mm256_andnot_ps(sign, low), _mm256_andnot_ps(sign, high), _CMP_GT_OQ);
        __m256 edge = _mm256_blendv_ps(high, low, low_is_edge);
        __m256 scale = _mm256_div_ps(_mm256_sub_ps(high, low), steps);
        scale = _mm256_max_ps(scale, smallest);
        scale = _mm256_xor_ps(scale, _mm256_andnot_ps(low_is_edge, sign));
        __m256 edge_code = _mm256_round_ps(_mm256_div_ps(edge, scale),
                                           _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        __m256 on_grid = _mm256_cmp_ps(edge_code, zero, _CMP_NEQ_UQ);
        scale = _mm256_blendv_ps(scale, _mm256_div_ps(edge, edge_code), on_grid);
        _mm256_storeu_ps(scales + g, scale);
        _mm256_storeu_ps(biases + g, _mm256_and_ps(edge, on_grid));
    }
    wb__mlx_kernels_affine.affine_fit(least + g, greatest + g, bits, groups - g, scales + g,
                                      biases + g);
}

/* ---- codes ---- */

/* Packs and writes 32 codes, given as bytes. */
AVX2_INLINE void pack_32(__m256i codes, int bits, uint8_t *packed)
{
    if (bits == 8) {
        _mm256_storeu_si256((__m256i *)(void *)packed, codes);
        return;
    }
    __m256i pairs = _mm256_maddubs_epi16(codes, _mm256_set1_epi16((short)(1 | 1 << (8 + bits))));
    if (bits == 4) {
        _mm_storeu_si128(
            (__m128i *)(void *)packed,
            _mm_packus_epi16(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1)));
        return;
    }
    __m256i fours = _mm256_madd_epi16(pairs, _mm256_set1_epi32(1 | 1 << (16 + 2 * bits)));
    if (bits == 2) {
        __m128i words =
            _mm_packus_epi32(_mm256_castsi256_si128(fours), _mm256_extracti128_si256(fours, 1));
        _mm_storel_epi64((__m128i *)(void *)packed, _mm_packus_epi16(words, words));
        return;
    }
    __m256i low = _mm256_and_si256(fours, _mm256_set1_epi64x(0xFFFFFFFF));
    __m256i high = _mm256_slli_epi64(_mm256_srli_epi64(fours, 32), 4 * bits);
    uint8_t eights[32]; /* of each 8 bytes, the first `bits` bytes are written */
    _mm256_storeu_si256((__m256i *)(void *)eights, _mm256_or_si256(low, high));
    for (int k = 0; k < 4; k++)
        memcpy(packed + k * bits, eights + 8 * k, (size_t)bits);
}

AVX2_INLINE __m256i code_8(const float *values, __m256 scale, __m256 bias, float last)
{
    __m256 q = _mm256_div_ps(_mm256_sub_ps(_mm256_loadu_ps(values), bias), scale);
    q = _mm256_max_ps(q, _mm256_setzero_ps()); /* NaN becomes 0 */
    q = _mm256_min_ps(q, _mm256_set1_ps(last));
    return _mm256_cvtps_epi32(q);
}

AVX2_INLINE void encode(const float *values, int bits, const float *scales, const float *biases,
                        size_t group, size_t groups, uint8_t *packed)
{
    const float last = (float)((1 << bits) - 1);
    for (size_t g = 0; g < groups; g++) {
        __m256 scale = _mm256_set1_ps(scales[g]), bias = _mm256_set1_ps(biases[g]);
        for (size_t i = 0; i < group; i += 32, values += 32, packed += 4 * bits) {
            wb__mlx_fetch(values, 32);
            __m256i a = code_8(values, scale, bias, last);
            __m256i b = code_8(values + 8, scale, bias, last);
            __m256i c = code_8(values + 16, scale, bias, last);
            __m256i d = code_8(values + 24, scale, bias, last);
            pack_32(wb__codes_of(a, b, c, d), bits, packed);
        }
    }
}

/* With one bit, a comparison gives the code; see affine_encode_avx512.c. */
AVX2 static void encode_1(const float *values, const float *scales, const float *biases,
                          size_t group, size_t groups, uint8_t *packed)
{
    for (size_t g = 0; g < groups; g++) {
        __m256 half = _mm256_set1_ps(scales[g] * 0.5f), bias = _mm256_set1_ps(biases[g]);
        for (size_t i = 0; i < group; i += 8, values += 8, packed++) {
            __m256 t = _mm256_sub_ps(_mm256_loadu_ps(values), bias);
            *packed = (uint8_t)_mm256_movemask_ps(_mm256_cmp_ps(t, half, _CMP_GT_OQ));
        }
    }
}

#define ENCODER(bits)                                                                              \
    AVX2 static void encode_##bits(const float *values, const float *scales, const float *biases,  \
                                   size_t group, size_t groups, uint8_t *packed)                   \
    {                                                                                              \
        encode(values, bits, scales, biases, group, groups, packed);                               \
    }
ENCODER(2)
ENCODER(3)
ENCODER(4)
ENCODER(5)
ENCODER(6)
ENCODER(8)

WB__CONTRACTION_PROBE(AVX2)

const wb__mlx_kernels wb__mlx_kernels_affine_encode_avx2 = {
    .features = WB__CPU_AVX2,
    .contracted = contracted,
    .range = range,
    .affine_fit = fit,
    .affine_encode = {NULL, encode_1, encode_2, encode_3, encode_4, encode_5, encode_6, NULL,
                      encode_8},
};

#endif
