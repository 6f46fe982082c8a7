/*
 * Tests the provider with direct I/O: which data it reads directly and which through the page
 * cache. The results must be the same. Each read is interrupted, returns fewer bytes, fails or
 * finds the end of the file. The test simulates the page cache and other threads that fill buffers.
 *
 * wraps: pread64 open64 fstatfs64 wb__source_cached wb__ring_open wb__ring_begin wb__ring_take
 */
#include "support.h"
#include "weights.h"

#include <pthread.h>

#include "executor.h"
#include "page_cache.h"
#include "provider/provider.h"

/* ---- what is underneath ---- */

static struct {
    _Atomic unsigned past, in_place;
    const unsigned char *placed; /* destination range of reads without a staging copy */
    size_t placed_bytes;
    unsigned at,  /* number of the first direct read that fails, counted from 1; 0: none */
        times;    /* number of direct reads that fail */
    int os_error; /* errno or ENDED; 0: the read returns at most `less` bytes */
    size_t less;
    unsigned befallen;
    uint64_t offset; /* offset of the last failing read */
} world;

#define ENDED (-1)

static void world_reset(void)
{
    memset(&world, 0, sizeof world);
    cold_reset();
    cold.no_ring = true; /* io_uring reads would not be counted in `past` */
}

ssize_t __real_pread64(int fd, void *dst, size_t n, off_t offset);
ssize_t __wrap_pread64(int fd, void *dst, size_t n, off_t offset);

ssize_t __wrap_pread64(int fd, void *dst, size_t n, off_t offset)
{
    const unsigned char *to = dst;
    if (!is_direct(fd))
        return __real_pread64(fd, dst, n, offset);
    unsigned call = ++world.past;
    cold.misaligned += (uintptr_t)dst % 4096 != 0 || n % 4096 != 0 || offset % 4096 != 0;
    world.in_place +=
        world.placed != NULL && to >= world.placed && to + n <= world.placed + world.placed_bytes;
    if (world.at == 0 || call < world.at || call >= world.at + world.times)
        return __real_pread64(fd, dst, n, offset);
    world.befallen++;
    world.offset = (uint64_t)offset;
    if (world.os_error == 0)
        return __real_pread64(fd, dst, world.less < n ? world.less : n, offset);
    errno = world.os_error;
    return world.os_error == ENDED ? 0 : -1;
}

/* ---- the model ---- */

enum { TENSORS = 5, MANY = 0, SMALL = 2, STACK = 3 };

/* Tensors at odd offsets. A window is a file range that is read with one call. "many" is read in
 * several windows, "one" in one window. "small" is too small for direct reads. A slice of "stack"
 * consists of several pieces. */
static const struct {
    const char *name, *dtype;
    uint64_t shape[3];
    int rank;
} tensors[TENSORS] = {{"many", "BF16", {3000, 1111}, 2},
                      {"one", "F32", {600, 801}, 2},
                      {"small", "BF16", {300, 100}, 2},
                      {"stack", "BF16", {3, 2048, 515}, 3},
                      {"bytes", "U8", {5, 500009}, 2}};

static weights *model_of(wb_access access, const wb_allocator *allocator)
{
    weights *w = weights_new("{\"model_type\":\"llama\"}");
    for (unsigned i = 0; i < TENSORS; i++) {
        if (strcmp(tensors[i].dtype, "U8") == 0)
            weights_raw(w, tensors[i].name, "U8", tensors[i].shape, tensors[i].rank, 1);
        else
            weights_floats(w, tensors[i].name, tensors[i].dtype, tensors[i].shape, tensors[i].rank);
    }
    (void)weights_open_as(w, access, allocator);
    return w;
}

static wb_provider *provider_of(const wb_model *model, const wb_device *device, wb_io io,
                                wb_plain_policy plain, const wb_allocator *allocator)
{
    const wb_policy policy = {
        .size = sizeof policy, .plain = plain, .io = io, .allocator = allocator};
    wb_provider *provider;
    assert_int_equal(wb_provider_create(model, device, &policy, &provider, NULL), WB_OK);
    return provider;
}

/* Compares all tensors, and the slices of tensor STACK for two ranks, with those read through the
 * page cache. `others`: pretends that other threads fill buffers as well. */
