/* Tests the error statistics of converted values: they must agree with their definition and must be
 * the same for every instruction set. */
#include "support.h"

#include <math.h>

#include "convert/convert.h"
#include "convert/exec/error_sums.h"
#include "core/endian.h"
#include "cpu/cpu.h"

#define MOST 9000 /* number of values: more than two runs of 4,096; each run is summed separately */

static float before[MOST], after[MOST];
static uint64_t state_of_random = 7;

/* Returns a random number from -1 to 1. */
static float uniform(void)
{
    return (float)((double)(next_random(&state_of_random) >> 11) * 0x1p-52 - 1);
}

static void fill(float size, float error)
{
    for (size_t i = 0; i < MOST; i++) {
        before[i] = uniform() * size;
        after[i] = before[i] + uniform() * error;
    }
}

/* Computes the statistics by their definition, in binary64. */
static wb__error_stats told(double offset, size_t n)
{
    wb__error_stats fidelity = {0};
    for (size_t i = 0; i < n; i++) {
        double x = before[i] + offset, y = after[i];
        if (isfinite(before[i]) && isfinite(after[i])) {
            fidelity.error += (y - x) * (y - x);
            fidelity.before += x * x;
            fidelity.after += y * y;
            fidelity.max_error = fmax(fidelity.max_error, fabs(y - x));
        } else if (before[i] != after[i] && !(isnan(before[i]) && isnan(after[i]))) {
            fidelity.overflowed++;
        }
    }
    return fidelity;
}

static bool is_near(double got, double want)
{
    return fabs(got - want) <= 1e-5 * fabs(want);
}

static void compare(double offset, size_t n)
{
    wb__error_stats got = {0}, want = told(offset, n);
    wb__error_stats_measure(&got, before, offset, after, n);
    if (!is_near(got.error, want.error) || !is_near(got.before, want.before) ||
        !is_near(got.after, want.after) || !is_near(got.max_error, want.max_error) ||
        got.overflowed != want.overflowed)
        fail_msg("of %zu values: %g %g %g %g %g, not %g %g %g %g %g", n, got.error, got.before,
                 got.after, got.max_error, (double)got.overflowed, want.error, want.before,
                 want.after, want.max_error, (double)want.overflowed);
}

static const size_t counts[] = {0, 1, 15, 16, 17, 1024, 4095, 4096, 4097, 8192, MOST};

static void as_defined(void **state)
{
    (void)state;
    static const float sizes[] = {0, 1e-44f, 1e-30f, 1e-13f, 1e-11f, 0.02f, 1, 1e11f, 1e13f, 1e30f};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        fill(sizes[i], sizes[i] * 0.01f);
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
            compare(0, counts[k]);
            compare(1, counts[k]);
        }
    }
}

/* Equal values must have the error 0. A single different value must give an error. */
static void exact(void **state)
{
    (void)state;
    wb__error_stats fidelity = {0};
    fill(1, 0);
    wb__error_stats_measure(&fidelity, before, 0, after, MOST);
    assert_true(fidelity.error == 0 && fidelity.max_error == 0 && fidelity.overflowed == 0);
    for (size_t at = 4000; at < 4200; at += 7) {
        fill(1, 0);
        after[at] = nextafterf(before[at], 2);
        fidelity = (wb__error_stats){0};
        wb__error_stats_measure(&fidelity, before, 0, after, MOST);
        assert_true(fidelity.error > 0 && fidelity.max_error > 0);
    }
}

/* Tests non-finite values at several positions. */
static void not_finite(void **state)
{
    (void)state;
    static const float odd[] = {INFINITY, -INFINITY, NAN};
    for (size_t at = 0; at < 5000; at += 613) {
        for (size_t i = 0; i < 3; i++) {
            for (size_t k = 0; k < 3; k++) {
                fill(1, 0.01f);
                before[at] = odd[i];
                compare(0, MOST);
                after[at + k] = odd[k];
                compare(0, MOST);
                before[at] = 0;
                compare(0, MOST);
            }
        }
    }
}

static void same_bits(void **state)
{
    (void)state;
#if WB__X86
    if (!(wb__cpu_features() & WB__CPU_AVX2))
        skip();
    static const float sizes[] = {1e-40f, 1e-20f, 1, 1e20f};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (size_t n = 0; n <= 4096; n += n < 64 ? 16 : 496) {
            wb__error_lanes plain, fast;
            fill(sizes[i], sizes[i]);
            wb__error_sums_scalar(&plain, before, after, n);
            wb__error_sums_avx2(&fast, before, after, n);
            assert_memory_equal(&plain, &fast, sizeof plain);
        }
    }
#endif
}

static double wide[MOST];

/* Returns a value with the byte order of files. */
static double stored(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    wb__store_le64(&value, bits);
    return value;
}

/* binary64 values must be compared without rounding them to binary32, so that lost digits count as
 * an error, and values out of the range of binary32 as overflow. */
static void of_binary64(void **state)
{
    (void)state;
    for (size_t i = 0; i < MOST; i++) {
        wide[i] = ((double)uniform() + 0x1p-40) * 2 - 1;
        after[i] = (float)wide[i];
    }
    wb__error_stats want = {0}, got = {0};
    for (size_t i = 0; i < MOST; i++)
        wb__error_stats_add_one(&want, wide[i], after[i]);
    wb__error_stats_measure_wide(&got, (const uint8_t *)wide, 1, 0.5, after, 0);
    assert_true(got.error == 0 && got.before == 0);
    for (size_t i = 0; i < MOST; i++)
        wide[i] = stored(wide[i] * 2 - 1);
    wb__error_stats_measure_wide(&got, (const uint8_t *)wide, 1, 0.5, after, MOST);
    assert_true(want.error > 0 && want.error < 1e-9);
    assert_true(is_near(got.error, want.error) && is_near(got.before, want.before) &&
                is_near(got.after, want.after) && is_near(got.max_error, want.max_error));
    static const struct {
        double before;
        float after;
        uint64_t overflowed;
        bool lost;
    } cases[] = {{1e300, INFINITY, 1, false},
                 {-1e300, -INFINITY, 1, false},
                 {1e300, 0, 1, false},
                 {INFINITY, INFINITY, 0, false},
                 {INFINITY, -INFINITY, 1, false},
                 {NAN, NAN, 0, false},
                 {NAN, 0, 1, false},
                 {0, NAN, 1, false},
                 {1e-300, 0, 0, true},
                 {0.5, 0.5f, 0, false},
                 {-0.0, 0, 0, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = stored(cases[i].before);
        got = (wb__error_stats){0};
        wb__error_stats_measure_wide(&got, (const uint8_t *)&value, 0, 1, &cases[i].after, 1);
        assert_int_equal(got.overflowed, cases[i].overflowed);
        assert_true((got.max_error > 0) == cases[i].lost);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_defined), cmocka_unit_test(exact),       cmocka_unit_test(not_finite),
        cmocka_unit_test(same_bits),  cmocka_unit_test(of_binary64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
