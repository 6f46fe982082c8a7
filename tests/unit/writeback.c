/*
 * Tests write-back. Whatever io_uring does, the file must contain every byte at its offset, buffers
 * of pending writes must not be reused, and write errors must be reported, at the latest by commit.
 * Tests the functions directly, and conversions with several threads.
 *
 * wraps: wb__ring_open wb__ring_begin_write wb__ring_look wb__ring_take wb__ring_close pwrite64
 */
#include "executor.h"
#include "writing.h"

#include <pthread.h>

#include "io/ring.h"
#include "weighbridge.h"
#include "weighbridge/experimental.h"

enum { SLOTS = 3, THREADS = 3, RING_MOST = 64 };

#define MIB ((size_t)1 << 20)
#define FIRST_BYTES (40 * MIB + 12288 + 3)
#define SECOND_BYTES (26 * MIB)
#define PIECE_MOST (4 * MIB)

static char *folder, *source;
static unsigned char *pattern; /* FIRST_BYTES bytes of test data */

/* ---- rings ---- */

typedef enum ring_kind {
    NO_RING,
    REAL_RING,
    LATE,    /* completes writes only when the caller waits */
    FAILS,   /* writes nothing and returns EIO */
    LESS,    /* writes half of the bytes */
    REFUSES, /* accepts only the first three writes */
    RING_KINDS
} ring_kind;

static ring_kind kind;
static atomic_uint rung, misaligned;
static atomic_bool no_ring;    /* the real io_uring is not available */
static atomic_bool disk_fails; /* pwrite of 512 KiB or more fails with ENOSPC */

struct wb__ring {
    struct {
        int fd;
        uint64_t offset;
        const unsigned char *src;
        size_t n;
        unsigned tag;
        uint64_t sum;
    } pieces[RING_MOST];
    unsigned count, depth, taken;
};

wb__ring *__real_wb__ring_open(const wb_allocator *allocator, unsigned depth, bool remote);
wb__ring *__wrap_wb__ring_open(const wb_allocator *allocator, unsigned depth, bool remote);
bool __real_wb__ring_begin_write(wb__ring *ring, const wb__direct *direct, uint64_t offset,
                                 const void *src, size_t n, unsigned tag);
bool __wrap_wb__ring_begin_write(wb__ring *ring, const wb__direct *direct, uint64_t offset,
                                 const void *src, size_t n, unsigned tag);
size_t __real_wb__ring_look(wb__ring *ring, wb__ring_done *done, size_t most);
size_t __wrap_wb__ring_look(wb__ring *ring, wb__ring_done *done, size_t most);
size_t __real_wb__ring_take(wb__ring *ring, wb__ring_done *done, size_t most);
size_t __wrap_wb__ring_take(wb__ring *ring, wb__ring_done *done, size_t most);
void __real_wb__ring_close(wb__ring *ring);
void __wrap_wb__ring_close(wb__ring *ring);
ssize_t __real_pwrite64(int fd, const void *src, size_t n, off_t offset);
ssize_t __wrap_pwrite64(int fd, const void *src, size_t n, off_t offset);

/* Computes a checksum of some bytes, to detect buffers that change before they are written. */
static uint64_t sum_of(const unsigned char *bytes, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i += 509)
        sum = sum * 31 + bytes[i];
    return sum;
}

wb__ring *__wrap_wb__ring_open(const wb_allocator *allocator, unsigned depth, bool remote)
{
    if (kind == NO_RING)
        return NULL;
    if (kind == REAL_RING) {
        wb__ring *real = __real_wb__ring_open(allocator, depth, remote);
        no_ring = real == NULL;
        return real;
    }
    assert_true(depth <= RING_MOST);
    wb__ring *ring = calloc(1, sizeof *ring);
    assert_non_null(ring);
    ring->depth = depth;
    return ring;
}

bool __wrap_wb__ring_begin_write(wb__ring *ring, const wb__direct *direct, uint64_t offset,
                                 const void *src, size_t n, unsigned tag)
{
    misaligned += offset % 4096 != 0 || n % 4096 != 0 || (uintptr_t)src % 4096 != 0;
    rung++;
    if (kind == REAL_RING)
        return __real_wb__ring_begin_write(ring, direct, offset, src, n, tag);
    if (ring->count == ring->depth || (kind == REFUSES && ring->taken == 3))
        return false;
    ring->taken++;
    ring->pieces[ring->count].fd = direct->fd;
    ring->pieces[ring->count].offset = offset;
    ring->pieces[ring->count].src = src;
    ring->pieces[ring->count].n = n;
    ring->pieces[ring->count].tag = tag;
    ring->pieces[ring->count++].sum = sum_of(src, n);
    return true;
}

