/*
 * quant/lanes/encode_iq.h: the search for the points of a group of IQ2 or IQ3. Each lane handles
 * one candidate for the scale. When a code is not in the codebook, each lane handles one neighbour
 * of this code. scalar/codebooks.h defines the terms, scalar/iq_encode.c describes the algorithm,
 * and scalar/iq_search.c uses the same order of operations.
 *
 * Included once per instruction set, after the definition of its lanes.
 */

/* The magnitudes of 2-bit and of 3-bit coordinates. Both tables are indexed by three bits. */
static const float magnitudes_of_2[8] = {1, 3, 5, 7, 1, 3, 5, 7};
static const float magnitudes_of_3[8] = {1, 3, 5, 7, 9, 11, 13, 15};

#define TRIES_MAX 32 /* maximum number of candidate scales, rounded up to whole vectors */

KERNEL static inline lanes counting(void)
{
    static const float numbers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return f_load(numbers);
}

/*
 * Returns the position of the least error; the first one if errors are equal. A lane of `least` has
 * the least error that occurred in this lane, and the same lane of `where` has its position.
 */
KERNEL static inline unsigned position_of_least(lanes least, lanes where)
{
    uint16_t positions[16];
    unsigned winners = m_bits(f_equal(least, f_set(f_lowest(least))));
    f_store_16(positions, where);
    unsigned best = positions[__builtin_ctz(winners)];
    for (winners &= winners - 1; winners != 0; winners &= winners - 1) {
        unsigned other = positions[__builtin_ctz(winners)];
        best = other < best ? other : best;
    }
    return best;
}

/*
 * Returns the code, out of `count` codes at `near`, with the least error for the values at x.
 * `table` has the magnitudes times the scale. A coordinate has at most eight values, so the error
 * terms of all of them are computed first and then looked up. `cell` is the number of values per
 * point, here and below.
 */
__attribute__((always_inline)) KERNEL static inline unsigned best_near(
    const uint16_t *near, unsigned count, const float *x, const float *weights, size_t cell,
    int bits, lanes table)
{
    lanes least = f_set(FLT_MAX), where = f_set(0), here = counting(), terms[8];
    for (size_t i = 0; i < cell; i++) {
        lanes difference = f_sub(table, f_set(x[i]));
        terms[i] = f_mul(f_mul(f_set(weights[i]), difference), difference);
    }
    for (unsigned k = 0; k < count; k += LANES) {
        int_lanes codes = i_load_16(near + k);
        lanes error = f_set(0);
        for (size_t i = 0; i < cell; i++)
            error = f_add(error, i_pick(codes, bits * (int)i, terms[i]));
        lane_mask better = m_and(f_less(error, least), f_less(here, f_set((float)count)));
        least = f_choose(better, error, least);
        where = f_choose(better, here, where);
        here = f_add(here, f_set(LANES));
    }
    return near[position_of_least(least, where)];
}

/* If the code is not in the codebook, replaces it by its best neighbour and returns true. */
KERNEL static inline bool settle(const wb__iq_group *group, size_t at, size_t cell, int bits,
                                 lanes table, uint16_t *code)
{
    uint32_t entry = group->book->cells[*code];
    if (WB__CELL_COUNT(entry) == 0)
        return false;
    *code = (uint16_t)best_near(group->book->near + WB__CELL_VALUE(entry), WB__CELL_COUNT(entry),
                                group->x + at, group->roots + at, cell, bits, table);
    return true;
}

/*
 * Chooses a codebook entry for each point of the group and each candidate scale: codes[k][t] is the
 * entry of point k with candidate scale t. Bit k of moved[t] is set if the nearest code was not in
 * the codebook, so that one of its neighbours was chosen.
 */
KERNEL static inline void points_of_tries(const wb__iq_group *group, size_t size, size_t cell,
                                          int bits, float middle, lanes magnitudes,
                                          uint16_t (*codes)[TRIES_MAX], uint8_t *moved)
{
    int tries = group->type->tries, levels = group->type->levels;
    float inverse[TRIES_MAX], scale[TRIES_MAX];
    for (int t = 0; t < TRIES_MAX; t++) {
        int try = t <= 2 * tries ? t - tries : tries;
        inverse[t] = (float)(2 * levels - 1) + (float)try * group->type->step;
    }
    for (int t = 0; t <= 2 * tries; t += LANES) {
        lanes v = f_div(f_load(inverse + t), f_set(middle));
        f_store(scale + t, f_div(f_set(1), v));
        for (size_t k = 0; k < size / cell; k++) {
            lanes code = f_set(0);
            for (size_t i = cell; i-- > 0;) {
                lanes l = f_sub(f_mul(v, f_set(group->x[k * cell + i])), f_set(1));
                l = f_quant(f_mul(f_set(0.5f), l), 0, levels - 1);
                code = f_add(f_mul(code, f_set((float)(1 << bits))), l);
            }
            f_store_16(codes[k] + t, code);
        }
    }
    for (int t = 0; t <= 2 * tries; t++) {
        lanes table = f_mul(f_set(scale[t]), magnitudes);
        unsigned bits_moved = 0;
        for (size_t k = 0; k < size / cell; k++)
            bits_moved |= (unsigned)settle(group, k * cell, cell, bits, table, &codes[k][t]) << k;
        moved[t] = (uint8_t)bits_moved;
    }
}

