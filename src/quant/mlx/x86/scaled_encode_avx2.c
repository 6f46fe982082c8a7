/*
 * Encoding of scaled E2M1 and E4M3 with AVX2.
 *
 * E2M1: every midpoint between two values, as a float, has zeros below bit 21. So for the bits u of
 * a magnitude, (u - 1) >> 21 determines the code, and ties go to the smaller value. The index into
 * a table of codes is this number minus 499; 499 is the number for 0.25, the first midpoint.
 * Magnitudes above 16 and NaN are left to the scalar code.
 */
#include "quant/mlx/x86/avx2.h"

#if WB__X86

extern const wb__mlx_kernels
    wb__mlx_kernels_scaled; /* scalar loops for the groups that this file does not encode */

AVX2_INLINE __m256 magnitude_of(__m256 x)
{
    return _mm256_and_ps(x, _mm256_castsi256_ps(_mm256_set1_epi32(INT32_MAX)));
}

AVX2 static void peak(const float *values, size_t group, size_t groups, float *peaks)
{
    for (size_t g = 0; g < groups; g++, values += group) {
        __m256 most = _mm256_setzero_ps();
        for (size_t i = 0; i < group; i += 8)
            most = _mm256_max_ps(magnitude_of(_mm256_loadu_ps(values + i)), most);
        most = _mm256_max_ps(most, _mm256_permute2f128_ps(most, most, 1));
        most = _mm256_max_ps(most, _mm256_permute_ps(most, 0x4E));
        most = _mm256_max_ps(most, _mm256_permute_ps(most, 0xB1));
        peaks[g] = _mm256_cvtss_f32(most);
    }
}

/* ---- E2M1 ---- */

#define FIRST (UINT32_C(499) << 21)
#define LARGE 24 /* result of index_of for magnitude 16, the largest that is encoded here */

AVX2_INLINE __m256i index_of(__m256 q)
{
    __m256i u = _mm256_castps_si256(magnitude_of(q));
    return _mm256_srai_epi32(_mm256_sub_epi32(u, _mm256_set1_epi32((int)(FIRST + 1))), 21);
}

/* Writes the 16 bytes of 32 codes. Returns false if a magnitude is above 16 or NaN. */
AVX2_INLINE bool store_32(const __m256 q[4], uint8_t *packed)
{
    const __m256i code_of =
        _mm256_broadcastsi128_si256(_mm_set_epi8(5, 5, 4, 4, 3, 3, 2, 2, 2, 1, 1, 1, 1, 1, 1, 0));
    __m256i at = wb__bytes_of(index_of(q[0]), index_of(q[1]), index_of(q[2]), index_of(q[3]));
    if (_mm256_movemask_epi8(_mm256_cmpgt_epi8(at, _mm256_set1_epi8(LARGE))) != 0)
        return false;
    __m256i low =
        _mm256_min_epi8(_mm256_max_epi8(at, _mm256_setzero_si256()), _mm256_set1_epi8(15));
    __m256i codes = _mm256_shuffle_epi8(code_of, low);
    codes = _mm256_sub_epi8(codes, _mm256_cmpgt_epi8(at, _mm256_set1_epi8(15)));
    codes = _mm256_sub_epi8(codes, _mm256_cmpgt_epi8(at, _mm256_set1_epi8(17)));
    /* Saturated narrowing preserves signs. A code of zero gets no sign. */
    __m256i signs = wb__bytes_of(_mm256_castps_si256(q[0]), _mm256_castps_si256(q[1]),
                                 _mm256_castps_si256(q[2]), _mm256_castps_si256(q[3]));
    __m256i negative = _mm256_and_si256(_mm256_cmpgt_epi8(_mm256_setzero_si256(), signs),
                                        _mm256_cmpgt_epi8(codes, _mm256_setzero_si256()));
    codes = _mm256_or_si256(codes, _mm256_and_si256(negative, _mm256_set1_epi8(8)));
    /* The quarters of `codes` are in the order 0 2 1 3. The interleaving below sorts them. */
    __m256i pairs = _mm256_maddubs_epi16(codes, _mm256_set1_epi16(1 | 16 << 8));
    __m256i bytes = _mm256_packus_epi16(pairs, pairs);
    __m128i first = _mm256_castsi256_si128(bytes), second = _mm256_extracti128_si256(bytes, 1);
    _mm_storeu_si128((__m128i *)(void *)packed, _mm_unpacklo_epi32(first, second));
    return true;
}

AVX2 static void encode_e2m1(const float *values, const float *multipliers, size_t group,
                             size_t groups, uint8_t *packed)
{
    size_t g = 0, step = 32 / group;
    for (; g + step <= groups; g += step, values += 32, packed += 16) {
        __m256 q[4];
        for (size_t k = 0; k < 4; k++)
            q[k] = _mm256_mul_ps(_mm256_loadu_ps(values + 8 * k),
                                 _mm256_set1_ps(multipliers[g + 8 * k / group]));
        if (!store_32(q, packed))
            wb__mlx_kernels_scaled.e2m1_encode(values, multipliers + g, group, step, packed);
    }
    wb__mlx_kernels_scaled.e2m1_encode(values, multipliers + g, group, groups - g, packed);
}

