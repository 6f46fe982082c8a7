/*
 * What became of values. Sums are of binary64 in the end; within a run of values of ordinary size they
 * are of binary32, in lanes side by side, which compilers make vectors of: three digits of an error are
 * plenty, and whether there is any is exact. The product of both, which the cosine takes, is not summed
 * up: 2 x y = x² + y² - (y - x)².
 */
#include "convert/convert.h"

#include <math.h>

#include "cpu/cpu.h"

#define RUN 1024 /* values */
#define LANES 16

typedef struct lanes {
    float error[LANES], before[LANES], after[LANES], most[LANES];
} lanes;

typedef uint32_t sum_up(lanes *sums, const float *before, const float *after);

#define KERNEL
#define NAME sum_up_plain
#include "convert/fidelity_run.h"
#undef KERNEL
#undef NAME

#if WB__X86
#define KERNEL __attribute__((target("avx2")))
#define NAME sum_up_avx2
#include "convert/fidelity_run.h"
#undef KERNEL
#undef NAME
#ifdef __clang__ /* which has no such attribute */
#define KERNEL __attribute__((target("avx512f")))
#else
#define KERNEL __attribute__((target("avx512f,prefer-vector-width=512")))
#endif
#define NAME sum_up_avx512
#include "convert/fidelity_run.h"
#undef KERNEL
#undef NAME
#endif

static sum_up *find_sum_up(void)
{
#if WB__X86
    uint32_t features = wb__cpu_features();
    if (features & WB__CPU_AVX512)
        return sum_up_avx512;
    if (features & WB__CPU_AVX2)
        return sum_up_avx2;
#endif
    return sum_up_plain;
}

void wb__fidelity_add_one(wb__fidelity *fidelity, double before, double after)
{
    double error = after - before;
    fidelity->error += error * error;
    fidelity->before += before * before;
    fidelity->after += after * after;
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

static bool is_same(float before, float after)
{
    return bits_of(before) == bits_of(after) || (isnan(before) && isnan(after));
}

/* Values that are not finite take no part in the sums. */
static void measure_slowly(wb__fidelity *fidelity, const float *before, double offset,
                           const float *after, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (is_finite(before[i]) && is_finite(after[i]))
            wb__fidelity_add_one(fidelity, before[i] + offset, after[i]);
        else if (!is_same(before[i], after[i]))
            fidelity->overflowed++;
    }
}

static void add_run(wb__fidelity *fidelity, const lanes *sums)
{
    for (size_t lane = 0; lane < LANES; lane++) {
        fidelity->error += sums->error[lane];
        fidelity->before += sums->before[lane];
        fidelity->after += sums->after[lane];
        fidelity->max_error = fmax(fidelity->max_error, sums->most[lane]);
    }
}

void wb__fidelity_measure(wb__fidelity *fidelity, const float *before, double offset,
                          const float *after, size_t n)
{
    sum_up *run = find_sum_up();
    for (size_t i = 0; i < n; i += RUN) {
        size_t count = n - i < RUN ? n - i : RUN;
        lanes sums;
        bool whole = count == RUN && offset == 0;
        uint32_t exponent = whole ? run(&sums, before + i, after + i) >> 23 : 0;
        /* Squares of numbers up to 2^40, and of errors of numbers from 2^-40 on, are in range. */
        if (exponent >= 127 - 40 && exponent < 127 + 40)
            add_run(fidelity, &sums);
        else
            measure_slowly(fidelity, before + i, offset, after + i, count);
    }
}

void wb__fidelity_add(wb__fidelity *sum, const wb__fidelity *part)
{
    sum->error += part->error;
    sum->before += part->before;
    sum->after += part->after;
    sum->max_error = fmax(sum->max_error, part->max_error);
    sum->overflowed += part->overflowed;
}
