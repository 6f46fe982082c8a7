/*
 * quant/lanes/encode_iq1.h: the inner loops of the IQ1 encoders. scalar/iq1_encode.c documents the
 * algorithm and its terms.
 *
 * Of all splits of a group, the one with the greatest score lx² / l2 is chosen. Here lx is the sum
 * of w x q and l2 the sum of w q², with weights w, values x and shifted levels q. Among nearly
 * equal scores, the choice depends on the rounding of every sum and on the order of the
 * comparisons. Therefore there are two steps. The first one approximates all scores from prefix
 * sums; each lane handles a different second position. The second one evaluates the splits within
 * 1/128 of the greatest score exactly as the scalar code does.
 *
 * Proof that this finds the same split as the scalar code, with S = Σ|w x| and V = Σw:
 *   - Consider the split whose two positions are both where the values change their sign, with the
 *     better shift. It has |lx| >= S and l2 <= (9/8)² V. So the greatest score is more than
 *     3/4 S² / V.
 *   - l2 >= V / 64 for every split. So every split whose score is near the greatest one has
 *     |lx| > S / 10.
 *   - Sums of up to 32 terms, computed in any order, have errors below 2^-17 S (lx) and 2^-16 V
 *     (l2). So the relative errors are below 2^-13 (lx), 2^-10 (l2) and, including the 2^-11 of the
 *     reciprocal, 2^-9 (score). Therefore the second step evaluates all splits whose score in the
 *     scalar code is within 2^-9 of the greatest one there.
 *   - No other split affects the choice. Divide this range of 2^-9 into 2^11 slices. There are
 *     fewer splits than slices, so at least one slice is empty. A slice is wider than the rounding
 *     errors of a comparison. So every score above an empty slice compares greater than every score
 *     below it. Once the scalar code has reached a split above the empty slice, it replaces it only
 *     by another split above it.
 *
 * If the sums are so small or so large that products might leave the range of normal numbers, or if
 * a weight is negative, the scalar search is used.
 *
 * Included once per instruction set, after encode_iq.h.
 */

#define RANKS 32 /* maximum number of values in a group */
#define WAYS 4   /* maximum number of ways, which are combinations of the shifts of two octets */

/*
 * Sums over the values whose rank is below an index (before), and over the other values (behind).
 * The rank of a value is its position in ascending order. A split has two positions, which are the
 * ranks `first` and `second` (wb__iq1_split). For a split, lx is lx_behind[way][second] -
 * x_before[first], and l2 is l2_before[way][first] + l2_behind[way][second].
 */
typedef struct split_sums {
    float x_before[RANKS + 1];
    float l2_before[WAYS][RANKS + 1];
    float lx_behind[WAYS][RANKS + 1]; /* includes the shift times the sum of w x over all values */
    float l2_behind[WAYS][RANKS + 1];
} split_sums;

typedef struct rough_scores {
    float greatest;
    float at_0[WAYS]; /* score of the split with both positions at 0, for each way */
    /* score of a split; indices: first position, way, second position minus 1 */
    float at[RANKS + 1][WAYS][RANKS];
} rough_scores;

/*
 * Returns true if no weight is negative, and if products of sums stay in the range of normal
 * numbers. `magnitude_x` is the sum of |w x|, `least_w` the smallest weight.
 */
static inline bool is_ordinary(float magnitude_x, float sum_w, float least_w)
{
    float score = magnitude_x * magnitude_x / sum_w;
    return least_w >= 0 && magnitude_x > 0x1p-50f && magnitude_x < 0x1p50f && sum_w > 0x1p-100f &&
           sum_w < 0x1p50f && score > 0x1p-100f && score < 0x1p100f;
}

KERNEL static inline void score_roughly(size_t n, size_t ways, const split_sums *sums,
                                        rough_scores *scores)
{
    lanes greatest = f_set(0);
    for (size_t first = 0; first <= n; first++) {
        size_t begin = first == 0 ? 0 : (first - 1) / LANES * LANES;
        for (size_t at = begin; at < n; at += LANES) {
            lanes second = f_add(counting(), f_set((float)(at + 1)));
            lane_mask behind = f_less(f_set((float)first - 0.5f), second);
            for (size_t way = 0; way < ways; way++) {
                lanes lx =
                    f_sub(f_load(sums->lx_behind[way] + at + 1), f_set(sums->x_before[first]));
                lanes l2 = f_add(f_load(sums->l2_behind[way] + at + 1),
                                 f_set(sums->l2_before[way][first]));
                lanes score = f_mul(f_mul(lx, lx), f_roughly_1_over(l2));
                score = f_choose(behind, score, f_set(0));
                greatest = f_max(score, greatest);
                f_store(scores->at[first][way] + at, score);
            }
        }
    }
    scores->greatest = -f_lowest(f_negate(greatest));
    for (size_t way = 0; way < ways; way++) {
        float lx = sums->lx_behind[way][0], score = lx * lx / sums->l2_behind[way][0];
        scores->at_0[way] = score;
        scores->greatest = score > scores->greatest ? score : scores->greatest;
    }
}

