/* Tests the boundary between header and tensor data: the bytes of one must not be taken for bytes
 * of the other. */
#include "core/core.h"

#include "unit.h"
#include "weighbridge.h"

static wb_status open_with(const char *header, uint64_t announced, const char *data,
                           size_t data_len, uint32_t flags, wb_error *error)
{
    static uint8_t file[512];
    size_t n = strlen(header);
    wb_model *model;
    wb_open_options options = {.size = sizeof options, .flags = flags};
    wb__store_le64(file, announced);
    memcpy(file + 8, header, n);
    memcpy(file + 8 + n, data, data_len);
    wb_status status =
        wb_open_memory(file, 8 + n + data_len, "test.safetensors", &options, &model, error);
    if (status == WB_OK) {
        assert_int_equal(wb_tensor_count(model), 1);
        wb_close(model);
    }
    return status;
}

static const char one[] = "{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}";

/* White space, brackets and quotes at the beginning of the tensor data belong to the data. The
 * reader must not take them for a part of the header. */
static void data_is_not_padding(void **state)
{
    (void)state;
    static const char *const data[] = {"\n\xBE\xCE\x3B", " \t\r\n", "}}}}",   "\"\"\"\"",
                                       "{\"b\"",         "    ",    ",\"b\"", "\0\0\0\0"};
    for (size_t i = 0; i < sizeof data / sizeof data[0]; i++) {
        assert_int_equal(open_with(one, strlen(one), data[i], 4, 0, NULL), WB_OK);
        assert_int_equal(open_with(one, strlen(one), data[i], 4, WB_OPEN_COMPATIBLE, NULL), WB_OK);
    }
}

/* A header that is declared too short must not be continued with the bytes behind its end. */
static void header_does_not_go_on(void **state)
{
    (void)state;
    for (size_t cut = 1; cut < strlen(one); cut++) {
        wb_error error;
        assert_int_equal(open_with(one, strlen(one) - cut, "abcd", 4, 0, &error), WB_ERROR_FORMAT);
        assert_string_equal(error.code, "safetensors-json");
        assert_true(error.offset == 8 + strlen(one) - cut);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(data_is_not_padding),
                                       cmocka_unit_test(header_does_not_go_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
