#include "quant/scalar/search.h"

#include <math.h>

/*
 * Sums over the values x of a group, which have the weights w and are encoded as the integers q.
 * The best scale for these q is lx / l2, and it reduces the squared error by lx² / l2.
 */
typedef struct sums {
    float lx; /* sum of w x q */
    float l2; /* sum of w q² */
} sums;

static float weight_of(const float *weights, const float *x, size_t i)
{
    return weights != NULL ? weights[i] : x[i] * x[i];
}

static sums signed_sums(size_t n, int range, const float *x, const float *weights, float inverse)
{
    sums s = {0, 0};
    for (size_t i = 0; i < n; i++) {
        float l = (float)wb__clamp(wb__round_even(inverse * x[i]), -range, range - 1);
        float w = weight_of(weights, x, i);
        s.lx += w * x[i] * l;
        s.l2 += w * l * l;
    }
    return s;
}

static void signed_quants(size_t n, int range, const float *x, float inverse, uint8_t *q)
{
    for (size_t i = 0; i < n; i++)
        q[i] = (uint8_t)(range + wb__clamp(wb__round_even(inverse * x[i]), -range, range - 1));
}

float wb__search_signed(size_t n, int range, const float *x, const float *weights, uint8_t *q)
{
    float most;
    float largest = wb__largest(x, n, &most);
    if (most < WB__TINY) {
        memset(q, 0, n);
        return 0;
    }
    float top = (float)range;
    float chosen = -top / largest;
    sums s = signed_sums(n, range, x, weights, chosen);
    float scale = s.l2 != 0 ? s.lx / s.l2 : 0;
    float gain = scale * s.lx;
    for (int i = -9; i <= 9; i++) {
        if (i == 0)
            continue;
        float inverse = -(top + 0.1f * (float)i) / largest;
        s = signed_sums(n, range, x, weights, inverse);
        if (s.l2 > 0 && s.lx * s.lx > gain * s.l2) {
            chosen = inverse;
            scale = s.lx / s.l2;
            gain = scale * s.lx;
        }
    }
    signed_quants(n, range, x, chosen, q);
    return scale;
}

float wb__search_signed_descent(size_t n, int range, const float *x, uint8_t *q)
{
    float most;
    float largest = wb__largest(x, n, &most);
    if (most < WB__TINY) {
        memset(q, 0, n);
        return 0;
    }
    float inverse = -(float)range / largest;
    sums s = signed_sums(n, range, x, NULL, inverse);
    signed_quants(n, range, x, inverse, q);
    for (int round = 0; round < 5; round++) {
        bool changed = false;
        for (size_t i = 0; i < n; i++) {
            float w = x[i] * x[i];
            float l = (float)(q[i] - range);
            float lx = s.lx - w * x[i] * l;
            if (!(lx > 0))
                continue;
            float l2 = s.l2 - w * l * l;
            int better = wb__clamp(wb__round_even(x[i] * l2 / lx), -range, range - 1);
            if (better == q[i] - range)
                continue;
            l = (float)better;
            lx += w * x[i] * l;
            l2 += w * l * l;
            if (l2 > 0 && lx * lx * s.l2 > s.lx * s.lx * l2) {
                q[i] = (uint8_t)(better + range);
                s = (sums){lx, l2};
                changed = true;
            }
        }
        if (!changed)
            break;
    }
    return s.l2 > 0 ? s.lx / s.l2 : 0;
}

/* ---- scale and minimum ---- */

static void minimum_quants(size_t n, int top, const float *x, float inverse, float min, uint8_t *q)
{
    for (size_t i = 0; i < n; i++)
        q[i] = (uint8_t)wb__clamp(wb__round_even(inverse * (x[i] - min)), 0, top);
}

static float minimum_error(size_t n, const float *x, const float *weights, const uint8_t *q,
                           float scale, float min, bool absolute)
{
    float error = 0;
    for (size_t i = 0; i < n; i++) {
        float difference = scale * (float)q[i] + min - x[i];
        difference = absolute ? fabsf(difference) : difference * difference;
        error += weights[i] * difference;
    }
    return error;
}

