/* Tests wb_writer_* with the format "npz": archives must be identical to those of numpy.savez, also
 * if they are written out of order. */
#include "writing.h"

#include <pthread.h>

#include "core/crc32.h"

static char *folder;

static char *in(const char *name)
{
    return text_of("%s/%s", folder, name);
}

static wb_writer *make(uint32_t flags, uint64_t alignment)
{
    wb_writer *writer;
    const wb_writer_options options = {.size = sizeof options,
                                       .format = "npz",
                                       .flags = flags | WB_WRITE_FORCE,
                                       .alignment = alignment};
    OK(wb_writer_create(&options, &writer, E));
    return writer;
}

/* ---- the bytes of an archive ---- */

/* The expected bytes are from NumPy 2.4 with Python 3.11:
 * numpy.savez(path, **{"a/é": np.array([[1.5, -2.0]], np.float32)}) */
static void is_numpys(void **state)
{
    (void)state;
    static const char front[] = "PK\3\4-\0\0\10\0\0\0\0!\0\xE1\x46\x0E\xE8\xFF\xFF\xFF\xFF\xFF\xFF"
                                "\xFF\xFF\10\0\24\0a/\xC3\xA9.npy\1\0\20\0\x88\0\0\0\0\0\0\0\x88\0"
                                "\0\0\0\0\0\0\x93NUMPY\1\0v\0{'descr': '<f4', 'fortran_order': "
                                "False, 'shape': (1, 2), }";
    char *path = in("numpys.npz");
    const uint64_t shape[] = {1, 2};
    const float values[] = {1.5f, -2.0f};
    wb_writer *writer = make(0, 0);
    OK(wb_writer_add(writer, "a/\xC3\xA9", SIZE_MAX, WB_DTYPE_F32, shape, 2, NULL, E));
    OK(wb_writer_plan(writer, path, E));
    OK(wb_writer_begin(writer, E));
    OK(wb_writer_put(writer, 0, 4, values + 1, 4, E)); /* out of order */
    OK(wb_writer_put(writer, 0, 0, values, 4, E));
    OK(wb_writer_commit(writer, E));
    wb_writer_free(writer);
    size_t n;
    uint8_t *bytes = read_file(path, &n);
    assert_int_equal(n, 30 + 8 + 20 + 128 + 8 + 46 + 8 + 22);
    uint32_t crc = (uint32_t)bytes[14] | (uint32_t)bytes[15] << 8 | (uint32_t)bytes[16] << 16 |
                   (uint32_t)bytes[17] << 24;
    wb__crc32 table;
    wb__crc32_init(&table);
    assert_int_equal(crc, wb__crc32_add(&table, 0, bytes + 58, 136));
    assert_memory_equal(bytes, front, 14);
    assert_memory_equal(bytes + 18, front + 18, sizeof front - 1 - 18);
    assert_memory_equal(bytes + 58 + 128, values, 8);
    assert_memory_equal(bytes + 194 + 16, bytes + 14, 4);
    free(bytes);
    free(path);
}

static const struct {
    const char *name;
    int32_t dtype;
    uint32_t rank;
    uint64_t shape[3];
    uint64_t bytes;
} arrays[] = {
    {"scalar", WB_DTYPE_F64, 0, {0}, 8},         {"none", WB_DTYPE_I32, 2, {3, 0}, 0},
    {"half", WB_DTYPE_BF16, 2, {100, 31}, 6200}, {"bool", WB_DTYPE_U8, 1, {7}, 7},
    {"last", WB_DTYPE_F32, 3, {2, 3, 4}, 96},    {"", WB_DTYPE_U8, 1, {0}, 0},
};
#define ARRAYS (sizeof arrays / sizeof arrays[0])

static void declare(wb_writer *writer)
{
    for (size_t i = 0; i < ARRAYS; i++)
        OK(wb_writer_add(writer, arrays[i].name, SIZE_MAX, arrays[i].dtype, arrays[i].shape,
                         arrays[i].rank, NULL, E));
}

static void expect_arrays(const char *path, uint64_t alignment)
{
    wb_model *model;
    expect_sound(path);
    OK(wb_open(path, NULL, &model, E));
    assert_int_equal(wb_tensor_count(model), ARRAYS);
    for (size_t k = 0; k < ARRAYS; k++) {
        wb_tensor tensor = {.size = sizeof tensor};
        uint8_t got[8192];
        uint64_t i;
        OK(wb_tensor_find(model, arrays[k].name, SIZE_MAX, &i));
        OK(wb_tensor_at(model, i, &tensor, E));
        assert_int_equal(tensor.dtype, arrays[k].dtype);
        assert_int_equal(tensor.rank, arrays[k].rank);
        assert_int_equal(tensor.bytes, arrays[k].bytes);
        if (alignment != 0)
            assert_int_equal(tensor.offset % alignment, 0);
        OK(wb_tensor_read(model, i, NULL, -1, got, sizeof got, E));
        for (uint64_t b = 0; b < tensor.bytes; b++)
            assert_int_equal(got[b], byte_of(k, b));
    }
    wb_close(model);
}

