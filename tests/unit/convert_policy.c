/*
 * What a caller asks for beside a quantization: rules, importance matrices, no fallbacks; what is
 * refused, and that a failure leaves nothing behind.
 */
#include "convert.h"

#include "core/endian.h"

#define QWEN TEST_DATA "/models/qwen3-bf16"
#define LLAMA TEST_DATA "/twins/llama"

static char *scratch;

static wb_status plan(const char *from, wb_target target, const wb_convert_policy *policy,
                      wb_error *error)
{
    wb_model *model = open_model(from);
    wb_conversion *conversion;
    wb_status status = wb_convert_plan(model, target, policy, &conversion, error);
    assert_true((status == WB_OK) == (conversion != NULL));
    wb_conversion_free(conversion);
    wb_close(model);
    return status;
}

static wb_converted row_named(const wb_conversion *conversion, const char *name)
{
    wb_converted row = {.size = sizeof row};
    for (uint64_t i = 0; i < wb_conversion_count(conversion); i++) {
        assert_int_equal(wb_conversion_at(conversion, i, &row, NULL), WB_OK);
        if (strcmp(row.name, name) == 0)
            return row;
    }
    fail_msg("there is no %s\n", name);
    return row;
}

/* ---- types ---- */

static void rules(void **state)
{
    (void)state;
    wb_error error;
    const wb_convert_rule list[] = {
        {"attn_(q|k)", "Q8_0"}, {"blk\\.1\\.attn_k", "Q5_1"}, {"norm", "Q8_0"}, {"^output", "f16"}};
    const wb_convert_policy policy = {
        .size = sizeof policy, .quant = "Q4_0", .rules = list, .rule_count = 4};
    wb_model *model = open_model(QWEN);
    wb_conversion *conversion;
    assert_int_equal(wb_convert_plan(model, WB_TARGET_GGUF, &policy, &conversion, &error), WB_OK);
    assert_string_equal(row_named(conversion, "blk.0.attn_q.weight").to, "Q8_0");
    assert_string_equal(row_named(conversion, "blk.0.attn_k.weight").to, "Q8_0");
    assert_string_equal(row_named(conversion, "blk.1.attn_k.weight").to, "Q5_1");
    assert_string_equal(row_named(conversion, "blk.1.attn_v.weight").to, "Q4_0");
    assert_string_equal(row_named(conversion, "blk.0.attn_norm.weight").to, "F32");
    wb_conversion_free(conversion);
    wb_close(model);

    const wb_convert_rule bad[] = {{"(", "Q8_0"}, {"a", "Q9_9"}, {"a", "I32"}, {NULL, "F16"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const wb_convert_policy wrong = {.size = sizeof wrong, .rules = &bad[i], .rule_count = 1};
        assert_int_equal(plan(QWEN, WB_TARGET_GGUF, &wrong, &error), WB_ERROR_ARGUMENT);
        assert_true(error.message[0] != '\0');
    }
}

static void fallbacks(void **state)
{
    (void)state;
    wb_error error;
    wb_convert_policy policy = {.size = sizeof policy, .quant = "Q4_K"};
    wb_model *model = open_model(QWEN); /* rows of 128, where blocks have 256 */
    wb_conversion *conversion;
    assert_int_equal(wb_convert_plan(model, WB_TARGET_GGUF, &policy, &conversion, &error), WB_OK);
    wb_converted row = row_named(conversion, "blk.0.attn_q.weight");
    assert_string_equal(row.to, "Q5_0");
    assert_string_equal(row.wanted, "Q4_K");
    wb_conversion_free(conversion);
    wb_close(model);
    policy.flags = WB_CONVERT_STRICT;
    assert_int_equal(plan(QWEN, WB_TARGET_GGUF, &policy, &error), WB_ERROR_UNSUPPORTED);
    assert_string_equal(error.code, "quant-row");
    assert_true(error.name[0] != '\0');
    policy.quant = "Q8_0";
    assert_int_equal(plan(QWEN, WB_TARGET_GGUF, &policy, &error), WB_OK);
}

static void refusals(void **state)
{
    static const struct {
        wb_target target;
        const char *quant;
        wb_status status;
    } list[] = {
        {WB_TARGET_GGUF, "Q4_K_X", WB_ERROR_ARGUMENT},
        {WB_TARGET_GGUF, "affine4:64", WB_ERROR_ARGUMENT},
        {WB_TARGET_GGUF, "mixed_3_6", WB_ERROR_ARGUMENT},
        {WB_TARGET_GGUF, "mxfp8", WB_ERROR_ARGUMENT},
        {WB_TARGET_SAFETENSORS, "Q4_K_M", WB_ERROR_ARGUMENT},
        {WB_TARGET_SAFETENSORS, "affine4:64", WB_ERROR_ARGUMENT},
        {WB_TARGET_MLX, "Q4_0", WB_ERROR_ARGUMENT},
        {WB_TARGET_MLX, "affine7:64", WB_ERROR_ARGUMENT},
        {WB_TARGET_MLX, "affine4:48", WB_ERROR_ARGUMENT},
        {WB_TARGET_MLX, "mixed_3_5", WB_ERROR_ARGUMENT},
        {WB_TARGET_MLX, "", WB_ERROR_ARGUMENT},
        {(wb_target)0, NULL, WB_ERROR_ARGUMENT},
    };
    (void)state;
    wb_error error;
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        const wb_convert_policy policy = {.size = sizeof policy, .quant = list[i].quant};
        wb_status status = plan(LLAMA, list[i].target, &policy, &error);
        if (status != list[i].status)
            fail_msg("%s: %s\n", list[i].quant, wb_status_name(status));
    }
    const wb_convert_policy sized = {.size = 3};
    assert_int_equal(plan(LLAMA, WB_TARGET_GGUF, &sized, &error), WB_ERROR_ARGUMENT);
    const wb_convert_policy flags = {.size = sizeof flags, .flags = 1u << 20};
    assert_int_equal(plan(LLAMA, WB_TARGET_GGUF, &flags, &error), WB_ERROR_ARGUMENT);
}