size_t __wrap_wb__ring_look(wb__ring *ring, wb__ring_done *done, size_t most)
{
    return kind == REAL_RING ? __real_wb__ring_look(ring, done, most) : 0;
}

/* Completes the last write first. */
size_t __wrap_wb__ring_take(wb__ring *ring, wb__ring_done *done, size_t most)
{
    if (kind == REAL_RING)
        return __real_wb__ring_take(ring, done, most);
    if (ring->count == 0 || most == 0)
        return 0;
    unsigned i = --ring->count;
    size_t n = ring->pieces[i].n;
    assert_int_equal(sum_of(ring->pieces[i].src, n), ring->pieces[i].sum);
    *done = (wb__ring_done){ring->pieces[i].tag, -EIO};
    if (kind == FAILS)
        return 1;
    n = kind == LESS ? n / 8192 * 4096 : n;
    done->result =
        __real_pwrite64(ring->pieces[i].fd, ring->pieces[i].src, n, (off_t)ring->pieces[i].offset);
    return 1;
}

void __wrap_wb__ring_close(wb__ring *ring)
{
    if (kind == REAL_RING) {
        __real_wb__ring_close(ring);
    } else if (ring != NULL) {
        assert_int_equal(ring->count, 0); /* no write may be pending */
        free(ring);
    }
}

ssize_t __wrap_pwrite64(int fd, const void *src, size_t n, off_t offset)
{
    if (disk_fails && n >= MIB / 2) {
        errno = ENOSPC;
        return -1;
    }
    return __real_pwrite64(fd, src, n, offset);
}

static void set_ring(ring_kind which)
{
    kind = which;
    rung = misaligned = 0;
    disk_fails = no_ring = false;
}

/* Returns true if the test directory is on a local disk and supports O_DIRECT. */
static bool has_direct(void)
{
    char *path = text_of("%s/probe", folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_DIRECT | O_CLOEXEC, 0600);
    bool has = fd >= 0 && wb__medium_of_fd(fd) == WB__MEDIUM_DISK;
    if (fd >= 0)
        (void)close(fd);
    (void)unlink(path);
    free(path);
    return has;
}

/* ---- the functions themselves ---- */

static wb_writer *begin(const char *path, uint64_t *first, uint64_t *second)
{
    wb_writer *writer;
    const wb_writer_options options = {.size = sizeof options, .format = "safetensors"};
    OK(wb_writer_create(&options, &writer, E));
    OK(wb_writer_add(writer, "a", 1, WB_DTYPE_U8, &(uint64_t){FIRST_BYTES}, 1, first, E));
    OK(wb_writer_add(writer, "b", 1, WB_DTYPE_U8, &(uint64_t){SECOND_BYTES}, 1, second, E));
    OK(wb_writer_plan(writer, path, E));
    OK(wb_writer_begin(writer, E));
    return writer;
}

/* Writes the tensor in pieces of random sizes. The addresses of most pieces have the same remainder
 * modulo 4096 as their file offsets, as direct I/O requires; those of every seventh do not. */
static void put_tensor(wb_writeback *behind, const wb_writer *writer, uint64_t index,
                       uint64_t bytes, unsigned char *memory)
{
    uint64_t state = index + 1;
    wb_tensor tensor = {.size = sizeof tensor};
    OK(wb_writer_tensor_at(writer, index, &tensor, E));
    for (uint64_t at = 0, turn = 0; at < bytes; turn++) {
        uint32_t slot = (uint32_t)(turn % SLOTS);
        size_t n = (size_t)(next_random(&state) % PIECE_MOST) + 1;
        n = n < bytes - at ? n : (size_t)(bytes - at);
        OK(wb_writeback_wait(behind, slot, E));
        assert_false(wb_writeback_is_busy(behind, slot));
        unsigned char *room = memory + slot * (PIECE_MOST + 8192);
        room += (4096 - (uintptr_t)room % 4096) + (tensor.offset + at) % 4096 - (turn % 7 == 6);
        memcpy(room, pattern + at, n);
        OK(wb_writeback_put(behind, slot, index, at, room, n, E));
        at += n;
    }
}

