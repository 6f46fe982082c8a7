/*
 * Tests CUDA on the fake driver: results of all operations, failure of every driver call, and
 * asynchronous copies.
 *
 * wraps: wb__ring_open
 */
#include "support.h"
#include "weights.h"

#include "devices.h"
#include "io/ring.h"

wb__ring *__real_wb__ring_open(const wb_allocator *allocator, unsigned depth, bool remote);
wb__ring *__wrap_wb__ring_open(const wb_allocator *allocator, unsigned depth, bool remote);

/* Disables io_uring under valgrind, which does not track its writes. */
wb__ring *__wrap_wb__ring_open(const wb_allocator *allocator, unsigned depth, bool remote)
{
    return is_slow() ? NULL : __real_wb__ring_open(allocator, depth, remote);
}

static const char library[] = FAKE_DRIVERS "/libcuda.so.1";
static fake_state *fake;
static const wb_model *model, *small; /* opened with mapped access */
static weights *the_weights, *the_small;

static wb_cuda_options options_of(const wb_allocator *allocator)
{
    return (wb_cuda_options){
        .size = sizeof(wb_cuda_options), .library = library, .allocator = allocator};
}

static wb_status open_fake(const wb_allocator *allocator, wb_device *device, wb_error *error)
{
    const wb_cuda_options options = options_of(allocator);
    return wb_device_cuda(&options, device, error);
}

static wb_device open_well(const wb_cuda_options *options)
{
    wb_device device;
    wb_error error;
    if (wb_device_cuda(options, &device, &error) != WB_OK)
        fail_msg("%s\n", error.message);
    return device;
}

static void bytes_arrive(void **state)
{
    const wb_cuda_options options = options_of(NULL);
    wb_device device = open_well(&options);
    (void)state;
    for (unsigned round = 0; round < 4; round++) {
        const wb_executor *executor = round % 2 ? &devices_threads : NULL;
        wb_plain_policy plain = round < 2 ? WB_PLAIN_F16 : WB_PLAIN_KEEP;
        uint64_t borrowed;
        assert_int_equal(devices_provide(model, &device, plain, NULL, executor, &borrowed), WB_OK);
        assert_int_equal(borrowed, 0);
    }
    assert_int_equal(fake->from_elsewhere, 0);
    assert_int_equal(fake->streams_used, 15);
    assert_true(fake->most_pending >= 2);
    wb_device_close(&device);
    fake_reset(fake);
}

/* Loads with all I/O modes, unchanged and converted. All copies must be from pinned memory, and
 * several must be pending at a time. */
static void loads(void **state)
{
    static const wb_io ios[] = {WB_IO_AUTO, WB_IO_MAP, WB_IO_READ, WB_IO_DIRECT};
    const wb_cuda_options options = options_of(NULL);
    wb_device device = open_well(&options);
    (void)state;
    for (unsigned round = 0; round < 32; round++) {
        wb_load_report report;
        wb_load_options how = {.size = sizeof how,
                               .io = ios[round % 4],
                               .lanes = 3,
                               .memory = 6 * (64u << 10),
                               .flags = (round / 4 % 2 ? WB_LOAD_CONVERT : 0) |
                                        (round / 16 ? WB_LOAD_DIGEST : 0),
                               .dtype = WB_DTYPE_F32,
                               .executor = round / 8 % 2 ? &devices_threads : NULL};
        fake->most_pending = 0;
        assert_int_equal(devices_load(model, &device, how, &report), WB_OK);
        assert_true(report.upload_ns > 0 && report.uploaded > 0);
        assert_true(fake->most_pending >= 2);
    }
    assert_int_equal(fake->from_elsewhere, 0);
    wb_device_close(&device);
    fake_reset(fake);
}

/* All operations must work without pinned memory. */
static void does_without_pinned_memory(void **state)
{
    wb_cuda_options options = options_of(NULL);
    (void)state;
    options.pinned = 1;
    options.streams = 16;
    wb_device device = open_well(&options);
    assert_null(device.stage(device.ctx, 4096));
    assert_int_equal(devices_use(model, &device, NULL), WB_OK);
    assert_true(fake->from_elsewhere > 0);
    assert_int_equal(fake->streams_used, 65535);
    wb_device_close(&device);
    fake_reset(fake);
}

