/*
 * quant/x86/decode.h: decoding with vectors, for every type whose values fit into a byte before
 * they are scaled. The scalar code has the layouts (quant/scalar/).
 *
 * All is done in the same steps: 32 quants are brought into 32 bytes, with shifts, masks and, where
 * the levels are uneven, a shuffle of them; then they are widened, multiplied by the scale of their
 * group, and moved by its minimum. The scales of a block are computed first, into an array.
 *
 * The text is included once for each instruction set, after these have been defined:
 *     KERNEL                 attributes of functions; at least AVX2, F16C
 *     put_32(out, q, d)      32 signed bytes, times d
 *     put_16(out, q, d)      16 of them
 *     put_32_plus(out, q, d, m)   32 bytes times d plus m
 *     put_16_plus(out, q, d, m)
 *     spread_bits(word)      32 bits to 32 bytes of 0 or 255
 * where d and m are floats.
 */

KERNEL static inline float load_f16(const uint8_t *p)
{
    return _cvtsh_ss(wb__load_le16(p));
}

KERNEL static inline __m256i load_32(const uint8_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

KERNEL static inline __m128i load_16(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

KERNEL static inline __m256i bytes_of(int value)
{
    return _mm256_set1_epi8((char)value);
}

/* Bits `shift` and up of every byte, as far as `mask` goes. */
KERNEL static inline __m256i field(__m256i bytes, int shift, int mask)
{
    return _mm256_and_si256(_mm256_srl_epi16(bytes, _mm_cvtsi32_si128(shift)), bytes_of(mask));
}

/* Lower halves of 16 bytes, then upper halves. */
KERNEL static inline __m256i nibbles(const uint8_t *p)
{
    __m128i packed = load_16(p);
    return _mm256_and_si256(_mm256_set_m128i(_mm_srli_epi16(packed, 4), packed), bytes_of(0xF));
}

KERNEL static inline __m128i low_half(__m256i v)
{
    return _mm256_castsi256_si128(v);
}

KERNEL static inline __m128i high_half(__m256i v)
{
    return _mm256_extracti128_si256(v, 1);
}

/* 16 signed bytes times d, into an array. */
KERNEL static inline void scales_16(__m128i bytes, float d, float *scales)
{
    put_16(scales, bytes, d);
}

/* 32 quants with a scale for each half. */
KERNEL static inline void put_halves(float *out, __m256i q, const float *d)
{
    put_16(out, low_half(q), d[0]);
    put_16(out + 16, high_half(q), d[1]);
}

/* ---- blocks of 32 ---- */

KERNEL static void decode_q4_0(const uint8_t *p, float *out, size_t n)
{
    for (; n > 0; n--, p += 18, out += 32)
        put_32(out, _mm256_sub_epi8(nibbles(p + 2), bytes_of(8)), load_f16(p));
}

KERNEL static void decode_q4_1(const uint8_t *p, float *out, size_t n)
{
    for (; n > 0; n--, p += 20, out += 32)
        put_32_plus(out, nibbles(p + 4), load_f16(p), load_f16(p + 2));
}

KERNEL static void decode_q5_0(const uint8_t *p, float *out, size_t n)
{
    for (; n > 0; n--, p += 22, out += 32) {
        __m256i missing = _mm256_andnot_si256(spread_bits(wb__load_le32(p + 2)), bytes_of(16));
        put_32(out, _mm256_sub_epi8(nibbles(p + 6), missing), load_f16(p));
    }
}

KERNEL static void decode_q5_1(const uint8_t *p, float *out, size_t n)
{
    for (; n > 0; n--, p += 24, out += 32) {
        __m256i high = _mm256_and_si256(spread_bits(wb__load_le32(p + 4)), bytes_of(16));
        put_32_plus(out, _mm256_or_si256(nibbles(p + 8), high), load_f16(p), load_f16(p + 2));
    }
}

KERNEL static void decode_q8_0(const uint8_t *p, float *out, size_t n)
{
    for (; n > 0; n--, p += 34, out += 32)
        put_32(out, load_32(p + 2), load_f16(p));
}

KERNEL static void decode_q8_1(const uint8_t *p, float *out, size_t n)
{
    for (; n > 0; n--, p += 36, out += 32)
        put_32(out, load_32(p + 4), load_f16(p));
}

KERNEL static inline __m256i iq4_levels(__m256i indices)
{
    const __m256i levels = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113));
    return _mm256_shuffle_epi8(levels, indices);
}

