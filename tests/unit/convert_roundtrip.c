/*
 * Tests that lossless conversions to another format and back restore the same bytes, and that
 * quantizing conversions give the same result as MLX and as the codecs.
 */
#include "convert.h"
#include "executor.h"

#define QWEN TEST_DATA "/models/qwen3-bf16"

static char *scratch;

static char *at(const char *name)
{
    return text_of("%s/%s", scratch, name);
}

/* ---- safetensors and GGUF ---- */

static void folder_gguf_folder(void **state)
{
    static const char *const families[] = {"llama", "mistral",  "mixtral", "qwen2",
                                           "qwen3", "qwen3moe", "gemma2",  "phi3"};
    (void)state;
    for (size_t i = 0; i < (is_slow() ? 1 : sizeof families / sizeof families[0]); i++) {
        char *from = text_of("%s/twins/%s", TEST_DATA, families[i]);
        char *plain = text_of("%s/%s-plain", scratch, families[i]);
        char *gguf = text_of("%s/%s.gguf", scratch, families[i]);
        char *back = text_of("%s/%s-back", scratch, families[i]);
        convert(from, WB_TARGET_SAFETENSORS, NULL, plain);
        convert(from, WB_TARGET_GGUF, NULL, gguf);
        convert(gguf, WB_TARGET_SAFETENSORS, NULL, back);
        wb_model *a = open_model(from), *b = open_model(back);
        compare_tensors(b, a, families[i]);
        wb_config x = {.size = sizeof x}, y = {.size = sizeof y};
        assert_int_equal(wb_config_get(a, &x, NULL), WB_OK);
        assert_int_equal(wb_config_get(b, &y, NULL), WB_OK);
        assert_string_equal(x.architecture, y.architecture);
        assert_int_equal(x.dim, y.dim);
        assert_int_equal(x.n_kv_heads, y.n_kv_heads);
        assert_int_equal(x.n_experts, y.n_experts);
        assert_int_equal(x.vocab_size, y.vocab_size);
        assert_true(x.rope_theta == y.rope_theta && x.norm_eps == y.norm_eps);
        assert_int_equal(x.rope_layout, y.rope_layout);
        assert_int_equal(x.norm_offset, y.norm_offset);
        wb_close(a);
        wb_close(b);
        char *one = text_of("%s/model.safetensors", plain);
        char *other = text_of("%s/model.safetensors", back);
        compare_files(one, other);
        free(one);
        free(other);
        free(from);
        free(plain);
        free(gguf);
        free(back);
    }
}

/* Converts a directory to GGUF and back. The result must have the tokens of the directory. */
static void tokenizers(void **state)
{
    static const char *const families[] = {"llama", "qwen3", "mistral", "gemma2", "bert"};
    static const char *const keys[] = {"tokenizer.ggml.model", "tokenizer.ggml.pre"};
    static const char *const lists[] = {"tokenizer.ggml.tokens"};
    (void)state;
    for (size_t i = 0; i < (is_slow() ? 1 : sizeof families / sizeof families[0]); i++) {
        char *from = text_of("%s/twins/%s", TEST_DATA, families[i]);
        char *gguf = text_of("%s/t-%s.gguf", scratch, families[i]);
        char *back = text_of("%s/t-%s-back", scratch, families[i]);
        convert(from, WB_TARGET_GGUF, NULL, gguf);
        convert(gguf, WB_TARGET_SAFETENSORS, NULL, back);
        wb_model *a = open_model(from), *b = open_model(back);
        for (size_t k = 0; k < 2; k++) {
            const char *x, *y;
            size_t n, m;
            assert_int_equal(wb_meta_get_string(a, keys[k], SIZE_MAX, &x, &n, NULL), WB_OK);
            if (wb_meta_get_string(b, keys[k], SIZE_MAX, &y, &m, NULL) != WB_OK)
                fail_msg("%s: no %s in what came back\n", families[i], keys[k]);
            assert_string_equal(x, y);
        }
        wb_meta_array x = {.size = sizeof x}, y = {.size = sizeof y};
        assert_int_equal(wb_meta_get_string_array(a, lists[0], SIZE_MAX, &x, NULL), WB_OK);
        assert_int_equal(wb_meta_get_string_array(b, lists[0], SIZE_MAX, &y, NULL), WB_OK);
        assert_int_equal(x.count, y.count);
        for (uint64_t t = 0; t < x.count; t++) {
            const char *p, *q;
            size_t n, m;
            assert_int_equal(wb_meta_strings(&x, t, 1, &p, &n), WB_OK);
            assert_int_equal(wb_meta_strings(&y, t, 1, &q, &m), WB_OK);
            if (strcmp(p, q) != 0)
                fail_msg("%s: token %u is \"%s\", not \"%s\"\n", families[i], (unsigned)t, q, p);
        }
        wb_close(a);
        wb_close(b);
        free(from);
        free(gguf);
        free(back);
    }
}