/* Blocks that nothing may take the place of, and a type that wants an importance matrix. */
static void needs(void **state)
{
    static const struct {
        unsigned columns;
        const char *quant, *code;
    } list[] = {{96, "Q1_0", "quant-row"}, {256, "IQ2_XXS", "quant-importance"}};
    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        char *path = text_of("%s/needs%zu.safetensors", scratch, i);
        char *header = text_of("{\"a.weight\":{\"dtype\":\"F32\",\"shape\":[2,%u],"
                               "\"data_offsets\":[0,%u]}}",
                               list[i].columns, list[i].columns * 8);
        const wb_convert_policy policy = {.size = sizeof policy, .quant = list[i].quant};
        wb_error error;
        st_write(path, header, list[i].columns * 8);
        assert_int_equal(plan(path, WB_TARGET_GGUF, &policy, &error), WB_ERROR_UNSUPPORTED);
        assert_string_equal(error.code, list[i].code);
        free(header);
        free(path);
    }
}

/* ---- importance matrices ---- */

#define COLUMNS 128

static void put_u32(unsigned char **to, uint32_t value)
{
    wb__store_le32(*to, value);
    *to += 4;
}

/* An entry for one tensor: sums of `calls` calls. */
static size_t legacy(unsigned char *bytes, const char *name, const float *sums, uint32_t columns)
{
    unsigned char *to = bytes;
    put_u32(&to, 1);
    put_u32(&to, (uint32_t)strlen(name));
    memcpy(to, name, strlen(name));
    to += strlen(name);
    put_u32(&to, 4); /* calls */
    put_u32(&to, columns);
    memcpy(to, sums, columns * sizeof *sums);
    return (size_t)(to - bytes) + columns * sizeof *sums;
}

