/*
 * quant/lanes/encode_k.h: encoding of K-quants with one group of values per lane. scalar/k_encode.c
 * documents the algorithm; encode_search.h contains the searches.
 *
 * Sixteen groups are processed at a time: one block of Q2_K, Q3_K or Q6_K, two blocks of Q4_K or
 * Q5_K. If there is no second block, the first is processed twice. Only Q3_K without an importance
 * matrix processes SETS vectors of groups at a time; see search_descent.
 */

#define GROUPS 16
#define PARTS (GROUPS / LANES) /* vectors needed for 16 groups */

/* The values of 16 groups, one group per lane: x[part][i] has value i of each group. */
typedef struct lane_groups {
    const float *from[GROUPS];
    lanes x[PARTS][32];
} lane_groups;

KERNEL static inline void load_groups(size_t size, lane_groups *groups)
{
    for (size_t part = 0; part < PARTS; part++) {
        for (size_t at = 0; at < size; at += LANES)
            f_transpose(groups->from + part * LANES, at, groups->x[part] + at);
    }
}

/*
 * Sets `from` to the start of 16 groups of `size` values. With size 16, these are the groups of the
 * first block; with size 32, the eight groups of each of the two blocks.
 */
KERNEL static inline void point_at(const float *first, const float *second, size_t size,
                                   const float **from)
{
    for (size_t g = 0; g < GROUPS; g++)
        from[g] = size == 16 ? first + 16 * g : (g < 8 ? first : second) + 32 * (g % 8);
}

/* Computes weights from an importance matrix. */
KERNEL static inline void weigh_lanes(size_t size, const lane_groups *groups,
                                      const float *const *importance, const float *variance,
                                      size_t part, lanes *weights)
{
    lanes v = f_load(variance + part * LANES);
    for (size_t at = 0; at < size; at += LANES)
        f_transpose(importance + part * LANES, at, weights + at);
    for (size_t i = 0; i < size; i++) {
        lanes x = groups->x[part][i];
        weights[i] = f_mul(weights[i], f_sqrt(f_add(v, f_mul(x, x))));
    }
}

KERNEL static inline lanes sum_lanes(size_t n, const lanes *v)
{
    lanes sum = f_set(0);
    for (size_t i = 0; i < n; i++)
        sum = f_add(sum, v[i]);
    return sum;
}

/* Stores, for each group, the mean square of the values of its block, times `factor`. */
KERNEL static inline void variances(const float *first, const float *second, size_t size,
                                    float factor, float *variance)
{
    float a = 0, b = 0;
    for (size_t i = 0; i < 256; i++) {
        a += first[i] * first[i];
        b += second[i] * second[i];
    }
    for (size_t g = 0; g < GROUPS; g++)
        variance[g] = factor * (size == 16 || g < 8 ? a : b) / 256;
}

/* ---- packing of quants ---- */

/* Transposes 16 rows of 16 bytes. Column i is stored at out + i * stride. */
KERNEL static inline void transpose_bytes(const uint8_t (*rows)[GROUPS], uint8_t *out,
                                          size_t stride)
{
    bytes_16 a[16], b[16];
    for (size_t i = 0; i < 16; i++)
        a[i] = h_load(rows[i]);
    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < 8; i++) {
            b[2 * i] = h_zip_low(a[i], a[i + 8]);
            b[2 * i + 1] = h_zip_high(a[i], a[i + 8]);
        }
        memcpy(a, b, sizeof a);
    }
    for (size_t i = 0; i < 8; i++) {
        h_store(out + 2 * i * stride, h_zip_low(b[i], b[i + 8]));
        h_store(out + (2 * i + 1) * stride, h_zip_high(b[i], b[i + 8]));
    }
}

/* Stores the values of each group contiguously. rows[i][g] is value i of group g. */
KERNEL static inline void join_groups(size_t size, const uint8_t (*rows)[GROUPS], uint8_t *q)
{
    for (size_t at = 0; at < size; at += 16)
        transpose_bytes(rows + at, q + at, size);
}

KERNEL static inline bytes_32 shifted(const uint8_t *q, int shift)
{
    return b_left(b_load(q), shift);
}

/*
 * pack_2 and pack_4 pack 2-bit and 4-bit quants of K-quants, in the order that scalar/k.h
 * documents. Precondition: all other bits of the quants are 0.
 */
KERNEL static inline void pack_2(const uint8_t *q, uint8_t *out)
{
    for (size_t half = 0; half < 2; half++, q += 128, out += 32) {
        bytes_32 low = b_or(b_load(q), shifted(q + 32, 2));
        bytes_32 high = b_or(shifted(q + 64, 4), shifted(q + 96, 6));
        b_store(out, b_or(low, high));
    }
}