KERNEL static void decode_iq4_nl(const uint8_t *p, float *out, size_t n)
{
    for (; n > 0; n--, p += 18, out += 32)
        put_32(out, iq4_levels(nibbles(p + 2)), load_f16(p));
}

/* Twice the values of F4. */
KERNEL static inline __m256i f4_levels(__m256i indices)
{
    const __m256i levels = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12));
    return _mm256_shuffle_epi8(levels, indices);
}

KERNEL static void decode_mxfp4(const uint8_t *p, float *out, size_t n)
{
    for (; n > 0; n--, p += 17, out += 32) {
        uint32_t e = p[0];
        float d = wb__float_of_bits(e < 2 ? UINT32_C(0x200000) << e : (e - 1) << 23);
        put_32(out, f4_levels(nibbles(p + 1)), d);
    }
}

/* Half of four E4M3 scales without sign; see scalar/fp4.c. */
KERNEL static inline __m128 scales_nvfp4(const uint8_t *p)
{
    __m128i code = _mm_and_si128(_mm_cvtepu8_epi32(_mm_cvtsi32_si128((int)wb__load_le32(p))),
                                 _mm_set1_epi32(0xFF));
    __m128i magnitude = _mm_and_si128(code, _mm_set1_epi32(0x7F));
    __m128i subnormal = _mm_cmplt_epi32(magnitude, _mm_set1_epi32(8));
    __m128i zero = _mm_cmpeq_epi32(code, _mm_set1_epi32(0x7F));
    __m128 small = _mm_mul_ps(_mm_cvtepi32_ps(magnitude), _mm_set1_ps(0x1p-10f));
    __m128i large = _mm_add_epi32(_mm_slli_epi32(magnitude, 20), _mm_set1_epi32(119 << 23));
    __m128 scale = _mm_blendv_ps(_mm_castsi128_ps(large), small, _mm_castsi128_ps(subnormal));
    return _mm_andnot_ps(_mm_castsi128_ps(zero), scale);
}

KERNEL static void decode_nvfp4(const uint8_t *p, float *out, size_t n)
{
    float d[4];
    for (; n > 0; n--, p += 36, out += 64) {
        __m256i packed = load_32(p + 4);
        __m256i low = f4_levels(field(packed, 0, 0xF)), high = f4_levels(field(packed, 4, 0xF));
        __m256i even = _mm256_unpacklo_epi64(low, high); /* groups 0 and 2 */
        __m256i odd = _mm256_unpackhi_epi64(low, high);
        _mm_storeu_ps(d, scales_nvfp4(p));
        put_16(out, low_half(even), d[0]);
        put_16(out + 16, low_half(odd), d[1]);
        put_16(out + 32, high_half(even), d[2]);
        put_16(out + 48, high_half(odd), d[3]);
    }
}

/* ---- blocks of 256 ---- */

KERNEL static void decode_q2_k(const uint8_t *p, float *out, size_t n)
{
    float scales[16], minima[16];
    for (; n > 0; n--, p += 84) {
        __m128i both = load_16(p);
        scales_16(_mm_and_si128(both, _mm_set1_epi8(0xF)), load_f16(p + 80), scales);
        scales_16(_mm_and_si128(_mm_srli_epi16(both, 4), _mm_set1_epi8(0xF)), -load_f16(p + 82),
                  minima);
        for (size_t half = 0, g = 0; half < 2; half++) {
            __m256i packed = load_32(p + 16 + 32 * half);
            for (int shift = 0; shift < 8; shift += 2, g += 2, out += 32) {
                __m256i q = field(packed, shift, 3);
                put_16_plus(out, low_half(q), scales[g], minima[g]);
                put_16_plus(out + 16, high_half(q), scales[g + 1], minima[g + 1]);
            }
        }
    }
}