static void matrices(void **state)
{
    (void)state;
    static const char name[] = "blk.0.attn_output.weight";
    float sums[COLUMNS * 2], weights[COLUMNS * 2];
    unsigned char file[4096];
    wb_error error;
    wb_tensor tensor = {.size = sizeof tensor};
    wb_model *source = open_model(QWEN);
    uint64_t at = 0, n, size;
    assert_int_equal(wb_tensor_find(source, "layers.0.attention.output.weight", SIZE_MAX, &at),
                     WB_OK);
    assert_int_equal(wb_tensor_at(source, at, &tensor, NULL), WB_OK);
    uint32_t columns = (uint32_t)tensor.shape[1];
    assert_true(columns <= COLUMNS * 2);
    for (size_t i = 0; i < columns; i++) {
        weights[i] = (float)(1 + i * i % 97);
        sums[i] = weights[i] * 4;
    }
    char *path = text_of("%s/i.dat", scratch), *to = text_of("%s/i.gguf", scratch);
    write_file(path, file, legacy(file, name, sums, columns));
    const wb_convert_policy policy = {.size = sizeof policy, .quant = "Q4_1", .importance = path};
    convert(QWEN, WB_TARGET_GGUF, &policy, to);
    wb_model *made = open_model(to);
    uint64_t index = 0;
    assert_int_equal(wb_tensor_find(made, name, SIZE_MAX, &index), WB_OK);
    unsigned char *got = bytes_of(made, index, &n);
    float *values = malloc((size_t)tensor.elements * sizeof *values);
    assert_int_equal(wb_tensor_read(source, at, NULL, WB_DTYPE_F32, values,
                                    tensor.elements * sizeof *values, NULL),
                     WB_OK);
    assert_int_equal(wb_quantized_size(WB_DTYPE_Q4_1, tensor.shape[0], columns, &size, NULL),
                     WB_OK);
    unsigned char *with = malloc((size_t)size), *without = malloc((size_t)size);
    assert_int_equal(wb_quantize(WB_DTYPE_Q4_1, values, tensor.shape[0], columns, weights, with,
                                 size, NULL, NULL),
                     WB_OK);
    assert_int_equal(wb_quantize(WB_DTYPE_Q4_1, values, tensor.shape[0], columns, NULL, without,
                                 size, NULL, NULL),
                     WB_OK);
    assert_int_equal(n, size);
    assert_memory_equal(got, with, (size_t)size);
    assert_true(memcmp(with, without, (size_t)size) != 0);
    free(values);
    free(with);
    free(without);
    free(got);
    wb_close(made);
    wb_close(source);

    /* Too few values, values that are none, files that end early. */
    write_file(path, file, legacy(file, name, sums, columns - 1));
    assert_int_equal(plan(QWEN, WB_TARGET_GGUF, &policy, &error), WB_ERROR_ARGUMENT);
    assert_string_equal(error.code, "convert-importance");
    sums[7] = -1;
    size_t whole = legacy(file, name, sums, columns);
    write_file(path, file, whole);
    assert_int_equal(plan(QWEN, WB_TARGET_GGUF, &policy, &error), WB_ERROR_FORMAT);
    for (size_t cut = 0; cut < whole; cut += cut < 48 ? 1 : 97) {
        write_file(path, file, cut);
        wb_status status = plan(QWEN, WB_TARGET_GGUF, &policy, &error);
        assert_true(status == WB_ERROR_FORMAT);
    }
    assert_int_equal(unlink(path), 0);
    assert_int_equal(plan(QWEN, WB_TARGET_GGUF, &policy, &error), WB_ERROR_NOT_FOUND);
    free(path);
    free(to);
}

/* ---- fidelity ---- */

static void overflow(void **state)
{
    (void)state;
    const float values[4] = {1.0f, 70000.0f, -1e30f, 0.1f};
    static const char header[] =
        "{\"a.weight\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16]}}";
    unsigned char file[8 + sizeof header - 1 + 16];
    put_length(file, sizeof header - 1);
    memcpy(file + 8, header, sizeof header - 1);
    memcpy(file + 8 + sizeof header - 1, values, sizeof values);
    char *from = text_of("%s/o.safetensors", scratch), *to = text_of("%s/o2.safetensors", scratch);
    write_file(from, file, sizeof file);
    const wb_convert_policy policy = {.size = sizeof policy, .quant = "F16"};
    wb_model *model = open_model(from);
    wb_conversion *conversion = convert_open(model, WB_TARGET_SAFETENSORS, &policy, to);
    wb_converted row = row_named(conversion, "a.weight");
    assert_int_equal(row.fidelity, WB_FIDELITY_LOSSY);
    assert_int_equal(row.overflowed, 2);
    assert_true(row.max_error > 0 && row.max_error < 1e-4);
    assert_true(row.cosine > 0.999999);
    wb_conversion_free(conversion);
    wb_close(model);
    free(from);
    free(to);
}

