/*
 * Tests wb_load: every byte must be delivered exactly once, in every I/O mode and with any number
 * of threads. Also tests cancellation, invalid options, and files that change during the load.
 *
 * wraps: wb__ring_open
 */
#include "executor.h"

#include <pthread.h>

#include "crypto/sha256.h"
#include "io/ring.h"
#include "open/open.h"

#include "weighbridge.h"
#include "weighbridge/experimental.h"

enum { FILES = 3, TENSORS = 9, LANES = 4, FILE_ROOM = 1 << 20, TENSOR_ROOM = 1 << 18 };

/* The tensors of each file: some begin at odd offsets, some are empty, some are large. */
static const struct {
    const char *dtype;
    size_t elements, width;
} kinds[TENSORS] = {{"U8", 3, 1},     {"BF16", 70001, 2}, {"F32", 40000, 4},
                    {"F16", 0, 2},    {"I32", 9, 4},      {"F16", 5, 2},
                    {"F64", 5001, 8}, {"U8", 130000, 1},  {"BF16", 1, 2}};

wb__ring *__real_wb__ring_open(const wb_allocator *allocator, unsigned depth, bool remote);
wb__ring *__wrap_wb__ring_open(const wb_allocator *allocator, unsigned depth, bool remote);

/* Disables io_uring under valgrind, which does not track its writes. */
wb__ring *__wrap_wb__ring_open(const wb_allocator *allocator, unsigned depth, bool remote)
{
    return is_slow() ? NULL : __real_wb__ring_open(allocator, depth, remote);
}

static char *folder;
static char *paths[FILES];
static unsigned char *contents[FILES];
static size_t sizes[FILES];

static void make_files(void)
{
    uint64_t random = 1;
    folder = scratch_make();
    for (int f = 0; f < FILES; f++) {
        char header[2048] = "{";
        size_t at = 0;
        for (int t = 0; t < TENSORS; t++) {
            size_t bytes = kinds[t].elements * kinds[t].width;
            (void)snprintf(
                header + strlen(header), sizeof header - strlen(header),
                "%s\"%d.%d\":{\"dtype\":\"%s\",\"shape\":[%zu],\"data_offsets\":[%zu,%zu]}",
                t == 0 ? "" : ",", f, t, kinds[t].dtype, kinds[t].elements, at, at + bytes);
            at += bytes;
        }
        (void)snprintf(header + strlen(header), sizeof header - strlen(header), "}");
        contents[f] = st_bytes(header, strlen(header), at, &sizes[f]);
        for (size_t i = sizes[f] - at; i < sizes[f]; i++)
            contents[f][i] = (unsigned char)(next_random(&random) >> 56);
        paths[f] = text_of("%s/model-0000%d-of-0000%d.safetensors", folder, f + 1, FILES);
        write_file(paths[f], contents[f], sizes[f]);
    }
}

/* ---- threads ---- */

static size_t thread_count = 8;
static const wb_executor threads = {&thread_count, crew_run};

/* ---- what arrives ---- */

typedef struct arrival {
    pthread_mutex_t lock;
    const wb_model *model;
    unsigned char *values[FILES * TENSORS]; /* delivered bytes of each tensor */
    unsigned char *seen[FILES * TENSORS];   /* how often each byte of a tensor was delivered */
    unsigned char *images[FILES];
    uint8_t digests[FILES][32];
    unsigned digest_calls, lasting, stop_after, wrong;
    const char *truncate; /* file to truncate when the next piece arrives; NULL: none */
    uint64_t truncate_to;
    unsigned long long reported;
} arrival;

static void arrival_make(arrival *a, const wb_model *model)
{
    memset(a, 0, sizeof *a);
    a->model = model;
    assert_int_equal(pthread_mutex_init(&a->lock, NULL), 0);
    for (int i = 0; i < FILES * TENSORS; i++) {
        a->values[i] = calloc(1, TENSOR_ROOM);
        a->seen[i] = calloc(1, TENSOR_ROOM);
    }
    for (int i = 0; i < FILES; i++)
        assert_int_equal(posix_memalign((void **)&a->images[i], 4096, FILE_ROOM), 0);
}