KERNEL static inline void pack_4(const uint8_t *q, uint8_t *out)
{
    for (size_t quarter = 0; quarter < 4; quarter++, q += 64, out += 32)
        b_store(out, b_or(b_load(q), shifted(q + 32, 4)));
}

/* Packs bit `shift` of the quants, and clears it in `q`. */
KERNEL static inline void pack_1(uint8_t *q, int shift, uint8_t *out)
{
    const bytes_32 bit = b_set(1 << shift);
    bytes_32 bits = b_set(0);
    for (int i = 0; i < 8; i++, q += 32) {
        bytes_32 v = b_load(q);
        bytes_32 set = b_equal(b_and(v, bit), bit);
        bits = b_or(bits, b_and(set, b_set(1 << i)));
        b_store(q, b_without(v, bit));
    }
    b_store(out, bits);
}

KERNEL static inline void pack_6(uint8_t *q, uint8_t *low, uint8_t *high)
{
    uint8_t upper[256];
    for (size_t i = 0; i < 256; i += 32) {
        bytes_32 v = b_load(q + i);
        b_store(upper + i, b_field(v, 4, 0xF));
        b_store(q + i, b_field(v, 0, 0xF));
    }
    pack_2(upper, high);
    for (size_t i = 0; i < 128; i += 32) {
        const uint8_t *from = q + i / 64 * 128 + i % 64;
        b_store(low + i, b_or(b_load(from), shifted(from + 64, 4)));
    }
}

KERNEL static inline float through_f16(float x)
{
    return wb__float_of_bits(wb__f16_to_f32(wb__f32_to_f16(wb__bits_of_float(x))));
}

/* ---- types with minima ---- */

/*
 * Encodes block x[0], and if groups have 32 values also block x[1], into pairs[0] and pairs[1].
 * `size` is the number of values per group, `top` the largest quant, `scale_top` the largest
 * quantized scale or minimum. first, step and last are the members of wb__scale_tries to use
 * without an importance matrix.
 */
KERNEL static inline void encode_pairs(size_t size, int top, int scale_top, float first, float step,
                                       int last, float variance_of, const float *const x[2],
                                       const float *const importance[2], wb__k_pairs *pairs)
{
    lane_groups groups;
    lane_fit fits[PARTS];
    const float *weights_from[GROUPS];
    float scales[GROUPS], minima[GROUPS], sums[GROUPS], variance[GROUPS];
    uint8_t rows[32][GROUPS], joined[512];
    point_at(x[0], x[1], size, groups.from);
    load_groups(size, &groups);
    if (importance != NULL) {
        point_at(importance[0], importance[1], size, weights_from);
        variances(x[0], x[1], size, variance_of, variance);
    }
    for (size_t part = 0; part < PARTS; part++) {
        lanes weights[32];
        const lanes *v = groups.x[part];
        if (importance != NULL) {
            weigh_lanes(size, &groups, weights_from, variance, part, weights);
            f_store(sums + part * LANES, sum_lanes(size, weights));
            fits[part] = search_minimum(size, top, v, weights, -0.9f, 0.05f, 36, false);
        } else {
            lanes lift = f_set(0);
            if (size == 32) {
                for (size_t i = 0; i < size; i++)
                    lift = f_add(lift, f_mul(v[i], v[i]));
                lift = f_sqrt(f_div(lift, f_set(32)));
            }
            for (size_t i = 0; i < size; i++)
                weights[i] = f_add(lift, f_abs(v[i]));
            fits[part] = search_minimum(size, top, v, weights, first, step, last, size == 16);
        }
        f_store(scales + part * LANES, fits[part].scale);
        f_store(minima + part * LANES, fits[part].minimum);
    }
    size_t in_block = 256 / size;
    for (size_t b = 0; b < GROUPS / in_block; b++) {
        size_t g = b * in_block;
        wb__k_quantize_pairs(in_block, scale_top, scales + g, minima + g,
                             importance == NULL ? NULL : sums + g, &pairs[b]);
        float d = through_f16(pairs[b].d), m = through_f16(pairs[b].m);
        for (size_t k = 0; k < in_block; k++) {
            scales[g + k] = d * (float)pairs[b].scales[k];
            minima[g + k] = m * (float)pairs[b].minima[k];
        }
    }
    for (size_t part = 0; part < PARTS; part++) {
        lanes scale = f_load(scales + part * LANES), minimum = f_load(minima + part * LANES);
        lane_mask zero = f_equal(scale, f_set(0));
        for (size_t i = 0; i < size; i++) {
            lanes v = groups.x[part][i];
            lanes q = f_quant(f_div(f_add(v, minimum), scale), 0, top);
            if (m_any(zero))
                q = f_choose(
                    zero, f_quant(f_mul(fits[part].inverse, f_sub(v, fits[part].base)), 0, top), q);
            f_store_bytes(rows[i] + part * LANES, q);
        }
    }
    join_groups(size, (const uint8_t(*)[GROUPS])rows, joined);
    for (size_t b = 0; b < GROUPS / in_block; b++)
        memcpy(pairs[b].q, joined + 256 * b, 256);
}

