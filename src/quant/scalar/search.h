/*
 * quant/scalar/search.h: the searches for scales that the encoders of K-quants and, with an
 * importance matrix, of the older types share.
 *
 * Each finds integers q and a scale (and perhaps a minimum) that make the weighted sum of squared
 * errors of a sub-block small. None finds the best: they try a fixed list of candidates, and what
 * they try, in which order, and how every sum is rounded, decides the bytes. n is at most 32.
 */
#ifndef WB_QUANT_SCALAR_SEARCH_H
#define WB_QUANT_SCALAR_SEARCH_H

#include <math.h>

#include "quant/scalar/rounding.h"

#define WB__SEARCH_MAX 32
#define WB__TINY 1e-15f /* a sub-block of nothing larger is all zeros */

/* The value of largest magnitude, the first of equals. */
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
 * x ≈ scale * (q - range), 0 <= q < 2 * range. Tries 19 scales around the one that maps the largest
 * value to -range. `weights` NULL: the square of each value. Returns the scale.
 */
float wb__search_signed(size_t n, int range, const float *x, const float *weights, uint8_t *q);

/* The same with weights x², improving one q after the other, five times over, instead. */
float wb__search_signed_descent(size_t n, int range, const float *x, uint8_t *q);

typedef struct wb__scale_tries {
    float first, step; /* the scale is (first + i * step + top) / (max - min) */
    int last;          /* i runs from 0 to this */
    bool absolute;     /* the error counts as it is, not squared */
} wb__scale_tries;

/* x ≈ scale * q - minimum, 0 <= q <= top; minimum is not negative. Returns the scale. */
float wb__search_minimum(size_t n, int top, const float *x, const float *weights,
                         const wb__scale_tries *tries, uint8_t *q, float *minimum);

/*
 * For what is hardly ever negative, scales and minima themselves: x ≈ scale * q, q <= top. A q of
 * -1 has come to be 255.
 */
float wb__search_unsigned(size_t n, int top, const float *x, const float *weights, uint8_t *q);

#endif
