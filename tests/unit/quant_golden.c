/*
 * Compares the codecs of every GGML type with ggml: values encoded with and without an importance
 * matrix, and decoded blocks of random bits. tests/data/golden/ggml/README.md describes how the
 * files with the results of ggml were made.
 *
 * Some files are too large for the repository: T.q.deq and T.qi.deq, which contain the decoded
 * values of T.q and T.qi for each type T, and the files of F32, whose values are only copied. Files
 * that are missing are skipped. The random blocks T.rb have every bit pattern, and their decoded
 * values are in the repository. WB_TEST_GOLDEN_GGML=DIRECTORY makes this test use a directory with
 * all files.
 */
#include "weighbridge.h"

#include "unit.h"

typedef struct bytes {
    uint8_t *data; /* NULL: the file does not exist */
    size_t n;
} bytes;

static const char *folder;

static bytes load(const char *name, const char *suffix)
{
    char path[512];
    bytes file = {NULL, 0};
    snprintf(path, sizeof path, "%s/%s%s", folder, name, suffix);
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return file;
    assert_true(fseek(f, 0, SEEK_END) == 0);
    long size = ftell(f);
    assert_true(size >= 0 && fseek(f, 0, SEEK_SET) == 0);
    file.n = (size_t)size;
    file.data = malloc(file.n + 1);
    assert_non_null(file.data);
    assert_int_equal(fread(file.data, 1, file.n, f), file.n);
    fclose(f);
    return file;
}

#define ROWS 12
#define COLUMNS 1024

/* Compares bytes. If they differ, fails and describes the first difference. */
static void expect_same(const char *type, const char *what, const uint8_t *got, bytes want,
                        size_t unit)
{
    for (size_t i = 0; i < want.n; i++) {
        if (got[i] != want.data[i])
            fail_msg("%s %s: byte %lu (unit %lu, row %lu) is %02x, not %02x", type, what,
                     (unsigned long)i, (unsigned long)(i / unit),
                     (unsigned long)(i / (want.n / ROWS)), got[i], want.data[i]);
    }
}

static int encoded, decoded;

static void check_encode(int32_t dtype, const char *type, const char *suffix, bytes input,
                         const float *importance, size_t block_bytes)
{
    wb_error error;
    bytes want = load(type, suffix);
    if (want.data == NULL)
        return;
    uint8_t *got = malloc(want.n);
    assert_non_null(got);
    if (wb_quantize(dtype, (const float *)(const void *)input.data, ROWS, COLUMNS, importance, got,
                    want.n, NULL, &error) != WB_OK)
        fail_msg("%s%s: %s", type, suffix, error.message);
    expect_same(type, suffix, got, want, block_bytes);
    encoded++;
    free(got);
    free(want.data);
}

static void check_decode(int32_t dtype, const char *type, const char *suffix, uint64_t block_size,
                         uint64_t block_bytes)
{
    char with_suffix[32];
    wb_error error;
    snprintf(with_suffix, sizeof with_suffix, "%s.deq", suffix);
    bytes blocks = load(type, suffix), want = load(type, with_suffix);
    if (blocks.data == NULL || want.data == NULL) {
        free(blocks.data);
        free(want.data);
        return;
    }
    float *got = malloc(want.n);
    assert_non_null(got);
    uint64_t columns = blocks.n / block_bytes * block_size;
    assert_int_equal(columns * sizeof(float), want.n);
    if (wb_dequantize(dtype, blocks.data, blocks.n, 1, columns, got, NULL, &error) != WB_OK)
        fail_msg("%s%s: %s", type, suffix, error.message);
    expect_same(type, with_suffix, (const uint8_t *)got, want, (size_t)block_size * sizeof(float));
    decoded++;
    free(got);
    free(blocks.data);
    free(want.data);
}

static void golden(void **state)
{
    (void)state;
    bytes input = load("input", ".f32"), importance = load("imatrix", ".f32");
    assert_int_equal(input.n, ROWS * COLUMNS * sizeof(float));
    assert_int_equal(importance.n, COLUMNS * sizeof(float));
    const float *weights = (const float *)(const void *)importance.data;
    int types = 0;
    for (int32_t dtype = 1; dtype < 43; dtype++) {
        wb_dtype_info info = {.size = sizeof info};
        if (wb_dtype_describe(dtype, &info) != WB_OK ||
            (info.block_size == 1 && dtype != WB_DTYPE_F16 && dtype != WB_DTYPE_BF16))
            continue;
        size_t block_bytes = info.block_bits / 8;
        types++;
        check_decode(dtype, info.name, ".q", info.block_size, block_bytes);
        check_decode(dtype, info.name, ".qi", info.block_size, block_bytes);
        check_decode(dtype, info.name, ".rb", info.block_size, block_bytes);
        check_encode(dtype, info.name, ".qi", input, weights, block_bytes);
        if (info.importance != WB_IMPORTANCE_REQUIRED)
            check_encode(dtype, info.name, ".q", input, NULL, block_bytes);
        if (info.importance == WB_IMPORTANCE_IGNORED)
            check_encode(dtype, info.name, ".q", input, weights, block_bytes);
    }
    free(input.data);
    free(importance.data);
    assert_int_equal(types, 29); /* F16, BF16 and 27 types with blocks */
    assert_int_equal(encoded, 55);
    assert_true(decoded >= 28); /* all types but Q8_1, for which ggml has no decoder */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(golden)};
    folder = getenv("WB_TEST_GOLDEN_GGML");
    if (folder == NULL)
        folder = TEST_DATA "/golden/ggml";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
