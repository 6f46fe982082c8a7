/*
 * quant/x86/byte_vectors.h: vectors of 16 and 32 bytes for the templates. quant/lanes/words.h
 * documents the functions. Include after defining KERNEL, which must enable at least AVX2 and F16C.
 */

typedef __m128i bytes_16;
typedef __m256i bytes_32;

/* ---- 16 bytes ---- */

KERNEL static inline bytes_16 h_load(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

KERNEL static inline void h_store(uint8_t *p, bytes_16 v)
{
    _mm_storeu_si128((__m128i *)(void *)p, v);
}

KERNEL static inline bytes_16 h_set(int value)
{
    return _mm_set1_epi8((char)value);
}

KERNEL static inline bytes_16 h_words(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    return _mm_setr_epi32((int)a, (int)b, (int)c, (int)d);
}

KERNEL static inline bytes_16 h_or(bytes_16 a, bytes_16 b)
{
    return _mm_or_si128(a, b);
}

KERNEL static inline bytes_16 h_sub(bytes_16 a, bytes_16 b)
{
    return _mm_sub_epi8(a, b);
}

KERNEL static inline bytes_16 h_left(bytes_16 v, int shift)
{
    return _mm_sll_epi16(v, _mm_cvtsi32_si128(shift));
}

KERNEL static inline bytes_16 h_zip_low(bytes_16 a, bytes_16 b)
{
    return _mm_unpacklo_epi8(a, b);
}

KERNEL static inline bytes_16 h_zip_high(bytes_16 a, bytes_16 b)
{
    return _mm_unpackhi_epi8(a, b);
}

KERNEL static inline bytes_16 h_firsts(bytes_16 a, bytes_16 b)
{
    return _mm_unpacklo_epi64(a, b);
}

KERNEL static inline bytes_16 h_seconds(bytes_16 a, bytes_16 b)
{
    return _mm_unpackhi_epi64(a, b);
}

/* ---- 32 bytes ---- */

KERNEL static inline bytes_32 b_load(const uint8_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

KERNEL static inline void b_store(uint8_t *p, bytes_32 v)
{
    _mm256_storeu_si256((__m256i *)(void *)p, v);
}

KERNEL static inline bytes_32 b_set(int value)
{
    return _mm256_set1_epi8((char)value);
}

KERNEL static inline bytes_32 b_join(bytes_16 low, bytes_16 high)
{
    return _mm256_set_m128i(high, low);
}

KERNEL static inline bytes_16 b_low(bytes_32 v)
{
    return _mm256_castsi256_si128(v);
}

KERNEL static inline bytes_16 b_high(bytes_32 v)
{
    return _mm256_extracti128_si256(v, 1);
}

KERNEL static inline bytes_32 b_and(bytes_32 a, bytes_32 b)
{
    return _mm256_and_si256(a, b);
}

KERNEL static inline bytes_32 b_or(bytes_32 a, bytes_32 b)
{
    return _mm256_or_si256(a, b);
}

KERNEL static inline bytes_32 b_without(bytes_32 a, bytes_32 b)
{
    return _mm256_andnot_si256(b, a);
}

KERNEL static inline bytes_32 b_add(bytes_32 a, bytes_32 b)
{
    return _mm256_add_epi8(a, b);
}

KERNEL static inline bytes_32 b_sub(bytes_32 a, bytes_32 b)
{
    return _mm256_sub_epi8(a, b);
}

KERNEL static inline bytes_32 b_min(bytes_32 a, bytes_32 b)
{
    return _mm256_min_epu8(a, b);
}

KERNEL static inline bytes_32 b_equal(bytes_32 a, bytes_32 b)
{
    return _mm256_cmpeq_epi8(a, b);
}

KERNEL static inline bytes_32 b_at_least(bytes_32 a, bytes_32 b)
{
    return _mm256_cmpeq_epi8(_mm256_max_epu8(a, b), a);
}

KERNEL static inline bytes_32 b_left(bytes_32 v, int shift)
{
    return _mm256_sll_epi16(v, _mm_cvtsi32_si128(shift));
}

KERNEL static inline bytes_32 b_field(bytes_32 v, int shift, int mask)
{
    return _mm256_and_si256(_mm256_srl_epi16(v, _mm_cvtsi32_si128(shift)), b_set(mask));
}

KERNEL static inline bytes_32 b_nibbles(const uint8_t *p)
{
    bytes_16 packed = h_load(p);
    return _mm256_and_si256(_mm256_set_m128i(_mm_srli_epi16(packed, 4), packed), b_set(0xF));
}

KERNEL static inline bytes_32 b_look_up(const int8_t *sixteen, bytes_32 indices)
{
    const __m128i table = _mm_loadu_si128((const __m128i *)(const void *)sixteen);
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(table), indices);
}

KERNEL static inline uint32_t b_tops(bytes_32 v)
{
    return (uint32_t)_mm256_movemask_epi8(v);
}

KERNEL static inline void b_sums(bytes_32 v, int *low, int *high)
{
    __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), v);
    __m256i sums = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
    sums = _mm256_hadd_epi32(sums, sums);
    sums = _mm256_hadd_epi32(sums, sums);
    *low = _mm_cvtsi128_si32(_mm256_castsi256_si128(sums));
    *high = _mm_cvtsi128_si32(_mm256_extracti128_si256(sums, 1));
}