/* The 16 scales of six bits, minus 32. */
KERNEL static inline __m128i scales_q3_k(const uint8_t *p)
{
    __m128i low = _mm_loadl_epi64((const __m128i *)(const void *)p);
    __m128i high = _mm_set1_epi32((int)wb__load_le32(p + 8));
    low = _mm_and_si128(_mm_unpacklo_epi64(low, _mm_srli_epi16(low, 4)), _mm_set1_epi8(0xF));
    high = _mm_and_si128(_mm_srlv_epi32(high, _mm_setr_epi32(0, 2, 4, 6)), _mm_set1_epi8(3));
    return _mm_sub_epi8(_mm_or_si128(low, _mm_slli_epi16(high, 4)), _mm_set1_epi8(32));
}

KERNEL static void decode_q3_k(const uint8_t *p, float *out, size_t n)
{
    float scales[16];
    for (; n > 0; n--, p += 110) {
        __m256i high = load_32(p);
        scales_16(scales_q3_k(p + 96), load_f16(p + 108), scales);
        for (size_t half = 0, g = 0; half < 2; half++) {
            __m256i packed = load_32(p + 32 + 32 * half);
            for (int shift = 0; shift < 8; shift += 2, g += 2, out += 32) {
                __m256i bit = _mm256_and_si256(high, bytes_of(1 << g / 2));
                __m256i missing =
                    _mm256_and_si256(_mm256_cmpeq_epi8(bit, _mm256_setzero_si256()), bytes_of(4));
                put_halves(out, _mm256_sub_epi8(field(packed, shift, 3), missing), scales + g);
            }
        }
    }
}

/* Scales and negated minima of Q4_K and Q5_K, interleaved no further than in scales[8], minima[8].
 */
KERNEL static inline void scales_pair(const uint8_t *p, float *scales_and_minima)
{
    uint32_t a = wb__load_le32(p + 4), b = wb__load_le32(p + 8), c = wb__load_le32(p + 12);
    const uint32_t low4 = 0x0F0F0F0F, low6 = 0x3F3F3F3F, high2 = 0x30303030;
    __m128i bytes = _mm_setr_epi32((int)(a & low6), (int)((c & low4) | (a >> 2 & high2)),
                                   (int)(b & low6), (int)((c >> 4 & low4) | (b >> 2 & high2)));
    __m256 d = _mm256_set1_ps(load_f16(p)), m = _mm256_set1_ps(-load_f16(p + 2));
    __m256 s = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));
    __m256 t = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_unpackhi_epi64(bytes, bytes)));
    _mm256_storeu_ps(scales_and_minima, _mm256_mul_ps(d, s));
    _mm256_storeu_ps(scales_and_minima + 8, _mm256_mul_ps(m, t));
}

KERNEL static void decode_q4_k(const uint8_t *p, float *out, size_t n)
{
    float s[16];
    for (; n > 0; n--, p += 144) {
        scales_pair(p, s);
        for (size_t g = 0; g < 8; g += 2, out += 64) {
            __m256i packed = load_32(p + 16 + 16 * g);
            put_32_plus(out, field(packed, 0, 0xF), s[g], s[g + 8]);
            put_32_plus(out + 32, field(packed, 4, 0xF), s[g + 1], s[g + 9]);
        }
    }
}

KERNEL static void decode_q5_k(const uint8_t *p, float *out, size_t n)
{
    float s[16];
    for (; n > 0; n--, p += 176) {
        __m256i high = load_32(p + 16);
        scales_pair(p, s);
        for (size_t g = 0; g < 8; g += 2, out += 64) {
            __m256i packed = load_32(p + 48 + 16 * g);
            __m256i bits = field(high, (int)g, 3); /* for both groups */
            __m256i low = _mm256_slli_epi16(_mm256_and_si256(bits, bytes_of(1)), 4);
            __m256i upper = _mm256_slli_epi16(_mm256_and_si256(bits, bytes_of(2)), 3);
            put_32_plus(out, _mm256_or_si256(field(packed, 0, 0xF), low), s[g], s[g + 8]);
            put_32_plus(out + 32, _mm256_or_si256(field(packed, 4, 0xF), upper), s[g + 1],
                        s[g + 9]);
        }
    }
}

