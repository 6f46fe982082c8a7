/* Tests the recovery of the four parameters of Llama 3's RoPE scaling from the frequency factors
 * that they produce. */
#include <math.h>

#include "arch/llama3_rope.h"
#include "unit.h"

#define N 64

static const wb__llama3 published[] = {
    {8, 1, 4, 8192}, {32, 1, 4, 8192}, {16, 1, 4, 8192}, {4, 1, 8, 4096}};

static void finds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        float divisors[N];
        wb__llama3 got = {0};
        const wb__llama3 *want = &published[i];
        wb__llama3_divisors(want, 500000, N, divisors);
        assert_true(divisors[0] == 1 && divisors[N - 1] == (float)want->factor);
        assert_true(wb__llama3_find(divisors, 500000, N, &got));
        assert_true(got.factor == want->factor && got.low == want->low && got.high == want->high &&
                    got.context == want->context);
        /* Factors with the rounding errors of another program must be recognized. A list in which
         * one factor is wrong must not be recognized. */
        for (size_t k = 0; k < N; k++)
            divisors[k] *= k % 2 != 0 && divisors[k] > 1 && k < N - 1 ? 1.000002f : 1;
        assert_true(wb__llama3_find(divisors, 500000, N, &got));
        divisors[N / 2] *= 1.001f;
        assert_false(wb__llama3_find(divisors, 500000, N, &got));
    }
}

static void finds_nothing(void **state)
{
    (void)state;
    float divisors[N];
    wb__llama3 got = {0};
    const wb__llama3 odd = {8, 1.5, 3, 3000};
    wb__llama3_divisors(&odd, 500000, N, divisors);
    assert_false(wb__llama3_find(divisors, 500000, N, &got));
    got.context = 3000;
    assert_false(wb__llama3_find(divisors, 500000, N, &got));
    divisors[3] = (float)NAN;
    assert_false(wb__llama3_find(divisors, 500000, N, &got));
    assert_false(wb__llama3_find(divisors, 500000, 0, &got));
    assert_false(wb__llama3_find(divisors, 0, N, &got));
    assert_false(wb__llama3_find(divisors, (double)NAN, N, &got));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds),
        cmocka_unit_test(finds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
