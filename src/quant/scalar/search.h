/*
 * quant/scalar/search.h: the scale searches used by the encoders of K-quants and, with an
 * importance matrix, of the older types.
 *
 * Each search finds, for a group of n values, integers q and a scale (and possibly a minimum) with
 * a small weighted sum of squared errors. The result is not optimal: the searches try a fixed list
 * of candidates. The candidates, their order and the rounding of every sum determine the encoded
 * bytes. n is at most 32.
 */
#ifndef WB_QUANT_SCALAR_SEARCH_H
#define WB_QUANT_SCALAR_SEARCH_H

#include <math.h>

#include "quant/scalar/rounding.h"

#define WB__SEARCH_MAX 32
#define WB__TINY 1e-15f /* a group with all magnitudes below this is encoded as zeros */

/*
 * Returns the value of largest magnitude (the first one if several are equal), and the magnitude in
 * *magnitude.
 */
static inline float wb__largest(const float *x, size_t n, float *magnitude)
{
    float largest = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        float a = fabsf(x[i]);
        if (a > most) {
            most = a;
            largest = x[i];
        }
    }
    *magnitude = most;
    return largest;
}

static inline float wb__sum_of_squares(const float *x, size_t n)
{
    float sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sum;
}

/*
 * Fits x ≈ scale * (q - range), 0 <= q < 2 * range. Tries 19 scales around the one that maps the
 * largest value to -range. If `weights` is NULL, the weights are x². Returns the scale.
 */
float wb__search_signed(size_t n, int range, const float *x, const float *weights, uint8_t *q);

/* Like wb__search_signed with weights x², but improves one q after the other, in five passes. */
float wb__search_signed_descent(size_t n, int range, const float *x, uint8_t *q);

typedef struct wb__scale_tries {
    float first, step; /* candidate i is the scale (max - min) / (first + i * step + top) */
    int last;          /* i runs from 0 to `last` */
    bool absolute;     /* minimize the absolute error instead of the squared error */
} wb__scale_tries;

/* Fits x ≈ scale * q - minimum, 0 <= q <= top, minimum >= 0. Returns the scale. */
float wb__search_minimum(size_t n, int top, const float *x, const float *weights,
                         const wb__scale_tries *tries, uint8_t *q, float *minimum);

/*
 * Fits x ≈ scale * q, q <= top, for values that are rarely negative, such as scales and minima. A
 * negative q is stored modulo 256: -1 becomes 255. Returns the scale.
 */
float wb__search_unsigned(size_t n, int top, const float *x, const float *weights, uint8_t *q);

#endif