KERNEL static void decode_q6_k(const uint8_t *p, float *out, size_t n)
{
    float scales[16];
    for (; n > 0; n--, p += 210) {
        scales_16(load_16(p + 192), load_f16(p + 208), scales);
        for (size_t half = 0; half < 2; half++) {
            __m256i high = load_32(p + 128 + 32 * half);
            for (size_t quarter = 0; quarter < 4; quarter++, out += 32) {
                __m256i packed = load_32(p + 64 * half + 32 * (quarter % 2));
                __m256i low = field(packed, quarter < 2 ? 0 : 4, 0xF);
                __m256i upper = _mm256_slli_epi16(field(high, 2 * (int)quarter, 3), 4);
                put_halves(out, _mm256_sub_epi8(_mm256_or_si256(low, upper), bytes_of(32)),
                           scales + 8 * half + 2 * quarter);
            }
        }
    }
}

KERNEL static void decode_q8_k(const uint8_t *p, float *out, size_t n)
{
    for (; n > 0; n--, p += 292) {
        float d = wb__float_of_bits(wb__load_le32(p));
        for (size_t i = 0; i < 256; i += 32, out += 32)
            put_32(out, load_32(p + 4 + i), d);
    }
}

KERNEL static void decode_iq4_xs(const uint8_t *p, float *out, size_t n)
{
    float scales[8];
    for (; n > 0; n--, p += 136) {
        uint32_t low = wb__load_le32(p + 4);
        __m256i l = _mm256_srlv_epi32(_mm256_set1_epi32((int)low),
                                      _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28));
        __m256i h = _mm256_srlv_epi32(_mm256_set1_epi32(wb__load_le16(p + 2)),
                                      _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14));
        l = _mm256_and_si256(l, _mm256_set1_epi32(0xF));
        h = _mm256_slli_epi32(_mm256_and_si256(h, _mm256_set1_epi32(3)), 4);
        l = _mm256_sub_epi32(_mm256_or_si256(l, h), _mm256_set1_epi32(32));
        _mm256_storeu_ps(scales, _mm256_mul_ps(_mm256_set1_ps(load_f16(p)), _mm256_cvtepi32_ps(l)));
        for (size_t g = 0; g < 8; g++, out += 32)
            put_32(out, iq4_levels(nibbles(p + 8 + 16 * g)), scales[g]);
    }
}

/* ---- one scale, one or two bits ---- */

KERNEL static void decode_tq2_0(const uint8_t *p, float *out, size_t n)
{
    for (; n > 0; n--, p += 66) {
        float d = load_f16(p + 64);
        for (size_t half = 0; half < 2; half++) {
            __m256i packed = load_32(p + 32 * half);
            for (int shift = 0; shift < 8; shift += 2, out += 32)
                put_32(out, _mm256_sub_epi8(field(packed, shift, 3), bytes_of(1)), d);
        }
    }
}

/* The first of the values in 16 numbers below 256, each in 16 bits; what is left takes their place.
 */
KERNEL static inline __m256i next_trits(__m256i *rest)
{
    __m256i times3 = _mm256_add_epi16(_mm256_add_epi16(*rest, *rest), *rest);
    *rest = _mm256_and_si256(times3, _mm256_set1_epi16(0xFF));
    return _mm256_srli_epi16(times3, 8);
}

/* Two times 16 trits to 32 bytes, less 1. */
KERNEL static inline __m256i join_trits(__m256i low, __m256i high)
{
    __m256i joined = _mm256_permute4x64_epi64(_mm256_packus_epi16(low, high), 0xD8);
    return _mm256_sub_epi8(joined, bytes_of(1));
}

KERNEL static void decode_tq1_0(const uint8_t *p, float *out, size_t n)
{
    const __m256i powers = _mm256_setr_epi16(1, 1, 1, 1, 3, 3, 3, 3, 9, 9, 9, 9, 27, 27, 27, 27);
    for (; n > 0; n--, p += 54) {
        float d = load_f16(p + 52);
        __m256i a = _mm256_cvtepu8_epi16(load_16(p)), b = _mm256_cvtepu8_epi16(load_16(p + 16));
        for (int k = 0; k < 5; k++, out += 32) {
            __m256i low = next_trits(&a);
            put_32(out, join_trits(low, next_trits(&b)), d);
        }
        a = _mm256_cvtepu8_epi16(load_16(p + 32));
        for (int k = 0; k < 5; k++, out += 16) {
            __m256i low = next_trits(&a);
            put_16(out, low_half(join_trits(low, low)), d);
        }
        a = _mm256_cvtepu8_epi16(_mm_set1_epi32((int)wb__load_le32(p + 48)));
        a = _mm256_and_si256(_mm256_mullo_epi16(a, powers), _mm256_set1_epi16(0xFF));
        a = next_trits(&a);
        put_16(out, low_half(join_trits(a, a)), d);
        out += 16;
    }
}

