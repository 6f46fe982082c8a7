/*
 * Tests core/crc32.h. Python computed the expected values: zlib.crc32(bytes(range(256)) * 5).
 */
#include "support.h"

#include "core/crc32.h"

static void test_values(void **state)
{
    wb__crc32 crc32;
    uint8_t bytes[1280];
    (void)state;
    wb__crc32_init(&crc32);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)i;
    assert_int_equal(wb__crc32_add(&crc32, 0, bytes, 0), 0);
    assert_int_equal(wb__crc32_add(&crc32, 0, "123456789", 9), UINT32_C(0xCBF43926));
    assert_int_equal(wb__crc32_add(&crc32, 0, "\xFF\xFF\xFF\xFF", 4), UINT32_C(0xFFFFFFFF));
    assert_int_equal(wb__crc32_add(&crc32, 0, bytes, sizeof bytes), UINT32_C(0x1E7A6D24));
}

/* The checksum must be the same if it is computed in several steps. */
static void test_pieces(void **state)
{
    wb__crc32 crc32;
    uint8_t bytes[100];
    (void)state;
    wb__crc32_init(&crc32);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 37 + 11);
    uint32_t whole = wb__crc32_add(&crc32, 0, bytes, sizeof bytes);
    for (size_t cut = 0; cut <= sizeof bytes; cut++) {
        uint32_t crc = wb__crc32_add(&crc32, 0, bytes, cut);
        assert_int_equal(wb__crc32_add(&crc32, crc, bytes + cut, sizeof bytes - cut), whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
