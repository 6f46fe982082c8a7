/* Tests wb_quantize and wb_dequantize: arguments that must be refused, and the same results with
 * and without an executor. */
#include "weighbridge.h"

#include "unit.h"

#define COLUMNS 1024
#define ROWS 200

static float values[ROWS * COLUMNS], importance[COLUMNS], back[2][ROWS * COLUMNS];
static uint8_t blocks[2][ROWS * COLUMNS * 2];

/* An executor that calls `body` from the last index to the first. */
static void run_backwards(void *ctx, size_t n, void (*body)(void *arg, size_t i), void *arg)
{
    *(size_t *)ctx += n;
    for (size_t i = n; i-- > 0;)
        body(arg, i);
}

static void refuses(void **state)
{
    (void)state;
    wb_error error;
    uint64_t bytes = 7;
    uint8_t *out = blocks[0];
    assert_int_equal(wb_quantized_size(WB_DTYPE_Q4_K, 3, 512, &bytes, &error), WB_OK);
    assert_int_equal(bytes, 3 * 2 * 144);
    assert_int_equal(wb_quantized_size(WB_DTYPE_Q4_K, 1, 128, &bytes, &error), WB_ERROR_ARGUMENT);
    assert_string_equal(error.code, "quant-row");
    assert_int_equal(bytes, 0);
    assert_int_equal(wb_quantized_size(WB_DTYPE_F4, 2, 3, &bytes, &error), WB_ERROR_ARGUMENT);
    assert_int_equal(wb_quantized_size(4, 1, 32, &bytes, &error),
                     WB_ERROR_ARGUMENT); /* type 4 was removed from ggml */
    assert_int_equal(wb_quantized_size(WB_DTYPE_Q8_0, UINT64_MAX / 32, 64, &bytes, &error),
                     WB_ERROR_ARGUMENT);

    out[0] = 1;
    assert_int_equal(wb_quantize(WB_DTYPE_IQ2_XXS, values, 1, 256, NULL, out, 66, NULL, &error),
                     WB_ERROR_ARGUMENT);
    assert_string_equal(error.code, "quant-importance");
    assert_int_equal(out[0], 0);
    assert_int_equal(wb_quantize(WB_DTYPE_Q8_0, values, 1, 32, NULL, out, 33, NULL, &error),
                     WB_ERROR_ARGUMENT);
    assert_int_equal(wb_quantize(WB_DTYPE_C64, values, 1, 32, NULL, out, 256, NULL, &error),
                     WB_ERROR_UNSUPPORTED);
    assert_string_equal(error.code, "quant-no-encoder");
    assert_int_equal(wb_dequantize(WB_DTYPE_Q8_0, out, 33, 1, 32, back[0], NULL, &error),
                     WB_ERROR_ARGUMENT);
    assert_int_equal(wb_dequantize(WB_DTYPE_C64, out, 256, 1, 32, back[0], NULL, &error),
                     WB_ERROR_UNSUPPORTED);
    assert_int_equal(wb_dequantize(WB_DTYPE_Q8_0, out, 34, 1, 0, back[0], NULL, &error), WB_OK);
    assert_int_equal(wb_quantize(WB_DTYPE_Q4_0, values, 5, 0, NULL, out, 0, NULL, &error), WB_OK);
}

static void describes(void **state)
{
    (void)state;
    wb_dtype_info info = {.size = sizeof info};
    assert_int_equal(wb_dtype_describe(WB_DTYPE_IQ1_S, &info), WB_OK);
    assert_int_equal(info.block_size, 256);
    assert_int_equal(info.block_bits, 50 * 8);
    assert_true(info.decodes && info.encodes);
    assert_int_equal(info.importance, WB_IMPORTANCE_REQUIRED);
    assert_int_equal(wb_dtype_describe(WB_DTYPE_F16, &info), WB_OK);
    assert_true(info.decodes && info.encodes && info.is_float);
    assert_int_equal(wb_dtype_describe(WB_DTYPE_C64, &info), WB_OK);
    assert_true(!info.decodes && !info.encodes);
}

static void threads_change_nothing(void **state)
{
    static const int32_t dtypes[] = {WB_DTYPE_Q4_0, WB_DTYPE_Q6_K, WB_DTYPE_F16, WB_DTYPE_MXFP4};
    (void)state;
    size_t tasks = 0;
    wb_executor executor = {&tasks, run_backwards};
    uint32_t bits = 1;
    for (size_t i = 0; i < ROWS * COLUMNS; i++) {
        bits = bits * 1664525u + 1013904223u;
        values[i] = (float)(int32_t)bits * 0x1p-31f;
    }
    for (size_t i = 0; i < COLUMNS; i++)
        importance[i] = 0.5f + (float)(i % 13);
    for (size_t k = 0; k < sizeof dtypes / sizeof dtypes[0]; k++) {
        wb_error error;
        uint64_t bytes;
        size_t before = tasks;
        assert_int_equal(wb_quantized_size(dtypes[k], ROWS, COLUMNS, &bytes, &error), WB_OK);
        for (size_t way = 0; way < 2; way++) {
            assert_int_equal(wb_quantize(dtypes[k], values, ROWS, COLUMNS, importance, blocks[way],
                                         sizeof blocks[way], way ? &executor : NULL, &error),
                             WB_OK);
            assert_int_equal(wb_dequantize(dtypes[k], blocks[way], bytes, ROWS, COLUMNS, back[way],
                                           way ? &executor : NULL, &error),
                             WB_OK);
        }
        assert_memory_equal(blocks[0], blocks[1], (size_t)bytes);
        assert_memory_equal(back[0], back[1], sizeof back[0]);
        assert_true(dtypes[k] == WB_DTYPE_F16 || tasks >= before + 4);
        for (size_t i = 0; i < ROWS * COLUMNS; i++)
            assert_true(back[0][i] - values[i] < 0.3f && values[i] - back[0][i] < 0.3f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(refuses), cmocka_unit_test(describes),
                                       cmocka_unit_test(threads_change_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
