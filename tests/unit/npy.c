/*
 * Tests .npy and .npz files that NumPy wrote (tests/tools/make_npy.py): values, slices, access
 * without a copy, limits, and a model directory with an .npz file.
 */
#include "support.h"

#include <pthread.h>

#define FOLDER TEST_DATA "/npy"

/* Returns element i, in row-major order, of every array. make_npy.py uses the same formula. */
static double value_of(wb_dtype dtype, uint64_t i)
{
    uint64_t v = (i * 7 + 3) % 100;
    switch (dtype) {
    case WB_DTYPE_BOOL: return (double)(i % 2);
    case WB_DTYPE_F16:
    case WB_DTYPE_BF16:
    case WB_DTYPE_F32:
    case WB_DTYPE_F64: return (double)v / 4;
    default: return (double)v;
    }
}

static void check_complex(const wb_model *model, uint64_t index)
{
    float values[120];
    assert_int_equal(wb_tensor_read(model, index, NULL, -1, values, sizeof values, NULL), WB_OK);
    for (uint64_t i = 0; i < 60; i++) {
        float expected = (float)value_of(WB_DTYPE_F32, i);
        assert_true(values[2 * i] == expected && values[2 * i + 1] == -expected);
    }
}

static void check_values(const wb_model *model, uint64_t index, const wb_tensor *tensor)
{
    double values[60];
    assert_true(tensor->elements <= 60);
    assert_int_equal(wb_tensor_read(model, index, NULL, WB_DTYPE_F64, values, sizeof values, NULL),
                     WB_OK);
    for (uint64_t i = 0; i < tensor->elements; i++)
        assert_true(values[i] == value_of(tensor->dtype, i));
}

/* Reads slices of a [3, 4, 5] tensor, some of them backwards, and checks the values. */
static void check_slices(const wb_model *model, uint64_t index, const wb_tensor *tensor)
{
    static const char *const texts[] = {"1:, ::2, 3", "::-1, :, ::-2", "2, 1:3", "-1, -1, -1"};
    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++) {
        wb_axis axes[3];
        double values[60];
        wb_slice slice = {.size = sizeof slice, .rank = 3, .axes = axes, .count = UINT64_MAX};
        size_t n = 0;
        assert_int_equal(wb_slice_parse(texts[t], SIZE_MAX, tensor->shape, 3, axes, NULL), WB_OK);
        assert_int_equal(
            wb_tensor_read(model, index, &slice, WB_DTYPE_F64, values, sizeof values, NULL), WB_OK);
        for (uint64_t i = 0; i < axes[0].count; i++) {
            for (uint64_t j = 0; j < axes[1].count; j++) {
                for (uint64_t k = 0; k < axes[2].count; k++) {
                    uint64_t place = (axes[0].start + i * (uint64_t)axes[0].step) * 20 +
                                     (axes[1].start + j * (uint64_t)axes[1].step) * 5 +
                                     axes[2].start + k * (uint64_t)axes[2].step;
                    assert_true(values[n++] == value_of(tensor->dtype, place));
                }
            }
        }
    }
}

/* Data must be accessible without a copy if and only if the stored bytes are those that
 * wb_tensor_read delivers. */
static void check_data(const wb_model *model, uint64_t index, const wb_tensor *tensor)
{
    const void *bytes;
    uint8_t copy[480];
    wb_error error;
    wb_status status = wb_tensor_data(model, index, &bytes, &error);
    assert_int_equal(status, tensor->storing == 0 ? WB_OK : WB_ERROR_UNSUPPORTED);
    assert_int_equal(wb_tensor_read(model, index, NULL, -1, copy, sizeof copy, NULL), WB_OK);
    if (status == WB_OK)
        assert_memory_equal(bytes, copy, (size_t)tensor->bytes);
    else
        assert_true(bytes == NULL && strcmp(error.code, "unsupported") == 0);
}

static bool ends_with(const wb_tensor *tensor, const char *end)
{
    size_t n = strlen(end);
    return tensor->name_len > n && strcmp(tensor->name + tensor->name_len - n, end) == 0;
}

