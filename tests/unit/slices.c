/*
 * Tests slices. The expressions of data/slices/slices.tsv must select the same elements as in
 * NumPy. Further tests: parts of a selection, slices that are given as numbers instead of text,
 * sub-byte elements, and long tensors.
 */
#include "support.h"

static wb_model *model_of(unsigned char **bytes, const char *dtype, const char *shape, size_t data,
                          wb_access access)
{
    wb_open_options options = {.size = sizeof options, .access = access};
    wb_model *model;
    size_t n;
    char *header = text_of("{\"t\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[0,%zu]}}",
                           dtype, shape, data);
    *bytes = st_bytes(header, strlen(header), data, &n);
    assert_int_equal(wb_open_memory(*bytes, n, "m", &options, &model, NULL), WB_OK);
    free(header);
    return model;
}

static uint64_t hash_indices(const uint32_t *indices, uint64_t n)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (uint64_t i = 0; i < n; i++) {
        for (int b = 0; b < 8; b++)
            hash = (hash ^ ((uint64_t)indices[i] >> 8 * b & 0xFF)) * UINT64_C(0x100000001B3);
    }
    return hash;
}

/* Parses dimensions such as "2x3"; "-" means none. Returns their number. */
static uint32_t parse_shape(const char *text, uint64_t *shape)
{
    uint32_t rank = 0;
    if (strcmp(text, "-") == 0)
        return 0;
    for (char *end; *text != '\0'; text = *end == 'x' ? end + 1 : end)
        shape[rank++] = strtoull(text, &end, 10);
    return rank;
}

static void check_row(const char *shape_text, const char *text, const char *result, uint64_t hash)
{
    uint64_t shape[8], expected[8], elements = 1;
    wb_axis axes[8];
    uint32_t indices[1000];
    char list[200] = "";
    wb_error error;
    uint32_t rank = parse_shape(shape_text, shape);
    for (uint32_t i = 0; i < rank; i++) {
        elements *= shape[i];
        (void)snprintf(list + strlen(list), sizeof list - strlen(list), "%s%llu", i > 0 ? "," : "",
                       (unsigned long long)shape[i]);
    }
    wb_status status = wb_slice_parse(text, SIZE_MAX, shape, rank, axes, &error);
    if ((strcmp(result, "error") == 0) != (status != WB_OK))
        fail_msg("[%s] of %s: %s\n", text, shape_text,
                 status == WB_OK ? "accepted" : error.message);
    if (status != WB_OK) {
        assert_int_equal(status, WB_ERROR_ARGUMENT);
        return;
    }

    uint32_t expected_rank = parse_shape(result, expected), left = 0;
    for (uint32_t i = 0; i < rank; i++) {
        if (axes[i].drop) {
            assert_int_equal(axes[i].count, 1);
            continue;
        }
        if (left >= expected_rank || axes[i].count != expected[left])
            fail_msg("[%s] of %s: shape of the result\n", text, shape_text);
        left++;
    }
    assert_int_equal(left, expected_rank);

    unsigned char *bytes;
    wb_model *model = model_of(&bytes, "I32", list, (size_t)elements * 4, WB_ACCESS_READ);
    unsigned char *data = bytes + 8 + bytes[0];
    assert_int_equal(bytes[1], 0);
    for (uint64_t i = 0; i < elements; i++) {
        memset(data + 4 * i, 0, 4);
        data[4 * i] = (unsigned char)i;
        data[4 * i + 1] = (unsigned char)(i >> 8);
    }
    uint64_t count, size;
    wb_slice slice = {.size = sizeof slice, .rank = rank, .axes = axes, .count = UINT64_MAX};
    assert_int_equal(wb_tensor_read_size(model, 0, &slice, -1, &count, &size, &error), WB_OK);
    assert_int_equal(size, count * 4);
    assert_int_equal(wb_tensor_read(model, 0, &slice, -1, indices, sizeof indices, &error), WB_OK);
    if (hash_indices(indices, count) != hash)
        fail_msg("[%s] of %s: elements\n", text, shape_text);

    /* Any part of the selection must equal the same part of the complete result. */
    uint32_t part[1000];
    for (uint64_t first = 0; first <= count; first += 1 + count / 5) {
        for (uint64_t n = 0; n <= count; n += 1 + count / 3) {
            uint64_t expected_n = n < count - first ? n : count - first;
            slice.first = first;
            slice.count = n;
            assert_int_equal(wb_tensor_read(model, 0, &slice, -1, part, sizeof part, NULL), WB_OK);
            if (memcmp(part, indices + first, (size_t)expected_n * 4) != 0)
                fail_msg("[%s] of %s: %llu from %llu\n", text, shape_text, (unsigned long long)n,
                         (unsigned long long)first);
        }
    }
    wb_close(model);
    free(bytes);
}

