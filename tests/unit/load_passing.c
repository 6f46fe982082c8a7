/*
 * Tests how threads share the work of loading a file with direct I/O and a digest. SHA-256 is
 * sequential, so one worker reads and hashes all pieces. It must pass hashed pieces on to idle
 * workers, which deliver them.
 *
 * wraps: wb__ring_take wb__slots_pass_on pthread_cond_wait
 */
#include "executor.h"

#include "load/load.h"

enum { THREADS = 3, DATA = 6 << 20, MEMORY = 1 << 20 };

static const char header[] =
    "{\"a\":{\"dtype\":\"U8\",\"shape\":[6291456],\"data_offsets\":[0,6291456]}}";

static _Atomic unsigned asleep; /* workers that wait, or hold the lock and are about to wait */
static _Atomic unsigned readers, others_took;
static _Atomic uint64_t bytes, sum;
static _Thread_local bool is_reader;

int __real_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock);

int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock)
{
    asleep++;
    int result = __real_pthread_cond_wait(condition, lock);
    asleep--;
    return result;
}

size_t __real_wb__ring_take(wb__ring *ring, wb__ring_done *done, size_t most);
size_t __wrap_wb__ring_take(wb__ring *ring, wb__ring_done *done, size_t most);

/* Completes no read before the other workers wait. */
size_t __wrap_wb__ring_take(wb__ring *ring, wb__ring_done *done, size_t most)
{
    if (!is_reader && readers++ == 0) {
        while (asleep < THREADS - 1)
            (void)sched_yield();
    }
    is_reader = true;
    return __real_wb__ring_take(ring, done, most);
}

bool __real_wb__slots_pass_on(wb__lane *lane, wb__load_piece *piece);
bool __wrap_wb__slots_pass_on(wb__lane *lane, wb__load_piece *piece);

/* After the first piece was passed on, waits until an idle worker takes it, so that the reader
 * does not deliver it. */
bool __wrap_wb__slots_pass_on(wb__lane *lane, wb__load_piece *piece)
{
    bool passed = __real_wb__slots_pass_on(lane, piece);
    while (passed && others_took == 0)
        (void)sched_yield();
    return passed;
}

static int consume(void *ctx, const wb_piece *piece)
{
    const unsigned char *at = piece->data;
    uint64_t s = 0;
    (void)ctx;
    for (uint64_t i = 0; i < piece->bytes; i++)
        s += at[i] * (piece->at + i);
    sum += s;
    bytes += piece->bytes;
    others_took += !is_reader;
    return 0;
}

static void take_digest(void *ctx, uint64_t file, const uint8_t sha256[32])
{
    (void)file;
    memcpy(ctx, sha256, 32);
}

static void others_hand_over_what_was_digested(void **state)
{
    static size_t thread_count = THREADS;
    const wb_executor threads = crew_executor(&thread_count);
    uint8_t digest[32] = {0}, expected[32];
    char *folder = scratch_make(), *path = text_of("%s/a.safetensors", folder);
    uint64_t expected_sum = 0;
    size_t n;
    unsigned char *file = st_bytes(header, strlen(header), DATA, &n);
    uint64_t random = 3;
    (void)state;
    for (size_t i = 0; i < DATA; i++) {
        file[n - DATA + i] = (unsigned char)next_random(&random);
        expected_sum += file[n - DATA + i] * (uint64_t)i;
    }
    write_file(path, file, n);
    wb_error error;
    wb__context context = {.allocator = wb__default_allocator, .error = &error};
    wb__sha256 hash;
    assert_int_equal(wb__sha256_open(&hash, &context), WB_OK);
    wb__sha256_add(&hash, file, n);
    assert_true(wb__sha256_finish(&hash, expected));
    wb__sha256_close(&hash);

    wb_model *model;
    const wb_load_options options = {.size = sizeof options,
                                     .io = WB_IO_DIRECT,
                                     .flags = WB_LOAD_DIGEST,
                                     .lanes = THREADS,
                                     .memory = MEMORY,
                                     .executor = &threads,
                                     .ctx = digest,
                                     .consume = consume,
                                     .digest = take_digest};
    wb_load_report told = {.size = sizeof told};
    assert_int_equal(wb_open(path, NULL, &model, &error), WB_OK);
    assert_int_equal(wb_load(model, &options, &told, &error), WB_OK);
    wb_close(model);
    assert_int_equal(bytes, DATA);
    assert_true(sum == expected_sum);
    assert_memory_equal(digest, expected, 32);
    bool rang =
        readers != 0; /* false without io_uring or O_DIRECT: each worker delivers its own pieces */
    assert_true(!rang || others_took > 0);
    free(file);
    scratch_remove(folder);
    free(path);
    if (!rang)
        skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(others_hand_over_what_was_digested)};
    (void)alarm(280);
    if (is_slow())
        return 77; /* valgrind does not track writes by io_uring */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