static void compare_all(const wb_model *model, const wb_device *device, wb_io io,
                        wb_plain_policy plain, bool others)
{
    wb_provider *one = provider_of(model, device, io, plain, NULL);
    wb_provider *other = provider_of(model, NULL, WB_IO_READ, plain, NULL);
    atomic_store(&one->rooms.fillers, others ? 1 : 0);
    for (unsigned i = 0; i < TENSORS + 2; i++) {
        wb_buffer a = {.size = sizeof a}, b = {.size = sizeof b};
        const char *name = tensors[i < TENSORS ? i : STACK].name;
        uint32_t of = i < TENSORS ? 1 : 2;
        assert_int_equal(wb_provider_slice(one, name, SIZE_MAX, i % 2, 0, of, &a, NULL), WB_OK);
        assert_int_equal(wb_provider_slice(other, name, SIZE_MAX, i % 2, 0, of, &b, NULL), WB_OK);
        assert_int_equal(a.bytes, b.bytes);
        unsigned char *bytes = malloc((size_t)a.bytes);
        assert_non_null(bytes);
        assert_int_equal(wb_provider_download(one, &a, 0, bytes, a.bytes, NULL), WB_OK);
        assert_memory_equal(bytes, b.contents, (size_t)b.bytes);
        free(bytes);
    }
    assert_int_equal(atomic_load(&one->rooms.fillers), others ? 1 : 0);
    assert_int_equal(cold.misaligned, 0);
    wb_provider_destroy(one);
    wb_provider_destroy(other);
}

static void open_host(uint32_t alignment, bool uploads, wb_device *device)
{
    const wb_host_options options = {
        .size = sizeof options, .flags = WB_HOST_COPY, .alignment = alignment};
    assert_int_equal(wb_device_host(&options, device, NULL), WB_OK);
    if (uploads)
        device->map = NULL;
}

/* ---- the same bytes ---- */

static void the_bytes_are_the_same(void **state)
{
    static const wb_plain_policy plain[] = {WB_PLAIN_KEEP, WB_PLAIN_F16};
    weights *w = model_of(WB_ACCESS_READ, NULL);
    (void)state;
    for (unsigned i = 0; i < 32; i++) {
        wb_device device;
        world_reset();
        cold.no_ring = i % 2 == 0 || is_slow(); /* valgrind does not track io_uring writes */
        open_host(64, i / 2 % 2 != 0, &device);
        cold.cached = i / 8 % 2 * 50;
        compare_all(w->model, &device, i / 4 % 2 != 0 ? WB_IO_DIRECT : WB_IO_AUTO, plain[i / 16],
                    true);
        assert_true(world.past > 0);
        wb_device_close(&device);
    }
    weights_free(w);
}

/* A read that failed in io_uring must be repeated without it. */
static void rings_may_fail(void **state)
{
    weights *w = model_of(WB_ACCESS_READ, NULL);
    (void)state;
    for (unsigned i = 0; i < 8 && has_rings(); i++) {
        wb_device device;
        world_reset();
        cold.no_ring = false;
        cold.ring = (ring_kind)(i / 2);
        open_host(64, false, &device);
        compare_all(w->model, &device, WB_IO_DIRECT, i % 2 == 0 ? WB_PLAIN_KEEP : WB_PLAIN_F16,
                    true);
        assert_true(cold.rung > 8);
        assert_true((world.past > 4) == (cold.ring != GOOD_RING));
        wb_device_close(&device);
    }
    weights_free(w);
}

/* ---- when direct I/O is used ---- */

static unsigned reads_past(const wb_model *model, wb_io io, uint64_t budget, bool others)
{
    wb_device device;
    wb_policy policy = {.size = sizeof policy, .plain = WB_PLAIN_KEEP, .io = io, .budget = budget};
    wb_provider *provider;
    wb_buffer buffer = {.size = sizeof buffer};
    open_host(64, false, &device);
    assert_int_equal(wb_provider_create(model, &device, &policy, &provider, NULL), WB_OK);
    atomic_store(&provider->rooms.fillers, others ? 1 : 0);
    world.past = 0;
    assert_int_equal(wb_provider_get(provider, "many", SIZE_MAX, &buffer, NULL), WB_OK);
    wb_provider_destroy(provider);
    wb_device_close(&device);
    return world.past;
}

