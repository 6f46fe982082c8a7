/* Tests the public functions for MLX modes: sizes, the same results with and without an executor,
 * and arguments that must be refused. */
#include "quant_mlx.h"

enum { ROWS = 70, COLUMNS = 1024 };

static float values[ROWS * COLUMNS];
static uint8_t weight[ROWS * COLUMNS], scales[ROWS * 64 * 4], biases[ROWS * 64 * 4];

static void fill(void)
{
    uint32_t state = 12345;
    for (size_t i = 0; i < ROWS * COLUMNS; i++) {
        state = state * 1664525 + 1013904223;
        values[i] = ((float)(state >> 8) - 8388608.0f) / 8388608.0f;
    }
}

static wb_mlx_type type_of(wb_mlx_mode mode, uint32_t bits, uint32_t group)
{
    return (wb_mlx_type){
        .size = sizeof(wb_mlx_type), .mode = mode, .bits = bits, .group_size = group};
}

static wb_mlx_buffers buffers_for(const wb_mlx_sizes *sizes)
{
    return (wb_mlx_buffers){
        sizeof(wb_mlx_buffers), weight, scales, biases, sizes->weight_bytes, sizes->scales_bytes,
        sizes->biases_bytes};
}

static wb_mlx_parts parts_for(const wb_mlx_sizes *sizes)
{
    return (wb_mlx_parts){sizeof(wb_mlx_parts),
                          weight,
                          scales,
                          biases,
                          sizes->weight_bytes,
                          sizes->scales_bytes,
                          sizes->biases_bytes,
                          WB_DTYPE_F32,
                          WB_DTYPE_F32};
}

static void measures(void **state)
{
    (void)state;
    wb_mlx_type type = type_of(WB_MLX_AFFINE, 3, 64);
    wb_mlx_sizes sizes = {.size = sizeof sizes};
    assert_int_equal(wb_mlx_measure(&type, WB_DTYPE_BF16, 10, 256, &sizes, NULL), WB_OK);
    assert_int_equal(sizes.weight_columns, 24);
    assert_int_equal(sizes.groups, 4);
    assert_int_equal(sizes.weight_bytes, 960);
    assert_int_equal(sizes.scales_bytes, 80);
    assert_int_equal(sizes.biases_bytes, 80);
    type = type_of(WB_MLX_NVFP4, 0, 0);
    assert_int_equal(wb_mlx_measure(&type, WB_DTYPE_I8, 10, 256, &sizes, NULL), WB_OK);
    assert_int_equal(sizes.weight_bytes, 1280);
    assert_int_equal(sizes.scales_bytes, 160);
    assert_int_equal(sizes.biases_bytes, 0);
    assert_int_equal(wb_mlx_measure(&type, WB_DTYPE_I8, 0, 0, &sizes, NULL), WB_OK);
    assert_int_equal(sizes.weight_bytes, 0);
}

static void refuses_types(void **state)
{
    (void)state;
    static const struct {
        wb_mlx_mode mode;
        uint32_t bits, group;
        uint64_t rows, columns;
        int32_t dtype;
    } cases[] = {
        {WB_MLX_AFFINE, 7, 64, 1, 64, WB_DTYPE_F32},
        {WB_MLX_AFFINE, 0, 64, 1, 64, WB_DTYPE_F32},
        {WB_MLX_AFFINE, 9, 64, 1, 64, WB_DTYPE_F32},
        {WB_MLX_AFFINE, 4, 16, 1, 64, WB_DTYPE_F32},
        {WB_MLX_AFFINE, 4, 0, 1, 64, WB_DTYPE_F32},
        {WB_MLX_AFFINE, 4, 64, 1, 96, WB_DTYPE_F32},
        {WB_MLX_AFFINE, 4, 64, 1, 64, WB_DTYPE_F64},
        {WB_MLX_MXFP4, 8, 32, 1, 64, WB_DTYPE_F32},
        {WB_MLX_MXFP8, 8, 64, 1, 64, WB_DTYPE_F32},
        {WB_MLX_NVFP4, 4, 32, 1, 64, WB_DTYPE_F32},
        {WB_MLX_NVFP4, 4, 16, 1, 40, WB_DTYPE_F32},
        {(wb_mlx_mode)0, 4, 16, 1, 64, WB_DTYPE_F32},
        {(wb_mlx_mode)5, 4, 16, 1, 64, WB_DTYPE_F32},
        {WB_MLX_AFFINE, 8, 32, UINT64_MAX / 64, 64, WB_DTYPE_F32},
        {WB_MLX_AFFINE, 8, 32, 1, UINT64_MAX / 32 * 32, WB_DTYPE_F32},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        wb_mlx_type type = type_of(cases[i].mode, cases[i].bits, cases[i].group);
        wb_mlx_sizes sizes = {.size = sizeof sizes, .weight_bytes = 7};
        wb_error error;
        assert_int_equal(
            wb_mlx_measure(&type, cases[i].dtype, cases[i].rows, cases[i].columns, &sizes, &error),
            WB_ERROR_ARGUMENT);
        assert_true(error.message[0] != '\0');
        assert_int_equal(sizes.weight_bytes, 0);
    }
}

