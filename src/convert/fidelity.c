/*
 * What became of values. Sums are of binary64 in the end; within a short run of values of ordinary
 * size they are of binary32, in lanes side by side, which compilers make vectors of: three digits of
 * an error are plenty, and whether there is any is exact.
 */
#include "convert/convert.h"

#include <math.h>

#define RUN 256 /* values */
#define LANES 16

typedef struct lanes {
    float error[LANES], before[LANES], after[LANES], product[LANES], most[LANES];
} lanes;

static void measure_one(wb__fidelity *fidelity, double before, double after)
{
    double error = after - before;
    fidelity->error += error * error;
    fidelity->before += before * before;
    fidelity->after += after * after;
    fidelity->product += before * after;
    fidelity->max_error = fmax(fidelity->max_error, fabs(error));
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static bool is_finite(float value)
{
    return (bits_of(value) & 0x7F800000u) != 0x7F800000u;
}

/* Values that are not finite take no part in the sums. */
static void measure_slowly(wb__fidelity *fidelity, const float *before, double offset,
                           const float *after, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (is_finite(before[i]) && is_finite(after[i]))
            measure_one(fidelity, before[i] + offset, after[i]);
        else if (is_finite(before[i]))
            fidelity->overflowed++;
    }
}

/* The exponent of the largest magnitude of both, as binary32 has it. */
static int32_t largest(const float *before, const float *after)
{
    int32_t most[LANES] = {0};
    int32_t all = 0;
    for (size_t i = 0; i < RUN; i += LANES) {
        for (size_t lane = 0; lane < LANES; lane++) {
            int32_t x = (int32_t)(bits_of(before[i + lane]) & 0x7FFFFFFFu);
            int32_t y = (int32_t)(bits_of(after[i + lane]) & 0x7FFFFFFFu);
            x = y > x ? y : x;
            most[lane] = x > most[lane] ? x : most[lane];
        }
    }
    for (size_t lane = 0; lane < LANES; lane++)
        all = most[lane] > all ? most[lane] : all;
    return all >> 23;
}

static void measure_run(wb__fidelity *fidelity, const float *before, const float *after)
{
    lanes sums = {0};
    for (size_t i = 0; i < RUN; i += LANES) {
        for (size_t lane = 0; lane < LANES; lane++) {
            float x = before[i + lane], y = after[i + lane];
            float error = y - x;
            float size = fabsf(error);
            sums.error[lane] += error * error;
            sums.before[lane] += x * x;
            sums.after[lane] += y * y;
            sums.product[lane] += x * y;
            sums.most[lane] = size > sums.most[lane] ? size : sums.most[lane];
        }
    }
    for (size_t lane = 0; lane < LANES; lane++) {
        fidelity->error += sums.error[lane];
        fidelity->before += sums.before[lane];
        fidelity->after += sums.after[lane];
        fidelity->product += sums.product[lane];
        fidelity->max_error = fmax(fidelity->max_error, sums.most[lane]);
    }
}

void wb__fidelity_measure(wb__fidelity *fidelity, const float *before, double offset,
                          const float *after, size_t n)
{
    for (size_t i = 0; i < n; i += RUN) {
        size_t count = n - i < RUN ? n - i : RUN;
        /* Squares of numbers up to 2^40, and of errors of numbers from 2^-40 on, are in range. */
        int32_t exponent = count < RUN || offset != 0 ? 0 : largest(before + i, after + i);
        if (exponent >= 127 - 40 && exponent < 127 + 40)
            measure_run(fidelity, before + i, after + i);
        else
            measure_slowly(fidelity, before + i, offset, after + i, count);
    }
}

void wb__fidelity_add(wb__fidelity *sum, const wb__fidelity *part)
{
    sum->error += part->error;
    sum->before += part->before;
    sum->after += part->after;
    sum->product += part->product;
    sum->max_error = fmax(sum->max_error, part->max_error);
    sum->overflowed += part->overflowed;
}
