/*
 * quant/x86/encode_blocks.h: encoding the types that need no search, a block at a time, and with an
 * importance matrix the older ones, with 16 blocks in the lanes. The scalar code has the layouts.
 *
 * Included once for each instruction set, after encode_k.h.
 */

/* ---- 32 values ---- */

typedef struct block_32 {
    __m256 x[4];
} block_32;

KERNEL static inline block_32 load_block_32(const float *x)
{
    return (block_32){{_mm256_loadu_ps(x), _mm256_loadu_ps(x + 8), _mm256_loadu_ps(x + 16),
                       _mm256_loadu_ps(x + 24)}};
}

KERNEL static inline __m256 abs_256(__m256 x)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x);
}

KERNEL static inline float greatest_of(__m256 x)
{
    __m128 v = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    v = _mm_max_ps(v, _mm_movehl_ps(v, v));
    return _mm_cvtss_f32(_mm_max_ss(v, _mm_movehdup_ps(v)));
}

KERNEL static inline float largest_magnitude(const block_32 *b)
{
    __m256 low = _mm256_max_ps(abs_256(b->x[0]), abs_256(b->x[1]));
    return greatest_of(_mm256_max_ps(low, _mm256_max_ps(abs_256(b->x[2]), abs_256(b->x[3]))));
}

/* The first value of largest magnitude; 0 where all are zeros. */
KERNEL static inline float largest_value(const float *x, const block_32 *b)
{
    float most = largest_magnitude(b);
    __m256 magnitude = _mm256_set1_ps(most);
    uint32_t where = 0;
    for (unsigned i = 0; i < 4; i++) {
        __m256 same = _mm256_cmp_ps(abs_256(b->x[i]), magnitude, _CMP_EQ_OQ);
        where |= (uint32_t)_mm256_movemask_ps(same) << 8 * i;
    }
    return most > 0 && where != 0 ? x[__builtin_ctz(where)] : 0.0f;
}

/* The lowest bytes of 32 integers, in order. */
KERNEL static inline __m256i bytes_of_32(const __m256i v[4])
{
    const __m256i byte = _mm256_set1_epi32(0xFF);
    __m256i low = _mm256_packus_epi32(_mm256_and_si256(v[0], byte), _mm256_and_si256(v[1], byte));
    __m256i high = _mm256_packus_epi32(_mm256_and_si256(v[2], byte), _mm256_and_si256(v[3], byte));
    return _mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high),
                                       _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

/* Value j in the low half of byte j, value j + 16 in its high half. */
KERNEL static inline void store_nibbles(uint8_t *out, __m256i q)
{
    __m128i low = _mm256_castsi256_si128(q), high = _mm256_extracti128_si256(q, 1);
    _mm_storeu_si128((__m128i *)(void *)out, _mm_or_si128(low, _mm_slli_epi16(high, 4)));
}

/* Five bits: the fifth ones in four bytes of their own, in front. */
KERNEL static inline void store_fives(uint8_t *out, __m256i q)
{
    wb__store_le32(out, (uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(q, 3)));
    store_nibbles(out + 4, _mm256_and_si256(q, _mm256_set1_epi8(0xF)));
}

KERNEL static inline float reciprocal(float d)
{
    return d != 0 ? 1.0f / d : 0.0f;
}

/* (x - min) · inverse + shift, cut to an integer of a byte, at most `top`. */
KERNEL static inline __m256i cut_32(const block_32 *b, float min, float inverse, float shift,
                                    int top)
{
    __m256i q[4];
    for (size_t i = 0; i < 4; i++) {
        __m256 v =
            _mm256_mul_ps(_mm256_sub_ps(b->x[i], _mm256_set1_ps(min)), _mm256_set1_ps(inverse));
        q[i] = _mm256_cvttps_epi32(_mm256_add_ps(v, _mm256_set1_ps(shift)));
    }
    return _mm256_min_epu8(bytes_of_32(q), _mm256_set1_epi8((char)top));
}

/* Quants around `range`. Returns the scale. */
KERNEL static inline float quantize_signed(const float *x, int range, __m256i *q)
{
    block_32 b = load_block_32(x);
    float d = largest_value(x, &b) / (float)-range;
    *q = cut_32(&b, 0, reciprocal(d), (float)range + 0.5f, 2 * range - 1);
    return d;
}

