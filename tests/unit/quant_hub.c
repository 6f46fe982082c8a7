/*
 * Tests the public functions that decode AWQ, GPTQ, FP8 with blocks, and the NVFP4 of ModelOpt,
 * compressed-tensors and Ollama. NumPy computed the expected values
 * (tests/data/golden/hub/make.py). Invalid arguments must be refused.
 */
#include "quant_mlx.h"

#include "quant/hub/hub.h"

#define HUB TEST_DATA "/golden/hub/"

static wb_model *open_file(const char *path)
{
    wb_model *model;
    wb_error error;
    if (wb_open(path, NULL, &model, &error) != WB_OK)
        fail_msg("%s: %s", path, error.message);
    return model;
}

/* ---- an executor that calls `body` from the last index to the first ---- */

static void backwards(void *ctx, size_t n, void (*body)(void *arg, size_t i), void *arg)
{
    (void)ctx;
    while (n-- > 0)
        body(arg, n);
}

static const wb_executor executor = {.parallel_for = backwards};

static void check_values(const char *what, const float *values, const part *expected)
{
    if (!same_values(WB_DTYPE_F32, (const uint8_t *)values, expected->data, expected->bytes / 4))
        fail_msg("%s: values differ", what);
}

/* ---- AWQ and GPTQ ---- */

static wb_int4_tensor int4_of(const wb_model *model, wb_int4_packing packing, bool plain)
{
    part qweight = need(model, "qweight"), qzeros = need(model, "qzeros");
    part scales = need(model, "scales"), g_idx = find(model, "g_idx");
    part values = need(model, "values");
    return (wb_int4_tensor){.size = sizeof(wb_int4_tensor),
                            .packing = packing,
                            .qweight = qweight.data,
                            .qzeros = qzeros.data,
                            .scales = scales.data,
                            .g_idx = g_idx.data,
                            .qweight_bytes = qweight.bytes,
                            .qzeros_bytes = qzeros.bytes,
                            .scales_bytes = scales.bytes,
                            .g_idx_bytes = g_idx.bytes,
                            .scales_dtype = scales.dtype,
                            .out = values.shape[0],
                            .in = values.shape[1],
                            .group_size = values.shape[1] / scales.shape[0],
                            .plain_zeros = plain};
}

static void int4(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        wb_int4_packing packing;
        bool plain;
    } cases[] = {
        {HUB "awq_g64_f16.safetensors", WB_INT4_AWQ, false},
        {HUB "awq_g32_bf16.safetensors", WB_INT4_AWQ, false},
        {HUB "gptq.safetensors", WB_INT4_GPTQ, false},
        {HUB "gptq_act_order.safetensors", WB_INT4_GPTQ, false},
        {HUB "gptq_v2.safetensors", WB_INT4_GPTQ, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        wb_model *model = open_file(cases[i].path);
        part expected = need(model, "values");
        wb_int4_tensor tensor = int4_of(model, cases[i].packing, cases[i].plain);
        float *values = malloc(expected.bytes);
        assert_non_null(values);
        assert_int_equal(wb_int4_dequantize(&tensor, values, expected.bytes, &executor, NULL),
                         WB_OK);
        check_values(cases[i].path, values, &expected);
        free(values);
        wb_close(model);
    }
}

/* Decodes 16 consecutive inputs of a tensor whose g_idx (the group of each input) is not in order,
 * so that these inputs belong to many groups. */