static void refuses_buffers(void **state)
{
    (void)state;
    wb_mlx_type type = type_of(WB_MLX_AFFINE, 4, 64);
    wb_mlx_sizes sizes = {.size = sizeof sizes};
    assert_int_equal(wb_mlx_measure(&type, WB_DTYPE_F32, 4, 128, &sizes, NULL), WB_OK);
#define REFUSED(change)                                                                            \
    do {                                                                                           \
        wb_mlx_type t = type;                                                                      \
        wb_mlx_buffers out = buffers_for(&sizes);                                                  \
        wb_mlx_parts in = parts_for(&sizes);                                                       \
        uint64_t room = 4 * 128 * 4;                                                               \
        int32_t dtype = WB_DTYPE_F32;                                                              \
        float decoded[4 * 128] = {1};                                                              \
        weight[0] = 1;                                                                             \
        change;                                                                                    \
        if (room == 4 * 128 * 4) {                                                                 \
            assert_int_equal(wb_mlx_quantize(&t, dtype, values, 4, 128, &out, NULL, NULL),         \
                             WB_ERROR_ARGUMENT);                                                   \
            assert_true(weight[0] == 0 || out.size != sizeof out);                                 \
        }                                                                                          \
        assert_int_equal(wb_mlx_dequantize(&t, &in, 4, 128, dtype, decoded, room, NULL, NULL),     \
                         WB_ERROR_ARGUMENT);                                                       \
        assert_true(decoded[0] == 0);                                                              \
    } while (0)
    REFUSED(t.size--);
    REFUSED(t.flags = 2);
    REFUSED(t.global = WB_MLX_GLOBAL_AMAX);
    REFUSED(t.global = (wb_mlx_global)9);
    REFUSED((out.size--, in.size--));
    REFUSED((out.weight_bytes--, in.weight_bytes--));
    REFUSED((out.scales_bytes--, in.scales_bytes--));
    REFUSED((out.biases_bytes--, in.biases_bytes--));
    REFUSED((dtype = WB_DTYPE_C64));
    REFUSED((dtype = -1));
    REFUSED(room--);
    wb_mlx_buffers out = buffers_for(&sizes);
    wb_mlx_type t = type_of(WB_MLX_MXFP4, 0, 0);
    t.e8m0 = (wb_mlx_e8m0)2;
    assert_int_equal(wb_mlx_quantize(&t, WB_DTYPE_F32, values, 1, 128, &out, NULL, NULL),
                     WB_ERROR_ARGUMENT);
    t = type_of(WB_MLX_NVFP4, 0, 0);
    t.global = WB_MLX_GLOBAL_LAST;
    assert_int_equal(wb_mlx_quantize(&t, WB_DTYPE_F32, values, 1, 128, &out, NULL, NULL),
                     WB_ERROR_ARGUMENT);
    assert_int_equal(wb_mlx_quantize(&type, WB_DTYPE_I32, values, 1, 128, &out, NULL, NULL),
                     WB_ERROR_ARGUMENT);
}

static size_t pieces;

static void backwards(void *ctx, size_t n, void (*body)(void *arg, size_t i), void *arg)
{
    (void)ctx;
    pieces = n;
    while (n-- > 0)
        body(arg, n);
}

