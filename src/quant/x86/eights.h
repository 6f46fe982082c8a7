/*
 * quant/x86/eights.h: eight consecutive binary32 values, for lanes/encode_blocks.h.
 * quant/lanes/words.h documents the functions. Include after byte_vectors.h.
 */

typedef __m256 eight;
typedef __m256i eight_integers;

KERNEL static inline eight e_load(const float *p)
{
    return _mm256_loadu_ps(p);
}

KERNEL static inline eight e_set(float v)
{
    return _mm256_set1_ps(v);
}

KERNEL static inline eight e_add(eight a, eight b)
{
    return _mm256_add_ps(a, b);
}

KERNEL static inline eight e_sub(eight a, eight b)
{
    return _mm256_sub_ps(a, b);
}

KERNEL static inline eight e_mul(eight a, eight b)
{
    return _mm256_mul_ps(a, b);
}

KERNEL static inline eight e_min(eight a, eight b)
{
    return _mm256_min_ps(a, b);
}

KERNEL static inline eight e_max(eight a, eight b)
{
    return _mm256_max_ps(a, b);
}

KERNEL static inline eight e_abs(eight v)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), v);
}

KERNEL static inline eight e_negate(eight v)
{
    return _mm256_xor_ps(v, _mm256_set1_ps(-0.0f));
}

KERNEL static inline eight e_with_sign(eight magnitude, eight v)
{
    return _mm256_or_ps(_mm256_and_ps(v, _mm256_set1_ps(-0.0f)), magnitude);
}

KERNEL static inline float e_greatest(eight x)
{
    __m128 v = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    v = _mm_max_ps(v, _mm_movehl_ps(v, v));
    return _mm_cvtss_f32(_mm_max_ss(v, _mm_movehdup_ps(v)));
}

KERNEL static inline uint32_t e_where_equal(eight a, eight b)
{
    return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_EQ_OQ));
}

KERNEL static inline eight_integers e_truncate(eight v)
{
    return _mm256_cvttps_epi32(v);
}

KERNEL static inline eight_integers e_round_even(eight v, int top)
{
    __m256i bits = _mm256_castps_si256(_mm256_add_ps(v, _mm256_set1_ps(12582912.0f)));
    bits = _mm256_and_si256(bits, _mm256_set1_epi32(0x7FFFFF));
    bits = _mm256_sub_epi32(bits, _mm256_set1_epi32(0x400000));
    return _mm256_min_epi32(bits, _mm256_set1_epi32(top));
}

KERNEL static inline eight_integers e_f4_of(eight x, const float *bounds)
{
    eight magnitude = e_abs(x);
    __m256i q = _mm256_setzero_si256();
    for (size_t i = 0; i < 7; i++) {
        __m256 more = _mm256_cmp_ps(magnitude, _mm256_set1_ps(bounds[i]), _CMP_GT_OQ);
        q = _mm256_sub_epi32(q, _mm256_castps_si256(more));
    }
    __m256i sign =
        _mm256_and_si256(_mm256_srli_epi32(_mm256_castps_si256(x), 28), _mm256_set1_epi32(8));
    __m256i zero = _mm256_cmpeq_epi32(q, _mm256_setzero_si256());
    return _mm256_or_si256(q, _mm256_andnot_si256(zero, sign));
}

KERNEL static inline bytes_32 b_of_integers(const eight_integers v[4])
{
    const __m256i byte = _mm256_set1_epi32(0xFF);
    __m256i low = _mm256_packus_epi32(_mm256_and_si256(v[0], byte), _mm256_and_si256(v[1], byte));
    __m256i high = _mm256_packus_epi32(_mm256_and_si256(v[2], byte), _mm256_and_si256(v[3], byte));
    return _mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high),
                                       _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

/* ---- binary16 and bfloat16 ---- */

KERNEL static inline void e_store_f16(uint8_t *p, eight v)
{
    h_store(p, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

/* Returns each value rounded to bfloat16, in 32-bit lanes. */
KERNEL static inline __m256i rounded_bf16(eight v)
{
    __m256i bits = _mm256_castps_si256(v);
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    __m256i up = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF)));
    __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
    __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    return _mm256_srli_epi32(_mm256_blendv_epi8(up, quiet, nan), 16);
}

KERNEL static inline bytes_32 e_bf16_of(eight a, eight b)
{
    __m256i packed = _mm256_packus_epi32(rounded_bf16(a), rounded_bf16(b));
    return _mm256_permute4x64_epi64(packed, 0xD8);
}