static void int4_part(void **state)
{
    (void)state;
    wb_model *model = open_file(HUB "gptq_act_order.safetensors");
    part expected = need(model, "values");
    wb_int4_tensor tensor = int4_of(model, WB_INT4_GPTQ, false);
    const uint64_t in = tensor.in, first = 40, n = 16, words = 4 * tensor.out;
    tensor.qweight = (const uint8_t *)tensor.qweight + first / 8 * words;
    tensor.g_idx = (const uint8_t *)tensor.g_idx + first * 4;
    tensor.qweight_bytes = n / 8 * words;
    tensor.g_idx_bytes = n * 4;
    tensor.in = n;
    uint64_t size = tensor.out * n * sizeof(float);
    float *values = malloc((size_t)size);
    assert_non_null(values);
    assert_int_equal(wb_int4_dequantize(&tensor, values, size, NULL, NULL), WB_OK);
    for (uint64_t o = 0; o < tensor.out; o++)
        assert_memory_equal(values + o * n, expected.data + (o * in + first) * sizeof(float),
                            (size_t)n * sizeof(float));
    wb_int4_tensor fewer = tensor;
    fewer.qzeros_bytes -= 4; /* one word too short for the last group */
    assert_int_equal(wb_int4_dequantize(&fewer, values, size, NULL, NULL), WB_ERROR_FORMAT);
    fewer = tensor;
    fewer.scales_bytes -= 2;
    assert_int_equal(wb_int4_dequantize(&fewer, values, size, NULL, NULL), WB_ERROR_FORMAT);
    free(values);
    wb_close(model);
}

static void int4_refuses(void **state)
{
    (void)state;
    wb_model *model = open_file(HUB "gptq_act_order.safetensors");
    part expected = need(model, "values");
    const wb_int4_tensor sound = int4_of(model, WB_INT4_GPTQ, false);
    float *values = malloc(expected.bytes);
    assert_non_null(values);
#define REFUSED(status, change)                                                                    \
    do {                                                                                           \
        wb_int4_tensor tensor = sound;                                                             \
        change;                                                                                    \
        memset(values, 1, expected.bytes);                                                         \
        assert_int_equal(wb_int4_dequantize(&tensor, values, expected.bytes, NULL, NULL), status); \
        assert_true(values[0] == 0 && values[expected.bytes / 4 - 1] == 0);                        \
    } while (0)
    uint8_t *g_idx = malloc((size_t)sound.g_idx_bytes);
    assert_non_null(g_idx);
    memcpy(g_idx, sound.g_idx, (size_t)sound.g_idx_bytes);
    g_idx[4 * 7 + 3] = 0x80;
    REFUSED(WB_ERROR_FORMAT, tensor.g_idx = g_idx);
    REFUSED(WB_ERROR_ARGUMENT, tensor.size = 8);
    REFUSED(WB_ERROR_ARGUMENT, tensor.packing = (wb_int4_packing)3);
    REFUSED(WB_ERROR_ARGUMENT, tensor.packing = WB_INT4_AWQ);
    REFUSED(WB_ERROR_ARGUMENT, tensor.out = 12);
    REFUSED(WB_ERROR_ARGUMENT, tensor.in = 100);
    REFUSED(WB_ERROR_ARGUMENT, tensor.qweight_bytes--);
    REFUSED(WB_ERROR_ARGUMENT, tensor.qzeros_bytes--);
    REFUSED(WB_ERROR_ARGUMENT, tensor.scales_bytes--);
    REFUSED(WB_ERROR_ARGUMENT, tensor.g_idx_bytes--);
    REFUSED(WB_ERROR_ARGUMENT, tensor.scales_dtype = WB_DTYPE_I32);
    REFUSED(WB_ERROR_ARGUMENT, tensor.in = UINT64_MAX / 8 * 8);
    wb_int4_tensor tensor = sound;
    assert_int_equal(wb_int4_dequantize(&tensor, values, expected.bytes - 1, NULL, NULL),
                     WB_ERROR_ARGUMENT);
    free(g_idx);
    free(values);
    wb_close(model);
}

/* ---- FP8 ---- */