/*
 * Computes the sums of a split (wb__iq1_split) exactly as the scalar code does. If its score is
 * greater than
 * *score, stores the split in *best and its score in *score.
 */
typedef void look_at_split(const void *ctx, size_t first, size_t second, size_t way, float *score,
                           wb__iq1_split *best);

__attribute__((always_inline)) KERNEL static inline void look_at_best(size_t n, size_t ways,
                                                                      const rough_scores *scores,
                                                                      look_at_split *look,
                                                                      const void *ctx,
                                                                      wb__iq1_split *best)
{
    float bound = scores->greatest * (1 - 0x1p-7f), score = -FLT_MAX;
    for (size_t way = 0; way < ways; way++) {
        if (scores->at_0[way] >= bound)
            look(ctx, 0, 0, way, &score, best);
    }
    for (size_t first = 0; first <= n; first++) {
        size_t begin = first == 0 ? 0 : (first - 1) / LANES * LANES;
        for (size_t at = begin; at < n; at += LANES) {
            lane_mask near = f_less(f_set(bound), f_load(scores->at[first][0] + at));
            for (size_t way = 1; way < ways; way++)
                near = m_or(near, f_less(f_set(bound), f_load(scores->at[first][way] + at)));
            for (unsigned left = m_bits(near); left != 0; left &= left - 1) {
                size_t second = at + (size_t)__builtin_ctz(left);
                for (size_t way = 0; way < ways; way++) {
                    if (scores->at[first][way][second] > bound)
                        look(ctx, first, second + 1, way, &score, best);
                }
            }
        }
    }
}

/* ---- IQ1_S ---- */

typedef struct sums_s {
    float x[WB__IQ1_GROUP_S + 1], w[WB__IQ1_GROUP_S + 1];
} sums_s;

static void look_at_s(const void *ctx, size_t first, size_t second, size_t way, float *score,
                      wb__iq1_split *best)
{
    const sums_s *sums = ctx;
    const float *v = wb__iq1_levels[way];
    float x1 = sums->x[first] - sums->x[0], w1 = sums->w[first] - sums->w[0];
    float x2 = sums->x[second] - sums->x[first], w2 = sums->w[second] - sums->w[first];
    float x3 = sums->x[WB__IQ1_GROUP_S] - sums->x[second];
    float w3 = sums->w[WB__IQ1_GROUP_S] - sums->w[second];
    float lx = x1 * v[0] + x2 * v[1] + x3 * v[2];
    float l2 = w1 * v[0] * v[0] + w2 * v[1] * v[1] + w3 * v[2] * v[2];
    if (l2 > 0 && lx * lx > *score * l2) {
        *best = (wb__iq1_split){lx / l2, first, second, way != 0 ? ~0u : 0};
        *score = best->scale * lx;
    }
}

KERNEL static void split_iq1_s(const float *x, const float *weights, const uint8_t *order,
                               wb__iq1_split *best)
{
    enum { N = WB__IQ1_GROUP_S };
    sums_s sums;
    split_sums parts;
    rough_scores scores;
    float magnitude = 0, least = weights[0];
    sums.x[0] = sums.w[0] = 0;
    for (size_t k = 0; k < N; k++) {
        float w = weights[order[k]], wx = w * x[order[k]];
        sums.x[k + 1] = sums.x[k] + wx;
        sums.w[k + 1] = sums.w[k] + w;
        magnitude += fabsf(wx);
        least = w < least ? w : least;
    }
    if (!is_ordinary(magnitude, sums.w[N], least)) {
        wb__iq1_split_s(x, weights, order, best);
        return;
    }
    memcpy(parts.x_before, sums.x, sizeof sums.x);
    for (size_t way = 0; way < 2; way++) {
        float shift = way == 0 ? 0.125f : -0.125f;
        for (size_t k = 0; k <= N; k++) {
            parts.l2_before[way][k] = sums.w[k] * (1 - 2 * shift);
            parts.lx_behind[way][k] = sums.x[N] * (1 + shift) - sums.x[k];
            parts.l2_behind[way][k] =
                (sums.w[N] - sums.w[k]) * (1 + 2 * shift) + sums.w[N] * 0.015625f;
        }
    }
    score_roughly(N, 2, &parts, &scores);
    look_at_best(N, 2, &scores, look_at_s, &sums, best);
}

/* ---- IQ1_M ---- */

typedef struct values_m {
    float x[WB__IQ1_GROUP_M], w[WB__IQ1_GROUP_M]; /* indexed by rank */
    uint8_t octet[WB__IQ1_GROUP_M];
} values_m;

/*
 * The shifts of each way: bit o is set if octet o is shifted down. ggml tries them in this order,
 * which decides between equal scores.
 */