/* An executor that does not run the tasks in order must give the same result as one thread. */
static void threads(void **state)
{
    (void)state;
    static const wb_mlx_mode modes[] = {WB_MLX_AFFINE, WB_MLX_MXFP4, WB_MLX_MXFP8, WB_MLX_NVFP4};
    static uint8_t expected[ROWS * COLUMNS];
    static float decoded[ROWS * COLUMNS], again[ROWS * COLUMNS];
    const wb_executor executor = {.parallel_for = backwards};
    fill();
    for (size_t m = 0; m < 4; m++) {
        wb_mlx_type type = type_of(modes[m], m == 0 ? 5 : 0, m == 0 ? 32 : 0);
        wb_mlx_sizes sizes = {.size = sizeof sizes};
        assert_int_equal(wb_mlx_measure(&type, WB_DTYPE_F32, ROWS, COLUMNS, &sizes, NULL), WB_OK);
        wb_mlx_buffers out = buffers_for(&sizes);
        wb_mlx_parts in = parts_for(&sizes);
        assert_int_equal(
            wb_mlx_quantize(&type, WB_DTYPE_F32, values, ROWS, COLUMNS, &out, NULL, NULL), WB_OK);
        memcpy(expected, weight, (size_t)sizes.weight_bytes);
        memset(weight, 0, sizeof weight);
        assert_int_equal(
            wb_mlx_quantize(&type, WB_DTYPE_F32, values, ROWS, COLUMNS, &out, &executor, NULL),
            WB_OK);
        assert_true(pieces > 1);
        assert_memory_equal(weight, expected, (size_t)sizes.weight_bytes);
        assert_int_equal(wb_mlx_dequantize(&type, &in, ROWS, COLUMNS, WB_DTYPE_F32, decoded,
                                           sizeof decoded, NULL, NULL),
                         WB_OK);
        assert_int_equal(wb_mlx_dequantize(&type, &in, ROWS, COLUMNS, WB_DTYPE_F32, again,
                                           sizeof again, &executor, NULL),
                         WB_OK);
        assert_memory_equal(decoded, again, sizeof decoded);
        for (size_t i = 0; i < ROWS * COLUMNS; i++) {
            float error = decoded[i] - values[i];
            if (error > 0.25f || error < -0.25f)
                fail_msg("mode %d: value %d is far off", (int)modes[m], (int)i);
        }
    }
}

/*
 * Decoding to F32 must compute in binary32. With WB_MLX_NATIVE, and if another dtype is
 * requested, the product and the sum must each be rounded to the dtype of the scales, as MLX
 * does.
 */
static void two_decodings(void **state)
{
    (void)state;
    wb_mlx_type type = type_of(WB_MLX_AFFINE, 8, 32);
    static const uint8_t codes[32] = {255, 254, 253};
    uint8_t scale[2], bias[2], native[2];
    wb__float_store(WB_DTYPE_BF16, scale, 0.0123f);
    wb__float_store(WB_DTYPE_BF16, bias, -1.7f);
    wb_mlx_parts parts = {sizeof parts, codes, scale, bias, 32, 2, 2, WB_DTYPE_BF16, WB_DTYPE_BF16};
    float plain[32], as_mlx[32];
    uint8_t halves[64];
    assert_int_equal(
        wb_mlx_dequantize(&type, &parts, 1, 32, WB_DTYPE_F32, plain, sizeof plain, NULL, NULL),
        WB_OK);
    assert_int_equal(
        wb_mlx_dequantize(&type, &parts, 1, 32, WB_DTYPE_BF16, halves, sizeof halves, NULL, NULL),
        WB_OK);
    type.flags = WB_MLX_NATIVE;
    assert_int_equal(
        wb_mlx_dequantize(&type, &parts, 1, 32, WB_DTYPE_F32, as_mlx, sizeof as_mlx, NULL, NULL),
        WB_OK);
    float s = wb__float_load(WB_DTYPE_BF16, scale), b = wb__float_load(WB_DTYPE_BF16, bias);
    for (size_t i = 0; i < 32; i++) {
        float product = (float)codes[i] * s;
        float rounded = wb__float_round(WB_DTYPE_BF16, product);
        assert_true(plain[i] == product + b);
        assert_true(as_mlx[i] == wb__float_round(WB_DTYPE_BF16, rounded + b));
        wb__float_store(WB_DTYPE_BF16, native, as_mlx[i]);
        assert_memory_equal(halves + 2 * i, native, 2);
    }
    assert_true(plain[0] != as_mlx[0]);
}

static void amax(void **state)
{
    (void)state;
    static const float some[] = {1.0f, -7.5f, 2.0f};
    float most = 3.0f;
    assert_int_equal(wb_mlx_amax(WB_DTYPE_F32, some, 3, &most, NULL), WB_OK);
    assert_true(most == 7.5f);
    assert_int_equal(wb_mlx_amax(WB_DTYPE_I32, some, 3, &most, NULL), WB_ERROR_ARGUMENT);
    assert_true(most == 0.0f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measures),        cmocka_unit_test(refuses_types),
        cmocka_unit_test(refuses_buffers), cmocka_unit_test(threads),
        cmocka_unit_test(two_decodings),   cmocka_unit_test(amax)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