static void only_where_it_is_worth_it(void **state)
{
    static const uint32_t networks[] = {0x6969, 0xff534d42, 0x65735546, 0x0bd00bd0};
    weights *w = model_of(WB_ACCESS_READ, NULL);
    (void)state;
    world_reset();
    assert_int_equal(reads_past(w->model, WB_IO_AUTO, 0, true), 4);
    /* If only one thread fills buffers, kernel read-ahead is faster than direct I/O. */
    assert_int_equal(reads_past(w->model, WB_IO_AUTO, 0, false), 0);
    assert_int_equal(reads_past(w->model, WB_IO_DIRECT, 0, false), 4);
    assert_int_equal(reads_past(w->model, WB_IO_READ, 0, true), 0);
    /* With a budget, buffers may be evicted and loaded again, so WB_IO_AUTO uses the page cache. */
    assert_int_equal(reads_past(w->model, WB_IO_AUTO, 1 << 30, true), 0);
    assert_int_equal(reads_past(w->model, WB_IO_DIRECT, 1 << 30, true), 4);
    static const unsigned cached[][2] = {{50, 4}, {51, 0}, {100, 0}, {101, 0}};
    for (size_t i = 0; i < 4; i++) {
        cold.cached = cached[i][0];
        assert_int_equal(reads_past(w->model, WB_IO_AUTO, 0, true), cached[i][1]);
        assert_int_equal(reads_past(w->model, WB_IO_DIRECT, 0, true), 4);
    }
    cold.cached = 0;
    for (size_t i = 0; i < 4; i++) {
        cold.medium = networks[i];
        assert_int_equal(reads_past(w->model, WB_IO_AUTO, 0, true), 0);
        assert_int_equal(reads_past(w->model, WB_IO_DIRECT, 0, true), 4);
    }
    world_reset();
    opened.no_direct = true;
    assert_int_equal(reads_past(w->model, WB_IO_DIRECT, 0, true), 0);
    compare_all(w->model, NULL, WB_IO_DIRECT, WB_PLAIN_F16, true);
    weights_free(w);
    world_reset();
    w = model_of(WB_ACCESS_SNAPSHOT, NULL); /* a snapshot is already in memory */
    assert_int_equal(reads_past(w->model, WB_IO_DIRECT, 0, true), 0);
    weights_free(w);
}

/* Slices that consist of short pieces must not be read directly. */
static void short_pieces_are_not_read_past(void **state)
{
    weights *w = model_of(WB_ACCESS_READ, NULL);
    wb_provider *provider = provider_of(w->model, NULL, WB_IO_DIRECT, WB_PLAIN_KEEP, NULL);
    wb_buffer buffer = {.size = sizeof buffer};
    (void)state;
    world_reset();
    assert_int_equal(wb_provider_get(provider, tensors[SMALL].name, SIZE_MAX, &buffer, NULL),
                     WB_OK);
    assert_int_equal(
        wb_provider_slice(provider, tensors[MANY].name, SIZE_MAX, 1, 1, 2, &buffer, NULL), WB_OK);
    assert_int_equal(world.past, 0);
    assert_int_equal(
        wb_provider_slice(provider, tensors[MANY].name, SIZE_MAX, 0, 1, 2, &buffer, NULL), WB_OK);
    assert_int_equal(world.past, 2); /* 3.3 MB, contiguous */
    wb_provider_destroy(provider);
    weights_free(w);
}

static void policies_that_are_none(void **state)
{
    weights *w = model_of(WB_ACCESS_MAP, NULL);
    (void)state;
    for (int io = 0; io < 6; io++) {
        const wb_policy policy = {.size = sizeof policy, .io = (wb_io)io};
        wb_provider *provider;
        wb_error error;
        wb_status status = wb_provider_create(w->model, NULL, &policy, &provider, &error);
        bool is_good = io == WB_IO_AUTO || io == WB_IO_READ || io == WB_IO_DIRECT;
        assert_int_equal(status, is_good ? WB_OK : WB_ERROR_ARGUMENT);
        wb_provider_destroy(provider);
    }
    weights_free(w);
}

/* ---- straight into place ---- */

static unsigned char *place;

static wb_status alloc_place(void *ctx, uint64_t bytes, void **handle)
{
    (void)ctx;
    assert_true(bytes <= world.placed_bytes);
    *handle = place;
    return WB_OK;
}

static void free_place(void *ctx, void *handle, uint64_t bytes)
{
    (void)ctx, (void)handle, (void)bytes;
}

static void *map_place(void *ctx, void *handle)
{
    (void)ctx;
    return handle;
}

