/*
 * quant/lanes/encode_iq1.h: what the encoders of IQ1 spend their time on, with the second place of a
 * split in the lanes. scalar/iq1_encode.c says what is done.
 *
 * Which split wins depends on the order in which they are looked at, because the score to beat is
 * rounded each time it is beaten. The lanes therefore only find the next split that beats it, and
 * are asked again with the new score from there on.
 *
 * Included once for each instruction set, after encode_iq.h.
 */

/* Splits in the lanes, with up to four shifts each, in the order in which these are looked at. */
typedef struct lane_scores {
    lanes lx[4], l2[4];
} lane_scores;

/* The lanes in which any of the shifts beats the score. */
KERNEL static inline unsigned find_better(const lane_scores *s, const lanes *square, unsigned ways,
                                          float score)
{
    lane_mask better = f_less(f_set(0), f_set(0));
    for (unsigned way = 0; way < ways; way++)
        better = m_or(better, m_and(f_less(f_set(0), s->l2[way]),
                                    f_less(f_mul(f_set(score), s->l2[way]), square[way])));
    return m_bits(better);
}

/* Goes through the first `valid` lanes, which hold the splits (first, second), (first, second + 1)
 * … */
KERNEL static inline void take_best(const lane_scores *s, unsigned ways, const unsigned *downs,
                                    size_t first, size_t second, unsigned valid, float *score,
                                    wb__iq1_split *best)
{
    float lx[4][LANES], l2[4][LANES];
    lanes square[4];
    for (unsigned way = 0; way < ways; way++)
        square[way] = f_mul(s->lx[way], s->lx[way]);
    unsigned left = (1u << valid) - 1;
    unsigned better = find_better(s, square, ways, *score) & left;
    if (better == 0)
        return;
    for (unsigned way = 0; way < ways; way++) {
        f_store(lx[way], s->lx[way]);
        f_store(l2[way], s->l2[way]);
    }
    do {
        unsigned lane = (unsigned)__builtin_ctz(better);
        for (unsigned way = 0; way < ways; way++) {
            float x = lx[way][lane], w = l2[way][lane];
            if (w > 0 && x * x > *score * w) {
                *best = (wb__iq1_split){x / w, first, second + lane, downs[way]};
                *score = best->scale * x;
            }
        }
        left &= ~1u << lane;
        better = find_better(s, square, ways, *score) & left;
    } while (better != 0);
}

KERNEL static void split_iq1_s(const float *x, const float *weights, const uint8_t *order,
                               wb__iq1_split *best)
{
    enum { N = WB__IQ1_GROUP_S };
    static const unsigned downs[2] = {0, ~0u};
    float sum_x[N + 1 + 16] = {0}, sum_w[N + 1 + 16] = {0};
    float score = -FLT_MAX;
    for (size_t k = 0; k < N; k++) {
        size_t i = order[k];
        sum_x[k + 1] = sum_x[k] + weights[i] * x[i];
        sum_w[k + 1] = sum_w[k] + weights[i];
    }
    for (size_t first = 0; first <= N; first++) {
        float x1 = sum_x[first] - sum_x[0], w1 = sum_w[first] - sum_w[0];
        for (size_t second = first; second <= N; second += LANES) {
            lane_scores s;
            lanes sx = f_load(sum_x + second), sw = f_load(sum_w + second);
            lanes x2 = f_sub(sx, f_set(sum_x[first])), w2 = f_sub(sw, f_set(sum_w[first]));
            lanes x3 = f_sub(f_set(sum_x[N]), sx), w3 = f_sub(f_set(sum_w[N]), sw);
            for (size_t way = 0; way < 2; way++) {
                const float *v = wb__iq1_levels[way];
                lanes v1 = f_set(v[1]), v2 = f_set(v[2]);
                s.lx[way] = f_add(f_add(f_set(x1 * v[0]), f_mul(x2, v1)), f_mul(x3, v2));
                s.l2[way] = f_add(f_add(f_set(w1 * v[0] * v[0]), f_mul(f_mul(w2, v1), v1)),
                                  f_mul(f_mul(w3, v2), v2));
            }
            unsigned valid = N + 1 - second < LANES ? (unsigned)(N + 1 - second) : LANES;
            take_best(&s, 2, downs, first, second, valid, &score, best);
        }
    }
}