float wb__search_minimum(size_t n, int top, const float *x, const float *weights,
                         const wb__scale_tries *tries, uint8_t *q, float *minimum)
{
    float min = x[0], max = x[0];
    float sum_w = weights[0], sum_x = sum_w * x[0];
    for (size_t i = 1; i < n; i++) {
        if (x[i] < min)
            min = x[i];
        if (x[i] > max)
            max = x[i];
        sum_w += weights[i];
        sum_x += weights[i] * x[i];
    }
    if (min > 0)
        min = 0;
    if (max <= min) {
        memset(q, 0, n);
        *minimum = -min;
        return 0;
    }
    float inverse = (float)top / (max - min);
    float scale = 1 / inverse;
    minimum_quants(n, top, x, inverse, min, q);
    float best = minimum_error(n, x, weights, q, scale, min, tries->absolute);
    for (int try = 0; try <= tries->last; try++) {
        uint8_t l[WB__SEARCH_MAX];
        float sum_l = 0, sum_l2 = 0, sum_xl = 0;
        /* Once a candidate has given a better minimum, the candidates after it use this minimum. */
        inverse = (tries->first + tries->step * (float)try + (float)top) / (max - min);
        minimum_quants(n, top, x, inverse, min, l);
        for (size_t i = 0; i < n; i++) {
            float v = (float)l[i], w = weights[i];
            sum_l += w * v;
            sum_l2 += w * v * v;
            sum_xl += w * v * x[i];
        }
        float determinant = sum_w * sum_l2 - sum_l * sum_l;
        if (!(determinant > 0))
            continue;
        float this_scale = (sum_w * sum_xl - sum_x * sum_l) / determinant;
        float this_min = (sum_l2 * sum_x - sum_l * sum_xl) / determinant;
        if (this_min > 0) {
            this_min = 0;
            this_scale = sum_xl / sum_l2;
        }
        float error = minimum_error(n, x, weights, l, this_scale, this_min, tries->absolute);
        if (error < best) {
            memcpy(q, l, n);
            best = error;
            scale = this_scale;
            min = this_min;
        }
    }
    *minimum = -min;
    return scale;
}

/* ---- scale only, no negative values ---- */

static int at_most(int l, int top)
{
    return l < top ? l : top;
}

static float unsigned_error(size_t n, int top, const float *x, const float *weights, float inverse)
{
    float scale = 1 / inverse;
    float error = 0;
    for (size_t i = 0; i < n; i++) {
        float difference = x[i] - scale * (float)at_most(wb__round_even(inverse * x[i]), top);
        error += weights[i] * difference * difference;
    }
    return error;
}

/* Returns the error of the first candidate. ggml computes this error from quants that it has stored
 * in unsigned bytes, so a quant -1 counts as 255. */
static float first_error(size_t n, const float *x, const float *weights, float inverse)
{
    float scale = 1 / inverse;
    float error = 0;
    for (size_t i = 0; i < n; i++) {
        float difference = x[i] - scale * (float)(uint8_t)wb__round_even(inverse * x[i]);
        error += weights[i] * difference * difference;
    }
    return error;
}

float wb__search_unsigned(size_t n, int top, const float *x, const float *weights, uint8_t *q)
{
    float max = 0;
    for (size_t i = 0; i < n; i++) {
        if (x[i] > max)
            max = x[i];
    }
    if (max < WB__TINY) {
        memset(q, 0, n);
        return 0;
    }
    float chosen = (float)top / max;
    float best = first_error(n, x, weights, chosen);
    for (int i = -4; i <= 4; i++) {
        if (i == 0)
            continue;
        float inverse = (0.1f * (float)i + (float)top) / max;
        float error = unsigned_error(n, top, x, weights, inverse);
        if (error < best) {
            best = error;
            chosen = inverse;
        }
    }
    sums s = {0, 0};
    for (size_t i = 0; i < n; i++) {
        int quant = at_most(wb__round_even(chosen * x[i]), top);
        float l = (float)quant;
        q[i] = (uint8_t)quant;
        s.lx += weights[i] * x[i] * l;
        s.l2 += weights[i] * l * l;
    }
    for (int round = 0; round < 5; round++) {
        bool changed = false;
        for (size_t i = 0; i < n; i++) {
            float w = weights[i], l = (float)q[i];
            float lx = s.lx - w * x[i] * l;
            float l2 = s.l2 - w * l * l;
            if (!(lx > 0 && l2 > 0))
                continue;
            int better = at_most(wb__round_even(x[i] * l2 / lx), top);
            if (better == q[i])
                continue;
            l = (float)better;
            lx += w * x[i] * l;
            l2 += w * l * l;
            if (lx * lx * s.l2 > s.lx * s.lx * l2) {
                q[i] = (uint8_t)better;
                s = (sums){lx, l2};
                changed = true;
            }
        }
        if (!changed)
            break;
    }
    return s.l2 > 0 ? s.lx / s.l2 : 0;
}