KERNEL static void decode_q1_0(const uint8_t *p, float *out, size_t n)
{
    for (; n > 0; n--, p += 18) {
        float d = load_f16(p);
        for (size_t i = 0; i < 16; i += 4, out += 32) {
            __m256i two = _mm256_and_si256(spread_bits(wb__load_le32(p + 2 + i)), bytes_of(2));
            put_32(out, _mm256_sub_epi8(two, bytes_of(1)), d);
        }
    }
}

KERNEL static void decode_q2_0(const uint8_t *p, float *out, size_t n)
{
    const __m256i even = _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14);
    const __m256 values = _mm256_setr_ps(-1, 0, 1, 2, -1, 0, 1, 2);
    for (; n > 0; n--, p += 18) {
        __m256 table = _mm256_mul_ps(values, _mm256_set1_ps(load_f16(p)));
        for (size_t i = 0; i < 16; i += 2, out += 8) {
            __m256i q = _mm256_srlv_epi32(_mm256_set1_epi32(wb__load_le16(p + 2 + i)), even);
            _mm256_storeu_ps(out, _mm256_permutevar8x32_ps(table, q));
        }
    }
}

/* ---- halves of a binary32 ---- */

KERNEL static void decode_f16(const uint8_t *p, float *out, size_t n)
{
    for (; n >= 8; n -= 8, p += 16, out += 8)
        _mm256_storeu_ps(out, _mm256_cvtph_ps(load_16(p)));
    for (; n > 0; n--, p += 2, out++)
        *out = load_f16(p);
}

KERNEL static void decode_bf16(const uint8_t *p, float *out, size_t n)
{
    for (; n >= 8; n -= 8, p += 16, out += 8)
        _mm256_storeu_ps(
            out, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(load_16(p)), 16)));
    for (; n > 0; n--, p += 2, out++)
        *out = wb__float_of_bits((uint32_t)wb__load_le16(p) << 16);
}

static const wb__kernel kernels[] = {
    {.dtype = WB_DTYPE_Q4_0, .decode = decode_q4_0},
    {.dtype = WB_DTYPE_Q4_1, .decode = decode_q4_1},
    {.dtype = WB_DTYPE_Q5_0, .decode = decode_q5_0},
    {.dtype = WB_DTYPE_Q5_1, .decode = decode_q5_1},
    {.dtype = WB_DTYPE_Q8_0, .decode = decode_q8_0},
    {.dtype = WB_DTYPE_Q8_1, .decode = decode_q8_1},
    {.dtype = WB_DTYPE_IQ4_NL, .decode = decode_iq4_nl},
    {.dtype = WB_DTYPE_MXFP4, .decode = decode_mxfp4},
    {.dtype = WB_DTYPE_NVFP4, .decode = decode_nvfp4},
    {.dtype = WB_DTYPE_Q2_K, .decode = decode_q2_k},
    {.dtype = WB_DTYPE_Q3_K, .decode = decode_q3_k},
    {.dtype = WB_DTYPE_Q4_K, .decode = decode_q4_k},
    {.dtype = WB_DTYPE_Q5_K, .decode = decode_q5_k},
    {.dtype = WB_DTYPE_Q6_K, .decode = decode_q6_k},
    {.dtype = WB_DTYPE_Q8_K, .decode = decode_q8_k},
    {.dtype = WB_DTYPE_IQ4_XS, .decode = decode_iq4_xs},
    {.dtype = WB_DTYPE_TQ1_0, .decode = decode_tq1_0},
    {.dtype = WB_DTYPE_TQ2_0, .decode = decode_tq2_0},
    {.dtype = WB_DTYPE_Q1_0, .decode = decode_q1_0},
    {.dtype = WB_DTYPE_Q2_0, .decode = decode_q2_0},
    {.dtype = WB_DTYPE_F16, .decode = decode_f16},
    {.dtype = WB_DTYPE_BF16, .decode = decode_bf16},
};