/* ---- from threads, and into streams ---- */

static void *put_backwards(void *writer)
{
    for (uint64_t at = 6200; at > 3100; at -= 100)
        fill(writer, 2, at - 100, at);
    return NULL;
}

static void from_threads(void **state)
{
    (void)state;
    static const uint64_t alignments[] = {0, 8, 64, 4096};
    char *path = in("threads.npz");
    for (size_t k = 0; k < 4; k++) {
        pthread_t thread;
        wb_writer *writer = make(k == 2 ? WB_WRITE_ALIGN_TENSORS : 0, k == 2 ? 0 : alignments[k]);
        declare(writer);
        OK(wb_writer_plan(writer, path, E));
        OK(wb_writer_begin(writer, E));
        assert_int_equal(pthread_create(&thread, NULL, put_backwards, writer), 0);
        for (size_t i = ARRAYS; i-- > 0;)
            fill(writer, i, 0, i == 2 ? 3100 : arrays[i].bytes);
        (void)pthread_join(thread, NULL);
        OK(wb_writer_commit(writer, E));
        wb_writer_free(writer);
        expect_arrays(path, alignments[k]);
    }
    free(path);
}

static void streams(void **state)
{
    (void)state;
    char *path = in("stream.npz");
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    wb_writer *writer = make(0, 0);
    declare(writer);
    OK(wb_writer_begin_fd(writer, fileno(file), "a stream", E));
    for (uint64_t i = 0; i < ARRAYS; i++)
        fill(writer, i, 0, arrays[i].bytes);
    OK(wb_writer_commit(writer, E));
    wb_writer_free(writer);
    (void)fclose(file);
    expect_arrays(path, 0);
    /* An archive in a stream stores checksums at other offsets, so one that was planned for a file
     * must be refused for a stream. */
    wb_error error;
    writer = make(0, 0);
    declare(writer);
    OK(wb_writer_plan(writer, path, E));
    assert_int_equal(wb_writer_begin_fd(writer, 1, "a stream", &error), WB_ERROR_ARGUMENT);
    wb_writer_free(writer);
    free(path);
}