static void arrival_free(arrival *a)
{
    for (int i = 0; i < FILES * TENSORS; i++) {
        free(a->values[i]);
        free(a->seen[i]);
    }
    for (int i = 0; i < FILES; i++)
        free(a->images[i]);
    (void)pthread_mutex_destroy(&a->lock);
}

static int consume(void *ctx, const wb_piece *piece)
{
    arrival *a = ctx;
    (void)pthread_mutex_lock(&a->lock);
    if (piece->tensor >= FILES * TENSORS || piece->at + piece->bytes > TENSOR_ROOM) {
        a->wrong++;
    } else {
        memcpy(a->values[piece->tensor] + piece->at, piece->data, (size_t)piece->bytes);
        for (uint64_t i = 0; i < piece->bytes; i++)
            a->seen[piece->tensor][piece->at + i]++;
    }
    a->lasting += piece->lasting;
    if (a->truncate != NULL)
        assert_int_equal(truncate(a->truncate, (off_t)a->truncate_to), 0);
    a->truncate = NULL;
    int stop = a->stop_after != 0 && --a->stop_after == 0;
    (void)pthread_mutex_unlock(&a->lock);
    return stop;
}

static void *place(void *ctx, uint64_t file, uint64_t offset, uint64_t bytes)
{
    arrival *a = ctx;
    return file < FILES && offset + bytes <= FILE_ROOM - 4096 ? a->images[file] + offset : NULL;
}

/* Like `place`, but returns an odd address, which direct I/O cannot use. */
static void *place_beside(void *ctx, uint64_t file, uint64_t offset, uint64_t bytes)
{
    arrival *a = ctx;
    return file < FILES && offset + bytes <= FILE_ROOM - 4096 ? a->images[file] + offset + 1 : NULL;
}

static void take_digest(void *ctx, uint64_t file, const uint8_t sha256[32])
{
    arrival *a = ctx;
    a->digest_calls++;
    memcpy(a->digests[file], sha256, 32);
}

static int report(void *ctx, uint64_t done, uint64_t total)
{
    arrival *a = ctx;
    a->wrong += done <= a->reported || done > total;
    a->reported = done;
    return 0;
}

/* Checks that each tensor equals the result of wb_tensor_read with this dtype (-1: as stored), and
 * that every byte was delivered once. */
static void assert_all(const arrival *a, int32_t float_dtype)
{
    uint64_t odd = 0;
    assert_int_equal(a->wrong, 0);
    for (uint64_t i = 0; i < FILES * TENSORS; i++) {
        wb_tensor tensor = {.size = sizeof tensor};
        wb_dtype_info info = {.size = sizeof info};
        wb_error error;
        uint64_t elements, bytes;
        assert_int_equal(wb_tensor_at(a->model, i, &tensor, &error), WB_OK);
        assert_int_equal(wb_dtype_describe((int32_t)tensor.dtype, &info), WB_OK);
        int32_t dtype = info.is_float ? float_dtype : -1;
        assert_int_equal(wb_tensor_read_size(a->model, i, NULL, dtype, &elements, &bytes, &error),
                         WB_OK);
        unsigned char *expected = malloc((size_t)bytes + 1);
        assert_int_equal(wb_tensor_read(a->model, i, NULL, dtype, expected, bytes, &error), WB_OK);
        assert_memory_equal(a->values[i], expected, (size_t)bytes);
        for (uint64_t k = 0; k < TENSOR_ROOM; k++)
            odd += a->seen[i][k] != (k < bytes);
        free(expected);
    }
    assert_int_equal(odd, 0);
}

static wb_model *open_folder(wb_access access)
{
    const wb_open_options options = {.size = sizeof options, .access = access};
    wb_model *model;
    wb_error error;
    assert_int_equal(wb_open(folder, &options, &model, &error), WB_OK);
    return model;
}

