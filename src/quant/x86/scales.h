/* quant/x86/scales.h: the parts of lanes/decode.h that depend on the instruction set: scales with
 * unusual bit layouts, and values of fewer or more bits than a byte. Include after the definitions
 * of put_16 and the other functions that store values. */

KERNEL static inline float load_f16(const uint8_t *p)
{
    return _cvtsh_ss(wb__load_le16(p));
}

KERNEL static inline void put_8_and_8(float *out, bytes_16 q, float d, float e)
{
    __m256 a = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(q));
    __m256 b = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_unpackhi_epi64(q, q)));
    _mm256_storeu_ps(out, _mm256_mul_ps(_mm256_set1_ps(d), a));
    _mm256_storeu_ps(out + 8, _mm256_mul_ps(_mm256_set1_ps(e), b));
}

KERNEL static inline void scales_nvfp4(const uint8_t *p, float *out)
{
    __m128i code = _mm_cvtepu8_epi32(_mm_cvtsi32_si128((int)wb__load_le32(p)));
    __m128i magnitude = _mm_and_si128(code, _mm_set1_epi32(0x7F));
    __m128i subnormal = _mm_cmplt_epi32(magnitude, _mm_set1_epi32(8));
    __m128i zero = _mm_cmpeq_epi32(code, _mm_set1_epi32(0x7F));
    __m128 small = _mm_mul_ps(_mm_cvtepi32_ps(magnitude), _mm_set1_ps(0x1p-10f));
    __m128i large = _mm_add_epi32(_mm_slli_epi32(magnitude, 20), _mm_set1_epi32(119 << 23));
    __m128 scale = _mm_blendv_ps(_mm_castsi128_ps(large), small, _mm_castsi128_ps(subnormal));
    _mm_storeu_ps(out, _mm_andnot_ps(_mm_castsi128_ps(zero), scale));
}

KERNEL static inline void scales_iq4_xs(uint32_t low, uint32_t high, float d, float *out)
{
    __m256i l = _mm256_srlv_epi32(_mm256_set1_epi32((int)low),
                                  _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28));
    __m256i h = _mm256_srlv_epi32(_mm256_set1_epi32((int)high),
                                  _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14));
    l = _mm256_and_si256(l, _mm256_set1_epi32(0xF));
    h = _mm256_slli_epi32(_mm256_and_si256(h, _mm256_set1_epi32(3)), 4);
    l = _mm256_sub_epi32(_mm256_or_si256(l, h), _mm256_set1_epi32(32));
    _mm256_storeu_ps(out, _mm256_mul_ps(_mm256_set1_ps(d), _mm256_cvtepi32_ps(l)));
}

KERNEL static inline void put_twos(float *out, const uint8_t *p, float d)
{
    const __m256i even = _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14);
    const __m256 values = _mm256_setr_ps(-1, 0, 1, 2, -1, 0, 1, 2);
    __m256 table = _mm256_mul_ps(values, _mm256_set1_ps(d));
    for (size_t i = 0; i < 8; i += 2, out += 8) {
        __m256i q = _mm256_srlv_epi32(_mm256_set1_epi32(wb__load_le16(p + i)), even);
        _mm256_storeu_ps(out, _mm256_permutevar8x32_ps(table, q));
    }
}

KERNEL static inline void put_8_f16(float *out, const uint8_t *p)
{
    _mm256_storeu_ps(out, _mm256_cvtph_ps(h_load(p)));
}

KERNEL static inline void put_8_bf16(float *out, const uint8_t *p)
{
    __m256i bits = _mm256_slli_epi32(_mm256_cvtepu16_epi32(h_load(p)), 16);
    _mm256_storeu_ps(out, _mm256_castsi256_ps(bits));
}