/* ---- MLX ---- */

/* Quantizing a model must give the same tensors as mlx_lm.convert (data/models). */
static void as_mlx(void **state)
{
    (void)state;
    const wb_convert_policy policy = {.size = sizeof policy, .quant = "affine4:64"};
    char *made = at("mlx");
    convert(QWEN, WB_TARGET_MLX, &policy, made);
    wb_model *a = open_model(made);
    wb_model *b = open_model(TEST_DATA "/models/qwen3-4bit-3shards");
    compare_tensors(a, b, "affine4:64");
    wb_config x = {.size = sizeof x};
    assert_int_equal(wb_config_get(a, &x, NULL), WB_OK);
    assert_int_equal(x.quant_bits, 4);
    assert_int_equal(x.quant_group_size, 64);
    wb_close(a);
    wb_close(b);
    free(made);
}

static void mlx_gguf_mlx(void **state)
{
    (void)state;
    const wb_convert_policy half = {.size = sizeof half, .quant = "F16"};
    static const char *const quants[] = {"affine4:32", "affine5:32", "mxfp4", "nvfp4"};
    char *plain = at("half");
    convert(QWEN, WB_TARGET_SAFETENSORS, &half, plain);
    for (size_t i = 0; i < (is_slow() ? 1 : sizeof quants / sizeof quants[0]); i++) {
        const wb_convert_policy policy = {.size = sizeof policy, .quant = quants[i]};
        char *mlx = text_of("%s/m%zu", scratch, i), *gguf = text_of("%s/m%zu.gguf", scratch, i);
        char *back = text_of("%s/m%zu-back", scratch, i);
        convert(plain, WB_TARGET_MLX, &policy, mlx);
        wb_model *model = open_model(mlx);
        wb_conversion *conversion = convert_open(model, WB_TARGET_GGUF, NULL, gguf);
        for (uint64_t t = 0; t < wb_conversion_count(conversion); t++) {
            wb_converted row = {.size = sizeof row};
            assert_int_equal(wb_conversion_at(conversion, t, &row, NULL), WB_OK);
            if (row.fidelity != WB_FIDELITY_EXACT && row.fidelity != WB_FIDELITY_REPACKED)
                fail_msg("%s: %s lost something: %g\n", quants[i], row.name, row.max_error);
            assert_true(row.nmse == 0 && row.cosine == 1 && row.overflowed == 0);
        }
        wb_conversion_free(conversion);
        convert(gguf, WB_TARGET_MLX, NULL, back);
        wb_model *again = open_model(back);
        compare_tensors(again, model, quants[i]);
        wb_close(model);
        wb_close(again);
        free(mlx);
        free(gguf);
        free(back);
    }
    free(plain);
}

