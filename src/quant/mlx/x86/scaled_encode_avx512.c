/*
 * Encoding of scaled E2M1 and E4M3 with AVX-512.
 *
 * E2M1: every midpoint between two neighbouring E2M1 values, as a float, has zeros below bit 21. So
 * for the bits u of a magnitude, (u - 1) >> 21 determines the code, and ties go to the smaller
 * value. A table of 64 codes is indexed by this number minus 499, where 499 is the number for 0.25,
 * the first midpoint. The index is limited to 0 to 63. The entries for magnitudes above 16 and for
 * NaN are LARGE; the scalar code handles these values.
 */
#include "quant/mlx/x86/avx512.h"

#if WB__X86

extern const wb__mlx_kernels
    wb__mlx_kernels_scaled; /* scalar loops for the groups that this file does not encode */

/* ---- largest magnitudes ---- */

#define MERGE(x, y, shuffle, a, b) _mm512_max_ps(shuffle(x, y, a), shuffle(x, y, b))

AVX512_INLINE __m512 peak_of(const float *values, size_t group)
{
    __m512 most = _mm512_setzero_ps();
    for (size_t i = 0; i < group; i += 16)
        most = _mm512_max_ps(_mm512_abs_ps(_mm512_loadu_ps(values + i)), most);
    return most;
}

/* Returns the peaks of groups 0 to 15 in lanes 0 to 15. Lanes above `last` repeat group `last`. */
AVX512_INLINE __m512 peak_of_16(const float *values, size_t group, size_t last)
{
    __m512 four[4];
    for (size_t k = 0; k < 4; k++) {
        __m512 e[4];
        for (size_t j = 0; j < 4; j++) {
            size_t g = k + 4 * j;
            e[j] = peak_of(values + (g < last ? g : last) * group, group);
        }
        __m512 a = MERGE(e[0], e[1], _mm512_shuffle_f32x4, 0x44, 0xEE);
        __m512 b = MERGE(e[2], e[3], _mm512_shuffle_f32x4, 0x44, 0xEE);
        four[k] = MERGE(a, b, _mm512_shuffle_f32x4, 0x88, 0xDD); /* quarter j has values of group
                                                                  * k + 4 j */
    }
    __m512 a = MERGE(four[0], four[1], _mm512_shuffle_ps, 0x44, 0xEE);
    __m512 b = MERGE(four[2], four[3], _mm512_shuffle_ps, 0x44, 0xEE);
    return MERGE(a, b, _mm512_shuffle_ps, 0x88, 0xDD);
}

/* Constant sizes for the usual groups let the compiler unroll the loops. */
AVX512_INLINE __m512 peak_of_all(const float *values, size_t group)
{
    switch (group) {
    case 16: return peak_of_16(values, 16, 15);
    case 32: return peak_of_16(values, 32, 15);
    default: return peak_of_16(values, group, 15);
    }
}

AVX512 static void peak(const float *values, size_t group, size_t groups, float *peaks)
{
    size_t g = 0;
    for (; g + 16 <= groups; g += 16, values += 16 * group)
        _mm512_storeu_ps(peaks + g, peak_of_all(values, group));
    if (g < groups) {
        size_t last = groups - g - 1;
        __mmask16 lanes = (__mmask16)((2u << last) - 1);
        _mm512_mask_storeu_ps(peaks + g, lanes, peak_of_16(values, group, last));
    }
}

/* ---- E2M1 ---- */

#define FIRST (UINT32_C(499) << 21)
#define LARGE 0x80 /* table entry for magnitudes above 16 and NaN */

static const uint8_t code_of[64] = {
    0,     1,     1,     1,     1,     1,     1,     2,     2,     2,     3,     3,     4,
    4,     5,     5,     6,     6,     7,     7,     7,     7,     7,     7,     7,     LARGE,
    LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE,
    LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE,
    LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE};

AVX512_INLINE __m512i index_of(__m512 q)
{
    __m512i u = _mm512_castps_si512(_mm512_abs_ps(q));
    return _mm512_srai_epi32(_mm512_sub_epi32(u, _mm512_set1_epi32((int)(FIRST + 1))), 21);
}

AVX512_INLINE __m512i pack_bytes(__m512i a, __m512i b, __m512i c, __m512i d)
{
    return _mm512_packs_epi16(_mm512_packs_epi32(a, b), _mm512_packs_epi32(c, d));
}

