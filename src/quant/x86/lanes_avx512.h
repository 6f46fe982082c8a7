/*
 * quant/x86/lanes_avx512.h: sixteen binary32 lanes for the encoder templates. quant/lanes/words.h
 * documents the functions.
 */
#define KERNEL __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")))
#define LANES 16

typedef __m512 lanes;
typedef __mmask16 lane_mask;

KERNEL static inline lanes f_load(const float *p)
{
    return _mm512_loadu_ps(p);
}

KERNEL static inline void f_store(float *p, lanes v)
{
    _mm512_storeu_ps(p, v);
}

KERNEL static inline lanes f_set(float v)
{
    return _mm512_set1_ps(v);
}

KERNEL static inline lanes f_add(lanes a, lanes b)
{
    return _mm512_add_ps(a, b);
}

KERNEL static inline lanes f_sub(lanes a, lanes b)
{
    return _mm512_sub_ps(a, b);
}

KERNEL static inline lanes f_mul(lanes a, lanes b)
{
    return _mm512_mul_ps(a, b);
}

KERNEL static inline lanes f_div(lanes a, lanes b)
{
    return _mm512_div_ps(a, b);
}

KERNEL static inline lanes f_roughly_1_over(lanes v)
{
    return _mm512_rcp14_ps(v);
}

KERNEL static inline lanes f_sqrt(lanes v)
{
    return _mm512_sqrt_ps(v);
}

/* returns a < b ? a : b */
KERNEL static inline lanes f_min(lanes a, lanes b)
{
    return _mm512_min_ps(a, b);
}

/* returns a > b ? a : b */
KERNEL static inline lanes f_max(lanes a, lanes b)
{
    return _mm512_max_ps(a, b);
}

KERNEL static inline lanes f_abs(lanes v)
{
    return _mm512_abs_ps(v);
}

KERNEL static inline lanes f_negate(lanes v)
{
    return _mm512_xor_ps(v, _mm512_set1_ps(-0.0f));
}

KERNEL static inline lane_mask f_less(lanes a, lanes b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}

KERNEL static inline lane_mask f_equal(lanes a, lanes b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ);
}

KERNEL static inline lane_mask f_differ(lanes a, lanes b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_NEQ_UQ);
}

KERNEL static inline lane_mask m_and(lane_mask a, lane_mask b)
{
    return a & b;
}

KERNEL static inline lane_mask m_or(lane_mask a, lane_mask b)
{
    return a | b;
}

KERNEL static inline lane_mask m_not(lane_mask a)
{
    return (lane_mask)~a;
}

KERNEL static inline bool m_any(lane_mask m)
{
    return m != 0;
}

KERNEL static inline lanes f_choose(lane_mask m, lanes yes, lanes no)
{
    return _mm512_mask_blend_ps(m, no, yes);
}

/* Returns wb__clamp(wb__round_even(v), low, high) for any v. */
KERNEL static inline lanes f_quant(lanes v, int low, int high)
{
    const lanes magic = _mm512_set1_ps(12582912.0f);
    __m512i bits = _mm512_castps_si512(_mm512_add_ps(v, magic));
    /*
     * (bits & 0x7FFFFF) | 0x4B000000 sets the exponent to that of 2^23, so that NaNs and large
     * values, too, give the same integer as wb__round_even.
     */
    bits = _mm512_ternarylogic_epi32(bits, _mm512_set1_epi32(0x7FFFFF),
                                     _mm512_set1_epi32(0x4B000000), 0xEA);
    bits = _mm512_max_epi32(bits, _mm512_set1_epi32(0x4B400000 + low));
    bits = _mm512_min_epi32(bits, _mm512_set1_epi32(0x4B400000 + high));
    return _mm512_sub_ps(_mm512_castsi512_ps(bits), magic);
}

/* Stores each lane as an 8-bit integer. */
KERNEL static inline void f_store_bytes(uint8_t *p, lanes v)
{
    _mm_storeu_si128((__m128i *)(void *)p, _mm512_cvtepi32_epi8(_mm512_cvttps_epi32(v)));
}

KERNEL static inline lanes f_load_bytes(const uint8_t *p)
{
    return _mm512_cvtepi32_ps(
        _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)p)));
}

/* Transposes: out[i] contains value at + i of each of the 16 arrays. */
KERNEL static inline void f_transpose(const float *const from[LANES], size_t at, lanes *out)
{
    __m512 a[16], b[16];
    for (size_t i = 0; i < 16; i++)
        a[i] = _mm512_loadu_ps(from[i] + at);
    for (size_t i = 0; i < 16; i += 2) {
        b[i] = _mm512_unpacklo_ps(a[i], a[i + 1]);
        b[i + 1] = _mm512_unpackhi_ps(a[i], a[i + 1]);
    }
    for (size_t i = 0; i < 16; i += 4) {
        a[i] = _mm512_shuffle_ps(b[i], b[i + 2], 0x44);
        a[i + 1] = _mm512_shuffle_ps(b[i], b[i + 2], 0xEE);
        a[i + 2] = _mm512_shuffle_ps(b[i + 1], b[i + 3], 0x44);
        a[i + 3] = _mm512_shuffle_ps(b[i + 1], b[i + 3], 0xEE);
    }
    /* a[4 r + c] contains, in each quarter q, value 4 q + c of the arrays 4 r to 4 r + 3. */
    for (size_t c = 0; c < 4; c++) {
        __m512 low01 = _mm512_shuffle_f32x4(a[c], a[4 + c], 0x44);
        __m512 high01 = _mm512_shuffle_f32x4(a[c], a[4 + c], 0xEE);
        __m512 low23 = _mm512_shuffle_f32x4(a[8 + c], a[12 + c], 0x44);
        __m512 high23 = _mm512_shuffle_f32x4(a[8 + c], a[12 + c], 0xEE);
        out[c] = _mm512_shuffle_f32x4(low01, low23, 0x88);
        out[4 + c] = _mm512_shuffle_f32x4(low01, low23, 0xDD);
        out[8 + c] = _mm512_shuffle_f32x4(high01, high23, 0x88);
        out[12 + c] = _mm512_shuffle_f32x4(high01, high23, 0xDD);
    }
}

/* ---- integers ---- */

typedef __m512i int_lanes;

KERNEL static inline unsigned m_bits(lane_mask m)
{
    return m;
}

KERNEL static inline int_lanes i_load_16(const uint16_t *p)
{
    return _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)p));
}

/* Truncates each lane to a 16-bit integer and stores it. */
KERNEL static inline void f_store_16(uint16_t *p, lanes v)
{
    _mm256_storeu_si256((__m256i *)(void *)p, _mm512_cvtepi32_epi16(_mm512_cvttps_epi32(v)));
}

/*
 * Selects from the table by three bits of each lane, which start at bit `shift`. If the two halves
 * of the table are equal, only the lower two bits matter.
 */
KERNEL static inline lanes i_pick(int_lanes v, int shift, lanes table)
{
    return _mm512_permutexvar_ps(_mm512_srl_epi32(v, _mm_cvtsi32_si128(shift)), table);
}

/* Loads eight values into both halves. */
KERNEL static inline lanes f_table(const float *eight)
{
    return _mm512_broadcast_f32x8(_mm256_loadu_ps(eight));
}

KERNEL static inline float f_lowest(lanes v)
{
    return _mm512_reduce_min_ps(v);
}
