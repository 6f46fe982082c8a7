/*
 * Tests loading of tensors whose stored bytes differ from the delivered ones: compressed, in
 * column-major order, or big-endian; together with plain tensors. The delivered bytes must be those
 * of wb_tensor_read.
 */
#include "support.h"

#include <pthread.h>

enum { TENSORS = 64, ROOM = 1 << 20 };

static char *folder;

typedef struct arrival {
    pthread_mutex_t lock;
    unsigned char *values[TENSORS];
    uint64_t bytes[TENSORS];
    unsigned wrong, digests;
    uint64_t stop_at; /* number of bytes after which the load is cancelled */
} arrival;

static int consume(void *ctx, const wb_piece *piece)
{
    arrival *a = ctx;
    (void)pthread_mutex_lock(&a->lock);
    if (piece->tensor >= TENSORS || piece->at + piece->bytes > ROOM) {
        a->wrong++;
    } else {
        memcpy(a->values[piece->tensor] + piece->at, piece->data, (size_t)piece->bytes);
        a->bytes[piece->tensor] += piece->bytes;
    }
    int stop = a->stop_at != 0 && a->bytes[0] >= a->stop_at;
    (void)pthread_mutex_unlock(&a->lock);
    return stop;
}

static void take_digest(void *ctx, uint64_t file, const uint8_t sha256[32])
{
    (void)file;
    (void)sha256;
    ((arrival *)ctx)->digests++;
}

static void *run_job(void *arg)
{
    void **job = arg;
    void (*body)(void *, size_t);
    memcpy(&body, job[0], sizeof body);
    body(job[1], 1);
    return NULL;
}

/* An executor with two workers: this thread and another. */
static void in_two(void *ctx, size_t n, void (*body)(void *arg, size_t i), void *arg)
{
    pthread_t other;
    void *job[2] = {&body, arg};
    (void)ctx;
    assert_int_equal(n, 2);
    assert_int_equal(pthread_create(&other, NULL, run_job, job), 0);
    body(arg, 0);
    assert_int_equal(pthread_join(other, NULL), 0);
}

static const wb_executor two = {NULL, in_two};

static bool is_open(const char *path, wb_access access, wb_model **model)
{
    const wb_open_options options = {.size = sizeof options, .access = access};
    wb_error error;
    wb_status status = wb_open(path, &options, model, &error);
    if (status == WB_ERROR_UNSUPPORTED && strcmp(error.code, "no-zlib") == 0)
        return false;
    assert_int_equal(status, WB_OK);
    assert_true(wb_tensor_count(*model) <= TENSORS);
    return true;
}

static void check_tensor(const arrival *a, const wb_model *model, uint64_t i, int32_t float_dtype)
{
    wb_tensor tensor = {.size = sizeof tensor};
    wb_dtype_info info = {.size = sizeof info};
    wb_error error;
    uint64_t elements, bytes;
    assert_int_equal(wb_tensor_at(model, i, &tensor, &error), WB_OK);
    assert_int_equal(wb_dtype_describe((int32_t)tensor.dtype, &info), WB_OK);
    bool plain_float = info.is_float && tensor.dtype != WB_DTYPE_C64;
    int32_t dtype = plain_float ? float_dtype : -1;
    assert_int_equal(wb_tensor_read_size(model, i, NULL, dtype, &elements, &bytes, &error), WB_OK);
    assert_int_equal(a->bytes[i], bytes);
    unsigned char *expected = malloc((size_t)bytes + 1);
    assert_int_equal(wb_tensor_read(model, i, NULL, dtype, expected, bytes, &error), WB_OK);
    assert_memory_equal(a->values[i], expected, (size_t)bytes);
    free(expected);
}

static void check(const char *path)
{
    static const wb_access accesses[] = {WB_ACCESS_MAP, WB_ACCESS_READ, WB_ACCESS_SNAPSHOT};
    wb_model *model;
    wb_error error;
    for (unsigned round = 0; round < 24; round += is_slow() ? 5 : 1) {
        arrival a = {.lock = PTHREAD_MUTEX_INITIALIZER};
        wb_load_report told = {.size = sizeof told};
        if (!is_open(path, accesses[round % 3], &model))
            return;
        uint64_t tensors = wb_tensor_count(model);
        for (uint64_t i = 0; i < tensors; i++)
            a.values[i] = calloc(1, ROOM);
        const wb_load_options options = {
            .size = sizeof options,
            .flags = round / 3 % 4, /* with and without WB_LOAD_CONVERT and WB_LOAD_DIGEST */
            .dtype = WB_DTYPE_BF16,
            .lanes = 2,
            .memory = 128u << 10,
            .executor = round / 12 ? &two : NULL,
            .ctx = &a,
            .consume = consume,
            .digest = take_digest,
        };
        assert_int_equal(wb_load(model, &options, &told, &error), WB_OK);
        assert_int_equal(a.wrong, 0);
        assert_int_equal(a.digests, options.flags & WB_LOAD_DIGEST ? 1 : 0);
        assert_int_equal(told.bytes, told.in_memory + told.mapped + told.copied + told.direct);
        for (uint64_t i = 0; i < tensors; i++)
            check_tensor(&a, model, i, options.flags & WB_LOAD_CONVERT ? WB_DTYPE_BF16 : -1);
        for (uint64_t i = 0; i < tensors; i++)
            free(a.values[i]);
        wb_close(model);
    }
}

