/* Tests json/tree.h, which answers queries on a complete JSON text. */
#include "json/tree.h"

#include <math.h>

#include "unit.h"

static char text[4096];

static bool parse(wb__tree *tree, const char *json)
{
    (void)snprintf(text, sizeof text, "%s", json);
    return wb__tree_parse(tree, text, strlen(text), &wb__default_allocator);
}

static void looks_around(void **state)
{
    (void)state;
    wb__tree tree;
    uint64_t u;
    assert_true(parse(&tree, " {\"a\": [1, [2, 3], {}], \"b\\u0000\\n\": {\"c\": \"\\u00e9x\"},"
                             " \"a/b\": 5, \"\": null, \"a\": [7] } "));
    assert_int_equal(wb__tree_count(&tree, 0), 5);
    wb__node a = wb__tree_get(&tree, 0, "a"); /* the last of equal keys counts */
    assert_int_equal(wb__tree_count(&tree, a), 1);
    assert_true(wb__tree_uint(&tree, wb__tree_first(&tree, a), &u));
    assert_int_equal(u, 7);
    wb__node first = wb__tree_first(&tree, 0) + 1;
    assert_int_equal(wb__tree_count(&tree, first), 3);
    wb__node one = wb__tree_first(&tree, first);
    wb__node pair = wb__tree_next(&tree, first, one);
    wb__node empty = wb__tree_next(&tree, first, pair);
    assert_int_equal(wb__tree_type(&tree, empty), WB__JSON_OBJECT);
    assert_int_equal(wb__tree_first(&tree, empty), WB__NO_NODE);
    assert_int_equal(wb__tree_next(&tree, first, empty), WB__NO_NODE);
    wb__node b = wb__tree_next(&tree, 0, first);
    assert_int_equal(wb__tree_string(&tree, b).len, 3);
    assert_memory_equal(wb__tree_string(&tree, b).ptr, "b\0\n", 4);
    assert_string_equal(wb__tree_string(&tree, wb__tree_get(&tree, b + 1, "c")).ptr, "\xC3\xA9x");
    assert_int_equal(wb__tree_path(&tree, 0, "a/b"), WB__NO_NODE);
    assert_int_equal(wb__tree_get(&tree, 0, "none"), WB__NO_NODE);
    assert_int_equal(wb__tree_get(&tree, a, "none"), WB__NO_NODE);
    assert_int_equal(wb__tree_type(&tree, wb__tree_get(&tree, 0, "")), WB__JSON_NULL);
    wb__tree_free(&tree);

    assert_true(parse(&tree, "{\"x\":{\"y\":{\"z\":true}}}"));
    bool flag = false;
    assert_true(wb__tree_bool(&tree, wb__tree_path(&tree, 0, "x/y/z"), &flag));
    assert_true(flag);
    assert_false(wb__tree_bool(&tree, wb__tree_path(&tree, 0, "x/y"), &flag));
    assert_false(wb__tree_bool(&tree, wb__tree_path(&tree, 0, "x/q/z"), &flag));
    wb__tree_free(&tree);
}

static void reads_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        int is_uint, is_int;
        uint64_t u;
        int64_t i;
        double d;
    } cases[] = {
        {"0", 1, 1, 0, 0, 0.0},
        {"-0", 0, 1, 0, 0, -0.0},
        {"-1", 0, 1, 0, -1, -1.0},
        {"18446744073709551615", 1, 0, UINT64_MAX, 0, 18446744073709551616.0},
        {"18446744073709551616", 0, 0, 0, 0, 18446744073709551616.0},
        {"9223372036854775807", 1, 1, INT64_MAX, INT64_MAX, 9223372036854775808.0},
        {"-9223372036854775808", 0, 1, 0, INT64_MIN, -9223372036854775808.0},
        {"-9223372036854775809", 0, 0, 0, 0, -9223372036854775808.0},
        {"-92233720368547758080", 0, 0, 0, 0, -92233720368547758080.0},
        {"1.0", 0, 0, 0, 0, 1.0},
        {"-1e0", 0, 0, 0, 0, -1.0},
        {"1e-05", 0, 0, 0, 0, 1e-05},
        {"Infinity", 0, 0, 0, 0, (double)INFINITY},
        {"-Infinity", 0, 0, 0, 0, -(double)INFINITY},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        wb__tree tree;
        uint64_t u = 0;
        int64_t i = 0;
        double d = 0;
        assert_true(parse(&tree, cases[k].json));
        assert_int_equal(wb__tree_uint(&tree, 0, &u), cases[k].is_uint);
        assert_int_equal(wb__tree_int(&tree, 0, &i), cases[k].is_int);
        assert_true(wb__tree_double(&tree, 0, &d));
        assert_true(u == cases[k].u && i == cases[k].i);
        assert_memory_equal(&d, &cases[k].d, sizeof d);
        wb__tree_free(&tree);
    }
    wb__tree tree;
    double d = 0;
    assert_true(parse(&tree, "[NaN]"));
    assert_true(wb__tree_double(&tree, 1, &d));
    assert_true(d != d);
    wb__tree_free(&tree);
}

static void names_faults(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        wb__json_fault fault;
        uint64_t at;
    } cases[] = {
        {"", WB__JSON_FAULT_ENDS, 0},         {"{\"a\":1", WB__JSON_FAULT_ENDS, 6},
        {"[1] 2", WB__JSON_FAULT_VALUE, 4},   {"[1,]", WB__JSON_FAULT_TRAILING_COMMA, 3},
        {"[Nan]", WB__JSON_FAULT_VALUE, 1},   {"-Infinit", WB__JSON_FAULT_ENDS, 8},
        {"[-NaN]", WB__JSON_FAULT_NUMBER, 1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        wb__tree tree;
        assert_false(parse(&tree, cases[k].json));
        assert_int_equal(tree.fault, cases[k].fault);
        assert_int_equal(tree.fault_at, cases[k].at);
        wb__tree_free(&tree);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(looks_around),
                                       cmocka_unit_test(reads_numbers),
                                       cmocka_unit_test(names_faults)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