static void aligned_bytes_are_read_into_place(void **state)
{
    static const wb_device device = {
        .size = sizeof device, .alloc = alloc_place, .free = free_place, .map = map_place};
    char *folder = scratch_make();
    char *path = text_of("%s/model.safetensors", folder);
    const size_t n = 5000001;
    char header[4088];
    (void)state;
    memset(header, ' ', sizeof header);
    int len = snprintf(header, sizeof header,
                       "{\"t\":{\"dtype\":\"U8\",\"shape\":[%zu],\"data_offsets\":[0,%zu]}}", n, n);
    header[len] = ' ';
    size_t bytes;
    unsigned char *file = st_bytes(header, sizeof header, n, &bytes);
    for (size_t i = 4096; i < bytes; i++)
        file[i] = (unsigned char)(i * 31 >> 3);
    write_file(path, file, bytes);
    unsigned char *memory;
    assert_int_equal(posix_memalign((void **)&memory, 4096, n + 64), 0);
    for (unsigned ring = 0; ring < 4; ring++) {
        bool shifted = ring / 2 != 0; /* an unaligned buffer, so that no read can be in place */
        wb_model *model;
        wb_buffer buffer = {.size = sizeof buffer};
        world_reset();
        cold.no_ring = ring % 2 == 0 || !has_rings();
        place = memory + (shifted ? 64 : 0);
        memset(place, 0, n);
        world.placed = place;
        world.placed_bytes = n;
        assert_int_equal(wb_open(path, NULL, &model, NULL), WB_OK);
        wb_provider *provider = provider_of(model, &device, WB_IO_DIRECT, WB_PLAIN_KEEP, NULL);
        assert_int_equal(wb_provider_get(provider, "t", 1, &buffer, NULL), WB_OK);
        assert_memory_equal(buffer.contents, file + 4096, n);
        assert_int_equal(cold.misaligned, 0);
        assert_int_equal(cold.misaligned, 0);
        /* The last of three windows is not read in place: rounded up to a multiple of 4,096 bytes,
         * this window would end after the buffer. */
        assert_int_equal(world.in_place, cold.no_ring && !shifted ? 2 : 0);
        wb_provider_destroy(provider);
        wb_close(model);
    }
    free(memory);
    free(file);
    free(path);
    scratch_remove(folder);
}

/* ---- what fails ---- */

static const struct fault {
    int os_error;
    size_t less;
    unsigned times;
    bool goes_on;
} faults[] = {
    {EINTR, 0, 3, true},  {0, 1, 1, true},      {0, 512, 1, true},
    {0, 8192, 3, true},   {EINVAL, 0, 1, true}, {EOPNOTSUPP, 0, 100000, true},
    {EFAULT, 0, 1, true}, {EIO, 0, 1, false},   {EIO, 0, 100000, false},
    {ENXIO, 0, 1, false}, {ENDED, 0, 1, false}, {ENDED, 0, 100000, false},
};

static bool try_fault(const wb_model *model, const wb_device *device, wb_plain_policy plain,
                      const struct fault *fault, unsigned nth, const unsigned char *expected)
{
    counter c = {0};
    const wb_allocator allocator = counter_allocator(&c);
    unsigned descriptors = open_descriptors();
    wb_buffer buffer = {.size = sizeof buffer};
    wb_error error;
    world_reset();
    wb_provider *provider = provider_of(model, device, WB_IO_DIRECT, plain, &allocator);
    world.at = nth;
    world.times = fault->times;
    world.os_error = fault->os_error;
    world.less = fault->less;
    wb_status status = wb_provider_get(provider, tensors[MANY].name, SIZE_MAX, &buffer, &error);
    bool befell = world.befallen > 0;
    if (!befell || fault->goes_on) {
        assert_int_equal(status, WB_OK);
    } else {
        assert_int_equal(status, WB_ERROR_IO);
        assert_string_equal(error.code, fault->os_error == ENDED ? "file-ends-early" : "io");
        assert_int_equal(error.offset, world.offset);
        assert_non_null(strstr(error.file, "model.safetensors"));
        assert_null(buffer.handle);
        world.at = 0; /* without the fault, a second attempt must succeed */
        assert_int_equal(wb_provider_get(provider, tensors[MANY].name, SIZE_MAX, &buffer, &error),
                         WB_OK);
    }
    unsigned char *bytes = malloc((size_t)buffer.bytes);
    assert_non_null(bytes);
    assert_int_equal(wb_provider_download(provider, &buffer, 0, bytes, buffer.bytes, NULL), WB_OK);
    assert_memory_equal(bytes, expected, (size_t)buffer.bytes);
    free(bytes);
    wb_provider_destroy(provider);
    assert_clean(&c);
    assert_int_equal(open_descriptors(), descriptors);
    return befell;
}

