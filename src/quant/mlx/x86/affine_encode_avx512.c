/*
 * Affine encoding with AVX-512. The ranges of sixteen groups are reduced together, their scales are
 * computed in the lanes of one register, and codes are packed 64 at a time.
 */
#include "quant/mlx/x86/avx512.h"

#if WB__X86

extern const wb__mlx_kernels
    wb__mlx_kernels_affine; /* scalar loops for the groups that this file does not encode */

/* ---- range ---- */

typedef struct extremes {
    __m512 low, high;
} extremes;

/*
 * One step of reducing two registers to one. The shuffle controls a and b select the two halves
 * that are combined.
 */
#define MERGE(x, y, shuffle, a, b)                                                                 \
    (extremes)                                                                                     \
    {                                                                                              \
        _mm512_min_ps(shuffle((x).low, (y).low, a), shuffle((x).low, (y).low, b)),                 \
            _mm512_max_ps(shuffle((x).high, (y).high, a), shuffle((x).high, (y).high, b))          \
    }

/*
 * Returns, in lane i, the range of the values whose index in the group is i modulo 16. Ignores
 * NaNs, because min and max return their second operand if an operand is NaN.
 */
AVX512_INLINE extremes range_of(const float *values, size_t group)
{
    __m512 infinity = _mm512_castsi512_ps(_mm512_set1_epi32((int)WB__FLOAT_INFINITY));
    extremes e = {infinity, _mm512_sub_ps(_mm512_setzero_ps(), infinity)};
    for (size_t i = 0; i < group; i += 16) {
        __m512 x = _mm512_loadu_ps(values + i);
        e.low = _mm512_min_ps(x, e.low);
        e.high = _mm512_max_ps(x, e.high);
    }
    return e;
}

/*
 * Returns the ranges of groups 0 to 15 in lanes 0 to 15. Lanes above `last` repeat group `last`.
 */
AVX512_INLINE extremes range_of_16(const float *values, size_t group, size_t last)
{
    extremes four[4];
    for (size_t k = 0; k < 4; k++) {
        extremes e[4];
        for (size_t j = 0; j < 4; j++) {
            size_t g = k + 4 * j;
            e[j] = range_of(values + (g < last ? g : last) * group, group);
        }
        extremes a = MERGE(e[0], e[1], _mm512_shuffle_f32x4, 0x44, 0xEE);
        extremes b = MERGE(e[2], e[3], _mm512_shuffle_f32x4, 0x44, 0xEE);
        four[k] = MERGE(a, b, _mm512_shuffle_f32x4, 0x88, 0xDD); /* quarter j has values of group
                                                                  * k + 4 j */
    }
    extremes a = MERGE(four[0], four[1], _mm512_shuffle_ps, 0x44, 0xEE);
    extremes b = MERGE(four[2], four[3], _mm512_shuffle_ps, 0x44, 0xEE);
    return MERGE(a, b, _mm512_shuffle_ps, 0x88, 0xDD);
}

/* Constant sizes for the usual groups let the compiler unroll the loops. */
AVX512_INLINE extremes range_of_all(const float *values, size_t group)
{
    switch (group) {
    case 32: return range_of_16(values, 32, 15);
    case 64: return range_of_16(values, 64, 15);
    default: return range_of_16(values, group, 15);
    }
}

AVX512 static void range(const float *values, size_t group, size_t groups, float *least,
                         float *greatest)
{
    size_t g = 0;
    for (; g + 16 <= groups; g += 16, values += 16 * group) {
        extremes e = range_of_all(values, group);
        _mm512_storeu_ps(least + g, e.low);
        _mm512_storeu_ps(greatest + g, e.high);
    }
    if (g < groups) {
        size_t last = groups - g - 1;
        __mmask16 lanes = (__mmask16)((2u << last) - 1);
        extremes e = range_of_16(values, group, last);
        _mm512_mask_storeu_ps(least + g, lanes, e.low);
        _mm512_mask_storeu_ps(greatest + g, lanes, e.high);
    }
}

/* ---- scales and biases ---- */

