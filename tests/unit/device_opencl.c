/*
 * Tests OpenCL on the fake driver: devices with and without shared memory, results of all
 * operations, and failure of every driver call.
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

static const char library[] = FAKE_DRIVERS "/libOpenCL.so.1";
static fake_state *fake;
static const wb_model *model, *small; /* opened with mapped access */
static weights *the_weights, *the_small;
static const char *which; /* name of the device that open_fake opens; NULL: any */

static wb_opencl_options options_of(const char *name)
{
    return (wb_opencl_options){.size = sizeof(wb_opencl_options), .library = library, .name = name};
}

static wb_status open_fake(const wb_allocator *allocator, wb_device *device, wb_error *error)
{
    wb_opencl_options options = options_of(which);
    options.allocator = allocator;
    return wb_device_opencl(&options, device, error);
}

static wb_device open_well(const wb_opencl_options *options)
{
    wb_device device;
    wb_error error;
    if (wb_device_opencl(options, &device, &error) != WB_OK)
        fail_msg("%s\n", error.message);
    return device;
}

/* A device, options to open it with, and expected properties. Zero-copy buffers use the mapped file
 * as their memory. */
typedef struct expectation {
    const char *name;
    uint32_t flags, alignment;
    bool lies, maps, borrows;
    uint64_t fewest, most; /* bounds of the number of zero-copy buffers for stored tensors */
} expectation;

/*
 * In the test model, the tensors "matrix", "large" and "vector" begin at multiples of 64 bytes; the
 * tensor "odd" does not. A packed tensor never gets a zero-copy buffer, because its parts are
 * joined in a copy; an empty tensor has no bytes to share.
 */
static const expectation expectations[] = {
    {"Processor", 0, 0, false, true, true, 4, 4},
    {"Processor", 0, 64, false, true, true, 3, 3},
    {"Processor", WB_OPENCL_COPY, 0, false, false, false, 0, 0},
    {"Processor", 0, 0, true, false, false, 0, 0},
    {"Graphics", 0, 0, false, false, false, 0, 0},
    {"Integrated", 0, 0, false, false, true, 0, 3},
    {"Integrated", WB_OPENCL_COPY, 0, false, false, false, 0, 0},
    {NULL, 0, 0, false, false, false, 0, 0}, /* the first GPU */
    {"Make-believe", 0, 0, false, false, false, 0, 0},
};

static void bytes_arrive(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof expectations / sizeof *expectations; i++) {
        const expectation *e = &expectations[i];
        wb_opencl_options options = options_of(e->name);
        wb_load_report report;
        uint64_t borrowed;
        options.flags = e->flags;
        options.alignment = e->alignment;
        fake->lies = e->lies;
        wb_device device = open_well(&options);
        assert_int_equal(device.map != NULL, e->maps);
        assert_int_equal(device.borrow != NULL, e->borrows);
        for (unsigned round = 0; round < 4; round++) {
            const wb_executor *executor = round % 2 ? &devices_threads : NULL;
            wb_plain_policy plain = round < 2 ? WB_PLAIN_F16 : WB_PLAIN_KEEP;
            const wb_load_options how = {.size = sizeof how,
                                         .io = (wb_io)round,
                                         .lanes = 3,
                                         .memory = 6 * (64u << 10),
                                         .flags = round / 2 ? WB_LOAD_CONVERT : 0,
                                         .dtype = WB_DTYPE_F16,
                                         .executor = executor};
            assert_int_equal(devices_provide(model, &device, plain, NULL, executor, &borrowed),
                             WB_OK);
            assert_true(plain == WB_PLAIN_F16 || (borrowed >= e->fewest && borrowed <= e->most));
            assert_int_equal(devices_load(model, &device, how, &report), WB_OK);
        }
        if (!e->maps)
            assert_true(fake->most_pending >= 2);
        wb_device_close(&device);
        fake_reset(fake);
    }
}

/* A GPU with shared memory must use a range of mapped pages without a copy if the range begins at a
 * multiple of the sub-buffer alignment. */
static void pages_are_borrowed(void **state)
{
    const wb_opencl_options options = options_of("Integrated");
    wb_device device = open_well(&options);
    unsigned char *pages;
    unsigned char there[100];
    void *handle;
    (void)state;
    assert_int_equal(posix_memalign((void **)&pages, 4096, 3 * 4096), 0);
    for (size_t i = 0; i < 3 * 4096; i++)
        pages[i] = (unsigned char)(i % 251);
    assert_int_equal(device.borrow(device.ctx, pages + 128 * 5, 5000, &handle), WB_OK);
    assert_int_equal(device.download(device.ctx, handle, 4900, there, 100), WB_OK);
    assert_memory_equal(there, pages + 128 * 5 + 4900, 100);
    assert_int_equal(fake->bytes, 2 * 4096);
    device.unborrow(device.ctx, handle);
    assert_int_not_equal(device.borrow(device.ctx, pages + 64, 5000, &handle), WB_OK);
    assert_null(handle);
    assert_int_equal(fake->objects, 2); /* context and queue */
    wb_device_close(&device);
    free(pages);
    fake_reset(fake);
}

