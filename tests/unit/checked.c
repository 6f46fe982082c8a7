/* Tests the arithmetic of core/checked.h at the limits of its integer types. */
#include "core/checked.h"

#include "unit.h"

static void adds(void **state)
{
    (void)state;
    uint64_t sum = 7;
    assert_true(wb__add(UINT64_MAX - 1, 1, &sum));
    assert_true(sum == UINT64_MAX);
    assert_false(wb__add(UINT64_MAX, 1, &sum));
    assert_true(sum == UINT64_MAX);
}

static void multiplies(void **state)
{
    (void)state;
    uint64_t product = 7;
    assert_true(wb__mul(0, UINT64_MAX, &product));
    assert_true(product == 0);
    assert_true(wb__mul(UINT64_C(1) << 32, (UINT64_C(1) << 32) - 1, &product));
    assert_true(product == UINT64_MAX - (UINT64_C(1) << 32) + 1);
    assert_false(wb__mul(UINT64_C(1) << 32, UINT64_C(1) << 32, &product));
    assert_false(wb__mul(UINT64_MAX, 2, &product));
}

static void aligns(void **state)
{
    (void)state;
    uint64_t aligned = 7;
    assert_true(wb__align_up(0, 32, &aligned));
    assert_true(aligned == 0);
    assert_true(wb__align_up(33, 32, &aligned));
    assert_true(aligned == 64);
    assert_true(wb__align_up(UINT64_MAX - 1, 3, &aligned));
    assert_true(aligned == UINT64_MAX);
    assert_false(wb__align_up(UINT64_MAX, 32, &aligned));
}

static void ranges(void **state)
{
    (void)state;
    assert_true(wb__in_range(0, 0, 0));
    assert_true(wb__in_range(8, 0, 8));
    assert_false(wb__in_range(9, 0, 8));
    assert_false(wb__in_range(1, UINT64_MAX, 8));
    assert_false(wb__in_range(UINT64_MAX, 1, UINT64_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(adds), cmocka_unit_test(multiplies),
                                       cmocka_unit_test(aligns), cmocka_unit_test(ranges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
