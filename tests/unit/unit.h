/*
 * unit.h: included by every unit test. Includes cmocka if it is available for the compiler and its
 * flags. Otherwise (32-bit builds, MemorySanitizer) defines the few names of cmocka that the tests
 * use, so that every test runs in every build.
 */
#ifndef WB_TESTS_UNIT_H
#define WB_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_CMOCKA
#include <cmocka.h>
#else

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
};

#define unit__check(condition, text)                                                               \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, text);                              \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define assert_true(c) unit__check(c, #c)
#define assert_false(c) unit__check(!(c), "not: " #c)
#define assert_null(p) unit__check((p) == NULL, #p " is NULL")
#define assert_non_null(p) unit__check((p) != NULL, #p " is not NULL")
#define assert_int_equal(a, b) unit__check((uintmax_t)(a) == (uintmax_t)(b), #a " == " #b)
#define assert_int_not_equal(a, b) unit__check((uintmax_t)(a) != (uintmax_t)(b), #a " != " #b)
#define assert_ptr_equal(a, b) unit__check((const void *)(a) == (const void *)(b), #a " == " #b)
#define assert_string_equal(a, b) unit__check(strcmp(a, b) == 0, #a " equals " #b)
#define assert_memory_equal(a, b, n) unit__check(memcmp(a, b, n) == 0, #a " equals " #b)
#define fail_msg(...)                                                                              \
    do {                                                                                           \
        fprintf(stderr, __VA_ARGS__);                                                              \
        unit__check(0, "failed");                                                                  \
    } while (0)
/* Ends a test that cannot run on this machine. */
#define skip()                                                                                     \
    do {                                                                                           \
        fprintf(stderr, "skipped\n");                                                              \
        return;                                                                                    \
    } while (0)
#define cmocka_unit_test(f) {#f, f}
#define cmocka_run_group_tests(tests, setup, teardown)                                             \
    unit__run(tests, sizeof(tests) / sizeof((tests)[0]))

static inline int unit__run(const struct CMUnitTest *tests, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        void *state = NULL;
        fprintf(stderr, "%s\n", tests[i].name);
        tests[i].run(&state);
    }
    return 0;
}

#endif
#endif