static uint32_t expected_storing(const wb_tensor *tensor, bool deflated)
{
    uint32_t storing = deflated ? WB_STORED_DEFLATED : 0;
    if (ends_with(tensor, ".columns") || ends_with(tensor, ".both"))
        storing |= WB_STORED_COLUMNS;
    if (ends_with(tensor, ".swapped") || ends_with(tensor, ".both"))
        storing |= WB_STORED_BIG_ENDIAN;
    return storing;
}

static void check_archive(const char *path, wb_access access, bool deflated)
{
    wb_open_options options = {.size = sizeof options, .access = access};
    wb_model *model;
    wb_error error;
    wb_status status = wb_open(path, &options, &model, &error);
    if (status == WB_ERROR_UNSUPPORTED && strcmp(error.code, "no-zlib") == 0)
        return;
    assert_int_equal(status, WB_OK);
    assert_string_equal(wb_format(model), "npz");
    assert_int_equal(wb_tensor_count(model), 52 - 2);
    for (uint64_t i = 0; i < wb_tensor_count(model); i++) {
        wb_tensor tensor = {.size = sizeof tensor};
        assert_int_equal(wb_tensor_at(model, i, &tensor, NULL), WB_OK);
        assert_int_equal(tensor.storing, expected_storing(&tensor, deflated));
        if (tensor.dtype == WB_DTYPE_C64)
            check_complex(model, i);
        else
            check_values(model, i, &tensor);
        if (tensor.elements == 60 && tensor.dtype != WB_DTYPE_C64)
            check_slices(model, i, &tensor);
        if (access == WB_ACCESS_MAP)
            check_data(model, i, &tensor);
    }
    uint64_t index;
    assert_int_equal(wb_tensor_find(model, "deep/name.weight", SIZE_MAX, &index), WB_OK);
    wb_close(model);
}

static void test_archives(void **state)
{
    (void)state;
    check_archive(FOLDER "/stored.npz", WB_ACCESS_MAP, false);
    check_archive(FOLDER "/stored.npz", WB_ACCESS_READ, false);
    check_archive(FOLDER "/deflated.npz", WB_ACCESS_MAP, true);
    check_archive(FOLDER "/deflated.npz", WB_ACCESS_READ, true);
}