/* Pinned memory is cached up to a limit. Unused blocks must be freed to allocate others. */
static void keeps_pinned_memory(void **state)
{
    enum { KB64 = 64 << 10 };
    wb_cuda_options options = options_of(NULL);
    (void)state;
    options.pinned = 4 * KB64;
    wb_device device = open_well(&options);
    void *a = device.stage(device.ctx, KB64);
    void *b = device.stage(device.ctx, 2 * KB64 - 5);
    assert_true(a != NULL && b != NULL);
    assert_null(device.stage(device.ctx, 2 * KB64));
    assert_int_equal(fake->pinned, 2);
    device.unstage(device.ctx, b, 2 * KB64 - 5);
    assert_ptr_equal(device.stage(device.ctx, KB64 + 1), b);
    device.unstage(device.ctx, b, KB64 + 1);
    void *c = device.stage(device.ctx, 3 * KB64); /* b is freed, so that c is within the limit */
    assert_non_null(c);
    assert_int_equal(fake->pinned, 2);
    device.unstage(device.ctx, a, KB64);
    device.unstage(device.ctx, c, 3 * KB64);
    assert_null(device.stage(device.ctx, 4 * KB64 + 1));
    assert_null(device.stage(device.ctx, UINT64_MAX));
    wb_device_close(&device);
    fake_reset(fake);
}

static void every_call_may_fail(void **state)
{
    /* Release functions may fail without effect, and pinned memory is optional. */
    static const char *const may_fail[] = {"cuCtxPopCurrent",
                                           "cuMemFree",
                                           "cuMemHostAlloc",
                                           "cuMemFreeHost",
                                           "cuStreamDestroy",
                                           "cuEventDestroy",
                                           "cuCtxPushCurrent",
                                           "cuDevicePrimaryCtxRelease",
                                           NULL};
    (void)state;
    fake_fail_all(fake, small, open_fake, 700, WB_ERROR_IO, may_fail);
    fake_fail_all(fake, small, open_fake, 2, WB_ERROR_MEMORY, may_fail);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    fake_starve(fake, small, open_fake);
}

static void a_full_device_says_so(void **state)
{
    const wb_cuda_options options = options_of(NULL);
    wb_device device = open_well(&options);
    wb_provider *provider;
    wb_buffer buffer = {.size = sizeof buffer};
    wb_error error;
    (void)state;
    fake->room = 20000;
    assert_int_equal(wb_provider_create(model, &device, NULL, &provider, &error), WB_OK);
    assert_int_equal(wb_provider_get(provider, "matrix", SIZE_MAX, &buffer, &error), WB_OK);
    assert_int_equal(wb_provider_get(provider, "large", SIZE_MAX, &buffer, &error),
                     WB_ERROR_MEMORY);
    assert_string_equal(error.code, "device");
    assert_non_null(strstr(error.message, "bytes (memory)"));
    assert_int_equal(wb_provider_get(provider, "vector", SIZE_MAX, &buffer, &error), WB_OK);
    assert_int_equal(fake->buffers, 2);
    wb_provider_destroy(provider);
    wb_device_close(&device);
    fake_reset(fake);
}

/* The device must use the caller's CUDA context and not destroy it. */
static void the_caller_s_context(void **state)
{
    int (*retain)(void **context, int device);
    int (*release)(int device);
    wb_cuda_options options = options_of(NULL);
    void *library_handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    void *found = dlsym(library_handle, "cuDevicePrimaryCtxRetain");
    (void)state;
    memcpy(&retain, &found, sizeof found);
    found = dlsym(library_handle, "cuDevicePrimaryCtxRelease_v2");
    memcpy(&release, &found, sizeof found);
    assert_int_equal(retain(&options.context, 7), 0);
    wb_device device = open_well(&options);
    assert_int_equal(devices_use(model, &device, NULL), WB_OK);
    wb_device_close(&device);
    assert_int_equal(fake->objects, 1);
    assert_int_equal(release(7), 0);
    (void)dlclose(library_handle);
    fake_reset(fake);
}

/* Cancels the load while copies are in flight. */
static int stop(void *ctx, const wb_piece *piece)
{
    (void)ctx;
    return piece->at > 0; /* the second piece of the large tensor */
}