/* Every GGUF block type that MLX can represent must be converted without changing any value. */
static void gguf_to_mlx(void **state)
{
    (void)state;
    static const char *const quants[] = {"Q4_1", "Q5_1", "Q8_0", "MXFP4", "NVFP4"};
    for (size_t i = 0; i < (is_slow() ? 1 : sizeof quants / sizeof quants[0]); i++) {
        const wb_convert_rule rule = {".*", quants[i]};
        const wb_convert_policy policy = {.size = sizeof policy, .rules = &rule, .rule_count = 1};
        char *gguf = text_of("%s/g%zu.gguf", scratch, i), *mlx = text_of("%s/g%zu", scratch, i);
        convert(QWEN, WB_TARGET_GGUF, &policy, gguf);
        wb_model *model = open_model(gguf);
        wb_conversion *conversion = convert_open(model, WB_TARGET_MLX, NULL, mlx);
        uint64_t repacked = 0;
        for (uint64_t t = 0; t < wb_conversion_count(conversion); t++) {
            wb_converted row = {.size = sizeof row};
            assert_int_equal(wb_conversion_at(conversion, t, &row, NULL), WB_OK);
            repacked += row.fidelity == WB_FIDELITY_REPACKED;
            if (row.nmse != 0)
                fail_msg("%s: %s lost something: %g\n", quants[i], row.name, row.max_error);
        }
        assert_int_equal(repacked, 22);
        wb_conversion_free(conversion);
        wb_close(model);
        free(gguf);
        free(mlx);
    }
}

/* ---- quantized GGUF ---- */

/* Each tensor must equal the result of wb_quantize for its values, with and without threads. */
static void as_codecs(void **state)
{
    (void)state;
    size_t threads = 3;
    const wb_executor executor = crew_executor(&threads);
    const wb_convert_policy policy = {.size = sizeof policy, .quant = "Q4_K_M"};
    const wb_convert_policy threaded = {
        .size = sizeof threaded, .quant = "q4_k_m", .executor = &executor, .max_memory = 1};
    char *one = at("q.gguf"), *other = at("threads.gguf");
    convert(QWEN, WB_TARGET_GGUF, &policy, one);
    convert(QWEN, WB_TARGET_GGUF, &threaded, other);
    compare_files(one, other);
    wb_model *source = open_model(QWEN), *made = open_model(one);
    unsigned blocks = 0;
    for (uint64_t i = 0; i < wb_tensor_count(made); i++) {
        wb_tensor tensor = {.size = sizeof tensor};
        wb_dtype_info info = {.size = sizeof info};
        const char *canonical;
        uint64_t from, n, size;
        assert_int_equal(wb_tensor_at(made, i, &tensor, NULL), WB_OK);
        assert_int_equal(wb_dtype_describe((int32_t)tensor.dtype, &info), WB_OK);
        if (info.block_size == 1)
            continue;
        blocks++;
        assert_int_equal(wb_canonical_name(made, tensor.name, SIZE_MAX, &canonical, NULL, NULL),
                         WB_OK);
        assert_int_equal(wb_tensor_find(source, canonical, SIZE_MAX, &from), WB_OK);
        uint64_t columns = tensor.shape[tensor.rank - 1];
        float *values = malloc((size_t)tensor.elements * sizeof *values);
        assert_int_equal(wb_tensor_read(source, from, NULL, WB_DTYPE_F32, values,
                                        tensor.elements * sizeof *values, NULL),
                         WB_OK);
        assert_int_equal(wb_quantized_size((int32_t)tensor.dtype, tensor.elements / columns,
                                           columns, &size, NULL),
                         WB_OK);
        unsigned char *expected = malloc((size_t)size), *got = bytes_of(made, i, &n);
        assert_int_equal(wb_quantize((int32_t)tensor.dtype, values, tensor.elements / columns,
                                     columns, NULL, expected, size, NULL, NULL),
                         WB_OK);
        assert_int_equal(n, size);
        if (memcmp(expected, got, (size_t)size) != 0)
            fail_msg("%s has other blocks\n", tensor.name);
        free(values);
        free(expected);
        free(got);
    }
    assert_int_equal(blocks, 22);
    wb_close(source);
    wb_close(made);
    free(one);
    free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folder_gguf_folder),
        cmocka_unit_test(tokenizers),
        cmocka_unit_test(as_mlx),
        cmocka_unit_test(mlx_gguf_mlx),
        cmocka_unit_test(gguf_to_mlx),

        cmocka_unit_test(as_codecs),
    };
    scratch = scratch_make();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove(scratch);
    return failed;
}