static void every_read_may_fail(void **state)
{
    weights *w = model_of(WB_ACCESS_READ, NULL);
    (void)state;
    for (unsigned manner = 0; manner < 4; manner++) {
        wb_device device;
        wb_buffer buffer = {.size = sizeof buffer};
        wb_plain_policy plain = manner % 2 == 0 ? WB_PLAIN_KEEP : WB_PLAIN_F16;
        world_reset();
        open_host(64, manner / 2 != 0, &device);
        wb_provider *provider = provider_of(w->model, NULL, WB_IO_READ, plain, NULL);
        assert_int_equal(wb_provider_get(provider, tensors[MANY].name, SIZE_MAX, &buffer, NULL),
                         WB_OK);
        for (size_t f = 0; f < sizeof faults / sizeof *faults; f++) {
            unsigned nth = 1;
            while (try_fault(w->model, &device, plain, &faults[f], nth, buffer.contents))
                nth++;
            assert_true(nth > 4);
        }
        wb_provider_destroy(provider);
        wb_device_close(&device);
    }
    weights_free(w);
}

/* If an allocation fails, the call must report it or succeed without the memory, and not leak. */
static void memory_may_be_out(void **state)
{
    weights *w = model_of(WB_ACCESS_READ, NULL);
    (void)state;
    for (unsigned manner = 0; manner < 2; manner++) {
        bool failed = true;
        for (size_t nth = 1; failed; nth++) {
            counter c = {.fail_at = nth};
            const wb_allocator allocator = counter_allocator(&c);
            const wb_policy policy = {.size = sizeof policy,
                                      .plain = manner == 0 ? WB_PLAIN_KEEP : WB_PLAIN_F16,
                                      .io = WB_IO_DIRECT,
                                      .allocator = &allocator};
            wb_provider *provider;
            wb_buffer buffer = {.size = sizeof buffer};
            world_reset();
            cold.no_ring = is_slow();
            wb_status status = wb_provider_create(w->model, NULL, &policy, &provider, NULL);
            if (status == WB_OK)
                status = wb_provider_get(provider, tensors[MANY].name, SIZE_MAX, &buffer, NULL);
            failed = c.failed;
            assert_true(status == WB_OK || (failed && status == WB_ERROR_MEMORY));
            wb_provider_destroy(provider);
            assert_clean(&c);
        }
    }
    weights_free(w);
}

/* ---- several threads ---- */

static void threads_prefetch_past_it(void **state)
{
    static const char *names[TENSORS];
    size_t count = 4;
    const wb_executor threads = crew_executor(&count);
    weights *w = model_of(WB_ACCESS_READ, NULL);
    (void)state;
    for (unsigned i = 0; i < TENSORS; i++)
        names[i] = tensors[i].name;
    for (unsigned round = 0; round < 4; round++) {
        const wb_policy policy = {.size = sizeof policy,
                                  .plain = round % 2 == 0 ? WB_PLAIN_KEEP : WB_PLAIN_F16,
                                  .io = round / 2 == 0 ? WB_IO_AUTO : WB_IO_DIRECT,
                                  .executor = &threads};
        wb_provider *one, *other = provider_of(w->model, NULL, WB_IO_READ, policy.plain, NULL);
        world_reset();
        cold.no_ring = is_slow();
        assert_int_equal(wb_provider_create(w->model, NULL, &policy, &one, NULL), WB_OK);
        assert_int_equal(wb_provider_prefetch(one, names, NULL, TENSORS, NULL), WB_OK);
        for (unsigned i = 0; i < TENSORS; i++) {
            wb_buffer a = {.size = sizeof a}, b = {.size = sizeof b};
            assert_int_equal(wb_provider_get(one, names[i], SIZE_MAX, &a, NULL), WB_OK);
            assert_int_equal(wb_provider_get(other, names[i], SIZE_MAX, &b, NULL), WB_OK);
            assert_memory_equal(a.contents, b.contents, (size_t)b.bytes);
        }
        wb_provider_trim(one);
        wb_provider_destroy(one);
        wb_provider_destroy(other);
    }
    weights_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_are_the_same),
        cmocka_unit_test(rings_may_fail),
        cmocka_unit_test(only_where_it_is_worth_it),
        cmocka_unit_test(short_pieces_are_not_read_past),
        cmocka_unit_test(policies_that_are_none),
        cmocka_unit_test(aligned_bytes_are_read_into_place),
        cmocka_unit_test(every_read_may_fail),
        cmocka_unit_test(memory_may_be_out),
        cmocka_unit_test(threads_prefetch_past_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