static void *no_target(void *ctx, const wb_piece *piece, uint64_t *offset)
{
    (void)piece;
    *offset = 0;
    return *(void **)ctx;
}

static void loading_stops_on_request(void **state)
{
    const wb_cuda_options options = options_of(NULL);
    wb_device device = open_well(&options);
    wb_error error;
    void *handle;
    (void)state;
    assert_int_equal(device.alloc(device.ctx, 1u << 20, &handle), WB_OK);
    for (unsigned round = 0; round < 2; round++) {
        wb_load_options how = {.size = sizeof how,
                               .lanes = 2,
                               .memory = 4 * (64u << 10),
                               .executor = round == 0 ? NULL : &devices_threads,
                               .ctx = &handle,
                               .consume = stop,
                               .device = &device,
                               .target = no_target};
        assert_int_equal(wb_load(model, &how, NULL, &error), WB_ERROR_CANCELLED);
        assert_true(fake->copied > 0);
        assert_int_equal(fake->pending, 0);
    }
    device.free(device.ctx, handle, 1u << 20);
    wb_device_close(&device);
    fake_reset(fake);
}

static void half_a_device_is_refused(void **state)
{
    const wb_cuda_options options = options_of(NULL);
    wb_device device = open_well(&options), other = device;
    wb_load_options how = {.size = sizeof how, .device = &other};
    wb_provider *provider;
    wb_error error;
    (void)state;
    assert_int_equal(wb_load(model, &how, NULL, &error), WB_ERROR_ARGUMENT);
    how.target = no_target;
    other.upload = NULL;
    assert_int_equal(wb_load(model, &how, NULL, &error), WB_ERROR_ARGUMENT);
    other = device;
    other.size = 8;
    assert_int_equal(wb_load(model, &how, NULL, &error), WB_ERROR_ARGUMENT);
    other = device;
    other.unstage = NULL;
    assert_int_equal(wb_provider_create(model, &other, NULL, &provider, &error), WB_ERROR_ARGUMENT);
    assert_int_equal(wb_load(model, &how, NULL, &error), WB_ERROR_ARGUMENT);
    wb_device_close(&device);
    fake_reset(fake);
}

static void what_cannot_be_opened(void **state)
{
    wb_device device;
    wb_error error;
    wb_cuda_options options = options_of(NULL);
    (void)state;
    options.library = "/nowhere/libcuda.so.1";
    assert_int_equal(wb_device_cuda(&options, &device, &error), WB_ERROR_UNSUPPORTED);
    assert_string_equal(error.code, "no-driver");
    assert_non_null(strstr(error.message, "/nowhere/libcuda.so.1"));
    assert_null(device.ctx);
    options.library = FAKE_DRIVERS "/libOpenCL.so.1";
    assert_int_equal(wb_device_cuda(&options, &device, &error), WB_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "has no function cuInit"));
    options = options_of(NULL);
    options.ordinal = 3;
    assert_int_equal(wb_device_cuda(&options, &device, &error), WB_ERROR_NOT_FOUND);
    assert_non_null(strstr(error.message, "cuDeviceGet failed: CUDA_ERROR_OF_A_FAKE (101)"));
    options.ordinal = UINT32_MAX;
    assert_int_equal(wb_device_cuda(&options, &device, &error), WB_ERROR_NOT_FOUND);
    options = options_of(NULL);
    options.streams = 17;
    assert_int_equal(wb_device_cuda(&options, &device, &error), WB_ERROR_ARGUMENT);
    options.size = 3;
    assert_int_equal(wb_device_cuda(&options, &device, &error), WB_ERROR_ARGUMENT);
    fake_reset(fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_arrive),
        cmocka_unit_test(loads),
        cmocka_unit_test(does_without_pinned_memory),
        cmocka_unit_test(keeps_pinned_memory),
        cmocka_unit_test(every_call_may_fail),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_full_device_says_so),
        cmocka_unit_test(the_caller_s_context),
        cmocka_unit_test(loading_stops_on_request),
        cmocka_unit_test(half_a_device_is_refused),
        cmocka_unit_test(what_cannot_be_opened),
    };
    fake = fake_find(library);
    the_weights = devices_weights(200000);
    model = weights_open(the_weights);
    the_small = devices_weights(10000);
    small = weights_open(the_small);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    weights_free(the_weights);
    weights_free(the_small);
    return failed;
}
