/*
 * Tests inflate/inflate.h. Python's zlib compressed the test data from the bytes (i * i >> 3) &
 * 0x3F for i < 600.
 */
#include "support.h"

#include "inflate/inflate.h"

#define BYTES 600

static const uint8_t packed[] = {
    0xED, 0xCF, 0x61, 0x82, 0x41, 0x21, 0x14, 0x40, 0xE1, 0x24, 0xE3, 0xE2, 0x21, 0x09, 0x21, 0x5C,
    0x09, 0x21, 0x24, 0x0F, 0xE1, 0x61, 0xFF, 0xBB, 0x9A, 0x99, 0x45, 0xCC, 0xBF, 0x39, 0x67, 0x05,
    0x1F, 0x21, 0xA4, 0x44, 0xCB, 0xEC, 0x0B, 0xEA, 0x59, 0x5B, 0xF4, 0x94, 0x46, 0xEB, 0xF6, 0xF1,
    0x56, 0x50, 0x68, 0xC9, 0xB1, 0xD9, 0x84, 0x44, 0x80, 0x0F, 0xCD, 0x2E, 0x7F, 0x83, 0xD0, 0xEB,
    0xF8, 0x02, 0x89, 0x3E, 0x55, 0xC4, 0xCC, 0x3F, 0xA0, 0x6F, 0xCF, 0xB4, 0x83, 0x81, 0x70, 0x3C,
    0xD1, 0xAE, 0xBD, 0xC2, 0xC8, 0x7F, 0xC4, 0x32, 0x65, 0x98, 0xC3, 0x24, 0x56, 0x75, 0x84, 0x69,
    0xDE, 0x30, 0x77, 0xEE, 0x88, 0x0A, 0x35, 0xF3, 0x94, 0x07, 0x30, 0xC5, 0x20, 0x36, 0x1D, 0xC3,
    0x42, 0x5D, 0xC4, 0x31, 0xDB, 0xC2, 0x8A, 0x2D, 0xE8, 0x9C, 0xE0, 0xCF, 0x73, 0xBA, 0x60, 0x2B,
    0xD8, 0x66, 0x47, 0x71, 0x51, 0x05, 0x32, 0xD7, 0x8C, 0x83, 0xC2, 0xC0, 0x41, 0x3E, 0x4D, 0x2D,
    0x28, 0xE2, 0xF8, 0xDD, 0x34, 0xF2, 0x29, 0x44, 0x5D, 0x8D, 0x13, 0xC8, 0x31, 0x4B, 0x4B, 0xF1,
    0xF1, 0x23, 0xB8, 0xDA, 0x2E, 0x3D, 0x21, 0x27, 0x01, 0x3B, 0xF4, 0x6C, 0xFB, 0xF0, 0xF0, 0x33,
    0x51, 0x49, 0x1E, 0x25, 0xBC, 0xE2, 0x5A, 0x0B, 0x78, 0xE7, 0x3B, 0x33, 0xE4, 0x40, 0x52, 0xD8,
    0x98, 0xB1, 0x6C, 0x01, 0x2D, 0x6E, 0x71, 0xEF, 0x2C, 0x6A, 0xD5, 0x13, 0xED, 0xAC, 0x0E, 0x5F,
    0xAC, 0x4C, 0x4B, 0xE4, 0xB7, 0x7F, 0xFF, 0x1F, 0xF8, 0xBF, 0x01,
};

/* Returns a new inflater, or NULL if zlib is not installed. */
static wb__inflater *make(wb__context *context, counter *heap, wb_error *error)
{
    wb__inflater *inflater;
    *context = (wb__context){.allocator = counter_allocator(heap), .file = "", .error = error};
    wb_status status = wb__inflater_new(context, &inflater);
    assert_true(status == WB_OK ? inflater != NULL : inflater == NULL);
    if (status == WB_ERROR_UNSUPPORTED)
        assert_string_equal(error->code, "no-zlib");
    else
        assert_int_equal(status, WB_OK);
    return inflater;
}

static void check(const uint8_t *out)
{
    for (size_t i = 0; i < BYTES; i++)
        assert_int_equal(out[i], (i * i >> 3) & 0x3F);
}

static void test_pieces(void **state)
{
    counter heap = {0};
    wb_error error;
    wb__context context;
    (void)state;
    wb__inflater *inflater = make(&context, &heap, &error);
    if (inflater == NULL) {
        skip();
    }
    for (size_t piece = 1; piece < sizeof packed; piece += 7) {
        uint8_t out[BYTES + 1];
        wb__inflate_step step = {.in = packed, .out = out};
        wb__inflated result = WB__INFLATED_MORE;
        wb__inflater_start(inflater);
        while (result == WB__INFLATED_MORE) {
            size_t left = (size_t)(packed + sizeof packed - step.in);
            size_t room = (size_t)(out + sizeof out - step.out);
            step.in_bytes = left < piece ? left : piece;
            step.out_bytes = room < 3 * piece ? room : 3 * piece;
            result = wb__inflater_run(inflater, &step);
        }
        assert_int_equal(result, WB__INFLATED_END);
        assert_int_equal(step.out - out, BYTES);
        assert_int_equal(step.in - packed, sizeof packed);
        check(out);
    }
    wb__inflater_free(inflater);
    assert_clean(&heap);
}

static void test_broken(void **state)
{
    counter heap = {0};
    wb_error error;
    wb__context context;
    uint8_t out[BYTES];
    static const uint8_t reserved[] = {0x07, 0, 0, 0, 0}; /* block type 3 */
    (void)state;
    wb__inflater *inflater = make(&context, &heap, &error);
    if (inflater == NULL) {
        skip();
    }
    wb__inflate_step step = {reserved, sizeof reserved, out, sizeof out};
    assert_int_equal(wb__inflater_run(inflater, &step), WB__INFLATED_BROKEN);
    /* After an error, a new stream must be readable. */
    wb__inflater_start(inflater);
    step = (wb__inflate_step){packed, sizeof packed - 1, out, sizeof out};
    wb__inflated result = wb__inflater_run(inflater, &step);
    assert_true(result == WB__INFLATED_MORE || result == WB__INFLATED_END);
    wb__inflater_start(inflater);
    step = (wb__inflate_step){packed, sizeof packed, out, sizeof out};
    assert_int_equal(wb__inflater_run(inflater, &step), WB__INFLATED_END);
    check(out);
    wb__inflater_free(inflater);
    assert_clean(&heap);
}

static void test_memory(void **state)
{
    (void)state;
    for (size_t fail_at = 1; fail_at < 10; fail_at++) {
        counter heap = {.fail_at = fail_at};
        wb_error error;
        uint8_t out[BYTES];
        wb__inflater *inflater;
        wb__context context = {.allocator = counter_allocator(&heap), .file = "", .error = &error};
        wb_status status = wb__inflater_new(&context, &inflater);
        if (status == WB_ERROR_UNSUPPORTED) {
            skip();
        }
        if (status == WB_OK) {
            wb__inflate_step step = {packed, sizeof packed, out, sizeof out};
            wb__inflated result = wb__inflater_run(inflater, &step);
            assert_true(result == (heap.failed ? WB__INFLATED_NO_MEMORY : WB__INFLATED_END));
        } else {
            assert_int_equal(status, WB_ERROR_MEMORY);
        }
        wb__inflater_free(inflater);
        assert_clean(&heap);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_broken),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