static void test_arrays(void **state)
{
    static const struct {
        const char *path;
        wb_dtype dtype;
        uint32_t storing;
        uint32_t rank;
    } arrays[] = {
        {FOLDER "/f4.npy", WB_DTYPE_F32, 0, 3},
        {FOLDER "/f4.columns.npy", WB_DTYPE_F32, WB_STORED_COLUMNS, 3},
        {FOLDER "/f4.swapped.npy", WB_DTYPE_F32, WB_STORED_BIG_ENDIAN, 3},
        {FOLDER "/i8.both.npy", WB_DTYPE_I64, WB_STORED_BIG_ENDIAN | WB_STORED_COLUMNS, 3},
        {FOLDER "/b1.npy", WB_DTYPE_BOOL, 0, 3},
        {FOLDER "/bf16.npy", WB_DTYPE_BF16, 0, 3},
        {FOLDER "/scalar.npy", WB_DTYPE_F32, 0, 0},
        {FOLDER "/empty.npy", WB_DTYPE_F32, 0, 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        wb_model *model;
        wb_tensor tensor = {.size = sizeof tensor};
        wb_file file = {.size = sizeof file};
        assert_int_equal(wb_open(arrays[i].path, NULL, &model, NULL), WB_OK);
        assert_string_equal(wb_format(model), "npy");
        assert_int_equal(wb_tensor_count(model), 1);
        assert_int_equal(wb_tensor_at(model, 0, &tensor, NULL), WB_OK);
        assert_int_equal(wb_file_at(model, 0, &file, NULL), WB_OK);
        assert_string_equal(tensor.name, "array");
        assert_int_equal(tensor.dtype, arrays[i].dtype);
        assert_int_equal(tensor.storing, arrays[i].storing);
        assert_int_equal(tensor.rank, arrays[i].rank);
        assert_int_equal(file.big_endian, (arrays[i].storing & WB_STORED_BIG_ENDIAN) != 0);
        assert_int_equal(file.version, 1);
        assert_int_equal(file.data_offset, 128);
        check_values(model, 0, &tensor);
        check_data(model, 0, &tensor);
        wb_close(model);
    }
}

/* Reads a compressed tensor that is larger than the decode cache: completely, backwards, and with
 * large steps. */
static void test_large(void **state)
{
    (void)state;
    const uint64_t rows = 700, columns = 301, bytes = rows * columns * 4;
    const char *path = TEST_DATA "/npy/large.npz";
    wb_model *model;
    wb_error error;
    wb_status status = wb_open(path, NULL, &model, &error);
    if (status == WB_ERROR_UNSUPPORTED && strcmp(error.code, "no-zlib") == 0) {
        skip();
    }
    assert_int_equal(status, WB_OK);
    uint32_t *whole = malloc((size_t)bytes), *part = malloc((size_t)bytes);
    assert_true(whole != NULL && part != NULL);
    assert_int_equal(wb_tensor_read(model, 0, NULL, -1, whole, bytes, NULL), WB_OK);
    for (uint64_t i = 0; i < rows * columns; i++)
        assert_int_equal(whole[i], (uint32_t)(i / 99));
    static const wb_axis axes[3][2] = {
        {{699, 700, -1, 0, 0}, {300, 301, -1, 0, 0}},
        {{3, 232, 3, 0, 0}, {1, 299, 1, 0, 0}},
        {{690, 3, -300, 0, 0}, {5, 100, 2, 0, 0}},
    };
    for (size_t k = 0; k < 3; k++) {
        wb_slice slice = {.size = sizeof slice, .rank = 2, .axes = axes[k], .count = UINT64_MAX};
        assert_int_equal(wb_tensor_read(model, 0, &slice, -1, part, bytes, NULL), WB_OK);
        for (uint64_t i = 0; i < axes[k][0].count; i++) {
            for (uint64_t j = 0; j < axes[k][1].count; j++) {
                uint64_t row = axes[k][0].start + i * (uint64_t)axes[k][0].step;
                uint64_t column = axes[k][1].start + j * (uint64_t)axes[k][1].step;
                assert_int_equal(part[i * axes[k][1].count + j],
                                 (uint32_t)((row * columns + column) / 99));
            }
        }
    }
    free(whole);
    free(part);
    wb_close(model);
}

/* ---- reading in pieces, from several threads ---- */

typedef struct job {
    const wb_model *model;
    uint64_t elements;
    uint32_t divisor; /* element i of the tensor is i / divisor */
    uint64_t piece;
    bool good;
} job;

/* Reads the tensor in pieces, then the first piece again. */
static void *read_pieces(void *ctx)
{
    job *j = ctx;
    uint32_t *to = malloc((size_t)j->piece * sizeof *to);
    j->good = to != NULL;
    for (uint64_t first = 0; j->good && first <= j->elements; first += j->piece) {
        uint64_t from = first < j->elements ? first : 0;
        uint64_t n = j->elements - from < j->piece ? j->elements - from : j->piece;
        wb_slice slice = {.size = sizeof slice, .first = from, .count = n};
        j->good = wb_tensor_read(j->model, 0, &slice, -1, to, n * sizeof *to, NULL) == WB_OK;
        for (uint64_t i = 0; i < n && j->good; i++)
            j->good = to[i] == (uint32_t)((from + i) / j->divisor);
    }
    free(to);
    return NULL;
}

static void check_pieces(const char *path, uint64_t elements, uint32_t divisor, uint64_t piece)
{
    wb_model *model;
    wb_error error;
    pthread_t threads[4];
    job jobs[4];
    wb_status status = wb_open(path, NULL, &model, &error);
    if (status == WB_ERROR_UNSUPPORTED && strcmp(error.code, "no-zlib") == 0)
        return;
    assert_int_equal(status, WB_OK);
    for (size_t i = 0; i < 4; i++) {
        jobs[i] = (job){model, elements, divisor, piece + 17 * i, false};
        assert_int_equal(pthread_create(&threads[i], NULL, read_pieces, &jobs[i]), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_true(jobs[i].good);
    }
    wb_close(model);
}

/* Reads a column-major and a compressed tensor in pieces. Element i of the column-major [300, 77]
 * tensor is stored at position 300 * (i % 77) + i / 77. */
static void test_pieces(void **state)
{
    (void)state;
    static const char header[] = "\x93NUMPY\x01\x00v\x00{'descr': '<u4', 'fortran_order': True, "
                                 "'shape': (300, 77), }";
    const uint32_t rows = 300, columns = 77;
    const size_t n = 128 + (size_t)rows * columns * 4;
    char *folder = scratch_make();
    char *path = text_of("%s/columns.npy", folder);
    uint8_t *bytes = malloc(n);
    assert_non_null(bytes);
    memset(bytes, ' ', 128);
    memcpy(bytes, header, sizeof header - 1);
    bytes[127] = '\n';
    for (uint32_t i = 0; i < rows * columns; i++) {
        uint8_t *to = bytes + 128 + 4 * (size_t)(i % columns * rows + i / columns);
        for (int b = 0; b < 4; b++)
            to[b] = (uint8_t)(i >> 8 * b);
    }
    write_file(path, bytes, n);
    check_pieces(path, (uint64_t)rows * columns, 1, 1000);
    check_pieces(FOLDER "/large.npz", 700 * 301, 99, 20000);
    free(bytes);
    free(path);
    scratch_remove(folder);
}

static void test_limits(void **state)
{
    static const struct {
        size_t field;
        uint64_t enough;
        const char *path, *code;
    } rows[] = {
        {offsetof(wb_limits, npy_header), 118, FOLDER "/f4.npy", "npy-header-too-large"},
        {offsetof(wb_limits, rank), 3, FOLDER "/f4.npy", "too-many-dimensions"},
        {offsetof(wb_limits, inflated), 700 * 301 * 4 + 128 - 16 * 5456, FOLDER "/large.npz",
         "npz-expansion"},
        {offsetof(wb_limits, npz_directory), 46 + 5, FOLDER "/large.npz",
         "npz-directory-too-large"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (uint64_t less = 0; less < 2; less++) {
            wb_limits limits;
            wb_limits_default(&limits);
            uint64_t value = rows[i].enough - less;
            memcpy((char *)&limits + rows[i].field, &value, sizeof value);
            wb_open_options options = {.size = sizeof options, .limits = &limits};
            wb_model *model;
            wb_error error;
            wb_status status = wb_open(rows[i].path, &options, &model, &error);
            if (status == WB_ERROR_UNSUPPORTED && strcmp(error.code, "no-zlib") == 0)
                continue;
            assert_int_equal(status, less == 0 ? WB_OK : WB_ERROR_LIMIT);
            if (less == 1)
                assert_string_equal(error.code, rows[i].code);
            wb_close(model);
        }
    }
}

/* A directory without other weights must open if it has one .npz file, but not if it has two. */
static void test_folder(void **state)
{
    (void)state;
    size_t n;
    char *folder = scratch_make();
    uint8_t *bytes = read_file(FOLDER "/stored.npz", &n);
    char *first = text_of("%s/weights.npz", folder), *second = text_of("%s/other.npz", folder);
    wb_model *model;
    wb_error error;
    write_file(first, bytes, n);
    assert_int_equal(wb_open(folder, NULL, &model, &error), WB_OK);
    assert_string_equal(wb_format(model), "npz");
    wb_close(model);
    write_file(second, bytes, n);
    assert_int_equal(wb_open(folder, NULL, &model, &error), WB_ERROR_FORMAT);
    assert_string_equal(error.code, "folder-ambiguous");
    free(first);
    free(second);
    free(bytes);
    scratch_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_archives), cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_large),    cmocka_unit_test(test_limits),
        cmocka_unit_test(test_folder),   cmocka_unit_test(test_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