/* Quants from the least value on, which is *min. Returns the scale. */
KERNEL static inline float quantize_range(const float *x, int top, float *min, __m256i *q)
{
    block_32 b = load_block_32(x);
    __m256 least = b.x[0], greatest = b.x[0];
    for (size_t i = 1; i < 4; i++) {
        least = _mm256_min_ps(least, b.x[i]);
        greatest = _mm256_max_ps(greatest, b.x[i]);
    }
    float max = greatest_of(greatest);
    float lowest = -greatest_of(_mm256_xor_ps(least, _mm256_set1_ps(-0.0f)));
    if (lowest == 0) { /* the first of the zeros decides about the sign */
        size_t i = 0;
        while (i < 31 && x[i] != 0)
            i++;
        lowest = x[i];
    }
    *min = lowest;
    float d = max > lowest ? (max - lowest) / (float)top : 0;
    *q = cut_32(&b, lowest, reciprocal(d), 0.5f, top);
    return d;
}

/* ---- 16 blocks in lanes, with an importance matrix ---- */

/* The sum over the row, which is the same for all its blocks. */
KERNEL static inline float row_variance(const float *x, size_t n)
{
    float sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sum / (float)n;
}

/* Block g behind x, or the last there is. */
KERNEL static inline void point_at_blocks(const float *x, size_t left, const float **from)
{
    for (size_t g = 0; g < GROUPS; g++)
        from[g] = x + (32 * g < left ? 32 * g : left - 32);
}

typedef struct weighted_blocks {
    float d[GROUPS], min[GROUPS];
    uint8_t q[GROUPS * 32];
} weighted_blocks;

KERNEL static inline void encode_weighted(const float *x, const float *importance, size_t left,
                                          float variance, int range, bool has_minimum,
                                          weighted_blocks *out)
{
    lane_groups groups;
    const float *weights_from[GROUPS];
    float variance_of[GROUPS];
    uint8_t rows[32][GROUPS];
    point_at_blocks(x, left, groups.from);
    point_at_blocks(importance, left, weights_from);
    load_groups(32, &groups);
    for (size_t g = 0; g < GROUPS; g++)
        variance_of[g] = variance;
    for (size_t part = 0; part < PARTS; part++) {
        lanes weights[32], q[32];
        const lanes *v = groups.x[part];
        weigh_lanes(32, &groups, weights_from, variance_of, part, weights);
        if (has_minimum) {
            lane_fit fit = search_minimum(32, range, v, weights, -0.9f, 0.05f, 36, false);
            for (size_t i = 0; i < 32; i++)
                q[i] = f_quant(f_mul(fit.inverse, f_sub(v[i], fit.base)), 0, range);
            f_store(out->d + part * LANES, fit.scale);
            f_store(out->min + part * LANES, f_negate(fit.minimum));
        } else {
            f_store(out->d + part * LANES, search_signed(32, range, v, weights, q));
            for (size_t i = 0; i < 32; i++)
                q[i] = f_add(q[i], f_set((float)range));
        }
        for (size_t i = 0; i < 32; i++)
            f_store_bytes(rows[i] + part * LANES, q[i]);
    }
    join_groups(32, (const uint8_t(*)[GROUPS])rows, out->q);
}

/*
 * What the four encoders have in common: `bytes` a block, `head` of them scale and minimum.
 */
KERNEL static inline void encode_legacy(const float *x, const float *importance, uint8_t *out,
                                        size_t n, int range, bool has_minimum, bool fives)
{
    size_t head = has_minimum ? 4 : 2;
    size_t bytes = head + (fives ? 20 : 16);
    float variance = importance != NULL ? row_variance(x, n) : 0;
    weighted_blocks found;
    for (size_t i = 0; i < n; i += 32, out += bytes) {
        size_t g = i / 32 % GROUPS;
        float d, min = 0;
        __m256i q;
        if (importance != NULL) {
            if (g == 0)
                encode_weighted(x + i, importance + i, n - i, variance, range, has_minimum, &found);
            d = found.d[g];
            min = found.min[g];
            q = load_256(found.q + 32 * g);
        } else {
            d = has_minimum ? quantize_range(x + i, range, &min, &q)
                            : quantize_signed(x + i, range, &q);
        }
        wb__store_f16(out, d);
        if (has_minimum)
            wb__store_f16(out + 2, min);
        if (fives)
            store_fives(out + head, q);
        else
            store_nibbles(out + head, q);
    }
}

KERNEL static void encode_q4_0(const float *x, const float *importance, uint8_t *out, size_t n)
{
    encode_legacy(x, importance, out, n, 8, false, false);
}

KERNEL static void encode_q4_1(const float *x, const float *importance, uint8_t *out, size_t n)
{
    encode_legacy(x, importance, out, n, 15, true, false);
}