/* Writes the 32 bytes of 64 codes. Returns false if a magnitude is above 16 or NaN. */
AVX512_INLINE bool store_64(const __m512 q[4], __m512i table, uint8_t *packed)
{
    /* After packing four registers, quarter j of register k is 32-bit lane 4 j + k. */
    const __m256i order = _mm256_set_epi16(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
    __m512i at = pack_bytes(index_of(q[0]), index_of(q[1]), index_of(q[2]), index_of(q[3]));
    at = _mm512_min_epi8(_mm512_max_epi8(at, _mm512_setzero_si512()), _mm512_set1_epi8(63));
    __m512i codes = _mm512_permutexvar_epi8(at, table);
    /* Saturation preserves signs. */
    __mmask64 negative =
        _mm512_movepi8_mask(pack_bytes(_mm512_castps_si512(q[0]), _mm512_castps_si512(q[1]),
                                       _mm512_castps_si512(q[2]), _mm512_castps_si512(q[3])));
    __mmask64 zero = _mm512_testn_epi8_mask(codes, codes);
    if (_mm512_movepi8_mask(codes) != 0)
        return false;
    codes = _mm512_or_si512(codes, _mm512_maskz_set1_epi8(negative & ~zero, 8));
    __m512i pairs = _mm512_maddubs_epi16(codes, _mm512_set1_epi16(1 | 16 << 8));
    _mm256_storeu_si256((__m256i *)(void *)packed,
                        _mm256_permutexvar_epi16(order, _mm512_cvtepi16_epi8(pairs)));
    return true;
}

AVX512 static void encode_e2m1(const float *values, const float *multipliers, size_t group,
                               size_t groups, uint8_t *packed)
{
    const __m512i table = _mm512_loadu_si512((const void *)code_of);
    size_t g = 0, step = 64 / group;
    for (; g + step <= groups; g += step, values += 64, packed += 32) {
        __m512 q[4];
        for (size_t k = 0; k < 4; k++)
            q[k] = _mm512_mul_ps(_mm512_loadu_ps(values + 16 * k),
                                 _mm512_set1_ps(multipliers[g + 16 * k / group]));
        if (!store_64(q, table, packed))
            wb__mlx_kernels_scaled.e2m1_encode(values, multipliers + g, group, step, packed);
    }
    wb__mlx_kernels_scaled.e2m1_encode(values, multipliers + g, group, groups - g, packed);
}

AVX512_INLINE void divide(const float *values, const float *divisors, float factor,
                          wb__mlx_format format, size_t group, size_t groups, uint8_t *packed)
{
    const __m512i table = _mm512_loadu_si512((const void *)code_of);
    size_t g = 0, step = 64 / group;
    for (; g + step <= groups; g += step, values += 64, packed += 32) {
        __m512 q[4];
        for (size_t k = 0; k < 4; k++) {
            __m512 quotient = _mm512_div_ps(_mm512_loadu_ps(values + 16 * k),
                                            _mm512_set1_ps(divisors[g + 16 * k / group]));
            q[k] = _mm512_mul_ps(wb__rounded(quotient, format), _mm512_set1_ps(factor));
        }
        if (!store_64(q, table, packed))
            wb__mlx_kernels_scaled.e2m1_divide[format](values, divisors + g, factor, group, step,
                                                       packed);
    }
    wb__mlx_kernels_scaled.e2m1_divide[format](values, divisors + g, factor, group, groups - g,
                                               packed);
}

#define DIVIDER(format)                                                                            \
    AVX512 static void divide_##format(const float *values, const float *divisors, float factor,   \
                                       size_t group, size_t groups, uint8_t *packed)               \
    {                                                                                              \
        divide(values, divisors, factor, WB__MLX_##format, group, groups, packed);                 \
    }
DIVIDER(F32)
DIVIDER(F16)
DIVIDER(BF16)

/* ---- E4M3 ---- */

AVX512_INLINE __m128i e4m3_of(__m512 x)
{
    __m512 magnitude = _mm512_abs_ps(x);
    __m512i u = _mm512_castps_si512(magnitude);
    /* For magnitudes below 2^-6 (E4M3 subnormals), adding 2^14 rounds to multiples of 2^-9. */
    __m512i small = _mm512_castps_si512(_mm512_add_ps(magnitude, _mm512_set1_ps(16384.0f)));
    small = _mm512_sub_epi32(small, _mm512_set1_epi32(0x46800000));
    __mmask16 odd = _mm512_test_epi32_mask(u, _mm512_set1_epi32(1 << 20));
    __m512i code = _mm512_add_epi32(u, _mm512_set1_epi32(0x7FFFF - (120 << 23)));
    code = _mm512_mask_add_epi32(code, odd, code, _mm512_set1_epi32(1));
    code = _mm512_srli_epi32(code, 20);
    __mmask16 subnormal = _mm512_cmplt_epi32_mask(u, _mm512_set1_epi32(0x3C800000));
    code = _mm512_mask_mov_epi32(code, subnormal, small);
    code = _mm512_min_epu32(code, _mm512_set1_epi32(0x7E));
    __m512i sign =
        _mm512_and_si512(_mm512_srli_epi32(_mm512_castps_si512(x), 24), _mm512_set1_epi32(0x80));
    return _mm512_cvtepi32_epi8(_mm512_or_si512(code, sign));
}

AVX512 static void encode_e4m3(const float *values, const float *multipliers, size_t group,
                               size_t groups, uint8_t *packed)
{
    for (size_t g = 0; g < groups; g++) {
        __m512 multiplier = _mm512_set1_ps(multipliers[g]);
        for (size_t i = 0; i < group; i += 16, values += 16, packed += 16)
            _mm_storeu_si128((__m128i *)(void *)packed,
                             e4m3_of(_mm512_mul_ps(_mm512_loadu_ps(values), multiplier)));
    }
}

/*
 * Computes the scales of 16 groups at a time. Moving the exponent and fraction of an E4M3 code to
 * their places in a float gives a value that is too small by a factor of 2^120, for normal and
 * subnormal codes.
 */
AVX512_INLINE void fit(const float *peaks, float factor, wb__mlx_format format, size_t groups,
                       uint8_t *codes, float *scales)
{
    for (size_t g = 0; g < groups; g += 16) {
        __mmask16 lanes = groups - g >= 16 ? 0xFFFF : (__mmask16)((1u << (groups - g)) - 1);
        __m512 s = _mm512_div_ps(_mm512_maskz_loadu_ps(lanes, peaks + g), _mm512_set1_ps(6.0f));
        __m128i code = e4m3_of(_mm512_mul_ps(wb__rounded(s, format), _mm512_set1_ps(factor)));
        /* sign-extends the code, so that its sign is bit 31 */
        __m512i wide = _mm512_cvtepi8_epi32(code);
        __m512i bits = _mm512_and_si512(_mm512_slli_epi32(wide, 20), _mm512_set1_epi32(0x07F00000));
        bits = _mm512_or_si512(bits, _mm512_and_si512(wide, _mm512_set1_epi32(INT32_MIN)));
        __m512 scale = _mm512_mul_ps(_mm512_castsi512_ps(bits), _mm512_set1_ps(0x1p120f));
        __mmask16 zero = _mm512_testn_epi32_mask(wide, _mm512_set1_epi32(0x7F));
        scale = _mm512_mask_mov_ps(scale, zero,
                                   _mm512_castsi512_ps(_mm512_set1_epi32((int)WB__FLOAT_INFINITY)));
        _mm_mask_storeu_epi8(codes + g, lanes, code);
        _mm512_mask_storeu_ps(scales + g, lanes, scale);
    }
}

#define FITTER(format)                                                                             \
    AVX512 static void fit_##format(const float *peaks, float factor, size_t groups,               \
                                    uint8_t *codes, float *scales)                                 \
    {                                                                                              \
        fit(peaks, factor, WB__MLX_##format, groups, codes, scales);                               \
    }
FITTER(F32)
FITTER(F16)
FITTER(BF16)

WB__CONTRACTION_PROBE(AVX512)

const wb__mlx_kernels wb__mlx_kernels_scaled_encode_avx512 = {
    .features = WB__CPU_AVX512,
    .contracted = contracted,
    .peak = peak,
    .e2m1_encode = encode_e2m1,
    .e4m3_encode = encode_e4m3,
    .e4m3_fit = {fit_F32, fit_F16, fit_BF16},
    .e2m1_divide = {divide_F32, divide_F16, divide_BF16},
};

#endif
