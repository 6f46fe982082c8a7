#include "convert/convert.h"

#include <math.h>

#define LANES 8 /* sums side by side, so that they may be computed side by side */

typedef struct lanes {
    double error[LANES], before[LANES], after[LANES], product[LANES], most[LANES];
} lanes;

static void measure_lane(lanes *sums, size_t lane, double before, double after)
{
    double error = after - before;
    double size = error < 0 ? -error : error;
    sums->error[lane] += error * error;
    sums->before[lane] += before * before;
    sums->after[lane] += after * after;
    sums->product[lane] += before * after;
    sums->most[lane] = size > sums->most[lane] ? size : sums->most[lane];
}

static bool is_finite(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits & 0x7F800000u) != 0x7F800000u;
}

/* Values that are not finite take no part in the sums. */
static void measure_odd(lanes *sums, wb__fidelity *fidelity, const float *before, double offset,
                        const float *after, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (is_finite(before[i]) && is_finite(after[i]))
            measure_lane(sums, i % LANES, before[i] + offset, after[i]);
        else if (is_finite(before[i]))
            fidelity->overflowed++;
    }
}

void wb__fidelity_measure(wb__fidelity *fidelity, const float *before, double offset,
                          const float *after, size_t n)
{
    lanes sums = {0};
    for (size_t i = 0; i < n; i += 256) {
        size_t count = n - i < 256 ? n - i : 256;
        uint32_t odd = 0;
        for (size_t j = 0; j < count; j++) {
            uint32_t x, y;
            memcpy(&x, &before[i + j], sizeof x);
            memcpy(&y, &after[i + j], sizeof y);
            odd |= (uint32_t)((x & 0x7F800000u) == 0x7F800000u) |
                   (uint32_t)((y & 0x7F800000u) == 0x7F800000u);
        }
        if (odd != 0 || count % LANES != 0) {
            measure_odd(&sums, fidelity, before + i, offset, after + i, count);
            continue;
        }
        for (size_t j = 0; j < count; j += LANES) {
            for (size_t lane = 0; lane < LANES; lane++)
                measure_lane(&sums, lane, (double)before[i + j + lane] + offset,
                             after[i + j + lane]);
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

void wb__fidelity_add(wb__fidelity *sum, const wb__fidelity *part)
{
    sum->error += part->error;
    sum->before += part->before;
    sum->after += part->after;
    sum->product += part->product;
    sum->max_error = fmax(sum->max_error, part->max_error);
    sum->overflowed += part->overflowed;
}