AVX2_INLINE void divide(const float *values, const float *divisors, float factor,
                        wb__mlx_format format, size_t group, size_t groups, uint8_t *packed)
{
    size_t g = 0, step = 32 / group;
    for (; g + step <= groups; g += step, values += 32, packed += 16) {
        __m256 q[4];
        for (size_t k = 0; k < 4; k++) {
            __m256 quotient = _mm256_div_ps(_mm256_loadu_ps(values + 8 * k),
                                            _mm256_set1_ps(divisors[g + 8 * k / group]));
            q[k] = _mm256_mul_ps(wb__rounded8(quotient, format), _mm256_set1_ps(factor));
        }
        if (!store_32(q, packed))
            wb__mlx_kernels_scaled.e2m1_divide[format](values, divisors + g, factor, group, step,
                                                       packed);
    }
    wb__mlx_kernels_scaled.e2m1_divide[format](values, divisors + g, factor, group, groups - g,
                                               packed);
}

#define DIVIDER(format)                                                                            \
    AVX2 static void divide_##format(const float *values, const float *divisors, float factor,     \
                                     size_t group, size_t groups, uint8_t *packed)                 \
    {                                                                                              \
        divide(values, divisors, factor, WB__MLX_##format, group, groups, packed);                 \
    }
DIVIDER(F32)
DIVIDER(F16)
DIVIDER(BF16)

/* ---- E4M3 ---- */

/* Returns eight codes in 32-bit lanes. */
AVX2_INLINE __m256i e4m3_of(__m256 x)
{
    __m256 magnitude = magnitude_of(x);
    __m256i u = _mm256_castps_si256(magnitude);
    /* For magnitudes below 2^-6 (E4M3 subnormals), adding 2^14 rounds to multiples of 2^-9. */
    __m256i small = _mm256_castps_si256(_mm256_add_ps(magnitude, _mm256_set1_ps(16384.0f)));
    small = _mm256_sub_epi32(small, _mm256_set1_epi32(0x46800000));
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(u, 20), _mm256_set1_epi32(1));
    __m256i code = _mm256_add_epi32(u, _mm256_set1_epi32(0x7FFFF - (120 << 23)));
    code = _mm256_srli_epi32(_mm256_add_epi32(code, odd), 20);
    __m256i subnormal = _mm256_cmpgt_epi32(_mm256_set1_epi32(0x3C800000), u);
    code = _mm256_blendv_epi8(code, small, subnormal);
    code = _mm256_min_epu32(code, _mm256_set1_epi32(0x7E));
    return _mm256_or_si256(code, _mm256_and_si256(_mm256_srli_epi32(_mm256_castps_si256(x), 24),
                                                  _mm256_set1_epi32(0x80)));
}

AVX2 static void encode_e4m3(const float *values, const float *multipliers, size_t group,
                             size_t groups, uint8_t *packed)
{
    for (size_t g = 0; g < groups; g++) {
        __m256 multiplier = _mm256_set1_ps(multipliers[g]);
        for (size_t i = 0; i < group; i += 32, values += 32, packed += 32) {
            __m256i code[4];
            for (size_t k = 0; k < 4; k++)
                code[k] = e4m3_of(_mm256_mul_ps(_mm256_loadu_ps(values + 8 * k), multiplier));
            _mm256_storeu_si256((__m256i *)(void *)packed,
                                wb__codes_of(code[0], code[1], code[2], code[3]));
        }
    }
}

/* Computes the scales of eight groups at a time; see scaled_encode_avx512.c. */
AVX2_INLINE void fit(const float *peaks, float factor, wb__mlx_format format, size_t groups,
                     uint8_t *codes, float *scales)
{
    const __m256 infinity = _mm256_castsi256_ps(_mm256_set1_epi32((int)WB__FLOAT_INFINITY));
    size_t g = 0;
    for (; g + 8 <= groups; g += 8) {
        __m256 s = _mm256_div_ps(_mm256_loadu_ps(peaks + g), _mm256_set1_ps(6.0f));
        __m256i code = e4m3_of(_mm256_mul_ps(wb__rounded8(s, format), _mm256_set1_ps(factor)));
        __m256i rest = _mm256_and_si256(code, _mm256_set1_epi32(0x7F));
        __m256i sign = _mm256_slli_epi32(_mm256_and_si256(code, _mm256_set1_epi32(0x80)), 24);
        __m256i bits = _mm256_or_si256(_mm256_slli_epi32(rest, 20), sign);
        __m256 scale = _mm256_mul_ps(_mm256_castsi256_ps(bits), _mm256_set1_ps(0x1p120f));
        __m256i zero = _mm256_cmpeq_epi32(rest, _mm256_setzero_si256());
        scale = _mm256_blendv_ps(scale, infinity, _mm256_castsi256_ps(zero));
        _mm256_storeu_ps(scales + g, scale);
        uint32_t eight[8];
        _mm256_storeu_si256((__m256i *)(void *)eight, code);
        for (size_t i = 0; i < 8; i++)
            codes[g + i] = (uint8_t)eight[i];
    }
    wb__mlx_kernels_scaled.e4m3_fit[format](peaks + g, factor, groups - g, codes + g, scales + g);
}

#define FITTER(format)                                                                             \
    AVX2 static void fit_##format(const float *peaks, float factor, size_t groups, uint8_t *codes, \
                                  float *scales)                                                   \
    {                                                                                              \
        fit(peaks, factor, WB__MLX_##format, groups, codes, scales);                               \
    }
FITTER(F32)
FITTER(F16)
FITTER(BF16)

WB__CONTRACTION_PROBE(AVX2)

const wb__mlx_kernels wb__mlx_kernels_scaled_encode_avx2 = {
    .features = WB__CPU_AVX2,
    .contracted = contracted,
    .peak = peak,
    .e2m1_encode = encode_e2m1,
    .e4m3_encode = encode_e4m3,
    .e4m3_fit = {fit_F32, fit_F16, fit_BF16},
    .e2m1_divide = {divide_F32, divide_F16, divide_BF16},
};

#endif
