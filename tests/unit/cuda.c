/* Tests CUDA on a real driver and device, if present: reads uploaded data back. */
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
                                     .lanes = 4,
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

/* Allocates more memory than any device has. Afterwards the device must still work. */
static void a_full_device_says_so(void **state)
{
    void *handle = &device;
    (void)state;
    assert_int_equal(device.alloc(device.ctx, (uint64_t)1 << 50, &handle), WB_ERROR_MEMORY);
    assert_null(handle);
    assert_int_equal(devices_use(model, &device, NULL), WB_OK);
}

static void there_are_so_many_devices(void **state)
{
    const wb_cuda_options options = {.size = sizeof options, .ordinal = 1000};
    wb_device none;
    wb_error error;
    (void)state;
    assert_int_equal(wb_device_cuda(&options, &none, &error), WB_ERROR_NOT_FOUND);
}

static wb_status open_any(wb_device *to, wb_error *error)
{
    return wb_device_cuda(NULL, to, error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_arrive),
        cmocka_unit_test(a_full_device_says_so),
        cmocka_unit_test(there_are_so_many_devices),
    };
    int skipped = devices_begin(open_any, &device);
    if (skipped != 0)
        return skipped;
    the_weights = devices_weights(20000000);
    model = weights_open(the_weights);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    wb_device_close(&device);
    weights_free(the_weights);
    return failed;
}
