/*
 * quant/lanes/encode_blocks.h: encoding of the types that need no search, one block at a time; and
 * of Q4_0, Q4_1, Q5_0 and Q5_1 with an importance matrix, 16 blocks at a time, with one block per
 * lane. The scalar code documents the layouts.
 *
 * Included once per instruction set, after encode_k.h.
 */

/* ---- blocks of 32 values ---- */

typedef struct block_32 {
    eight x[4];
} block_32;

KERNEL static inline block_32 load_block_32(const float *x)
{
    return (block_32){{e_load(x), e_load(x + 8), e_load(x + 16), e_load(x + 24)}};
}

KERNEL static inline float largest_magnitude(const block_32 *b)
{
    eight low = e_max(e_abs(b->x[0]), e_abs(b->x[1]));
    return e_greatest(e_max(low, e_max(e_abs(b->x[2]), e_abs(b->x[3]))));
}

/* Returns the first value of largest magnitude, or 0 if all values are zero. */
KERNEL static inline float largest_value(const float *x, const block_32 *b)
{
    float most = largest_magnitude(b);
    eight magnitude = e_set(most);
    uint32_t where = 0;
    for (unsigned i = 0; i < 4; i++)
        where |= e_where_equal(e_abs(b->x[i]), magnitude) << 8 * i;
    return most > 0 && where != 0 ? x[__builtin_ctz(where)] : 0.0f;
}

/* Stores value j in the low half of byte j, and value j + 16 in its high half. */
KERNEL static inline void store_nibbles(uint8_t *out, bytes_32 q)
{
    h_store(out, h_or(b_low(q), h_left(b_high(q), 4)));
}

/* Stores 32 5-bit quants: first the fifth bits in four bytes, then the lower four bits in 16
 * bytes. */
KERNEL static inline void store_fives(uint8_t *out, bytes_32 q)
{
    wb__store_le32(out, b_tops(b_left(q, 3)));
    store_nibbles(out + 4, b_and(q, b_set(0xF)));
}

KERNEL static inline float reciprocal(float d)
{
    return d != 0 ? 1.0f / d : 0.0f;
}

/* Returns (x - min) · inverse + shift, truncated to byte-sized integers of at most `top`. */
KERNEL static inline bytes_32 cut_32(const block_32 *b, float min, float inverse, float shift,
                                     int top)
{
    eight_integers q[4];
    for (size_t i = 0; i < 4; i++) {
        eight v = e_mul(e_sub(b->x[i], e_set(min)), e_set(inverse));
        q[i] = e_truncate(e_add(v, e_set(shift)));
    }
    return b_min(b_of_integers(q), b_set(top));
}

/* As quantize_signed in scalar/legacy.c. Returns the scale. */
KERNEL static inline float quantize_signed(const float *x, int range, bytes_32 *q)
{
    block_32 b = load_block_32(x);
    float d = largest_value(x, &b) / (float)-range;
    *q = cut_32(&b, 0, reciprocal(d), (float)range + 0.5f, 2 * range - 1);
    return d;
}