static void check_file(const char *path)
{
    wb_model *model;
    OK(wb_open(path, NULL, &model, E));
    for (uint64_t i = 0; i < 2; i++) {
        wb_tensor tensor = {.size = sizeof tensor};
        const void *data;
        OK(wb_tensor_at(model, i, &tensor, E));
        OK(wb_tensor_data(model, i, &data, E));
        assert_true(memcmp(data, pattern, (size_t)tensor.bytes) == 0);
    }
    wb_close(model);
}

static void every_byte_is_at_its_place(void **state)
{
    (void)state;
    unsigned char *memory = malloc(SLOTS * (PIECE_MOST + 8192) + 8192);
    char *path = text_of("%s/out.safetensors", folder);
    assert_non_null(memory);
    for (ring_kind ring = NO_RING; ring < RING_KINDS; ring++) {
        uint64_t first, second;
        wb_writeback *behind;
        set_ring(ring);
        wb_writer *writer = begin(path, &first, &second);
        OK(wb_writeback_open(writer, SLOTS, &behind, E));
        put_tensor(behind, writer, second, SECOND_BYTES, memory);
        put_tensor(behind, writer, first, FIRST_BYTES, memory);
        wb_writeback_free(behind);
        OK(wb_writer_commit(writer, E));
        wb_writer_free(writer);
        assert_int_equal(misaligned, 0);
        assert_true(ring == NO_RING ? rung == 0 : rung > 0 || no_ring || !has_direct());
        check_file(path);
        assert_int_equal(unlink(path), 0);
    }
    free(path);
    free(memory);
}

static void bad_arguments_are_told(void **state)
{
    (void)state;
    uint64_t first, second;
    wb_writeback *behind;
    char *path = text_of("%s/out.safetensors", folder);
    set_ring(LATE);
    wb_writer *writer = begin(path, &first, &second);
    assert_int_equal(wb_writeback_open(writer, 0, &behind, NULL), WB_ERROR_ARGUMENT);
    assert_null(behind);
    assert_int_equal(wb_writeback_open(writer, 65, &behind, NULL), WB_ERROR_ARGUMENT);
    OK(wb_writeback_open(writer, 2, &behind, E));
    assert_int_equal(wb_writeback_put(behind, 2, first, 0, pattern, 9, NULL), WB_ERROR_ARGUMENT);
    assert_int_equal(wb_writeback_wait(behind, 2, NULL), WB_ERROR_ARGUMENT);
    assert_false(wb_writeback_is_busy(behind, 2));
    OK(wb_writeback_wait(behind, 1, E));
    assert_int_equal(wb_writeback_put(behind, 0, 2, 0, pattern, MIB, NULL), WB_ERROR_NOT_FOUND);
    assert_int_equal(wb_writeback_put(behind, 0, first, FIRST_BYTES - MIB + 1, pattern, MIB, NULL),
                     WB_ERROR_ARGUMENT);
    OK(wb_writeback_put(behind, 0, first, 0, pattern, 2 * MIB, E));
    assert_int_equal(wb_writeback_put(behind, 1, first, MIB, pattern, 2 * MIB, NULL),
                     WB_ERROR_ARGUMENT); /* already written */
    wb_writeback_free(behind);
    wb_writeback_free(NULL);
    wb_writer_free(writer);
    free(path);
}

/* A write that fails in io_uring must be repeated without it. If that fails too, wait or commit
 * must report the error. */
static void what_fails_is_told(void **state)
{
    (void)state;
    char *path = text_of("%s/out.safetensors", folder);
    unsigned char *memory = malloc(2 * MIB + 8192);
    assert_non_null(memory);
    for (int waits = 0; waits < 2; waits++) {
        uint64_t first, second;
        wb_writeback *behind;
        wb_tensor tensor = {.size = sizeof tensor};
        set_ring(FAILS);
        wb_writer *writer = begin(path, &first, &second);
        OK(wb_writer_tensor_at(writer, first, &tensor, E));
        OK(wb_writeback_open(writer, SLOTS, &behind, E));
        unsigned char *room = memory + (4096 - (uintptr_t)memory % 4096) + tensor.offset % 4096;
        memcpy(room, pattern, 2 * MIB);
        OK(wb_writeback_put(behind, 0, first, 0, room, 2 * MIB, E));
        if (!has_direct()) {
            wb_writeback_free(behind);
            wb_writer_free(writer);
            break;
        }
        assert_true(wb_writeback_is_busy(behind, 0));
        disk_fails = true;
        wb_error error = {.status = WB_OK};
        if (waits) {
            assert_int_equal(wb_writeback_wait(behind, 0, &error), WB_ERROR_IO);
            assert_int_equal(error.os_error, ENOSPC);
            assert_non_null(strstr(error.file, "out.safetensors"));
            OK(wb_writeback_wait(behind, 0, E)); /* the slot must be free again */
        }
        wb_writeback_free(behind);
        disk_fails = false;
        for (uint64_t at = 2 * MIB; at < FIRST_BYTES; at += MIB)
            assert_int_not_equal(wb_writer_put(writer, first, at, pattern, 1, &error), WB_OK);
        assert_int_not_equal(wb_writer_commit(writer, &error), WB_OK);
        assert_int_equal(error.os_error, ENOSPC);
        wb_writer_free(writer);
        assert_int_equal(access(path, F_OK), -1);
    }
    free(memory);
    free(path);
}