static const unsigned downs_m[WAYS] = {0, 2, 1, 3};

static void look_at_m(const void *ctx, size_t first, size_t second, size_t way, float *score,
                      wb__iq1_split *best)
{
    const values_m *values = ctx;
    unsigned down = downs_m[way];
    float lx = 0, l2 = 0;
    for (size_t k = 0; k < WB__IQ1_GROUP_M; k++) {
        size_t run = (size_t)(k >= first) + (size_t)(k >= second);
        float w = values->w[k], level = wb__iq1_levels[down >> values->octet[k] & 1][run];
        lx += w * level * values->x[k];
        l2 += w * level * level;
    }
    if (l2 > 0 && lx * lx > *score * l2) {
        *best = (wb__iq1_split){lx / l2, first, second, down};
        *score = best->scale * lx;
    }
}

KERNEL static void split_iq1_m(const float *x, const float *weights, const uint8_t *order,
                               wb__iq1_split *best)
{
    enum { N = WB__IQ1_GROUP_M };
    values_m values;
    split_sums parts;
    rough_scores scores;
    float w_before[2][N + 1], x_of[2] = {0, 0}, magnitude = 0, least = weights[0];
    parts.x_before[0] = w_before[0][0] = w_before[1][0] = 0;
    for (size_t k = 0; k < N; k++) {
        size_t o = order[k] / 8;
        float w = weights[order[k]], v = x[order[k]];
        values.x[k] = v;
        values.w[k] = w;
        values.octet[k] = (uint8_t)o;
        parts.x_before[k + 1] = parts.x_before[k] + w * v;
        w_before[0][k + 1] = w_before[0][k] + (o == 0 ? w : 0);
        w_before[1][k + 1] = w_before[1][k] + (o == 0 ? 0 : w);
        x_of[0] += o == 0 ? w * v : 0;
        x_of[1] += o == 0 ? 0 : w * v;
        magnitude += fabsf(w * v);
        least = w < least ? w : least;
    }
    float all[2] = {w_before[0][N], w_before[1][N]};
    if (!is_ordinary(magnitude, all[0] + all[1], least)) {
        wb__iq1_split_m(x, weights, order, best);
        return;
    }
    for (size_t way = 0; way < WAYS; way++) {
        float a = downs_m[way] & 1 ? -0.125f : 0.125f, b = downs_m[way] & 2 ? -0.125f : 0.125f;
        float lx = parts.x_before[N] + (x_of[0] * a + x_of[1] * b);
        float l2 = (all[0] + all[1]) * 0.015625f;
        for (size_t k = 0; k <= N; k++) {
            parts.l2_before[way][k] = w_before[0][k] * (1 - 2 * a) + w_before[1][k] * (1 - 2 * b);
            parts.lx_behind[way][k] = lx - parts.x_before[k];
            parts.l2_behind[way][k] = (all[0] - w_before[0][k]) * (1 + 2 * a) +
                                      (all[1] - w_before[1][k]) * (1 + 2 * b) + l2;
        }
    }
    score_roughly(N, WAYS, &parts, &scores);
    look_at_best(N, WAYS, &scores, look_at_m, &values, best);
}

/* ---- both types ---- */

/* As wb__iq1_rank. */
KERNEL static void rank_iq1(const float *x, size_t n, uint8_t *order)
{
    uint16_t places[RANKS];
    lane_mask unordered = f_differ(f_load(x), f_load(x));
    for (size_t at = 0; at < n; at += LANES) {
        lanes v = f_load(x + at), place = f_set(0), here = f_add(counting(), f_set((float)at));
        unordered = m_or(unordered, f_differ(v, v));
        for (size_t j = 0; j < n; j++) {
            lanes other = f_set(x[j]);
            lane_mask before = f_less(f_set((float)j), here);
            before = m_or(f_less(other, v), m_and(f_equal(other, v), before));
            place = f_add(place, f_choose(before, f_set(1), f_set(0)));
        }
        f_store_16(places + at, place);
    }
    if (m_any(unordered)) {
        wb__iq1_rank(x, n, order);
        return;
    }
    for (size_t i = 0; i < n; i++)
        order[places[i]] = (uint8_t)i;
}

KERNEL static unsigned nearest_iq1(const uint16_t *near, unsigned count, const float *x,
                                   const float *weights, float scale, const float *values)
{
    lanes table = f_mul(f_set(scale), f_table(values));
    return best_near(near, count, x, weights, 8, 2, table);
}

static const wb__iq1_search search_iq1 = {rank_iq1, split_iq1_s, split_iq1_m, nearest_iq1};

static void encode_iq1_s(const float *x, const float *importance, uint8_t *out, size_t n)
{
    wb__iq1_s_with(&search_iq1, x, importance, out, n);
}

static void encode_iq1_m(const float *x, const float *importance, uint8_t *out, size_t n)
{
    wb__iq1_m_with(&search_iq1, x, importance, out, n);
}