/* As quantize_range in scalar/legacy.c. Returns the scale; *min is the minimum. */
KERNEL static inline float quantize_range(const float *x, int top, float *min, bytes_32 *q)
{
    block_32 b = load_block_32(x);
    eight least = b.x[0], greatest = b.x[0];
    for (size_t i = 1; i < 4; i++) {
        least = e_min(least, b.x[i]);
        greatest = e_max(greatest, b.x[i]);
    }
    float max = e_greatest(greatest);
    float lowest = -e_greatest(e_negate(least));
    if (lowest == 0) { /* take the sign of the first zero, as the scalar code does */
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

/* ---- with an importance matrix: 16 blocks at a time, one per lane ---- */

/* Returns the mean of the squares of the values in a row. It is the same for all blocks of a
 * row. */
KERNEL static inline float row_variance(const float *x, size_t n)
{
    float sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sum / (float)n;
}

/* Sets `from` to the next 16 blocks. Past the end of the row, repeats the last block. */
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
 * The common part of the encoders of Q4_0, Q4_1, Q5_0 and Q5_1. With `fives`, quants have five
 * bits. A block has `bytes` bytes, of which the first `head` are the scale and the minimum.
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
        bytes_32 q;
        if (importance != NULL) {
            if (g == 0)
                encode_weighted(x + i, importance + i, n - i, variance, range, has_minimum, &found);
            d = found.d[g];
            min = found.min[g];
            q = b_load(found.q + 32 * g);
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

/* Computes the one-byte quants of Q8_0 and Q8_1. Returns the scale. */
KERNEL static inline float quantize_bytes(const float *x, bytes_32 *bytes)
{
    block_32 b = load_block_32(x);
    float d = largest_magnitude(&b) / 127;
    eight inverse = e_set(reciprocal(d));
    eight_integers q[4];
    for (size_t k = 0; k < 4; k++) {
        eight v = e_mul(b.x[k], inverse);
        q[k] = e_truncate(e_add(v, e_with_sign(e_set(0x1.fffffep-2f), v)));
    }
    *bytes = b_of_integers(q);
    return d;
}

KERNEL static void encode_q8_0(const float *x, const float *importance, uint8_t *out, size_t n)
{
    (void)importance;
    for (size_t i = 0; i < n; i += 32, out += 34) {
        bytes_32 bytes;
        wb__store_f16(out, quantize_bytes(x + i, &bytes));
        b_store(out + 2, bytes);
    }
}

KERNEL static void encode_q8_1(const float *x, const float *importance, uint8_t *out, size_t n)
{
    (void)importance;
    for (size_t i = 0; i < n; i += 32, out += 36) {
        bytes_32 bytes;
        int low, high;
        float d = quantize_bytes(x + i, &bytes);
        b_sums(bytes, &low, &high);
        wb__store_f16(out, d);
        wb__store_f16(out + 2, (float)(low + high) * d);
        b_store(out + 4, bytes);
    }
}

/* ---- blocks of 256 values, one byte each ---- */

/* Returns the first value of largest magnitude, and the magnitude in *most. Ignores NaNs. */
KERNEL static inline float largest_of_256(const float *x, float *most)
{
    eight greatest = e_set(0);
    for (size_t i = 0; i < WB__K; i += 8) /* e_max returns the second operand if the first is NaN */
        greatest = e_max(e_abs(e_load(x + i)), greatest);
    *most = e_greatest(greatest);
    for (size_t i = 0; i < WB__K; i += 8) {
        uint32_t where = e_where_equal(e_abs(e_load(x + i)), e_set(*most));
        if (where != 0)
            return x[i + (size_t)__builtin_ctz(where)];
    }
    return 0;
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
            eight_integers q[4];
            for (size_t k = 0; k < 4; k++)
                q[k] = e_round_even(e_mul(e_set(inverse), b.x[k]), 127);
            bytes_32 bytes = b_of_integers(q);
            int low, high;
            b_sums(bytes, &low, &high);
            b_store(out + 4 + j, bytes);
            wb__store_le16(out + 260 + j / 8, (uint16_t)low);
            wb__store_le16(out + 262 + j / 8, (uint16_t)high);
        }
    }
}

/* ---- F4 ---- */

/* Returns the code of the F4 value nearest to x / d; in a tie, the one of smaller magnitude. */
KERNEL static inline eight_integers nearest_f4(eight x, float d)
{
    static const float between[7] = {0.5f, 1.5f, 2.5f, 3.5f, 5, 7, 10};
    float bounds[7];
    for (size_t i = 0; i < 7; i++)
        bounds[i] = between[i] * (d > 0 ? d : INFINITY);
    return e_f4_of(x, bounds);
}

KERNEL static void encode_mxfp4(const float *x, const float *importance, uint8_t *out, size_t n)
{
    (void)importance;
    for (size_t i = 0; i < n; i += 32, out += 17) {
        block_32 b = load_block_32(x + i);
        eight_integers q[4];
        out[0] = wb__e8m0_for(largest_magnitude(&b));
        float d = wb__half_of_e8m0(out[0]);
        for (size_t k = 0; k < 4; k++)
            q[k] = nearest_f4(b.x[k], d);
        store_nibbles(out + 1, b_of_integers(q));
    }
}

KERNEL static void encode_nvfp4(const float *x, const float *importance, uint8_t *out, size_t n)
{
    (void)importance;
    for (size_t i = 0; i < n; i += 32, out += i % 64 == 0 ? 36 : 0) {
        size_t pair = i % 64 / 32;
        block_32 b = load_block_32(x + i);
        eight_integers q[4];
        for (size_t g = 0; g < 2; g++) {
            eight most = e_max(e_abs(b.x[2 * g]), e_abs(b.x[2 * g + 1]));
            uint8_t e = wb__e4m3_for(e_greatest(most) / 6);
            out[2 * pair + g] = e;
            /*
             * store_nibbles combines value j with value j + 16 in a byte. Put the first eight
             * values of both groups before the other values, so that no byte contains values of
             * both groups.
             */
            q[g] = nearest_f4(b.x[2 * g], wb__half_of_e4m3(e));
            q[g + 2] = nearest_f4(b.x[2 * g + 1], wb__half_of_e4m3(e));
        }
        store_nibbles(out + 4 + 16 * pair, b_of_integers(q));
    }
}

/* ---- binary16 and bfloat16 ---- */

KERNEL static void encode_f16(const float *x, const float *importance, uint8_t *out, size_t n)
{
    (void)importance;
    for (; n >= 8; n -= 8, x += 8, out += 16)
        e_store_f16(out, e_load(x));
    for (; n > 0; n--, x++, out += 2)
        wb__store_f16(out, *x);
}

KERNEL static void encode_bf16(const float *x, const float *importance, uint8_t *out, size_t n)
{
    (void)importance;
    for (; n >= 16; n -= 16, x += 16, out += 32)
        b_store(out, e_bf16_of(e_load(x), e_load(x + 8)));
    for (; n > 0; n--, x++, out += 2)
        wb__store_le16(out, wb__f32_to_bf16(wb__bits_of_float(*x)));
}