AVX512 static void fit(const float *least, const float *greatest, unsigned bits, size_t groups,
                       float *scales, float *biases)
{
    const __m512 steps = _mm512_set1_ps((float)((1u << bits) - 1)), zero = _mm512_setzero_ps();
    const __m512 smallest = _mm512_set1_ps(WB__MLX_AFFINE_SCALE_MIN);
    const __m512 sign = _mm512_castsi512_ps(_mm512_set1_epi32(INT32_MIN));
    for (size_t g = 0; g < groups; g += 16) {
        __mmask16 lanes = groups - g >= 16 ? 0xFFFF : (__mmask16)((1u << (groups - g)) - 1);
        __m512 low = _mm512_maskz_loadu_ps(lanes, least + g);
        __m512 high = _mm512_maskz_loadu_ps(lanes, greatest + g);
        __mmask16 low_is_edge =
            _mm512_cmp_ps_mask(_mm512_abs_ps(low), _mm512_abs_ps(high), _CMP_GT_OQ);
        __m512 edge = _mm512_mask_mov_ps(high, low_is_edge, low);
        __m512 scale = _mm512_div_ps(_mm512_sub_ps(high, low), steps);
        scale = _mm512_max_ps(scale, smallest);
        scale = _mm512_mask_mov_ps(_mm512_xor_ps(scale, sign), low_is_edge, scale);
        __m512 edge_code = _mm512_roundscale_ps(_mm512_div_ps(edge, scale),
                                                _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        __mmask16 on_grid = _mm512_cmp_ps_mask(edge_code, zero, _CMP_NEQ_UQ);
        scale = _mm512_mask_div_ps(scale, on_grid, edge, edge_code);
        _mm512_mask_storeu_ps(scales + g, lanes, scale);
        _mm512_mask_storeu_ps(biases + g, lanes, _mm512_maskz_mov_ps(on_grid, edge));
    }
}

/* ---- codes ---- */

/*
 * Eight codes of b bits are packed into the first b bytes of each group of eight bytes. kept[b]
 * lists the indices of these bytes, which are kept.
 */
static const uint8_t kept[WB__MLX_BITS][64] = {
    [3] = {0,  1,  2,  8,  9,  10, 16, 17, 18, 24, 25, 26,
           32, 33, 34, 40, 41, 42, 48, 49, 50, 56, 57, 58},
    [5] = {0,  1,  2,  3,  4,  8,  9,  10, 11, 12, 16, 17, 18, 19, 20, 24, 25, 26, 27, 28,
           32, 33, 34, 35, 36, 40, 41, 42, 43, 44, 48, 49, 50, 51, 52, 56, 57, 58, 59, 60},
    [6] = {0,  1,  2,  3,  4,  5,  8,  9,  10, 11, 12, 13, 16, 17, 18, 19,
           20, 21, 24, 25, 26, 27, 28, 29, 32, 33, 34, 35, 36, 37, 40, 41,
           42, 43, 44, 45, 48, 49, 50, 51, 52, 53, 56, 57, 58, 59, 60, 61},
};

/* Packs and writes 64 codes, given as bytes. */
AVX512_INLINE void pack_64(__m512i codes, int bits, uint8_t *packed)
{
    if (bits == 8) {
        wb__store512(packed, codes);
        return;
    }
    __m512i pairs = _mm512_maddubs_epi16(codes, _mm512_set1_epi16((short)(1 | 1 << (8 + bits))));
    if (bits == 4) {
        _mm256_storeu_si256((__m256i *)(void *)packed, _mm512_cvtepi16_epi8(pairs));
        return;
    }
    __m512i fours = _mm512_madd_epi16(pairs, _mm512_set1_epi32(1 | 1 << (16 + 2 * bits)));
    if (bits == 2) {
        _mm_storeu_si128((__m128i *)(void *)packed, _mm512_cvtepi32_epi8(fours));
        return;
    }
    __m512i low = _mm512_and_si512(fours, _mm512_set1_epi64(0xFFFFFFFF));
    __m512i high = _mm512_slli_epi64(_mm512_srli_epi64(fours, 32), (unsigned)(4 * bits));
    __m512i bytes = _mm512_permutexvar_epi8(_mm512_loadu_si512((const void *)kept[bits]),
                                            _mm512_or_si512(low, high));
    if (bits == 3) { /* 24 bytes */
        _mm_storeu_si128((__m128i *)(void *)packed, _mm512_castsi512_si128(bytes));
        _mm_storel_epi64((__m128i *)(void *)(packed + 16), _mm512_extracti32x4_epi32(bytes, 1));
        return;
    }
    _mm256_storeu_si256((__m256i *)(void *)packed, _mm512_castsi512_si256(bytes));
    if (bits == 5) /* 40 bytes */
        _mm_storel_epi64((__m128i *)(void *)(packed + 32), _mm512_extracti32x4_epi32(bytes, 2));
    else /* 48 bytes */
        _mm_storeu_si128((__m128i *)(void *)(packed + 32), _mm512_extracti32x4_epi32(bytes, 2));
}

/*
 * The code of a value w is the integer nearest to q = (w - b) / s, with rounding after the
 * subtraction and the division. Division takes longer than all other steps together, so w is
 * multiplied by r, which is 1 / s rounded. The bias b is k times s, up to rounding, for an integer
 * k, because zero is on the grid (see affine.c). One fused operation computes w r - k and, by
 * adding 1.5 * 2^23, rounds it to an integer in the lowest bits. With n = 2^bits - 1:
 *   - prepare() checks for each group that |k| <= 2 n + 2 and |k - b r| <= (n + 1) 2^-21; otherwise
 *     the group uses division;
 *   - the errors of r, of the two roundings in q and of the rounding in b r are each at most 2^-24
 *     times a number of up to 4 n.
 * Therefore w r - k and q differ by less than (n + 1) 2^-19 if q does not exceed the last code.
 * Unless w r - k is that close to the midpoint between two integers, both round to the same
 * integer. If w r - k is that close to a midpoint for any of 64 values, or if one of them is NaN,
 * all 64 codes are computed by division.
 */
#define BIG 12582912.0f
#define SCALE_MOST 0x1p100f /* r = 1 / scale may be subnormal for larger scales */

/*
 * Returns the codes of 16 values, computed by division, in 32-bit lanes. Codes above the last one
 * are limited later; NaN becomes 0.
 */
AVX512_INLINE __m512i divided(const float *values, float scale, float bias)
{
    __m512 x = _mm512_sub_ps(_mm512_loadu_ps(values), _mm512_set1_ps(bias));
    x = _mm512_max_ps(_mm512_div_ps(x, _mm512_set1_ps(scale)), _mm512_setzero_ps());
    return _mm512_cvtps_epi32(_mm512_min_ps(x, _mm512_set1_ps(255.0f)));
}

AVX512_INLINE __m512i multiplied(const float *values, float inverse, float offset, float halfway,
                                 __mmask16 *doubtful)
{
    __m512 w = _mm512_loadu_ps(values), r = _mm512_set1_ps(inverse), o = _mm512_set1_ps(offset);
    __m512 rounded = _mm512_fmadd_ps(w, r, o);
    __m512 rest = _mm512_abs_ps(_mm512_fmsub_ps(w, r, _mm512_sub_ps(rounded, o)));
    *doubtful |= _mm512_cmp_ps_mask(rest, _mm512_set1_ps(halfway), _CMP_NLT_UQ);
    return _mm512_castps_si512(rounded);
}

/* Values precomputed for encoding 16 groups. */
typedef struct groups_16 {
    float inverses[16];
    float offsets[16]; /* 1.5 * 2^23 - k (see above); NaN if the group must use division */
} groups_16;

AVX512_INLINE groups_16 prepare(const float *scales, const float *biases, size_t n, int bits)
{
    const float codes = (float)(1 << bits);
    __mmask16 lanes = n >= 16 ? 0xFFFF : (__mmask16)((1u << n) - 1);
    __m512 scale = _mm512_maskz_loadu_ps(lanes, scales);
    __m512 inverse = _mm512_div_ps(_mm512_set1_ps(1.0f), scale);
    __m512 steps = _mm512_mul_ps(_mm512_maskz_loadu_ps(lanes, biases), inverse);
    __m512 k = _mm512_roundscale_ps(steps, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m512 error = _mm512_abs_ps(_mm512_sub_ps(steps, k));
    __mmask16 usable =
        _mm512_cmp_ps_mask(_mm512_abs_ps(scale), _mm512_set1_ps(SCALE_MOST), _CMP_LE_OQ) &
        _mm512_cmp_ps_mask(_mm512_abs_ps(k), _mm512_set1_ps(2 * codes), _CMP_LE_OQ) &
        _mm512_cmp_ps_mask(error, _mm512_set1_ps(codes * 0x1p-21f), _CMP_LE_OQ);
    __m512 offset = _mm512_castsi512_ps(_mm512_set1_epi32(WB__FLOAT_NAN));
    offset = _mm512_mask_sub_ps(offset, usable, _mm512_set1_ps(BIG), k);
    groups_16 g;
    _mm512_storeu_ps(g.inverses, inverse);
    _mm512_storeu_ps(g.offsets, offset);
    return g;
}

/* Returns the low halves of the 32-bit lanes of two registers, in order. */
AVX512_INLINE __m512i low_halves(__m512i low, __m512i high)
{
    const __m512i even =
        _mm512_set_epi16(62, 60, 58, 56, 54, 52, 50, 48, 46, 44, 42, 40, 38, 36, 34, 32, 30, 28, 26,
                         24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    return _mm512_permutex2var_epi16(low, even, high);
}

AVX512_INLINE void encode(const float *values, int bits, const float *scales, const float *biases,
                          size_t group, size_t groups, uint8_t *packed)
{
    const __m512i order = _mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0);
    const __m512i last = _mm512_set1_epi8((char)((1 << bits) - 1));
    const float halfway = 0.5f - (float)(1 << bits) * 0x1p-19f;
    for (size_t g = 0; g < groups; g += 16, scales += 16, biases += 16) {
        size_t n = (groups - g < 16 ? groups - g : 16) * group;
        groups_16 in = prepare(scales, biases, groups - g, bits);
        for (size_t i = 0; i + 64 <= n; i += 64, values += 64, packed += 8 * bits) {
            size_t k = i / group, m = (i + 32) / group;
            __mmask16 doubtful = 0;
            wb__mlx_fetch(values, 64);
            __m512i a = multiplied(values, in.inverses[k], in.offsets[k], halfway, &doubtful);
            __m512i b = multiplied(values + 16, in.inverses[k], in.offsets[k], halfway, &doubtful);
            __m512i c = multiplied(values + 32, in.inverses[m], in.offsets[m], halfway, &doubtful);
            __m512i d = multiplied(values + 48, in.inverses[m], in.offsets[m], halfway, &doubtful);
            if (doubtful != 0) {
                a = divided(values, scales[k], biases[k]);
                b = divided(values + 16, scales[k], biases[k]);
                c = divided(values + 32, scales[m], biases[m]);
                d = divided(values + 48, scales[m], biases[m]);
            }
            __m512i codes = _mm512_packus_epi16(low_halves(a, b), low_halves(c, d));
            codes = _mm512_min_epu8(_mm512_permutexvar_epi64(order, codes), last);
            pack_64(codes, bits, packed);
        }
        if (n % 64 != 0)
            wb__mlx_kernels_affine.affine_encode[bits](values, scales + n / group - 1,
                                                       biases + n / group - 1, group, 1, packed);
    }
}

/*
 * With one bit, the code is 1 if (w - b) / s, rounded, is above 1/2. The midpoint between 1/2 and
 * the next float rounds down to 1/2. So the code is 1 if t = w - b, rounded, is above h + s 2^-25,
 * where h = s / 2 is a float. Since s 2^-25 is less than an ulp of h, this is true exactly for the
 * floats above h.
 */
AVX512 static void encode_1(const float *values, const float *scales, const float *biases,
                            size_t group, size_t groups, uint8_t *packed)
{
    for (size_t g = 0; g < groups; g++) {
        __m512 half = _mm512_set1_ps(scales[g] * 0.5f), bias = _mm512_set1_ps(biases[g]);
        for (size_t i = 0; i < group; i += 16, values += 16, packed += 2) {
            __m512 t = _mm512_sub_ps(_mm512_loadu_ps(values), bias);
            wb__store_le16(packed, (uint16_t)_mm512_cmp_ps_mask(t, half, _CMP_GT_OQ));
        }
    }
}

#define ENCODER(bits)                                                                              \
    AVX512 static void encode_##bits(const float *values, const float *scales,                     \
                                     const float *biases, size_t group, size_t groups,             \
                                     uint8_t *packed)                                              \
    {                                                                                              \
        encode(values, bits, scales, biases, group, groups, packed);                               \
    }
ENCODER(2)
ENCODER(3)
ENCODER(4)
ENCODER(5)
ENCODER(6)
ENCODER(8)

WB__CONTRACTION_PROBE(AVX512)

const wb__mlx_kernels wb__mlx_kernels_affine_encode_avx512 = {
    .features = WB__CPU_AVX512,
    .contracted = contracted,
    .range = range,
    .affine_fit = fit,
    .affine_encode = {NULL, encode_1, encode_2, encode_3, encode_4, encode_5, encode_6, NULL,
                      encode_8},
};

#endif