KERNEL static void encode_q5_0(const float *x, const float *importance, uint8_t *out, size_t n)
{
    encode_legacy(x, importance, out, n, 16, false, true);
}

KERNEL static void encode_q5_1(const float *x, const float *importance, uint8_t *out, size_t n)
{
    encode_legacy(x, importance, out, n, 31, true, true);
}

/* Quants of a byte. Returns the scale. */
KERNEL static inline float quantize_bytes(const float *x, __m256i *bytes)
{
    block_32 b = load_block_32(x);
    float d = largest_magnitude(&b) / 127;
    __m256 inverse = _mm256_set1_ps(reciprocal(d));
    __m256i q[4];
    for (size_t k = 0; k < 4; k++) {
        __m256 v = _mm256_mul_ps(b.x[k], inverse);
        __m256 half =
            _mm256_or_ps(_mm256_and_ps(v, _mm256_set1_ps(-0.0f)), _mm256_set1_ps(0x1.fffffep-2f));
        q[k] = _mm256_cvttps_epi32(_mm256_add_ps(v, half));
    }
    *bytes = bytes_of_32(q);
    return d;
}

/* The sums of the lower and the upper 16 signed bytes. */
KERNEL static inline void sum_halves(__m256i bytes, int *low, int *high)
{
    __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), bytes);
    __m256i sums = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
    sums = _mm256_hadd_epi32(sums, sums);
    sums = _mm256_hadd_epi32(sums, sums);
    *low = _mm_cvtsi128_si32(_mm256_castsi256_si128(sums));
    *high = _mm_cvtsi128_si32(_mm256_extracti128_si256(sums, 1));
}

KERNEL static void encode_q8_0(const float *x, const float *importance, uint8_t *out, size_t n)
{
    (void)importance;
    for (size_t i = 0; i < n; i += 32, out += 34) {
        __m256i bytes;
        wb__store_f16(out, quantize_bytes(x + i, &bytes));
        store_256(out + 2, bytes);
    }
}

KERNEL static void encode_q8_1(const float *x, const float *importance, uint8_t *out, size_t n)
{
    (void)importance;
    for (size_t i = 0; i < n; i += 32, out += 36) {
        __m256i bytes;
        int low, high;
        float d = quantize_bytes(x + i, &bytes);
        sum_halves(bytes, &low, &high);
        wb__store_f16(out, d);
        wb__store_f16(out + 2, (float)(low + high) * d);
        store_256(out + 4, bytes);
    }
}

/* ---- 256 values of a byte ---- */

/* The first value of largest magnitude, which is *most; NaNs take no part. */
KERNEL static inline float largest_of_256(const float *x, float *most)
{
    __m256 greatest = _mm256_setzero_ps();
    for (size_t i = 0; i < WB__K; i += 8) /* the second operand is taken where one is NaN */
        greatest = _mm256_max_ps(abs_256(_mm256_loadu_ps(x + i)), greatest);
    *most = greatest_of(greatest);
    for (size_t i = 0; i < WB__K; i += 8) {
        __m256 same =
            _mm256_cmp_ps(abs_256(_mm256_loadu_ps(x + i)), _mm256_set1_ps(*most), _CMP_EQ_OQ);
        unsigned where = (unsigned)_mm256_movemask_ps(same);
        if (where != 0)
            return x[i + (size_t)__builtin_ctz(where)];
    }
    return 0;
}

/* As wb__round_even, for whatever comes. */
KERNEL static inline __m256i round_even_256(__m256 x)
{
    __m256i bits = _mm256_castps_si256(_mm256_add_ps(x, _mm256_set1_ps(12582912.0f)));
    bits = _mm256_and_si256(bits, _mm256_set1_epi32(0x7FFFFF));
    return _mm256_sub_epi32(bits, _mm256_set1_epi32(0x400000));
}

KERNEL static void encode_q8_k(const float *x, const float *importance, uint8_t *out, size_t n)
{
    (void)importance;
    for (size_t i = 0; i < n; i += WB__K, out += 292) {
        float most, largest = largest_of_256(x + i, &most);
        if (most == 0) {
            memset(out, 0, 292);
            continue;
        }
        float inverse = -127.0f / largest;
        wb__store_le32(out, wb__bits_of_float(1 / inverse));
        for (size_t j = 0; j < WB__K; j += 32) {
            block_32 b = load_block_32(x + i + j);
            __m256i q[4];
            for (size_t k = 0; k < 4; k++) {
                q[k] = round_even_256(_mm256_mul_ps(_mm256_set1_ps(inverse), b.x[k]));
                q[k] = _mm256_min_epi32(q[k], _mm256_set1_epi32(127));
            }
            __m256i bytes = bytes_of_32(q);
            int low, high;
            sum_halves(bytes, &low, &high);
            store_256(out + 4 + j, bytes);
            wb__store_le16(out + 260 + j / 8, (uint16_t)low);
            wb__store_le16(out + 262 + j / 8, (uint16_t)high);
        }
    }
}