static void as_numpy_does(void **state)
{
    (void)state;
    size_t n, rows = 0;
    unsigned char *table = read_file(TEST_DATA "/slices/slices.tsv", &n);
    for (char *line = (char *)table; *line != '\0'; rows++) {
        char *cells[4];
        for (int i = 0; i < 4; i++) {
            cells[i] = line;
            line += strcspn(line, "\t\n");
            *line++ = '\0';
        }
        if (!is_slow() || rows % 10 == 0)
            check_row(cells[0], cells[1], cells[2], strtoull(cells[3], NULL, 16));
    }
    assert_true(rows > 1000);
    free(table);
}

static void given_as_numbers(void **state)
{
    (void)state;
    unsigned char *bytes, out[24];
    uint64_t elements, size;
    wb_error error;
    wb_model *model = model_of(&bytes, "U8", "2,3,4", 24, WB_ACCESS_MAP);
    wb_axis axes[3] = {{.start = 1, .count = 1}, /* a single index needs no step */
                       {.start = 2, .count = 2, .step = -2},
                       {.start = 0, .count = 4, .step = 1}};
    wb_slice slice = {.size = sizeof slice, .rank = 3, .axes = axes, .count = UINT64_MAX};
    static const unsigned char expected[] = {20, 21, 22, 23, 12, 13, 14, 15};
    assert_int_equal(wb_tensor_read(model, 0, &slice, -1, out, sizeof out, NULL), WB_OK);
    assert_memory_equal(out, expected, 8);

    static const wb_axis bad[] = {
        {.start = 3, .count = 1, .step = 1},
        {.start = 0, .count = 4, .step = 1},
        {.start = 0, .count = 2, .step = 0},
        {.start = 0, .count = 2, .step = -1},
        {.start = 0, .count = 2, .step = 3},
        {.start = 2, .count = 2, .step = -3},
        {.start = 0, .count = 2, .step = INT64_MIN},
        {.start = 0, .count = 2, .step = INT64_MAX},
        {.start = UINT64_MAX, .count = 1, .step = 1},
        {.start = 0, .count = UINT64_MAX, .step = 1},
        {.start = 1, .count = UINT64_MAX / 2 + 2, .step = 2},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        axes[1] = bad[i];
        memset(out, 7, sizeof out);
        assert_int_equal(wb_tensor_read(model, 0, &slice, -1, out, sizeof out, &error),
                         WB_ERROR_ARGUMENT);
        assert_int_equal(out[0], 0); /* a call that fails must clear its output */
        assert_int_equal(wb_tensor_read_size(model, 0, &slice, -1, &elements, &size, NULL),
                         WB_ERROR_ARGUMENT);
        assert_int_equal(elements, 0);
    }
    axes[1] = (wb_axis){
        .start = UINT64_MAX, .count = 0, .step = 0}; /* an empty selection may have any start */
    assert_int_equal(wb_tensor_read_size(model, 0, &slice, -1, &elements, &size, NULL), WB_OK);
    assert_int_equal(size, 0);
    slice.rank = 2;
    assert_int_equal(wb_tensor_read(model, 0, &slice, -1, out, sizeof out, NULL),
                     WB_ERROR_ARGUMENT);
    slice.rank = 0; /* the complete tensor */
    slice.first = 20;
    assert_int_equal(wb_tensor_read(model, 0, &slice, -1, out, 4, NULL), WB_OK);
    assert_memory_equal(out, "\x14\x15\x16\x17", 4);
    slice.first = 25;
    assert_int_equal(wb_tensor_read(model, 0, &slice, -1, out, sizeof out, NULL),
                     WB_ERROR_ARGUMENT);
    slice.size = 1;
    assert_int_equal(wb_tensor_read(model, 0, &slice, -1, out, sizeof out, NULL),
                     WB_ERROR_ARGUMENT);
    assert_int_equal(wb_tensor_read(model, 0, NULL, -1, out, 23, &error), WB_ERROR_ARGUMENT);
    assert_int_equal(wb_tensor_read(model, 1, NULL, -1, out, 24, &error), WB_ERROR_NOT_FOUND);
    assert_int_equal(wb_tensor_read(model, 0, NULL, 127, out, 24, &error), WB_ERROR_ARGUMENT);
    wb_close(model);
    free(bytes);
}

