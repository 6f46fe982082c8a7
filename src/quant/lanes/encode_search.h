/*
 * quant/lanes/encode_search.h: the searches of scalar/search.c with one group per lane.
 *
 * Each lane performs the same operations as the scalar code, in the same order, so that the results
 * have the same bits. Where the scalar code skips an assignment, the lane keeps its old value.
 * Quants are held as floats. The searches do not keep the quants of the best candidate, but the
 * parameters from which they are computed again.
 *
 * Included once per instruction set, after the definition of its lanes.
 */

#define SEARCH_TINY 1e-15f

/* As wb__largest. */
KERNEL static inline lanes largest_of(size_t n, const lanes *x, lanes *magnitude)
{
    lanes most = f_set(0), largest = f_set(0);
    for (size_t i = 0; i < n; i++) {
        lanes a = f_abs(x[i]);
        lane_mask more = f_less(most, a);
        most = f_choose(more, a, most);
        largest = f_choose(more, x[i], largest);
    }
    *magnitude = most;
    return largest;
}

/* ---- signed scales ---- */

/* As wb__search_signed, but the quants are from -range to range - 1. */
KERNEL static inline lanes search_signed(size_t n, int range, const lanes *x, const lanes *weights,
                                         lanes *q)
{
    lanes most, wx[32];
    lanes largest = largest_of(n, x, &most);
    lanes chosen = f_set(0), scale = f_set(0), gain = f_set(0);
    for (size_t i = 0; i < n; i++)
        wx[i] = f_mul(weights[i], x[i]);
    for (int k = 0; k < 19; k++) {
        /* try the middle candidate 0 first, then -9 to -1 and 1 to 9 */
        int try = k == 0 ? 0 : k <= 9 ? k - 10 : k - 9;
        float wanted = try == 0 ? -(float)range : -((float)range + 0.1f * (float)try);
        lanes inverse = f_div(f_set(wanted), largest);
        lanes lx = f_set(0), l2 = f_set(0);
        for (size_t i = 0; i < n; i++) {
            lanes l = f_quant(f_mul(inverse, x[i]), -range, range - 1);
            lx = f_add(lx, f_mul(wx[i], l));
            l2 = f_add(l2, f_mul(f_mul(weights[i], l), l));
        }
        lane_mask better = f_less(f_set(0), l2);
        if (k > 0)
            better = m_and(better, f_less(f_mul(gain, l2), f_mul(lx, lx)));
        lanes this_scale = f_div(lx, l2);
        scale = f_choose(better, this_scale, scale);
        gain = f_choose(better, f_mul(this_scale, lx), gain);
        chosen = k == 0 ? inverse : f_choose(better, inverse, chosen);
    }
    lane_mask zero = f_less(most, f_set(SEARCH_TINY));
    for (size_t i = 0; i < n; i++) {
        lanes l = f_quant(f_mul(chosen, x[i]), -range, range - 1);
        q[i] = f_choose(zero, f_set(-(float)range), l);
    }
    return f_choose(zero, f_set(0), scale);
}

/*
 * search_descent works as wb__search_signed_descent, on SETS vectors of groups at a time. Each step
 * depends on the previous one, but the vectors are independent, so that the processor can overlap
 * their steps. x[s][i] and q[s][i] have value i of all groups in vector s. part_lx and part_l2 are
 * the terms that each value adds to the sums. Most steps end early, because no lane changes its
 * quant.
 */
#define SETS 2

typedef struct descent {
    lanes x[16], w[16], part_lx[16], part_l2[16];
    lanes lx, l2;
    lane_mask zero;
} descent;

KERNEL static inline void begin_descent(size_t n, int range, const lanes *x, lanes *q, descent *d)
{
    lanes most;
    lanes largest = largest_of(n, x, &most);
    lanes inverse = f_div(f_set(-(float)range), largest);
    d->zero = f_less(most, f_set(SEARCH_TINY));
    d->lx = d->l2 = f_set(0);
    for (size_t i = 0; i < n; i++) {
        q[i] = f_quant(f_mul(inverse, x[i]), -range, range - 1);
        /*
         * In lanes with only tiny values, replace the values by zeros. The following search then
         * does not change the quants of these lanes.
         */
        d->x[i] = f_choose(d->zero, f_set(0), x[i]);
        d->w[i] = f_mul(d->x[i], d->x[i]);
        d->part_lx[i] = f_mul(f_mul(d->w[i], d->x[i]), q[i]);
        d->part_l2[i] = f_mul(f_mul(d->w[i], q[i]), q[i]);
        d->lx = f_add(d->lx, d->part_lx[i]);
        d->l2 = f_add(d->l2, d->part_l2[i]);
    }
}

/* Improves the quant of value i in all lanes. Returns true if it changed in any lane. */
KERNEL static inline bool descend(int range, size_t i, lanes *q, descent *d)
{
    lanes x = d->x[i];
    lanes lx = f_sub(d->lx, d->part_lx[i]), l2 = f_sub(d->l2, d->part_l2[i]);
    lanes better = f_quant(f_div(f_mul(x, l2), lx), -range, range - 1);
    lane_mask other = m_and(f_less(f_set(0), lx), f_differ(better, *q));
    if (!m_any(other))
        return false;
    lanes part_lx = f_mul(f_mul(d->w[i], x), better),
          part_l2 = f_mul(f_mul(d->w[i], better), better);
    lx = f_add(lx, part_lx);
    l2 = f_add(l2, part_l2);
    other = m_and(other, f_less(f_set(0), l2));
    other = m_and(other, f_less(f_mul(f_mul(d->lx, d->lx), l2), f_mul(f_mul(lx, lx), d->l2)));
    *q = f_choose(other, better, *q);
    d->lx = f_choose(other, lx, d->lx);
    d->l2 = f_choose(other, l2, d->l2);
    d->part_lx[i] = f_choose(other, part_lx, d->part_lx[i]);
    d->part_l2[i] = f_choose(other, part_l2, d->part_l2[i]);
    return m_any(other);
}