static wb_load_options options_for(arrival *a, wb_io io)
{
    return (wb_load_options){.size = sizeof(wb_load_options),
                             .io = io,
                             .memory = LANES * (64u << 10), /* the smallest pieces */
                             .lanes = LANES,
                             .ctx = a,
                             .consume = consume};
}

static void every_byte_arrives_once(void **state)
{
    static const wb_access accesses[] = {WB_ACCESS_MAP, WB_ACCESS_READ, WB_ACCESS_SNAPSHOT};
    static const uint32_t flags[] = {0, WB_LOAD_DIGEST, WB_LOAD_CONVERT,
                                     WB_LOAD_DIGEST | WB_LOAD_CONVERT};
    (void)state;
    unsigned step = is_slow() ? 7 : 1;
    for (unsigned round = 0; round < 3 * 4 * 4 * 2; round += step) {
        wb_access access = accesses[round % 3];
        wb_io io = (wb_io)(round / 3 % 4);
        arrival a;
        wb_error error;
        wb_load_report told = {.size = sizeof told};
        const wb_progress progress = {&a, report};
        wb_model *model = open_folder(access);
        arrival_make(&a, model);
        wb_load_options options = options_for(&a, io);
        options.flags = flags[round / 12 % 4];
        options.dtype = WB_DTYPE_F16;
        options.executor = round / 48 ? &threads : NULL;
        options.progress = &progress;
        wb_status status = wb_load(model, &options, &told, &error);
        if (io == WB_IO_MAP && access == WB_ACCESS_READ) {
            assert_int_equal(status, WB_ERROR_ARGUMENT);
        } else {
            assert_int_equal(status, WB_OK);
            assert_all(&a, options.flags & WB_LOAD_CONVERT ? WB_DTYPE_F16 : -1);
            assert_int_equal(told.bytes, told.in_memory + told.mapped + told.copied + told.direct);
            assert_int_equal(a.reported, told.bytes);
            assert_true(told.processor_ns > 0);
            assert_true(access != WB_ACCESS_SNAPSHOT || told.in_memory == told.bytes);
            assert_true(access != WB_ACCESS_MAP || io != WB_IO_MAP || told.mapped == told.bytes);
            assert_true(access == WB_ACCESS_SNAPSHOT || io != WB_IO_READ ||
                        told.copied == told.bytes);
            assert_true(a.lasting == 0 || told.mapped + told.in_memory > 0);
        }
        arrival_free(&a);
        wb_close(model);
    }
}

/* The bytes of the files must be stored at the addresses that the caller gives, aligned or not. */
static void bytes_are_put_in_place(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 8; round++) {
        arrival a;
        wb_error error;
        wb_load_report told = {.size = sizeof told};
        wb_model *model = open_folder(WB_ACCESS_MAP);
        arrival_make(&a, model);
        wb_load_options options = options_for(&a, (wb_io)(round % 4));
        bool beside = round >= 4;
        options.place = beside ? place_beside : place;
        assert_int_equal(wb_load(model, &options, &told, &error), WB_OK);
        assert_all(&a, -1);
        assert_int_equal(a.lasting, 0);
        for (int f = 0; f < FILES; f++) {
            size_t header = sizes[f] - (size_t)(told.bytes / FILES) + 4096;
            assert_true(header < sizes[f]);
            assert_memory_equal(a.images[f] + beside + header, contents[f] + header,
                                sizes[f] - header);
        }
        arrival_free(&a);
        wb_close(model);
    }
}