/* Tests 4-bit and 6-bit elements. Selections that would split a byte must be refused with a reason.
 * Others must give the right elements. */
static void of_less_than_a_byte(void **state)
{
    (void)state;
    static const struct {
        const char *dtype;
        unsigned bits;
    } types[] = {{"F4", 4}, {"F6_E2M3", 6}};
    for (size_t t = 0; t < 2; t++) {
        unsigned bits = types[t].bits;
        unsigned char *bytes, all[4 * 24], out[4 * 24], packed[24];
        wb_model *model = model_of(&bytes, types[t].dtype, "3,8", 24 * bits / 8, WB_ACCESS_MAP);
        size_t accepted = 0, refused = 0;
        assert_int_equal(wb_tensor_read(model, 0, NULL, WB_DTYPE_F32, all, sizeof all, NULL),
                         WB_OK);
        for (uint64_t start = 0; start < 8; start++) {
            for (uint64_t count = 1; count <= 8 - start; count++) {
                wb_axis axes[2] = {{.start = 2, .count = 3, .step = -1},
                                   {.start = start, .count = count, .step = 1}};
                wb_slice slice = {
                    .size = sizeof slice, .rank = 2, .axes = axes, .count = UINT64_MAX};
                wb_error error;
                bool whole = start * bits % 8 == 0 && count * bits % 8 == 0;
                wb_status status =
                    wb_tensor_read(model, 0, &slice, WB_DTYPE_F32, out, sizeof out, &error);
                assert_int_equal(status, whole ? WB_OK : WB_ERROR_UNSUPPORTED);
                if (!whole) {
                    assert_non_null(strstr(error.message, "at byte boundaries"));
                    refused++;
                    continue;
                }
                accepted++;
                for (uint64_t row = 0; row < 3; row++)
                    assert_memory_equal(out + 4 * row * count, all + 4 * ((2 - row) * 8 + start),
                                        (size_t)count * 4);
                assert_int_equal(wb_tensor_read(model, 0, &slice, -1, packed, sizeof packed, NULL),
                                 WB_OK);
                for (uint64_t row = 0; row < 3; row++)
                    assert_memory_equal(packed + row * count * bits / 8,
                                        bytes + 8 + bytes[0] + ((2 - row) * 8 + start) * bits / 8,
                                        (size_t)count * bits / 8);
            }
        }
        assert_true(accepted > 0 && refused > 0);
        wb_close(model);
        free(bytes);
    }
}

/* Reads a tensor that is larger than the read buffers: forwards, backwards and with large steps. */
static void of_long_tensors(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "...",      "::-1",       ":, 1000:",       ":, ::-1", ":, ::997", "::-3, 5:40001:7",
        "3:11, -1", "::5, 17:18", "11::-1, ::-4096"};
    static const uint64_t shape[2] = {12, 50000};
    unsigned char *bytes;
    wb_model *model = model_of(&bytes, "U16", "12,50000", 1200000, WB_ACCESS_READ);
    const unsigned char *data = bytes + 8 + bytes[0];
    uint16_t *out = malloc(1200000);
    assert_non_null(out);
    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++) {
        wb_axis axes[2];
        uint64_t elements, size, at = 0;
        assert_int_equal(wb_slice_parse(texts[t], SIZE_MAX, shape, 2, axes, NULL), WB_OK);
        wb_slice slice = {.size = sizeof slice, .rank = 2, .axes = axes, .count = UINT64_MAX};
        assert_int_equal(wb_tensor_read_size(model, 0, &slice, -1, &elements, &size, NULL), WB_OK);
        assert_int_equal(wb_tensor_read(model, 0, &slice, -1, out, size, NULL), WB_OK);
        for (uint64_t i = 0; i < axes[0].count; i++) {
            for (uint64_t k = 0; k < axes[1].count; k++) {
                uint64_t row = axes[0].start + i * (uint64_t)axes[0].step;
                uint64_t column = axes[1].start + k * (uint64_t)axes[1].step;
                if (memcmp(&out[at++], data + 2 * (row * 50000 + column), 2) != 0)
                    fail_msg("%s: element %llu, %llu\n", texts[t], (unsigned long long)i,
                             (unsigned long long)k);
            }
        }
        assert_true(at == elements);
    }
    free(out);
    wb_close(model);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_numpy_does), cmocka_unit_test(given_as_numbers),
        cmocka_unit_test(of_less_than_a_byte), cmocka_unit_test(of_long_tensors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
