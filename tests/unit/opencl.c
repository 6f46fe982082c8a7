/*
 * Tests OpenCL on a real driver, usually PoCL, which uses the CPU. Reads uploaded data back, and
 * checks that the device uses the pages of mapped files without a copy.
 */
#include "support.h"
#include "weights.h"

#include "devices.h"

static wb_device device;
static const wb_model *model; /* opened with mapped access */
static weights *the_weights;

static void bytes_arrive(void **state)
{
    static const wb_io ios[] = {WB_IO_AUTO, WB_IO_MAP, WB_IO_READ, WB_IO_DIRECT};
    (void)state;
    for (unsigned round = 0; round < 8; round++) {
        const wb_executor *executor = round / 4 ? &devices_threads : NULL;
        const wb_load_options how = {.size = sizeof how,
                                     .io = ios[round % 4],
                                     .lanes = 3,
                                     .memory = 6 * (64u << 10),
                                     .flags = round % 2 ? WB_LOAD_CONVERT : 0,
                                     .dtype = WB_DTYPE_F32,
                                     .executor = executor};
        wb_load_report report;
        assert_int_equal(devices_provide(model, &device, round % 2 ? WB_PLAIN_F16 : WB_PLAIN_KEEP,
                                         NULL, executor, NULL),
                         WB_OK);
        assert_int_equal(devices_load(model, &device, how, &report), WB_OK);
    }
}

/* Like bytes_arrive, but with buffers in the device's own memory. The library copies data to them
 * through the command queue. */
static void bytes_are_copied(void **state)
{
    const wb_opencl_options options = {.size = sizeof options, .flags = WB_OPENCL_COPY};
    wb_device own;
    wb_error error;
    uint64_t borrowed;
    (void)state;
    assert_int_equal(wb_device_opencl(&options, &own, &error), WB_OK);
    assert_null(own.map);
    assert_int_equal(devices_provide(model, &own, WB_PLAIN_KEEP, NULL, &devices_threads, &borrowed),
                     WB_OK);
    assert_int_equal(borrowed, 0);
    assert_int_equal(devices_use(model, &own, NULL), WB_OK);
    wb_device_close(&own);
}

/* The device must use the pages of the mapped file. */
static void nothing_is_copied(void **state)
{
    wb_provider *provider;
    wb_policy policy = {.size = sizeof policy, .plain = WB_PLAIN_KEEP};
    wb_buffer buffer = {.size = sizeof buffer};
    wb_error error;
    const void *bytes;
    uint64_t index;
    unsigned char there[256];
    (void)state;
    if (device.borrow == NULL)
        skip();
    assert_int_equal(wb_provider_create(model, &device, &policy, &provider, &error), WB_OK);
    assert_int_equal(wb_provider_get(provider, "large", SIZE_MAX, &buffer, &error), WB_OK);
    assert_int_equal(wb_tensor_find(model, "large", SIZE_MAX, &index), WB_OK);
    assert_int_equal(wb_tensor_data(model, index, &bytes, &error), WB_OK);
    if (device.map != NULL)
        assert_ptr_equal(buffer.contents, bytes);
    assert_int_equal(buffer.borrowed, 1);
    assert_int_equal(wb_provider_download(provider, &buffer, 1000, there, sizeof there, &error),
                     WB_OK);
    assert_memory_equal(there, (const char *)bytes + 1000, sizeof there);
    wb_provider_destroy(provider);
}

static void a_buffer_may_be_too_large(void **state)
{
    void *handle = &device;
    (void)state;
    assert_int_not_equal(device.alloc(device.ctx, (uint64_t)1 << 60, &handle), WB_OK);
    assert_null(handle);
}

static wb_status open_any(wb_device *to, wb_error *error)
{
    return wb_device_opencl(NULL, to, error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_arrive),
        cmocka_unit_test(bytes_are_copied),
        cmocka_unit_test(nothing_is_copied),
        cmocka_unit_test(a_buffer_may_be_too_large),
    };
    int skipped = devices_begin(open_any, &device);
    if (skipped != 0)
        return skipped;
    the_weights = devices_weights(2000000);
    model = weights_open(the_weights);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    wb_device_close(&device);
    weights_free(the_weights);
    return failed;
}
