/*
 * Tests the list of quantization names: the conversion accepts each name, no name occurs twice
 * (upper and lower case count as equal), and the names of all llama.cpp file types and of all
 * accepted dtypes are in the list.
 */
#include "support.h"

#include <strings.h>

#include "weighbridge/experimental.h"

static void names_are_accepted(void **state)
{
    (void)state;
    size_t count = 0;
    for (const char *name; (name = wb_quant_name(count)) != NULL; count++) {
        if (!wb_quant_is_known(name))
            fail_msg("%s is refused\n", name);
        for (size_t i = 0; i < count; i++)
            assert_true(strcasecmp(name, wb_quant_name(i)) != 0);
    }
    assert_true(count > 50);
    assert_null(wb_quant_name(SIZE_MAX));
}

static void file_types_are_listed(void **state)
{
    (void)state;
    assert_string_equal(wb_file_type_name(15), "Q4_K_M");
    assert_null(wb_file_type_name(4));
    assert_null(wb_file_type_name(UINT64_MAX));
    for (uint64_t number = 0; number < 100; number++) {
        const char *wanted = wb_file_type_name(number);
        const char *name;
        size_t i = 0;
        while (wanted != NULL && (name = wb_quant_name(i)) != NULL && strcmp(name, wanted) != 0)
            i++;
        assert_true(wanted == NULL || wb_quant_name(i) != NULL);
    }
}

static void dtypes_are_listed(void **state)
{
    (void)state;
    assert_true(wb_quant_is_known("F64") && wb_quant_is_known("F8_E4M3"));
    for (int32_t id = 0; id < 256; id++) {
        const char *wanted = wb_dtype_name(id);
        const char *name;
        size_t i = 0;
        if (wanted == NULL || !wb_quant_is_known(wanted))
            continue;
        while ((name = wb_quant_name(i)) != NULL && strcasecmp(name, wanted) != 0)
            i++;
        if (name == NULL)
            fail_msg("%s is not listed\n", wanted);
    }
}

static void unknown_names_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"", "Q4_KM", "affine7:64", "mixed_2_5", "I32", "Q4_K_M "};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_false(wb_quant_is_known(names[i]));
    assert_true(wb_quant_is_known("q4_k_m"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_accepted),
        cmocka_unit_test(file_types_are_listed),
        cmocka_unit_test(dtypes_are_listed),
        cmocka_unit_test(unknown_names_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