/* What value of rank k adds to the sums, by run and shift. */
typedef struct rank_terms {
    float lx[3][2], l2[3][2];
} rank_terms;

/* The pairs of shifts in the order they are looked at: the first octet's, then the second's. */
KERNEL static inline void add_terms(lane_scores *s, size_t octet, lanes lx_up, lanes lx_down,
                                    lanes l2_up, lanes l2_down)
{
    bool first = octet == 0;
    s->lx[0] = f_add(s->lx[0], lx_up);
    s->l2[0] = f_add(s->l2[0], l2_up);
    s->lx[1] = f_add(s->lx[1], first ? lx_up : lx_down);
    s->l2[1] = f_add(s->l2[1], first ? l2_up : l2_down);
    s->lx[2] = f_add(s->lx[2], first ? lx_down : lx_up);
    s->l2[2] = f_add(s->l2[2], first ? l2_down : l2_up);
    s->lx[3] = f_add(s->lx[3], lx_down);
    s->l2[3] = f_add(s->l2[3], l2_down);
}

KERNEL static void split_iq1_m(const float *x, const float *weights, const uint8_t *order,
                               wb__iq1_split *best)
{
    enum { N = WB__IQ1_GROUP_M };
    static const unsigned downs[4] = {0, 2, 1, 3};
    rank_terms terms[N];
    float score = -FLT_MAX;
    lane_scores start; /* sums of the values before `first`, the same in all lanes */
    for (size_t k = 0; k < N; k++) {
        float w = weights[order[k]], v = x[order[k]];
        for (size_t run = 0; run < 3; run++) {
            for (size_t down = 0; down < 2; down++) {
                float level = wb__iq1_levels[down][run];
                terms[k].lx[run][down] = w * level * v;
                terms[k].l2[run][down] = w * level * level;
            }
        }
    }
    for (size_t pair = 0; pair < 4; pair++)
        start.lx[pair] = start.l2[pair] = f_set(0);
    for (size_t first = 0; first <= N; first++) {
        for (size_t second = first; second <= N; second += LANES) {
            lane_scores s = start;
            lanes place = f_add(counting(), f_set((float)second));
            for (size_t k = first; k < N; k++) {
                /* Lanes whose second place is not behind k have it in their last run. */
                lane_mask last = f_less(place, f_set((float)k + 0.5f));
                const rank_terms *t = &terms[k];
                add_terms(&s, order[k] / 8, f_choose(last, f_set(t->lx[2][0]), f_set(t->lx[1][0])),
                          f_choose(last, f_set(t->lx[2][1]), f_set(t->lx[1][1])),
                          f_choose(last, f_set(t->l2[2][0]), f_set(t->l2[1][0])),
                          f_choose(last, f_set(t->l2[2][1]), f_set(t->l2[1][1])));
            }
            unsigned valid = N + 1 - second < LANES ? (unsigned)(N + 1 - second) : LANES;
            take_best(&s, 4, downs, first, second, valid, &score, best);
        }
        if (first < N) {
            const rank_terms *t = &terms[first];
            add_terms(&start, order[first] / 8, f_set(t->lx[0][0]), f_set(t->lx[0][1]),
                      f_set(t->l2[0][0]), f_set(t->l2[0][1]));
        }
    }
}

KERNEL static unsigned nearest_iq1(const uint16_t *near, unsigned count, const float *x,
                                   const float *weights, float scale, const float *values)
{
    lanes table = f_mul(f_set(scale), f_table(values));
    return best_near(near, count, x, weights, 8, 2, table);
}

static const wb__iq1_search search_iq1 = {split_iq1_s, split_iq1_m, nearest_iq1};

static void encode_iq1_s(const float *x, const float *importance, uint8_t *out, size_t n)
{
    wb__iq1_s_with(&search_iq1, x, importance, out, n);
}

static void encode_iq1_m(const float *x, const float *importance, uint8_t *out, size_t n)
{
    wb__iq1_m_with(&search_iq1, x, importance, out, n);
}