static void digests_are_those_of_the_files(void **state)
{
    wb_error error;
    wb_allocator allocator = wb__default_allocator;
    wb__context context = {.allocator = allocator, .file = "", .error = &error};
    wb__sha256_lane hash;
    wb_model *model;
    (void)state;
    assert_int_equal(wb__sha256_lane_open(&hash, &context), WB_OK);
    for (unsigned round = 0; round < 4; round++) {
        arrival a;
        model = open_folder(WB_ACCESS_READ);
        arrival_make(&a, model);
        wb_load_options options = options_for(&a, WB_IO_AUTO);
        options.flags = WB_LOAD_DIGEST;
        options.digest = take_digest;
        options.executor = round == 0 ? NULL : &threads;
        options.lanes = 2 * round;
        assert_int_equal(wb_load(model, &options, NULL, &error), WB_OK);
        assert_int_equal(a.digest_calls, FILES);
        for (int f = 0; f < FILES; f++) {
            uint8_t expected[32];
            size_t blocks = sizes[f] / 64;
            wb__sha256_lane_start(&hash);
            wb__sha256_lane_add(&hash, contents[f], blocks);
            wb__sha256_lane_finish(&hash, contents[f] + blocks * 64, sizes[f] % 64, expected);
            assert_memory_equal(a.digests[f], expected, 32);
        }
        arrival_free(&a);
        wb_close(model);
    }
    wb__sha256_lane_close(&hash);
    /* If the digest in the name of a file is wrong, a load with WB_LOAD_DIGEST must fail. */
    char *wrong = text_of("%s/sha256-%064d", folder, 7);
    write_file(wrong, contents[0], sizes[0]);
    assert_int_equal(wb_open(wrong, NULL, &model, &error), WB_OK);
    const wb_load_options plain = {.size = sizeof plain, .flags = WB_LOAD_DIGEST};
    assert_int_equal(wb_load(model, &plain, NULL, &error), WB_ERROR_FORMAT);
    assert_string_equal(error.code, "ollama-blob-digest");
    assert_int_equal(wb_load(model, NULL, NULL, &error), WB_OK);
    wb_close(model);
    assert_int_equal(unlink(wrong), 0);
    free(wrong);
}

/* If a file is truncated during the load, the error must contain the offset of its new end, and no
 * access may cause SIGBUS. */
static void a_file_that_shrinks_is_an_error(void **state)
{
    static const wb_io ios[] = {WB_IO_READ, WB_IO_DIRECT, WB_IO_AUTO};
    static const uint64_t ends[] = {300001, 262144, 304 << 10};
    (void)state;
    for (unsigned round = 0; round < 9; round++) {
        arrival a;
        wb_error error;
        wb_load_report told = {.size = sizeof told};
        wb_model *model = open_folder(WB_ACCESS_READ);
        arrival_make(&a, model);
        a.truncate = paths[1];
        a.truncate_to = ends[round / 3];
        assert_true(sizes[1] > a.truncate_to);
        wb_load_options options = options_for(&a, ios[round % 3]);
        options.executor = round % 2 ? &threads : NULL;
        options.lanes = 2;
        assert_int_equal(wb_load(model, &options, &told, &error), WB_ERROR_IO);
        assert_string_equal(error.code, "file-ends-early");
        assert_string_equal(error.file, paths[1]);
        assert_int_equal(error.offset, ends[round / 3]);
        assert_int_equal(wb_model_check(model, &error), WB_ERROR_CHANGED);
        arrival_free(&a);
        wb_close(model);
        write_file(paths[1], contents[1], sizes[1]);
    }
}

static int stop(void *ctx, uint64_t done, uint64_t total)
{
    (void)ctx;
    return done > total / 2;
}

static void loading_stops_on_request(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 4; round++) {
        arrival a;
        wb_error error;
        wb_load_report told = {.size = sizeof told};
        const wb_progress progress = {NULL, stop};
        wb_model *model = open_folder(WB_ACCESS_MAP);
        arrival_make(&a, model);
        wb_load_options options = options_for(&a, WB_IO_AUTO);
        options.executor = round % 2 ? &threads : NULL;
        options.flags = WB_LOAD_CONVERT;
        options.dtype = WB_DTYPE_F32;
        if (round < 2)
            a.stop_after = 5;
        else
            options.progress = &progress;
        assert_int_equal(wb_load(model, &options, &told, &error), WB_ERROR_CANCELLED);
        assert_true(told.bytes > 0 && told.bytes < 3 * FILE_ROOM);
        arrival_free(&a);
        wb_close(model);
    }
}