/* ---- F4 ---- */

/* The first of the values nearest to x / d: between two it is the smaller one that wins a tie. */
KERNEL static inline __m256i nearest_f4(__m256 x, float d)
{
    static const float between[7] = {0.5f, 1.5f, 2.5f, 3.5f, 5, 7, 10};
    __m256 magnitude = abs_256(x);
    __m256i q = _mm256_setzero_si256();
    for (size_t i = 0; i < 7; i++) {
        __m256 more = _mm256_cmp_ps(magnitude, _mm256_set1_ps(between[i] * d), _CMP_GT_OQ);
        q = _mm256_sub_epi32(q, _mm256_castps_si256(more));
    }
    __m256i sign =
        _mm256_and_si256(_mm256_srli_epi32(_mm256_castps_si256(x), 28), _mm256_set1_epi32(8));
    __m256i zero = _mm256_cmpeq_epi32(q, _mm256_setzero_si256());
    q = _mm256_or_si256(q, _mm256_andnot_si256(zero, sign));
    return d > 0 ? q : _mm256_setzero_si256();
}

KERNEL static void encode_mxfp4(const float *x, const float *importance, uint8_t *out, size_t n)
{
    (void)importance;
    for (size_t i = 0; i < n; i += 32, out += 17) {
        block_32 b = load_block_32(x + i);
        __m256i q[4];
        out[0] = wb__e8m0_for(largest_magnitude(&b));
        float d = wb__half_of_e8m0(out[0]);
        for (size_t k = 0; k < 4; k++)
            q[k] = nearest_f4(b.x[k], d);
        store_nibbles(out + 1, bytes_of_32(q));
    }
}

KERNEL static void encode_nvfp4(const float *x, const float *importance, uint8_t *out, size_t n)
{
    (void)importance;
    for (size_t i = 0; i < n; i += 32, out += i % 64 == 0 ? 36 : 0) {
        size_t pair = i % 64 / 32;
        block_32 b = load_block_32(x + i);
        __m256i q[4];
        for (size_t g = 0; g < 2; g++) {
            __m256 most = _mm256_max_ps(abs_256(b.x[2 * g]), abs_256(b.x[2 * g + 1]));
            uint8_t e = wb__e4m3_for(greatest_of(most) / 6);
            out[2 * pair + g] = e;
            /* Low halves first, so that store_nibbles makes two groups of eight bytes. */
            q[g] = nearest_f4(b.x[2 * g], wb__half_of_e4m3(e));
            q[g + 2] = nearest_f4(b.x[2 * g + 1], wb__half_of_e4m3(e));
        }
        store_nibbles(out + 4 + 16 * pair, bytes_of_32(q));
    }
}

/* ---- halves of a binary32 ---- */

KERNEL static void encode_f16(const float *x, const float *importance, uint8_t *out, size_t n)
{
    (void)importance;
    for (; n >= 8; n -= 8, x += 8, out += 16) {
        __m256 v = _mm256_loadu_ps(x);
        __m128i h = _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        _mm_storeu_si128((__m128i *)(void *)out, h);
    }
    for (; n > 0; n--, x++, out += 2)
        wb__store_f16(out, *x);
}

KERNEL static void encode_bf16(const float *x, const float *importance, uint8_t *out, size_t n)
{
    (void)importance;
    for (; n >= 16; n -= 16, x += 16, out += 32) {
        __m256i half[2];
        for (size_t k = 0; k < 2; k++) {
            __m256 v = _mm256_loadu_ps(x + 8 * k);
            __m256i bits = _mm256_castps_si256(v);
            __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
            __m256i up = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF)));
            __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
            __m256 nan = _mm256_cmp_ps(v, v, _CMP_UNORD_Q);
            half[k] =
                _mm256_srli_epi32(_mm256_blendv_epi8(up, quiet, _mm256_castps_si256(nan)), 16);
        }
        store_256(out, _mm256_permute4x64_epi64(_mm256_packus_epi32(half[0], half[1]), 0xD8));
    }
    for (; n > 0; n--, x++, out += 2)
        wb__store_le16(out, wb__f32_to_bf16(wb__bits_of_float(*x)));
}