static void every_call_may_fail(void **state)
{
    /* The operations may succeed although one of these calls fails: release functions, queries of
     * properties, flush, and functions for zero-copy buffers, which are replaced by copies. */
    static const char *const may_fail[] = {"clReleaseMemObject",
                                           "clReleaseCommandQueue",
                                           "clReleaseContext",
                                           "clReleaseEvent",
                                           "clFlush",
                                           "clGetDeviceInfo",
                                           "clGetPlatformInfo",
                                           "clGetMemObjectInfo",
                                           "clCreateBuffer",
                                           "clCreateSubBuffer",
                                           "clSetMemObjectDestructorCallback",
                                           "clEnqueueReadBuffer",
                                           "clEnqueueWriteBuffer",
                                           NULL};
    static const char *const graphics[] = {"clReleaseMemObject",
                                           "clReleaseCommandQueue",
                                           "clReleaseContext",
                                           "clReleaseEvent",
                                           "clFlush",
                                           "clGetDeviceInfo",
                                           "clGetPlatformInfo",
                                           NULL};
    (void)state;
    which = "Processor";
    fake_fail_all(fake, small, open_fake, -36, WB_ERROR_IO, may_fail);
    which = "Graphics"; /* no device is found by this name if the query of device names fails */
    fake_fail_all(fake, small, open_fake, -4, WB_ERROR_MEMORY, graphics);
    which = NULL;
    fake_fail_all(fake, small, open_fake, -4, WB_ERROR_MEMORY, graphics);
}

static void every_allocation_may_fail(void **state)
{
    static const char *const names[] = {"Processor", "Graphics", "Integrated"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        which = names[i];
        fake_starve(fake, small, open_fake);
    }
}

static void too_large_a_buffer_is_told(void **state)
{
    const wb_opencl_options options = options_of("Graphics");
    wb_device device = open_well(&options);
    wb_provider *provider;
    wb_buffer buffer = {.size = sizeof buffer};
    wb_error error;
    (void)state;
    fake->room = 20000;
    assert_int_equal(wb_provider_create(model, &device, NULL, &provider, &error), WB_OK);
    assert_int_equal(wb_provider_get(provider, "matrix", SIZE_MAX, &buffer, &error), WB_OK);
    assert_int_equal(wb_provider_get(provider, "large", SIZE_MAX, &buffer, &error), WB_ERROR_LIMIT);
    assert_string_equal(error.code, "device");
    assert_int_equal(fake->buffers, 1);
    wb_provider_destroy(provider);
    wb_device_close(&device);
    fake_reset(fake);
}

/* The device must use the caller's context and queue and not destroy them. */
static void the_caller_s_context(void **state)
{
    void *(*create_context)(const intptr_t *, uint32_t, void *const *,
                            void (*)(const char *, const void *, size_t, void *), void *, int *);
    void *(*create_queue)(void *, void *, uint64_t, int *);
    int (*get_devices)(void *, uint64_t, uint32_t, void **, uint32_t *);
    int (*release_context)(void *);
    int (*release_queue)(void *);
    const struct {
        const char *name;
        void *to;
    } calls[] = {{"clCreateContext", &create_context},
                 {"clCreateCommandQueue", &create_queue},
                 {"clGetDeviceIDs", &get_devices},
                 {"clReleaseContext", &release_context},
                 {"clReleaseCommandQueue", &release_queue}};
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    void *devices[3];
    uint32_t n;
    int code = 0;
    wb_error error;
    wb_opencl_options options = options_of(NULL);
    (void)state;
    assert_non_null(handle);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        void *found = dlsym(handle, calls[i].name);
        assert_non_null(found);
        memcpy(calls[i].to, &found, sizeof found);
    }
    assert_int_equal(get_devices(NULL, 0, 3, devices, &n), 0);
    options.device = devices[0];
    options.context = create_context(NULL, 1, &devices[0], NULL, NULL, &code);
    options.queue = create_queue(options.context, devices[0], 0, &code);
    wb_device device = open_well(&options);
    assert_non_null(device.map); /* only the CPU has `map` */
    assert_int_equal(devices_use(model, &device, NULL), WB_OK);
    wb_device_close(&device);
    assert_int_equal(fake->objects, 2);
    /* The caller may omit the queue, but must give a device and a context. */
    assert_int_equal(release_queue(options.queue), 0);
    options.queue = NULL;
    device = open_well(&options);
    wb_device_close(&device);
    options.device = NULL;
    assert_int_equal(wb_device_opencl(&options, &device, &error), WB_ERROR_ARGUMENT);
    options.device = devices[0];
    options.queue = options.context;
    options.context = NULL;
    assert_int_equal(wb_device_opencl(&options, &device, &error), WB_ERROR_ARGUMENT);
    assert_int_equal(release_context(options.queue), 0);
    (void)dlclose(handle);
    fake_reset(fake);
}

static void what_cannot_be_opened(void **state)
{
    wb_device device;
    wb_error error;
    wb_opencl_options options = options_of("no such device");
    (void)state;
    assert_int_equal(wb_device_opencl(&options, &device, &error), WB_ERROR_NOT_FOUND);
    assert_string_equal(error.code, "no-driver");
    assert_non_null(strstr(error.message, "whose name contains no such device"));
    options.library = "/nowhere/libOpenCL.so.1";
    assert_int_equal(wb_device_opencl(&options, &device, &error), WB_ERROR_UNSUPPORTED);
    assert_null(device.ctx);
    options = options_of(NULL);
    options.alignment = 3;
    assert_int_equal(wb_device_opencl(&options, &device, &error), WB_ERROR_ARGUMENT);
    options.alignment = 8192;
    assert_int_equal(wb_device_opencl(&options, &device, &error), WB_ERROR_ARGUMENT);
    options.alignment = 0;
    options.flags = 2;
    assert_int_equal(wb_device_opencl(&options, &device, &error), WB_ERROR_ARGUMENT);
    options.flags = 0;
    options.size = 1;
    assert_int_equal(wb_device_opencl(&options, &device, &error), WB_ERROR_ARGUMENT);
    fake_reset(fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_arrive),
        cmocka_unit_test(pages_are_borrowed),
        cmocka_unit_test(every_call_may_fail),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(too_large_a_buffer_is_told),
        cmocka_unit_test(the_caller_s_context),
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