/*
 * Sets two[0] to the block at i, and two[1] to the next block, or to the same block if it is the
 * last one.
 */
KERNEL static inline void pick_two(const float *x, size_t i, size_t n, const float **two)
{
    two[0] = x + i;
    two[1] = i + 256 < n ? x + i + 256 : x + i;
}

KERNEL static void encode_q2_k(const float *x, const float *importance, uint8_t *out, size_t n)
{
    wb__k_pairs pairs[1];
    for (size_t i = 0; i < n; i += 256, out += 84) {
        const float *const values[2] = {x + i, x + i};
        if (importance != NULL) {
            const float *const weights[2] = {importance + i, importance + i};
            encode_pairs(16, 3, 15, 0, 0, 0, 1, values, weights, pairs);
        } else {
            encode_pairs(16, 3, 15, -0.5f, 0.1f, 15, 1, values, NULL, pairs);
        }
        h_store(out, h_or(h_load(pairs->scales), h_left(h_load(pairs->minima), 4)));
        pack_2(pairs->q, out + 16);
        wb__store_f16(out + 80, pairs->d);
        wb__store_f16(out + 82, pairs->m);
    }
}

KERNEL static void encode_q4_k(const float *x, const float *importance, uint8_t *out, size_t n)
{
    wb__k_pairs pairs[2];
    const float *values[2], *weights[2];
    for (size_t i = 0; i < n; i += 512) {
        pick_two(x, i, n, values);
        if (importance != NULL) {
            pick_two(importance, i, n, weights);
            encode_pairs(32, 15, 63, 0, 0, 0, 2, values, weights, pairs);
        } else {
            encode_pairs(32, 15, 63, -1.0f, 0.1f, 20, 2, values, NULL, pairs);
        }
        for (size_t b = 0; b < 2 && i + 256 * b < n; b++, out += 144) {
            wb__k_store_pairs(&pairs[b], out);
            pack_4(pairs[b].q, out + 16);
        }
    }
}

KERNEL static void encode_q5_k(const float *x, const float *importance, uint8_t *out, size_t n)
{
    wb__k_pairs pairs[2];
    const float *values[2], *weights[2];
    for (size_t i = 0; i < n; i += 512) {
        pick_two(x, i, n, values);
        if (importance != NULL) {
            pick_two(importance, i, n, weights);
            encode_pairs(32, 31, 63, 0, 0, 0, 2, values, weights, pairs);
        } else {
            encode_pairs(32, 31, 63, -0.5f, 0.1f, 15, 2, values, NULL, pairs);
        }
        for (size_t b = 0; b < 2 && i + 256 * b < n; b++, out += 176) {
            wb__k_store_pairs(&pairs[b], out);
            pack_1(pairs[b].q, 4, out + 16);
            pack_4(pairs[b].q, out + 48);
        }
    }
}

/* ---- types with signed scales ---- */

/*
 * Computes the quants of a block for its final scales. Groups whose scale is zero keep the quants
 * of the search.
 */
KERNEL static inline void requantize_signed(int range, float d, const int8_t *scales,
                                            const lanes (*x)[16], const lanes (*found)[16],
                                            uint8_t *q)
{
    uint8_t rows[16][GROUPS];
    float scale[GROUPS];
    d = through_f16(d);
    for (size_t g = 0; g < GROUPS; g++)
        scale[g] = d * (float)scales[g];
    for (size_t part = 0; part < PARTS; part++) {
        lanes s = f_load(scale + part * LANES);
        lane_mask zero = f_equal(s, f_set(0));
        for (size_t i = 0; i < 16; i++) {
            lanes l = f_quant(f_div(x[part][i], s), -range, range - 1);
            l = f_choose(zero, found[part][i], l);
            f_store_bytes(rows[i] + part * LANES, f_add(l, f_set((float)range)));
        }
    }
    join_groups(16, (const uint8_t(*)[GROUPS])rows, q);
}

