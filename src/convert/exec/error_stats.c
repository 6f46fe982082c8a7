/* Error statistics. Blocks of values in the ordinary range are summed in binary32 by SIMD code
 * (error_sums.h), and the block sums are added in binary64. Three digits of an error are
 * sufficient, and zero errors stay exact. The dot product for the cosine similarity is not
 * summed; it follows from 2 x y = x² + y² - (y - x)². */
#include "convert/convert.h"

#include <math.h>

#include "convert/exec/error_sums.h"
#include "core/endian.h"
#include "cpu/cpu.h"

#define RUN 4096 /* block length in values */

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

/* Scalar fallback that adds each value in binary64. Values that are not finite are counted, not
 * summed. */
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

/* Adds the lanes of a block. Returns false if the binary32 sums may be inaccurate. The range
 * check accepts numbers up to 2^40 and errors of numbers from 2^-45 on, whose squares are in
 * range. A value that is not finite makes a sum not finite and fails the check. */
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

/* Counts values beyond the range of binary32 as overflowed, even if the encoder replaces
 * infinity by a finite value. */
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