/* Rows of F4 that end within a byte. */
static void half_bytes(void **state)
{
    (void)state;
    static const char header[] =
        "{\"a.weight\":{\"dtype\":\"F4\",\"shape\":[2,3],\"data_offsets\":[0,3]}}";
    static const float expected[6] = {0, 0, 0.5f, 0, 1, 0}; /* of the bytes 0, 1, 2 */
    char *from = text_of("%s/h.safetensors", scratch), *to = text_of("%s/h2.safetensors", scratch);
    st_write(from, header, 3);
    const wb_convert_policy policy = {.size = sizeof policy, .quant = "F32"};
    float values[6];
    convert(from, WB_TARGET_SAFETENSORS, &policy, to);
    wb_model *model = open_model(to);
    assert_int_equal(wb_tensor_read(model, 0, NULL, WB_DTYPE_F32, values, sizeof values, NULL),
                     WB_OK);
    assert_memory_equal(values, expected, sizeof values);
    wb_close(model);
    convert(from, WB_TARGET_SAFETENSORS, NULL, to);
    model = open_model(to);
    wb_model *source = open_model(from);
    compare_tensors(model, source, "F4");
    wb_close(model);
    wb_close(source);
    free(from);
    free(to);
}

/* ---- failures ---- */

static int stop(void *ctx, uint64_t done, uint64_t total)
{
    (void)ctx;
    (void)done;
    (void)total;
    return 1;
}

static void cancelled(void **state)
{
    (void)state;
    const wb_progress progress = {.report = stop};
    wb_conversion *conversion;
    wb_error error;
    char *to = text_of("%s/cancelled.gguf", scratch);
    wb_model *model = open_model(LLAMA);
    assert_int_equal(wb_convert_plan(model, WB_TARGET_GGUF, NULL, &conversion, &error), WB_OK);
    assert_int_equal(wb_convert(conversion, to, &progress, &error), WB_ERROR_CANCELLED);
    assert_int_equal(access(to, F_OK), -1);
    assert_int_equal(wb_convert(conversion, to, NULL, &error), WB_OK); /* and once more */
    assert_int_equal(access(to, F_OK), 0);
    wb_conversion_free(conversion);
    wb_close(model);
    free(to);
}

/* Each allocation fails in turn. */
static void out_of_memory(void **state)
{
    (void)state;
    static const wb_target targets[] = {WB_TARGET_GGUF, WB_TARGET_MLX};
    for (size_t t = 0; t < 2; t++) {
        counter c = {.fail_at = 1};
        bool done = false;
        for (size_t step = is_slow() ? 37 : 1; !done; c.fail_at += step) {
            size_t fail_at = c.fail_at;
            c = (counter){.fail_at = fail_at};
            const wb_allocator allocator = counter_allocator(&c);
            const wb_open_options options = {
                .size = sizeof options, .access = WB_ACCESS_READ, .allocator = &allocator};
            wb_model *model = NULL;
            wb_conversion *conversion = NULL;
            char *to = text_of("%s/memory-%zu-%zu", scratch, t, fail_at);
            wb_error error;
            wb_status status =
                wb_open(t == 0 ? TEST_DATA "/twins/mixtral" : TEST_DATA "/twins/mixtral.gguf",
                        &options, &model, &error);
            if (status == WB_OK)
                status = wb_convert_plan(model, targets[t], NULL, &conversion, &error);
            if (status == WB_OK)
                status = wb_convert(conversion, to, NULL, &error);
            wb_conversion_free(conversion);
            wb_close(model);
            assert_clean(&c);
            if (status != WB_OK && status != WB_ERROR_MEMORY)
                fail_msg("allocation %zu: %s\n", fail_at, error.message);
            done = status == WB_OK && !c.failed;
            free(to);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules),      cmocka_unit_test(fallbacks), cmocka_unit_test(refusals),
        cmocka_unit_test(needs),      cmocka_unit_test(matrices),  cmocka_unit_test(overflow),
        cmocka_unit_test(half_bytes), cmocka_unit_test(cancelled), cmocka_unit_test(out_of_memory),
    };
    scratch = scratch_make();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove(scratch);
    return failed;
}