KERNEL static inline void load_block(const float *x, lanes (*out)[16])
{
    const float *from[GROUPS];
    point_at(x, x, 16, from);
    for (size_t part = 0; part < PARTS; part++) {
        for (size_t at = 0; at < 16; at += LANES)
            f_transpose(from + part * LANES, at, out[part] + at);
    }
}

KERNEL static inline void finish_q3_k(float d, const int8_t *scales, const lanes (*x)[16],
                                      const lanes (*found)[16], uint8_t *out)
{
    uint8_t q[256];
    requantize_signed(4, d, scales, x, found, q);
    pack_1(q, 2, out);
    pack_2(q, out + 32);
    wb__k_store_scales_q3(scales, out + 96);
    wb__store_f16(out + 108, d);
}

#define BLOCKS_AT_ONCE (SETS / PARTS)

KERNEL static void encode_q3_k_plain(const float *x, uint8_t *out, size_t n)
{
    lanes values[SETS][16], q[SETS][16], scale[SETS];
    float scales[SETS * LANES];
    int8_t quantized[16];
    for (size_t i = 0; i < n; i += 256 * BLOCKS_AT_ONCE) {
        for (size_t b = 0; b < BLOCKS_AT_ONCE; b++)
            load_block(i + 256 * b < n ? x + i + 256 * b : x + i, values + b * PARTS);
        search_descent(16, 4, (const lanes(*)[16])values, q, scale);
        for (size_t s = 0; s < SETS; s++)
            f_store(scales + s * LANES, scale[s]);
        for (size_t b = 0; b < BLOCKS_AT_ONCE && i + 256 * b < n; b++, out += 110) {
            float d = wb__k_quantize_scales_q3(scales + 16 * b, quantized);
            finish_q3_k(d, quantized, (const lanes(*)[16])values + b * PARTS,
                        (const lanes(*)[16])q + b * PARTS, out);
        }
    }
}

KERNEL static void encode_q3_k_weighted(const float *x, const float *importance, uint8_t *out,
                                        size_t n)
{
    lane_groups groups;
    lanes values[PARTS][16], q[PARTS][16], weights[32];
    const float *weights_from[GROUPS];
    float scales[GROUPS], sums[GROUPS], variance[GROUPS];
    int8_t quantized[16];
    for (size_t i = 0; i < n; i += 256, out += 110) {
        load_block(x + i, values);
        for (size_t part = 0; part < PARTS; part++)
            memcpy(groups.x[part], values[part], sizeof values[part]);
        point_at(importance + i, importance + i, 16, weights_from);
        variances(x + i, x + i, 16, 2, variance);
        for (size_t part = 0; part < PARTS; part++) {
            weigh_lanes(16, &groups, weights_from, variance, part, weights);
            f_store(sums + part * LANES, sum_lanes(16, weights));
            f_store(scales + part * LANES, search_signed(16, 4, values[part], weights, q[part]));
        }
        float d = wb__k_search_scales_q3(scales, sums, quantized);
        finish_q3_k(d, quantized, (const lanes(*)[16])values, (const lanes(*)[16])q, out);
    }
}

KERNEL static void encode_q3_k(const float *x, const float *importance, uint8_t *out, size_t n)
{
    if (importance != NULL)
        encode_q3_k_weighted(x, importance, out, n);
    else
        encode_q3_k_plain(x, out, n);
}

KERNEL static void encode_q6_k(const float *x, const float *importance, uint8_t *out, size_t n)
{
    lanes values[PARTS][16], weights[PARTS][16], found[PARTS][16];
    float scales[GROUPS], d;
    int8_t quantized[16];
    uint8_t q[256];
    for (size_t i = 0; i < n; i += 256, out += 210) {
        load_block(x + i, values);
        if (importance != NULL)
            load_block(importance + i, weights);
        for (size_t part = 0; part < PARTS; part++) {
            for (size_t k = 0; importance == NULL && k < 16; k++)
                weights[part][k] = f_mul(values[part][k], values[part][k]);
            f_store(scales + part * LANES,
                    search_signed(16, 32, values[part], weights[part], found[part]));
        }
        if (!wb__k_quantize_scales_q6(scales, quantized, &d)) {
            memset(out, 0, 210);
            continue;
        }
        requantize_signed(32, d, quantized, (const lanes(*)[16])values, (const lanes(*)[16])found,
                          q);
        pack_6(q, out, out + 128);
        memcpy(out + 192, quantized, 16);
        wb__store_f16(out + 208, d);
    }
}
