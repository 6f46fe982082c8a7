/*
 * Tests the conversion of decimal numbers to double: selected hard cases, exact ties made with long
 * doubles, and many pseudo-random numbers. The latter two are compared with strtod, which rounds
 * correctly in glibc.
 */
#include "support.h"

#include <float.h>
#include <math.h>

#include "json/json.h"

/* Parses a number and returns the bits of the double; the bits of infinity if the number is out
 * of range. */
static uint64_t bits_of(const char *text)
{
    wb__cursor cursor = wb__cursor_over(text, strlen(text));
    wb__json json;
    wb__json_start(&json, &cursor, &wb__default_allocator);
    wb__json_token token = wb__json_next(&json);
    uint64_t bits =
        json.decimal.negative ? UINT64_C(0xFFF0000000000000) : UINT64_C(0x7FF0000000000000);
    if (token == WB__JSON_UINT || token == WB__JSON_REAL) {
        bits = wb__json_real_bits(&json);
        assert_false(wb__decimal_overflows(&json.decimal));
    } else {
        assert_int_equal(json.fault, WB__JSON_FAULT_RANGE);
        assert_true(wb__json_real_bits(&json) == bits); /* the infinity */
    }
    wb__json_stop(&json);
    return bits;
}

static void check(const char *text)
{
    double expected = strtod(text, NULL);
    uint64_t bits;
    memcpy(&bits, &expected, sizeof bits);
    if (bits_of(text) != bits)
        fail_msg("%s: %016llx, strtod says %016llx\n", text, (unsigned long long)bits_of(text),
                 (unsigned long long)bits);
}

static void by_hand(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bits;
    } rows[] = {
        {"0", 0},
        {"-0", UINT64_C(1) << 63},
        {"-0.0e5", UINT64_C(1) << 63},
        {"1", UINT64_C(0x3FF0000000000000)},
        {"9007199254740993", UINT64_C(0x4340000000000000)}, /* 2^53 + 1: a tie, rounded to even */
        {"9007199254740993.0000000000000000000000000000000001", UINT64_C(0x4340000000000001)},
        {"9007199254740995", UINT64_C(0x4340000000000002)},
        {"2.2250738585072014e-308", UINT64_C(0x0010000000000000)},
        {"2.2250738585072011e-308",
         UINT64_C(0x000FFFFFFFFFFFFF)}, /* caused an endless loop in PHP 5.3 */
        {"2.2250738585072012e-308", UINT64_C(0x0010000000000000)},
        {"4.9406564584124654e-324", 1},
        {"2.4703282292062327e-324", 0},
        {"2.4703282292062328e-324", 1},
        {"1.7976931348623157e308", UINT64_C(0x7FEFFFFFFFFFFFFF)},
        {"1.7976931348623159e308", UINT64_C(0x7FF0000000000000)},
        {"-1e400", UINT64_C(0xFFF0000000000000)},
        {"1e-400", 0},
        {"-1e-400", UINT64_C(1) << 63},
        {"1e23", UINT64_C(0x44B52D02C7E14AF6)}, /* differs from 1 * 10^23 computed in doubles */
        {"8.5e22", UINT64_C(0x44B1FFDBF6B2B2EB)},
        {"0.1", UINT64_C(0x3FB999999999999A)},
        {"0.30000000000000004", UINT64_C(0x3FD3333333333334)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check(rows[i].text);
        if (bits_of(rows[i].text) != rows[i].bits)
            fail_msg("%s: %016llx\n", rows[i].text, (unsigned long long)bits_of(rows[i].text));
    }
}

/* Checks three decimal numbers: the number half way between two adjacent doubles, a slightly larger
 * number, and a slightly smaller number. */
static void check_tie(uint64_t bits)
{
    double low, high;
    uint64_t next = bits + 1;
    char text[1300];
    memcpy(&low, &bits, sizeof low);
    memcpy(&high, &next, sizeof high);
    if (!isfinite(high))
        return;
    long double middle = (long double)low + ((long double)high - (long double)low) / 2;
    int n = snprintf(text, 1200, "%.1100Le", middle);
    char *e = strchr(text, 'e');
    assert_true(n > 0 && n < 1200 && e != NULL);
    char exponent[16];
    (void)snprintf(exponent, sizeof exponent, "%s", e);
    check(text);
    (void)snprintf(e, 40, "1%s", exponent); /* slightly above the middle: one more digit */
    check(text);
    char *last = e; /* slightly smaller: decrements the last digit */
    while (last[-1] == '0')
        last--;
    if (last[-1] != '.') {
        last[-1]--;
        memset(last, '9', (size_t)(e - last));
        check(text);
    }
}

static void ties(void **state)
{
    (void)state;
    uint64_t random = 2;
    /* valgrind computes long doubles as doubles, which are not precise enough for this test */
    if (LDBL_MANT_DIG < 64 || is_slow())
        skip();
    for (int i = 0; i < 1500; i++)
        check_tie(next_random(&random) >> 1);
    for (uint64_t bits = 0; bits < 40; bits++) { /* subnormals and the smallest normal numbers */
        check_tie(bits);
        check_tie((UINT64_C(1) << 52) - 20 + bits);
        check_tie(UINT64_C(0x7FEFFFFFFFFFFFFF) - 1 - bits);
    }
}

static void random_numbers(void **state)
{
    (void)state;
    uint64_t random = 3;
    int count = is_slow() ? 500 : 40000;
    for (int i = 0; i < count; i++) {
        char text[200];
        size_t n = 0;
        unsigned digits = 1 + (unsigned)(next_random(&random) >> 59); /* 1 to 32 digits */
        if (next_random(&random) >> 63)
            text[n++] = '-';
        text[n++] = (char)('1' + (next_random(&random) >> 32) % 9);
        text[n++] = '.';
        for (unsigned k = 0; k < digits; k++)
            text[n++] = (char)('0' + (next_random(&random) >> 32) % 10);
        int range = i % 3 == 0 ? 340 : i % 3 == 1 ? 30 : 3;
        int exponent = (int)(next_random(&random) >> 33) % (2 * range) - range;
        (void)snprintf(text + n, sizeof text - n, "e%d", exponent);
        check(text);
    }
}

/* Every double must be restored from its first 17 significant digits. */
static void doubles(void **state)
{
    (void)state;
    uint64_t random = 4;
    int count = is_slow() ? 500 : 40000;
    for (int i = 0; i < count; i++) {
        uint64_t bits = next_random(&random);
        double value;
        char text[64];
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        (void)snprintf(text, sizeof text, "%.17g", value);
        assert_true(bits_of(text) == bits);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand), cmocka_unit_test(ties),
                                       cmocka_unit_test(random_numbers), cmocka_unit_test(doubles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