/* ---- by conversions ---- */

static void make_source(void)
{
    char header[200];
    size_t n = 2 * 33 * MIB;
    int len =
        snprintf(header, sizeof header,
                 "{\"a\":{\"dtype\":\"BF16\",\"shape\":[4224,4096],\"data_offsets\":[0,%zu]},"
                 "\"b\":{\"dtype\":\"BF16\",\"shape\":[4224,4096],\"data_offsets\":[%zu,%zu]}}",
                 n / 2, n / 2, n);
    source = text_of("%s/source.safetensors", folder);
    size_t whole;
    unsigned char *bytes = st_bytes(header, (size_t)len, n, &whole);
    for (size_t i = 0; i < n; i += 2) { /* finite values only */
        bytes[8 + (size_t)len + i] = (unsigned char)(i / 2 * 37 >> 3);
        bytes[8 + (size_t)len + i + 1] = (unsigned char)(0x3C + (i >> 14 & 3));
    }
    write_file(source, bytes, whole);
    free(bytes);
}

static wb_status convert_to(const char *path, wb_error *error)
{
    static size_t threads = THREADS;
    wb_model *model;
    wb_conversion *conversion;
    OK(wb_open(source, NULL, &model, E));
    const wb_convert_policy policy = {
        .size = sizeof policy, .quant = "BF16", .executor = &(wb_executor){&threads, crew_run}};
    OK(wb_convert_plan(model, WB_TARGET_GGUF, &policy, &conversion, E));
    wb_status status = wb_convert(conversion, path, NULL, error);
    wb_conversion_free(conversion);
    wb_close(model);
    return status;
}

static void conversions_come_out_the_same(void **state)
{
    (void)state;
    size_t n, expected_n;
    wb_error error;
    char *path = text_of("%s/out.gguf", folder);
    set_ring(NO_RING);
    assert_int_equal(convert_to(path, &error), WB_OK);
    unsigned char *expected = read_file(path, &expected_n);
    for (ring_kind ring = REAL_RING; ring < RING_KINDS; ring++) {
        assert_int_equal(unlink(path), 0);
        set_ring(ring);
        if (convert_to(path, &error) != WB_OK)
            fail_msg("%d: %s", (int)ring, error.message);
        unsigned char *bytes = read_file(path, &n);
        assert_true(rung > 0 || no_ring || !has_direct());
        assert_int_equal(n, expected_n);
        assert_true(memcmp(bytes, expected, n) == 0);
        assert_int_equal(misaligned, 0);
        free(bytes);
    }
    assert_int_equal(unlink(path), 0);
    set_ring(FAILS);
    disk_fails = true;
    assert_int_equal(convert_to(path, &error), WB_ERROR_IO);
    assert_int_equal(error.os_error, ENOSPC);
    assert_int_equal(access(path, F_OK), -1);
    free(expected);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_is_at_its_place),
        cmocka_unit_test(bad_arguments_are_told),
        cmocka_unit_test(what_fails_is_told),
        cmocka_unit_test(conversions_come_out_the_same),
    };
    folder = scratch_make();
    pattern = malloc(FIRST_BYTES);
    assert_non_null(pattern);
    uint64_t state = 7;
    for (size_t i = 0; i < FIRST_BYTES; i++)
        pattern[i] = (unsigned char)(i % 1024 == 0 ? next_random(&state) : pattern[i - 1] + i);
    make_source();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(pattern);
    free(source);
    scratch_remove(folder);
    return failed;
}