KERNEL static inline void fit_of_tries(const wb__iq_group *group, size_t size, size_t cell,
                                       int bits, lanes magnitudes,
                                       const uint16_t (*codes)[TRIES_MAX], float *lx, float *l2)
{
    for (int t = 0; t <= 2 * group->type->tries; t += LANES) {
        lanes sum_lx = f_set(0), sum_l2 = f_set(0);
        for (size_t k = 0; k < size / cell; k++) {
            int_lanes code = i_load_16(codes[k] + t);
            for (size_t i = 0; i < cell; i++) {
                float w = group->weights[k * cell + i];
                lanes q = i_pick(code, bits * (int)i, magnitudes);
                sum_lx = f_add(sum_lx, f_mul(f_set(w * group->x[k * cell + i]), q));
                sum_l2 = f_add(sum_l2, f_mul(f_mul(f_set(w), q), q));
            }
        }
        f_store(lx + t, sum_lx);
        f_store(l2 + t, sum_l2);
    }
}

/* Searches points again with the chosen scale, as look_again in scalar/iq_search.c. */
KERNEL static inline float look_again(const wb__iq_group *group, size_t size, size_t cell, int bits,
                                      lanes magnitudes, float scale, unsigned moved,
                                      uint16_t *codes)
{
    const wb__iq_type *type = group->type;
    lanes table = f_mul(f_set(scale), magnitudes);
    float inverse = 1 / scale, lx = 0, l2 = 0;
    for (size_t k = 0; k < size / cell; k++) {
        if (!type->again_all && !(moved >> k & 1))
            continue;
        unsigned code = 0;
        for (size_t i = 0; i < cell; i++) {
            int l = wb__round_even(0.5f * (inverse * group->x[k * cell + i] - 1));
            code |= (unsigned)wb__clamp(l, 0, type->levels - 1) << bits * (int)i;
        }
        codes[k] = (uint16_t)code;
        (void)settle(group, k * cell, cell, bits, table, &codes[k]);
    }
    for (size_t i = 0; i < size; i++) {
        unsigned l = codes[i / cell] >> bits * (int)(i % cell) & ((1u << bits) - 1);
        float w = group->weights[i], q = (float)(2 * l + 1);
        lx += w * group->x[i] * q;
        l2 += w * q * q;
    }
    return l2 > 0 ? lx / l2 : scale;
}

KERNEL static inline float search_iq(const wb__iq_group *group, size_t size, size_t cell, int bits,
                                     float middle, float scale, uint16_t *codes)
{
    const wb__iq_type *type = group->type;
    lanes magnitudes = f_table(bits == 2 ? magnitudes_of_2 : magnitudes_of_3);
    uint16_t tried[WB__IQ_CELLS_MAX][TRIES_MAX];
    uint8_t moved_in[TRIES_MAX];
    float lx[TRIES_MAX], l2[TRIES_MAX], best = 0;
    size_t cells = size / cell;
    unsigned moved = type->again_all ? (1u << cells) - 1 : 0;
    points_of_tries(group, size, cell, bits, middle, magnitudes, tried, moved_in);
    fit_of_tries(group, size, cell, bits, magnitudes, (const uint16_t(*)[TRIES_MAX])tried, lx, l2);
    memset(codes, 0, cells * sizeof *codes);
    for (int t = 0; t <= 2 * type->tries; t++) {
        if (!(l2[t] > 0 && lx[t] * lx[t] > best * l2[t]))
            continue;
        scale = lx[t] / l2[t];
        best = scale * lx[t];
        moved = moved_in[t];
        for (size_t k = 0; k < cells; k++)
            codes[k] = tried[k][t];
    }
    if ((!type->search_first && moved == 0) || !(scale > 0))
        return scale;
    return look_again(group, size, cell, bits, magnitudes, scale, moved, codes);
}

KERNEL static float search_iq_lanes(const wb__iq_group *group, float middle, float scale,
                                    uint16_t *codes)
{
    if (group->type->bits == 3)
        return search_iq(group, 32, 4, 3, middle, scale, codes);
    if (group->type->group == 16)
        return search_iq(group, 16, 8, 2, middle, scale, codes);
    return search_iq(group, 32, 8, 2, middle, scale, codes);
}

#define IQ_ENCODER(name)                                                                           \
    static void encode_##name(const float *x, const float *importance, uint8_t *out, size_t n)     \
    {                                                                                              \
        wb__##name##_with(search_iq_lanes, x, importance, out, n);                                 \
    }

IQ_ENCODER(iq2_xxs)
IQ_ENCODER(iq2_xs)
IQ_ENCODER(iq2_s)
IQ_ENCODER(iq3_xxs)
IQ_ENCODER(iq3_s)
