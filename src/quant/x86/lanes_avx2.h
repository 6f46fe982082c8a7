/*
 * quant/x86/lanes_avx2.h: eight binary32 lanes for the encoder templates. quant/lanes/words.h
 * documents the functions.
 */
#define KERNEL __attribute__((target("avx2,f16c")))
#define LANES 8

typedef __m256 lanes;
typedef __m256 lane_mask; /* each lane has all bits set or none */

KERNEL static inline lanes f_load(const float *p)
{
    return _mm256_loadu_ps(p);
}

KERNEL static inline void f_store(float *p, lanes v)
{
    _mm256_storeu_ps(p, v);
}

KERNEL static inline lanes f_set(float v)
{
    return _mm256_set1_ps(v);
}

KERNEL static inline lanes f_add(lanes a, lanes b)
{
    return _mm256_add_ps(a, b);
}

KERNEL static inline lanes f_sub(lanes a, lanes b)
{
    return _mm256_sub_ps(a, b);
}

KERNEL static inline lanes f_mul(lanes a, lanes b)
{
    return _mm256_mul_ps(a, b);
}

KERNEL static inline lanes f_div(lanes a, lanes b)
{
    return _mm256_div_ps(a, b);
}

KERNEL static inline lanes f_roughly_1_over(lanes v)
{
    return _mm256_rcp_ps(v);
}

KERNEL static inline lanes f_sqrt(lanes v)
{
    return _mm256_sqrt_ps(v);
}

/* returns a < b ? a : b */
KERNEL static inline lanes f_min(lanes a, lanes b)
{
    return _mm256_min_ps(a, b);
}

/* returns a > b ? a : b */
KERNEL static inline lanes f_max(lanes a, lanes b)
{
    return _mm256_max_ps(a, b);
}

KERNEL static inline lanes f_abs(lanes v)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), v);
}

KERNEL static inline lanes f_negate(lanes v)
{
    return _mm256_xor_ps(v, _mm256_set1_ps(-0.0f));
}

KERNEL static inline lane_mask f_less(lanes a, lanes b)
{
    return _mm256_cmp_ps(a, b, _CMP_LT_OQ);
}

KERNEL static inline lane_mask f_equal(lanes a, lanes b)
{
    return _mm256_cmp_ps(a, b, _CMP_EQ_OQ);
}

KERNEL static inline lane_mask f_differ(lanes a, lanes b)
{
    return _mm256_cmp_ps(a, b, _CMP_NEQ_UQ);
}

KERNEL static inline lane_mask m_and(lane_mask a, lane_mask b)
{
    return _mm256_and_ps(a, b);
}

KERNEL static inline lane_mask m_or(lane_mask a, lane_mask b)
{
    return _mm256_or_ps(a, b);
}

KERNEL static inline lane_mask m_not(lane_mask a)
{
    return _mm256_xor_ps(a, _mm256_castsi256_ps(_mm256_set1_epi32(-1)));
}

KERNEL static inline bool m_any(lane_mask m)
{
    return _mm256_movemask_ps(m) != 0;
}

KERNEL static inline lanes f_choose(lane_mask m, lanes yes, lanes no)
{
    return _mm256_blendv_ps(no, yes, m);
}

/* Returns wb__clamp(wb__round_even(v), low, high) for any v. */
KERNEL static inline lanes f_quant(lanes v, int low, int high)
{
    const lanes magic = _mm256_set1_ps(12582912.0f);
    __m256i bits = _mm256_castps_si256(_mm256_add_ps(v, magic));
    /* Set the exponent to that of 2^23, so that NaNs and large values, too, give the same integer
     * as wb__round_even. */
    bits = _mm256_and_si256(bits, _mm256_set1_epi32(0x7FFFFF));
    bits = _mm256_or_si256(bits, _mm256_set1_epi32(0x4B000000));
    bits = _mm256_max_epi32(bits, _mm256_set1_epi32(0x4B400000 + low));
    bits = _mm256_min_epi32(bits, _mm256_set1_epi32(0x4B400000 + high));
    return _mm256_sub_ps(_mm256_castsi256_ps(bits), magic);
}

/* Stores each lane as an 8-bit integer. */
KERNEL static inline void f_store_bytes(uint8_t *p, lanes v)
{
    const __m256i lowest =
        _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                         -1, 0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1);
    __m256i bytes = _mm256_shuffle_epi8(_mm256_cvttps_epi32(v), lowest);
    __m128i joined =
        _mm_or_si128(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
    _mm_storel_epi64((__m128i *)(void *)p, joined);
}

KERNEL static inline lanes f_load_bytes(const uint8_t *p)
{
    return _mm256_cvtepi32_ps(
        _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p)));
}

/* Transposes 8 x 8 values: lane k of out[i] is from[k][at + i]. */
KERNEL static inline void f_transpose(const float *const from[LANES], size_t at, lanes *out)
{
    __m256 a[8], b[8];
    for (size_t i = 0; i < 8; i++)
        a[i] = _mm256_loadu_ps(from[i] + at);
    for (size_t i = 0; i < 8; i += 2) {
        b[i] = _mm256_unpacklo_ps(a[i], a[i + 1]);
        b[i + 1] = _mm256_unpackhi_ps(a[i], a[i + 1]);
    }
    for (size_t i = 0; i < 8; i += 4) {
        a[i] = _mm256_shuffle_ps(b[i], b[i + 2], 0x44);
        a[i + 1] = _mm256_shuffle_ps(b[i], b[i + 2], 0xEE);
        a[i + 2] = _mm256_shuffle_ps(b[i + 1], b[i + 3], 0x44);
        a[i + 3] = _mm256_shuffle_ps(b[i + 1], b[i + 3], 0xEE);
    }
    for (size_t c = 0; c < 4; c++) {
        out[c] = _mm256_permute2f128_ps(a[c], a[4 + c], 0x20);
        out[4 + c] = _mm256_permute2f128_ps(a[c], a[4 + c], 0x31);
    }
}

/* ---- integers ---- */

typedef __m256i int_lanes;

KERNEL static inline unsigned m_bits(lane_mask m)
{
    return (unsigned)_mm256_movemask_ps(m);
}

KERNEL static inline int_lanes i_load_16(const uint16_t *p)
{
    return _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)p));
}

/* Truncates each lane to a 16-bit integer and stores it. */
KERNEL static inline void f_store_16(uint16_t *p, lanes v)
{
    __m256i i = _mm256_cvttps_epi32(v);
    __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(i, i), 0x08);
    _mm_storeu_si128((__m128i *)(void *)p, _mm256_castsi256_si128(packed));
}

/*
 * Selects from the table by three bits of each lane, which start at bit `shift`. If the two halves
 * of the table are equal, only the lower two bits matter.
 */
KERNEL static inline lanes i_pick(int_lanes v, int shift, lanes table)
{
    return _mm256_permutevar8x32_ps(table, _mm256_srl_epi32(v, _mm_cvtsi32_si128(shift)));
}

KERNEL static inline lanes f_table(const float *eight)
{
    return _mm256_loadu_ps(eight);
}

KERNEL static inline float f_lowest(lanes v)
{
    __m128 m = _mm_min_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    m = _mm_min_ps(m, _mm_movehl_ps(m, m));
    return _mm_cvtss_f32(_mm_min_ss(m, _mm_movehdup_ps(m)));
}