static void archives_and_arrays(void **state)
{
    static const char *const names[] = {"stored.npz",     "deflated.npz",   "large.npz",
                                        "f4.columns.npy", "f4.swapped.npy", "i8.both.npy",
                                        "scalar.npy"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = text_of("%s/npy/%s", TEST_DATA, names[i]);
        check(path);
        free(path);
    }
}

static void gguf_of_other_machines(void **state)
{
    (void)state;
    check(TEST_DATA "/bad/gguf/be_v3.gguf");
}

/* Tests an F32 tensor [300, 777], column-major and big-endian, that is larger than every buffer. */
static void large_by_columns(void **state)
{
    static const char header[] = "\x93NUMPY\x01\x00v\x00{'descr': '>f4', 'fortran_order': True, "
                                 "'shape': (300, 777), }";
    const size_t n = 128 + (size_t)300 * 777 * 4;
    char *path = text_of("%s/columns.npy", folder);
    uint8_t *bytes = malloc(n);
    uint64_t random = 5;
    (void)state;
    assert_non_null(bytes);
    memset(bytes, ' ', 128);
    memcpy(bytes, header, sizeof header - 1);
    bytes[127] = '\n';
    for (size_t i = 128; i < n; i++)
        bytes[i] = (uint8_t)(next_random(&random) >> 56);
    write_file(path, bytes, n);
    check(path);
    free(bytes);
    free(path);
}

/* Cancels the load in the middle of a tensor. No memory may leak. */
static void stops_on_request(void **state)
{
    wb_model *model;
    wb_error error;
    counter c = {0};
    wb_allocator allocator = counter_allocator(&c);
    const wb_open_options open = {.size = sizeof open, .allocator = &allocator};
    arrival a = {.lock = PTHREAD_MUTEX_INITIALIZER, .stop_at = 100000};
    const wb_load_options options = {
        .size = sizeof options, .memory = 1, .ctx = &a, .consume = consume};
    (void)state;
    wb_status status = wb_open(TEST_DATA "/npy/large.npz", &open, &model, &error);
    if (status == WB_ERROR_UNSUPPORTED)
        skip();
    assert_int_equal(status, WB_OK);
    for (int i = 0; i < TENSORS; i++)
        a.values[i] = calloc(1, ROOM);
    assert_int_equal(wb_load(model, &options, NULL, &error), WB_ERROR_CANCELLED);
    assert_true(a.bytes[0] >= a.stop_at && a.bytes[0] < (uint64_t)700 * 301 * 4);
    for (int i = 0; i < TENSORS; i++)
        free(a.values[i]);
    wb_close(model);
    assert_clean(&c);
}

/* Damage in compressed data must be detected during the load. */
static void damage_is_told(void **state)
{
    size_t n;
    unsigned char *bytes = read_file(TEST_DATA "/npy/large.npz", &n);
    char *path = text_of("%s/damaged.npz", folder);
    wb_model *model;
    wb_error error;
    (void)state;
    bytes[n / 2] ^= 0x55;
    write_file(path, bytes, n);
    if (is_open(path, WB_ACCESS_READ, &model)) {
        arrival a = {.lock = PTHREAD_MUTEX_INITIALIZER};
        const wb_load_options options = {.size = sizeof options, .ctx = &a, .consume = consume};
        for (int i = 0; i < TENSORS; i++)
            a.values[i] = calloc(1, ROOM);
        assert_int_equal(wb_load(model, &options, NULL, &error), WB_ERROR_FORMAT);
        assert_string_equal(error.file, path);
        assert_true(error.name[0] != '\0');
        for (int i = 0; i < TENSORS; i++)
            free(a.values[i]);
        wb_close(model);
    }
    free(bytes);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(archives_and_arrays), cmocka_unit_test(gguf_of_other_machines),
        cmocka_unit_test(large_by_columns),    cmocka_unit_test(stops_on_request),
        cmocka_unit_test(damage_is_told),
    };
    folder = scratch_make();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove(folder);
    return failed;
}