static bool try_allocation(wb_io io, size_t fail_at)
{
    counter c = {0};
    wb_allocator allocator = counter_allocator(&c);
    const wb_open_options open = {.size = sizeof open, .allocator = &allocator};
    wb_model *model;
    wb_error error;
    assert_int_equal(wb_open(folder, &open, &model, &error), WB_OK);
    c.calls = 0;
    c.fail_at = fail_at;
    wb_load_options options = {.size = sizeof options,
                               .io = io,
                               .flags = WB_LOAD_DIGEST | WB_LOAD_CONVERT,
                               .dtype = WB_DTYPE_F32};
    wb_status status = wb_load(model, &options, NULL, &error);
    bool failed = c.failed;
    if (!failed || io != WB_IO_DIRECT || status != WB_OK) /* io_uring is optional */
        assert_int_equal(status, failed ? WB_ERROR_MEMORY : WB_OK);
    wb_close(model);
    assert_clean(&c);
    return failed;
}

static void every_allocation_may_fail(void **state)
{
    static const wb_io ios[] = {WB_IO_READ, WB_IO_DIRECT};
    (void)state;
    for (size_t i = 0; i < sizeof ios / sizeof *ios; i++) {
        size_t fail_at = 1;
        while (try_allocation(ios[i], fail_at))
            fail_at++;
        assert_true(fail_at > 1);
    }
}

static void bad_options_are_refused(void **state)
{
    wb_error error;
    wb_model *model = open_folder(WB_ACCESS_MAP);
    const wb_load_options wrong[] = {{.size = 3},
                                     {.size = sizeof *wrong, .io = (wb_io)4},
                                     {.size = sizeof *wrong, .flags = 4},
                                     {.size = sizeof *wrong, .flags = 2, .dtype = WB_DTYPE_I8},
                                     {.size = sizeof *wrong, .flags = 2, .dtype = WB_DTYPE_Q8_0},
                                     {.size = sizeof *wrong, .flags = 2, .dtype = 9999}};
    wb_load_report small = {.size = 1};
    uint64_t bytes = 1;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(wb_load(model, &wrong[i], NULL, &error), WB_ERROR_ARGUMENT);
    assert_int_equal(wb_load(model, NULL, &small, &error), WB_ERROR_ARGUMENT);
    assert_int_equal(wb_file_cached(model, FILES, &bytes, &error), WB_ERROR_NOT_FOUND);
    assert_int_equal(bytes, 0);
    wb_close(model);
}

/* With WB_IO_AUTO, cached files must be mapped, and other files must be read, if possible with
 * direct I/O. */
static void auto_looks_at_the_page_cache(void **state)
{
    wb_error error;
    uint64_t cached;
    wb_load_report told = {.size = sizeof told};
    wb_load_options options = {.size = sizeof options, .memory = 64u << 10, .lanes = 1};
    wb_model *model = open_folder(WB_ACCESS_MAP);
    (void)state;
    free(read_file(paths[0], &sizes[0]));
    if (wb_file_cached(model, 0, &cached, &error) != WB_OK)
        skip();
    assert_int_equal(cached, sizes[0]);
    int fd = open(paths[0], O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(fsync(fd), 0);
    assert_int_equal(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
    (void)close(fd);
    assert_int_equal(wb_file_cached(model, 0, &cached, &error), WB_OK);
    assert_int_equal(wb_load(model, &options, &told, &error), WB_OK);
    if (cached == 0) /* false on a file system in memory */
        assert_true(told.direct > 0 || told.copied > 0);
    assert_true(told.mapped > 0); /* the other files */
    wb_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_arrives_once),
        cmocka_unit_test(bytes_are_put_in_place),
        cmocka_unit_test(digests_are_those_of_the_files),
        cmocka_unit_test(a_file_that_shrinks_is_an_error),
        cmocka_unit_test(loading_stops_on_request),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(auto_looks_at_the_page_cache),
    };
    make_files();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (int f = 0; f < FILES; f++) {
        free(paths[f]);
        free(contents[f]);
    }
    scratch_remove(folder);
    return failed;
}