KERNEL static inline void search_descent(size_t n, int range, const lanes (*x)[16], lanes (*q)[16],
                                         lanes *scale)
{
    descent d[SETS];
    /* number of steps since the last change; after n of them no further change is possible */
    size_t quiet[SETS];
    for (size_t s = 0; s < SETS; s++) {
        begin_descent(n, range, x[s], q[s], &d[s]);
        quiet[s] = 0;
    }
    for (int round = 0; round < 5; round++) {
        for (size_t i = 0; i < n; i++) {
            for (size_t s = 0; s < SETS; s++) {
                if (quiet[s] < n)
                    quiet[s] = descend(range, i, &q[s][i], &d[s]) ? 0 : quiet[s] + 1;
            }
        }
    }
    for (size_t s = 0; s < SETS; s++) {
        lane_mask none = m_or(d[s].zero, m_not(f_less(f_set(0), d[s].l2)));
        scale[s] = f_choose(none, f_set(0), f_div(d[s].lx, d[s].l2));
        for (size_t i = 0; m_any(d[s].zero) && i < n; i++)
            q[s][i] = f_choose(d[s].zero, f_set(-(float)range), q[s][i]);
    }
}

/* ---- scale and minimum ---- */

typedef struct lane_fit {
    lanes scale;
    lanes minimum;       /* x ≈ scale * q - minimum, as in wb__search_minimum */
    lanes inverse, base; /* q is inverse * (x - base), rounded */
} lane_fit;

KERNEL static inline lanes minimum_error(size_t n, const lanes *x, const lanes *weights,
                                         const lanes *l, lanes scale, lanes min, bool absolute)
{
    lanes error = f_set(0);
    for (size_t i = 0; i < n; i++) {
        lanes difference = f_sub(f_add(f_mul(scale, l[i]), min), x[i]);
        difference = absolute ? f_abs(difference) : f_mul(difference, difference);
        error = f_add(error, f_mul(weights[i], difference));
    }
    return error;
}

/* As wb__search_minimum. */
KERNEL static inline lane_fit search_minimum(size_t n, int top, const lanes *x,
                                             const lanes *weights, float first, float step,
                                             int last, bool absolute)
{
    lanes l[32];
    lanes min = x[0], max = x[0], sum_w = weights[0], sum_x = f_mul(weights[0], x[0]);
    for (size_t i = 1; i < n; i++) {
        min = f_min(x[i], min);
        max = f_max(x[i], max);
        sum_w = f_add(sum_w, weights[i]);
        sum_x = f_add(sum_x, f_mul(weights[i], x[i]));
    }
    min = f_min(f_set(0), min);
    lane_mask some = f_less(min, max);
    lanes lowest = min;
    lanes inverse = f_div(f_set((float)top), f_sub(max, min));
    lane_fit fit = {f_div(f_set(1), inverse), min, inverse, min};
    for (size_t i = 0; i < n; i++)
        l[i] = f_quant(f_mul(inverse, f_sub(x[i], min)), 0, top);
    lanes best = minimum_error(n, x, weights, l, fit.scale, min, absolute);
    for (int try = 0; try <= last; try++) {
        lanes sum_l = f_set(0), sum_l2 = f_set(0), sum_xl = f_set(0);
        inverse = f_div(f_set(first + step * (float)try + (float)top), f_sub(max, min));
        for (size_t i = 0; i < n; i++) {
            l[i] = f_quant(f_mul(inverse, f_sub(x[i], min)), 0, top);
            lanes wl = f_mul(weights[i], l[i]);
            sum_l = f_add(sum_l, wl);
            sum_l2 = f_add(sum_l2, f_mul(wl, l[i]));
            sum_xl = f_add(sum_xl, f_mul(wl, x[i]));
        }
        lanes determinant = f_sub(f_mul(sum_w, sum_l2), f_mul(sum_l, sum_l));
        lane_mask better = f_less(f_set(0), determinant);
        lanes this_scale = f_div(f_sub(f_mul(sum_w, sum_xl), f_mul(sum_x, sum_l)), determinant);
        lanes this_min = f_div(f_sub(f_mul(sum_l2, sum_x), f_mul(sum_l, sum_xl)), determinant);
        lane_mask positive = f_less(f_set(0), this_min);
        this_min = f_choose(positive, f_set(0), this_min);
        this_scale = f_choose(positive, f_div(sum_xl, sum_l2), this_scale);
        lanes error = minimum_error(n, x, weights, l, this_scale, this_min, absolute);
        better = m_and(better, f_less(error, best));
        best = f_choose(better, error, best);
        fit.scale = f_choose(better, this_scale, fit.scale);
        fit.inverse = f_choose(better, inverse, fit.inverse);
        fit.base = f_choose(better, min, fit.base);
        min = f_choose(better, this_min, min);
    }
    fit.scale = f_choose(some, fit.scale, f_set(0));
    fit.inverse = f_choose(some, fit.inverse, f_set(0));
    fit.base = f_choose(some, fit.base, f_set(0));
    fit.minimum = f_negate(f_choose(some, min, lowest));
    return fit;
}
