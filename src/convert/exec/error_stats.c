/* Computes error statistics. Blocks of values are summed in binary32 by SIMD code (error_sums.h),
 * unless their squares are too large or too small for binary32. The sums of blocks are added in
 * binary64. This precision is sufficient, because only three digits of an error are reported, and
 * zero errors stay exactly zero. The dot product that the cosine similarity needs is not summed,
 * because it follows from the other sums: 2 x y = x² + y² - (y - x)². */
#include "convert/convert.h"

#include <math.h>

#include "convert/exec/error_sums.h"
#include "core/endian.h"
#include "cpu/cpu.h"

#define RUN 4096 /* number of values per block */

static wb__error_sums *find_sum_up(void)
{
#if WB__X86
    if (wb__cpu_features() & WB__CPU_AVX2)
        return wb__error_sums_avx2;
#endif
    return wb__error_sums_scalar;
}

void wb__error_sums_scalar(wb__error_lanes *sums, const float *restrict before,
                           const float *restrict after, size_t n)
{
    *sums = (wb__error_lanes){0};
    for (size_t i = 0; i < n; i += WB__SUMS_LANES) {
        for (size_t lane = 0; lane < WB__SUMS_LANES; lane++) {
            float x = before[i + lane], y = after[i + lane];
            float error = y - x, size = fabsf(error);
            sums->error[lane] += error * error;
            sums->before[lane] += x * x;
            sums->after[lane] += y * y;
            sums->most[lane] = size > sums->most[lane] ? size : sums->most[lane];
        }
    }
}

void wb__error_stats_add_one(wb__error_stats *error_stats, double before, double after)
{
    double error = after - before;
    error_stats->error += error * error;
    error_stats->before += before * before;
    error_stats->after += after * after;
    error_stats->max_error = fmax(error_stats->max_error, fabs(error));
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

/* Adds each value in binary64, without SIMD. Values that are not finite are only counted. */
static void measure_slowly(wb__error_stats *error_stats, const float *before, double offset,
                           const float *after, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (is_finite(before[i]) && is_finite(after[i]))
            wb__error_stats_add_one(error_stats, before[i] + offset, after[i]);
        else if (!is_same(before[i], after[i]))
            error_stats->overflowed++;
    }
}

/*
 * Adds the sums of a block to the statistics. The sums are distributed over lanes (error_sums.h).
 * Returns false and adds nothing if the binary32 sums may be inaccurate. A sum of squares below
 * 2^80 does not overflow in binary32. If a sum of squares is at least 2^-80, squares that are too
 * small for binary32 (below 2^-126) are negligible. If a value is not finite, a sum is not finite,
 * and the function also returns false.
 */
static bool add_run(wb__error_stats *error_stats, const wb__error_lanes *sums)
{
    double error = 0, before = 0, after = 0;
    float most = 0;
    for (size_t lane = 0; lane < WB__SUMS_LANES; lane++) {
        error += sums->error[lane];
        before += sums->before[lane];
        after += sums->after[lane];
        most = sums->most[lane] > most ? sums->most[lane] : most;
    }
    if (!(before < 0x1p80 && after < 0x1p80) || (before < 0x1p-80 && after < 0x1p-80))
        return false;
    error_stats->error += error;
    error_stats->before += before;
    error_stats->after += after;
    error_stats->max_error = most > error_stats->max_error ? most : error_stats->max_error;
    return true;
}

void wb__error_stats_measure(wb__error_stats *error_stats, const float *before, double offset,
                             const float *after, size_t n)
{
    wb__error_sums *sum_up = find_sum_up();
    for (size_t i = 0; i < n; i += RUN) {
        size_t count = n - i < RUN ? n - i : RUN;
        wb__error_lanes sums;
        if (count % WB__SUMS_LANES == 0 && offset == 0) {
            sum_up(&sums, before + i, after + i, count);
            if (add_run(error_stats, &sums))
                continue;
        }
        measure_slowly(error_stats, before + i, offset, after + i, count);
    }
}

static double double_at(const uint8_t *bytes)
{
    uint64_t bits = wb__load_le64(bytes);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Adds the error of each value, computed in binary64. A value beyond the range of binary32 counts
 * as overflowed, even if the encoder replaces it by a finite value. */
void wb__error_stats_measure_wide(wb__error_stats *error_stats, const uint8_t *before,
                                  double offset, double factor, const float *after, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double value = (double_at(before + i * sizeof value) + offset) * factor;
        if (is_finite((float)value) && is_finite(after[i]))
            wb__error_stats_add_one(error_stats, value, after[i]);
        else if (value != after[i] && !(isnan(value) && isnan(after[i])))
            error_stats->overflowed++;
    }
}

void wb__error_stats_add(wb__error_stats *sum, const wb__error_stats *part)
{
    sum->error += part->error;
    sum->before += part->before;
    sum->after += part->after;
    sum->max_error = fmax(sum->max_error, part->max_error);
    sum->overflowed += part->overflowed;
}
