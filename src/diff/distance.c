#include "diff/diff.h"

#include <math.h>

#define LANES 8

static uint32_t bits_of(const float *values, size_t i)
{
    uint32_t bits;
    memcpy(&bits, &values[i], sizeof bits);
    return bits;
}

#define EXPONENT 0x7F800000u

static bool all_finite(const float *values, size_t n)
{
    uint32_t any = 0;
    for (size_t i = 0; i < n; i++)
        any |= (bits_of(values, i) & EXPONENT) == EXPONENT ? 1 : 0;
    return any == 0;
}

static bool is_nan(uint32_t bits)
{
    return (bits & 0x7FFFFFFF) > EXPONENT;
}

/* Adds one pair of values; each value may be infinite or NaN. */
static void add_one(wb__sums *sums, const float *a, const float *b, size_t i)
{
    uint32_t x = bits_of(a, i), y = bits_of(b, i);
    bool same = x == y || (is_nan(x) && is_nan(y));
    sums->different += !same;
    if ((x & EXPONENT) == EXPONENT || (y & EXPONENT) == EXPONENT) {
        sums->not_finite += !same;
        return;
    }
    double v = a[i], w = b[i], d = w - v;
    sums->aa += v * v;
    sums->bb += w * w;
    sums->ab += v * w;
    sums->dd += d * d;
    if (fabs(d) > sums->maximum)
        sums->maximum = fabs(d);
}

/* Adds finite values to LANES (8) separate sums, so that scalar and SIMD code give the same
 * result. */
static void add_finite(wb__sums *sums, const float *a, const float *b, size_t n)
{
    double aa[LANES] = {0}, bb[LANES] = {0}, ab[LANES] = {0}, dd[LANES] = {0}, most[LANES] = {0};
    uint32_t different[LANES] = {0};
    for (size_t i = 0; i < n; i += LANES) {
        for (size_t l = 0; l < LANES; l++) {
            double v = a[i + l], w = b[i + l], d = w - v;
            double size = fabs(d);
            aa[l] += v * v;
            bb[l] += w * w;
            ab[l] += v * w;
            dd[l] += d * d;
            most[l] = size > most[l] ? size : most[l];
            different[l] += bits_of(a, i + l) != bits_of(b, i + l);
        }
    }
    for (size_t l = 0; l < LANES; l++) {
        sums->aa += aa[l];
        sums->bb += bb[l];
        sums->ab += ab[l];
        sums->dd += dd[l];
        sums->different += different[l];
        if (most[l] > sums->maximum)
            sums->maximum = most[l];
    }
}

void wb__sums_add(wb__sums *sums, const float *a, const float *b, size_t n)
{
    size_t whole = n - n % LANES;
    size_t i = 0;
    sums->values += n;
    if (all_finite(a, n) && all_finite(b, n)) {
        add_finite(sums, a, b, whole);
        i = whole;
    }
    for (; i < n; i++)
        add_one(sums, a, b, i);
}

void wb__sums_join(wb__sums *sums, const wb__sums *more)
{
    sums->values += more->values;
    sums->different += more->different;
    sums->not_finite += more->not_finite;
    sums->aa += more->aa;
    sums->bb += more->bb;
    sums->ab += more->ab;
    sums->dd += more->dd;
    if (more->maximum > sums->maximum)
        sums->maximum = more->maximum;
}

wb_distance wb__sums_distance(const wb__sums *sums)
{
    wb_distance distance = {.values = sums->values,
                            .different = sums->different,
                            .not_finite = sums->not_finite,
                            .maximum = sums->maximum,
                            .cosine = 1,
                            .snr = INFINITY};
    if (sums->dd > 0) {
        distance.nmse = sums->aa > 0 ? sums->dd / sums->aa : INFINITY;
        distance.snr = sums->aa > 0 ? -10 * log10(distance.nmse) : -INFINITY;
        distance.cosine = 0;
        if (sums->aa > 0 && sums->bb > 0)
            distance.cosine = sums->ab / (sqrt(sums->aa) * sqrt(sums->bb));
        if (distance.cosine > 1) /* a rounding error can give a value above 1 */
            distance.cosine = 1;
    }
    return distance;
}
