/*
 * quant/lanes/encode_iq4.h: encoding of IQ4_NL and IQ4_XS, 16 groups of 32 values at a time, with
 * one group per lane. scalar/iq4.c documents the algorithm.
 *
 * The nearest level is found by binary search: the value is compared with the eighth of the 15
 * midpoints between levels, then with the fourth or twelfth, and so on. Midpoints and the
 * differences near them are exact, so that the result is the same as for a comparison of distances.
 * In both cases a tie goes to the upper level.
 */

#define IQ4_TRIES 7

/*
 * Computes lx, the weighted sum of level · x, and l2, the weighted sum of level². Candidates are
 * compared by lx² / l2.
 */
KERNEL static inline void fit_iq4(const lanes *x, const lanes *weights, lanes inverse, lanes *lx,
                                  lanes *l2)
{
    *lx = *l2 = f_set(0);
    for (size_t i = 0; i < 32; i++) {
        lanes level = iq4_level(f_mul(inverse, x[i]));
        lanes wl = f_mul(weights[i], level);
        *lx = f_add(*lx, f_mul(wl, x[i]));
        *l2 = f_add(*l2, f_mul(wl, level));
    }
}

KERNEL static inline lanes search_iq4(const lanes *x, const lanes *weights)
{
    lanes most, lx, l2;
    lanes largest = largest_of(32, x, &most);
    lanes first = f_div(f_set(1), f_div(f_negate(largest), f_set(-127)));
    fit_iq4(x, weights, first, &lx, &l2);
    lanes d = f_choose(f_less(f_set(0), l2), f_div(lx, l2), f_set(0));
    lanes best = f_mul(d, lx);
    for (int i = -IQ4_TRIES; i <= IQ4_TRIES; i++) {
        fit_iq4(x, weights, f_div(f_set((float)(i - 127)), largest), &lx, &l2);
        lane_mask better = m_and(f_less(f_set(0), l2), f_less(f_mul(best, l2), f_mul(lx, lx)));
        lanes this_d = f_div(lx, l2);
        d = f_choose(better, this_d, d);
        best = f_choose(better, f_mul(this_d, lx), best);
    }
    return f_choose(f_less(most, f_set(SEARCH_TINY)), f_set(0), d);
}

/* Computes the scales of 16 groups. `variance` is only used with an importance matrix. */
KERNEL static inline void scales_iq4(const lane_groups *groups, const float *const *importance,
                                     const float *variance, float *scales)
{
    for (size_t part = 0; part < PARTS; part++) {
        lanes weights[32];
        const lanes *x = groups->x[part];
        if (importance != NULL)
            weigh_lanes(32, groups, importance, variance, part, weights);
        for (size_t i = 0; importance == NULL && i < 32; i++)
            weights[i] = f_mul(x[i], x[i]);
        f_store(scales + part * LANES, search_iq4(x, weights));
    }
}

/* Packs the quants of 16 groups into 16 bytes each. `inverse` has the reciprocals of the scales. */
KERNEL static inline void pack_iq4(const lane_groups *groups, const float *inverse, uint8_t *packed)
{
    uint8_t rows[32][GROUPS], q[512];
    for (size_t part = 0; part < PARTS; part++) {
        lanes v = f_load(inverse + part * LANES);
        for (size_t i = 0; i < 32; i++)
            f_store_bytes(rows[i] + part * LANES, iq4_index(f_mul(v, groups->x[part][i])));
    }
    join_groups(32, (const uint8_t(*)[GROUPS])rows, q);
    for (size_t g = 0; g < GROUPS; g++)
        store_nibbles(packed + 16 * g, b_load(q + 32 * g));
}

KERNEL static void encode_iq4_nl(const float *x, const float *importance, uint8_t *out, size_t n)
{
    lane_groups groups;
    const float *weights_from[GROUPS];
    float variance[GROUPS], scales[GROUPS], inverse[GROUPS];
    uint8_t packed[GROUPS * 16];
    for (size_t i = 0; i < n; i += 32 * GROUPS) {
        point_at_blocks(x + i, n - i, groups.from);
        load_groups(32, &groups);
        if (importance != NULL)
            point_at_blocks(importance + i, n - i, weights_from);
        for (size_t part = 0; part < PARTS; part++) {
            lanes sum = f_set(0);
            for (size_t k = 0; k < 32; k++)
                sum = f_add(sum, f_mul(groups.x[part][k], groups.x[part][k]));
            f_store(variance + part * LANES, f_mul(sum, f_set(2.0f / 32)));
        }
        scales_iq4(&groups, importance == NULL ? NULL : weights_from, variance, scales);
        for (size_t g = 0; g < GROUPS; g++)
            inverse[g] = scales[g] != 0 ? 1 / scales[g] : 0;
        pack_iq4(&groups, inverse, packed);
        for (size_t g = 0; g < GROUPS && i + 32 * g < n; g++, out += 18) {
            wb__store_f16(out, scales[g]);
            memcpy(out + 2, packed + 16 * g, 16);
        }
    }
}

/*
 * Quantizes the scales of a block. Sets inverse[g] to the factor by which the values of group g
 * must be multiplied before they are rounded to levels.
 */
KERNEL static inline void finish_iq4_xs(const float *scales, uint8_t *out, float *inverse)
{
    float largest = 0, most = 0;
    for (size_t g = 0; g < 8; g++) {
        float a = fabsf(scales[g]);
        if (a > most) {
            most = a;
            largest = scales[g];
        }
    }
    float d = -largest / 32;
    float reverse = d != 0 ? 1 / d : 0;
    uint32_t high = 0, low = 0;
    for (size_t g = 0; g < 8; g++) {
        int scale = wb__clamp(wb__round_even(reverse * scales[g]), -32, 31);
        float group_d = d * (float)scale;
        inverse[g] = group_d != 0 ? 1 / group_d : 0;
        low |= (uint32_t)((scale + 32) & 0xF) << 4 * g;
        high |= (uint32_t)(scale + 32) >> 4 << 2 * g;
    }
    wb__store_f16(out, d);
    wb__store_le16(out + 2, (uint16_t)high);
    wb__store_le32(out + 4, low);
}

KERNEL static void encode_iq4_xs(const float *x, const float *importance, uint8_t *out, size_t n)
{
    lane_groups groups;
    const float *two[2], *weights_from[GROUPS];
    float variance[GROUPS], scales[GROUPS], inverse[GROUPS];
    uint8_t packed[GROUPS * 16];
    for (size_t i = 0; i < n; i += 512) {
        pick_two(x, i, n, two);
        point_at(two[0], two[1], 32, groups.from);
        load_groups(32, &groups);
        if (importance != NULL) {
            variances(two[0], two[1], 32, 2, variance);
            pick_two(importance, i, n, two);
            point_at(two[0], two[1], 32, weights_from);
        }
        scales_iq4(&groups, importance == NULL ? NULL : weights_from, variance, scales);
        uint8_t heads[2][8];
        for (size_t b = 0; b < 2; b++)
            finish_iq4_xs(scales + 8 * b, heads[b], inverse + 8 * b);
        pack_iq4(&groups, inverse, packed);
        for (size_t b = 0; b < 2 && i + 256 * b < n; b++, out += 136) {
            memcpy(out, heads[b], 8);
            memcpy(out + 8, packed + 128 * b, 128);
        }
    }
}