static void nothing(void **state)
{
    (void)state;
    char *path = in("nothing.npz");
    size_t n;
    wb_writer *writer = make(0, 0);
    OK(wb_writer_plan(writer, path, E));
    OK(wb_writer_begin(writer, E));
    OK(wb_writer_commit(writer, E));
    wb_writer_free(writer);
    uint8_t *bytes = read_file(path, &n);
    assert_int_equal(n, 22);
    assert_memory_equal(bytes, "PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22);
    free(bytes);
    free(path);
}

/* ---- beyond 4 GiB ---- */

/* Plans an archive that needs zip64, without writing it, and checks the offsets. */
static void is_wide(void **state)
{
    (void)state;
    const uint64_t large[] = {UINT64_C(5) << 30}, small[] = {1};
    wb_tensor tensor = {.size = sizeof tensor};
    wb_file file = {.size = sizeof file};
    wb_writer *writer = make(0, 0);
    OK(wb_writer_add(writer, "a", 1, WB_DTYPE_U8, large, 1, NULL, E));
    OK(wb_writer_add(writer, "b", 1, WB_DTYPE_U8, small, 1, NULL, E));
    OK(wb_writer_plan(writer, "/nowhere/large.npz", E));
    OK(wb_writer_tensor_at(writer, 1, &tensor, E));
    const uint64_t header = 30 + 5 + 20 + 128;
    assert_true(tensor.offset == large[0] + 2 * header);
    OK(wb_writer_file_at(writer, 0, &file, E));
    /* In the directory, the zip64 field of "a" has two sizes and that of "b" an offset. After the
     * directory come the zip64 end record, its locator, and the end record. */
    const uint64_t directory = 46 + 5 + 4 + 16 + 46 + 5 + 4 + 8;
    assert_true(file.bytes == tensor.offset + 1 + directory + 56 + 20 + 22);
    wb_writer_free(writer);
}

/* ---- contents that an archive cannot have ---- */

static void refuses(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t len;
        int32_t dtype;
        uint32_t rank;
        uint64_t alignment;
        const char *code;
    } cases[] = {
        {"f8", 2, WB_DTYPE_F8_E4M3, 1, 0, "npy-dtype"},
        {"f8", 2, WB_DTYPE_F8_E5M2, 1, 0, "npy-dtype"},
        {"q", 1, WB_DTYPE_Q8_0, 1, 0, "npy-dtype"},
        {"a.npy", 5, WB_DTYPE_F32, 1, 0, "write-tensor-name"},
        {"a\0b", 3, WB_DTYPE_F32, 1, 0, "write-tensor-name"},
        {"bad\xFF", 4, WB_DTYPE_F32, 1, 0, "write-text"},
        {"deep", 4, WB_DTYPE_F32, 65, 0, "too-many-dimensions"},
        {"far", 3, WB_DTYPE_F32, 1, 65536, "npy-header-too-large"},
    };
    uint64_t shape[65];
    wb_error error;
    for (size_t i = 0; i < 65; i++)
        shape[i] = i == 0 ? 32 : 1;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        wb_writer *writer = make(0, cases[k].alignment);
        OK(wb_writer_add(writer, cases[k].name, cases[k].len, cases[k].dtype, shape, cases[k].rank,
                         NULL, E));
        assert_int_equal(wb_writer_plan(writer, "/nowhere/a.npz", &error), WB_ERROR_UNSUPPORTED);
        assert_string_equal(error.code, cases[k].code);
        wb_writer_free(writer);
    }
    wb_writer *writer = make(0, 0);
    OK(wb_writer_set_string(writer, "k", 1, "v", 1, E));
    assert_int_equal(wb_writer_plan(writer, "/nowhere/a.npz", &error), WB_ERROR_UNSUPPORTED);
    assert_string_equal(error.code, "write-metadata");
    wb_writer_free(writer);
    writer = make(WB_WRITE_BIG_ENDIAN, 0);
    assert_int_equal(wb_writer_plan(writer, "/nowhere/a.npz", &error), WB_ERROR_UNSUPPORTED);
    wb_writer_free(writer);
    wb_writer_options options = {.size = sizeof options, .format = "npz", .max_file_tensors = 1};
    OK(wb_writer_create(&options, &writer, E));
    declare(writer);
    assert_int_equal(wb_writer_plan(writer, "/nowhere/a.npz", &error), WB_ERROR_UNSUPPORTED);
    assert_string_equal(error.code, "write-split");
    wb_writer_free(writer);
    options.flags = WB_WRITE_FOLDER;
    assert_int_equal(wb_writer_create(&options, &writer, &error), WB_ERROR_ARGUMENT);
}

/* ---- allocations ---- */

static void without_memory(void **state)
{
    (void)state;
    char *path = in("memory.npz");
    bool done = false;
    for (size_t fail_at = 1; !done; fail_at++) {
        counter c = {.fail_at = fail_at};
        wb_allocator allocator = counter_allocator(&c);
        wb_writer_options options = {
            .size = sizeof options, .format = "npz", .allocator = &allocator};
        wb_writer *writer;
        const uint64_t shape[] = {2, 1};
        wb_status status = wb_writer_create(&options, &writer, NULL);
        for (int i = 0; i < 2 && status == WB_OK; i++)
            status =
                wb_writer_add(writer, i == 0 ? "a" : "b", 1, WB_DTYPE_F32, shape, 2, NULL, NULL);
        if (status == WB_OK)
            status = wb_writer_plan(writer, path, NULL);
        if (status == WB_OK)
            status = wb_writer_begin(writer, NULL);
        for (uint64_t i = 0; i < 4 && status == WB_OK; i++)
            status = wb_writer_put(writer, i / 2, (1 - i % 2) * 4, "1234", 4, NULL);
        if (status == WB_OK)
            status = wb_writer_commit(writer, NULL);
        wb_writer_free(writer);
        assert_clean(&c);
        done = !c.failed;
        assert_int_equal(status, done ? WB_OK : WB_ERROR_MEMORY);
        assert_int_equal(access(path, F_OK), done ? 0 : -1);
    }
    expect_sound(path);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_numpys),      cmocka_unit_test(from_threads), cmocka_unit_test(streams),
        cmocka_unit_test(nothing),        cmocka_unit_test(is_wide),      cmocka_unit_test(refuses),
        cmocka_unit_test(without_memory),
    };
    folder = scratch_make();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove(folder);
    return failed;
}