static void fp8(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        uint32_t block;
    } cases[] = {{HUB "fp8_128.safetensors", 0}, {HUB "fp8_e5m2_32.safetensors", 32}};
    for (size_t i = 0; i < 2; i++) {
        wb_model *model = open_file(cases[i].path);
        part weight = need(model, "weight"), scales = need(model, "weight_scale_inv");
        part expected = need(model, "values");
        wb_fp8_block tensor = {sizeof tensor,   weight.data,    scales.data,   weight.bytes,
                               scales.bytes,    weight.dtype,   scales.dtype,  weight.shape[0],
                               weight.shape[1], cases[i].block, cases[i].block};
        float *values = malloc(expected.bytes);
        assert_non_null(values);
        assert_int_equal(wb_fp8_dequantize(&tensor, values, expected.bytes, &executor, NULL),
                         WB_OK);
        check_values(cases[i].path, values, &expected);
        tensor.scales_bytes--;
        assert_int_equal(wb_fp8_dequantize(&tensor, values, expected.bytes, NULL, NULL),
                         WB_ERROR_ARGUMENT);
        assert_true(values[0] == 0);
        tensor.scales_bytes++;
        assert_int_equal(wb_fp8_dequantize(&tensor, values, expected.bytes - 1, NULL, NULL),
                         WB_ERROR_ARGUMENT);
        tensor.weight_dtype = WB_DTYPE_I8;
        assert_int_equal(wb_fp8_dequantize(&tensor, values, expected.bytes, NULL, NULL),
                         WB_ERROR_ARGUMENT);
        for (size_t k = 0; k < LEVELS && level(k) != NO_LEVEL; k++) {
            wb__fp8_block inner = {weight.data,
                                   scales.data,
                                   weight.dtype,
                                   scales.dtype,
                                   weight.shape[0],
                                   weight.shape[1],
                                   tensor.block_rows ? tensor.block_rows : 128,
                                   tensor.block_columns ? tensor.block_columns : 128};
            wb__fp8_block_decode(level(k), &inner, 0, inner.out, values);
            check_values(level_name(level(k)), values, &expected);
        }
        free(values);
        wb_close(model);
    }
}

/* ---- NVFP4 with the per-tensor scales of other programs ---- */

static void nvfp4(void **state)
{
    (void)state;
    static const struct {
        const char *scale, *values;
        wb_mlx_global global;
    } cases[] = {{"weight_scale_2", "modelopt", WB_MLX_GLOBAL_FACTOR},
                 {"weight_global_scale", "compressed_tensors", WB_MLX_GLOBAL_DIVISOR},
                 {"weight_scale_2", "ollama", WB_MLX_GLOBAL_LAST}};
    wb_model *model = open_file(HUB "nvfp4.safetensors");
    part weight = need(model, "weight"), scales = need(model, "weight_scale");
    for (size_t i = 0; i < 3; i++) {
        part expected = need(model, cases[i].values);
        uint32_t bits = wb__load_le32(need(model, cases[i].scale).data);
        wb_mlx_type type = {.size = sizeof type, .mode = WB_MLX_NVFP4, .global = cases[i].global};
        memcpy(&type.global_scale, &bits, 4);
        wb_mlx_parts parts = {.size = sizeof parts,
                              .weight = weight.data,
                              .scales = scales.data,
                              .weight_bytes = weight.bytes,
                              .scales_bytes = scales.bytes};
        float *values = malloc(expected.bytes);
        uint8_t *halves = malloc(expected.bytes / 2), *rounded = malloc(expected.bytes / 2);
        assert_true(values != NULL && halves != NULL && rounded != NULL);
        assert_int_equal(wb_mlx_dequantize(&type, &parts, 24, 128, WB_DTYPE_F32, values,
                                           expected.bytes, &executor, NULL),
                         WB_OK);
        check_values(cases[i].values, values, &expected);
        /* With a per-tensor scale, results in other dtypes must be the rounded F32 results. */
        assert_int_equal(wb_mlx_dequantize(&type, &parts, 24, 128, WB_DTYPE_BF16, halves,
                                           expected.bytes / 2, NULL, NULL),
                         WB_OK);
        for (size_t k = 0; k < expected.bytes / 4; k++)
            wb__float_store(WB_DTYPE_BF16, rounded + 2 * k, values[k]);
        assert_memory_equal(halves, rounded, expected.bytes / 2);
        free(values);
        free(halves);
        free(rounded);
    }
    wb_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(int4), cmocka_unit_test(int4_part),
                                       cmocka_unit_test(int4_refuses), cmocka_unit_test(fp8),
                                       cmocka_unit_test(nvfp4)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
