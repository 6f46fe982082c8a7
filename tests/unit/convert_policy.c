/* Tests conversion options other than the quantization: overrides, importance matrices, and
 * WB_CONVERT_STRICT. Invalid options must be refused. Failed conversions must leave no files. */
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
    wb_model *model = open_model(QWEN); /* rows have 128 values, but a block of Q4_K has 256 */
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

/* Tests a block type without a fallback for the row length, and one that requires an importance
 * matrix. */
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

/* Makes an importance matrix in the older format (imatrix.dat), with one tensor. `sums` has one
 * value per column; the file declares them as sums over 4 calls of the layer. Returns the size in
 * bytes. */
static size_t legacy(unsigned char *bytes, const char *name, const float *sums, uint32_t columns)
{
    unsigned char *to = bytes;
    put_u32(&to, 1);
    put_u32(&to, (uint32_t)strlen(name));
    memcpy(to, name, strlen(name));
    to += strlen(name);
    put_u32(&to, 4); /* number of calls */
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

    /* Files with too few values, with an invalid value, and truncated files must be refused. */
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

/* Tests F4 rows whose length is not a whole number of bytes. */
static void half_bytes(void **state)
{
    (void)state;
    static const char header[] =
        "{\"a.weight\":{\"dtype\":\"F4\",\"shape\":[2,3],\"data_offsets\":[0,3]}}";
    static const float expected[6] = {0, 0, 0.5f, 0, 1, 0}; /* decoded from the bytes 0, 1, 2 */
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
    const wb_convert_policy again = {.size = sizeof again, .flags = WB_CONVERT_FORCE};
    convert(from, WB_TARGET_SAFETENSORS, &again, to);
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
    assert_int_equal(wb_convert(conversion, to, NULL, &error), WB_OK); /* a second run */
    assert_int_equal(access(to, F_OK), 0);
    wb_conversion_free(conversion);
    wb_close(model);
    free(to);
}

/* Repeats conversions with each allocation failing once. */
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

/* ---- importance matrices in GGUF ---- */

/* Writes an importance matrix with one tensor as llama.cpp does: sums of squares, and the number of
 * calls of each expert. */
static void gguf_matrix(const char *path, const char *name, const float *sums, const float *counts,
                        uint64_t experts, uint64_t columns)
{
    wb_writer *writer;
    wb_error error;
    uint64_t at[2];
    const wb_writer_options options = {
        .size = sizeof options, .format = "gguf", .flags = WB_WRITE_FORCE};
    const uint64_t shape[] = {experts, columns}, one[] = {experts, 1};
    char *sum_name = text_of("%s.in_sum2", name), *count_name = text_of("%s.counts", name);
    assert_int_equal(wb_writer_create(&options, &writer, &error), WB_OK);
    assert_int_equal(
        wb_writer_set_string(writer, "general.type", SIZE_MAX, "imatrix", SIZE_MAX, &error), WB_OK);
    assert_int_equal(
        wb_writer_add(writer, sum_name, SIZE_MAX, WB_DTYPE_F32, shape, 2, &at[0], &error), WB_OK);
    if (counts != NULL)
        assert_int_equal(
            wb_writer_add(writer, count_name, SIZE_MAX, WB_DTYPE_F32, one, 2, &at[1], &error),
            WB_OK);
    assert_int_equal(wb_writer_plan(writer, path, &error), WB_OK);
    assert_int_equal(wb_writer_begin(writer, &error), WB_OK);
    assert_int_equal(
        wb_writer_put(writer, at[0], 0, sums, (size_t)(experts * columns) * sizeof *sums, &error),
        WB_OK);
    if (counts != NULL)
        assert_int_equal(
            wb_writer_put(writer, at[1], 0, counts, (size_t)experts * sizeof *counts, &error),
            WB_OK);
    assert_int_equal(wb_writer_commit(writer, &error), WB_OK);
    wb_writer_free(writer);
    free(sum_name);
    free(count_name);
}

/* Converts a model to GGUF. Sets *columns and *experts to the number of columns and of experts of
 * the tensor `name` of the result. */
static void measure_of(const char *from, const char *name, uint64_t *columns, uint64_t *experts)
{
    char *to = text_of("%s/measure.gguf", scratch);
    const wb_convert_policy policy = {
        .size = sizeof policy, .quant = "F32", .flags = WB_CONVERT_FORCE};
    wb_tensor tensor = {.size = sizeof tensor};
    uint64_t at = 0;
    convert(from, WB_TARGET_GGUF, &policy, to);
    wb_model *made = open_model(to);
    assert_int_equal(wb_tensor_find(made, name, SIZE_MAX, &at), WB_OK);
    assert_int_equal(wb_tensor_at(made, at, &tensor, NULL), WB_OK);
    *columns = tensor.shape[tensor.rank - 1];
    *experts = tensor.rank == 3 ? tensor.shape[0] : 1;
    wb_close(made);
    free(to);
}

static void convert_with(const char *from, const char *matrix, const char *to)
{
    const wb_convert_policy policy = {
        .size = sizeof policy, .quant = "Q4_1", .importance = matrix, .flags = WB_CONVERT_FORCE};
    convert(from, WB_TARGET_GGUF, &policy, to);
}

/* The importance of each column must be its sum in the file divided by the count of the expert, or
 * 1 if the count is 0. */
static void gguf_matrices(void **state)
{
    (void)state;
    static const char *const list[][2] = {
        {QWEN, "blk.0.attn_output.weight"},
        {TEST_DATA "/models/qwen3_moe-nvfp4", "blk.0.ffn_up_exps.weight"}};
    for (size_t i = 0; i < 2; i++) {
        uint64_t columns, experts;
        size_t n, m, k;
        wb_error error;
        const char *from = list[i][0], *name = list[i][1];
        measure_of(from, name, &columns, &experts);
        assert_int_equal(experts > 1, i == 1);
        size_t count = (size_t)(columns * experts);
        float *sums = malloc(count * sizeof *sums), *plain = malloc(count * sizeof *plain);
        float counts[64];
        assert_true(experts <= 64);
        for (size_t e = 0; e < experts; e++) {
            counts[e] =
                e == 1 ? 0
                       : (float)(1u << e % 5); /* powers of two, so that the quotients are exact */
            for (size_t c = 0; c < columns; c++) {
                size_t at = e * (size_t)columns + c;
                plain[at] = e == 1 ? 1 : (float)(1 + (c * c + e) % 97);
                sums[at] = plain[at] * (e == 1 ? 5 : counts[e]);
            }
        }
        unsigned char *file = malloc(count * 4 + 256);
        char *dat = text_of("%s/m.dat", scratch), *gguf = text_of("%s/m.gguf", scratch);
        char *x = text_of("%s/x.gguf", scratch), *y = text_of("%s/y.gguf", scratch);
        for (size_t c = 0; c < count; c++)
            plain[c] *=
                4; /* legacy() writes 4 as the number of calls, by which the sums are divided */
        write_file(dat, file, legacy(file, name, plain, (uint32_t)count));
        gguf_matrix(gguf, name, sums, counts, experts, columns);
        convert_with(from, dat, x);
        convert_with(from, gguf, y);
        unsigned char *with = read_file(x, &n), *same = read_file(y, &m);
        assert_int_equal(n, m);
        assert_memory_equal(with, same, n);
        convert_with(from, NULL, y);
        unsigned char *without = read_file(y, &k);
        assert_true(k == n && memcmp(with, without, n) != 0);
        gguf_matrix(gguf, name, sums, NULL, experts, columns);
        const wb_convert_policy policy = {
            .size = sizeof policy, .quant = "Q4_1", .importance = gguf};
        assert_int_equal(plan(from, WB_TARGET_GGUF, &policy, &error), WB_ERROR_FORMAT);
        free(with);
        free(same);
        free(without);
        free(file);
        free(sums);
        free(plain);
        free(dat);
        free(gguf);
        free(x);
        free(y);
    }
}

/* Writes a llama GGUF file whose rows have 256 values, a multiple of every block size. Returns its
 * path, which the caller frees. */
static char *make_wide(void)
{
    static const char *const parts[] = {"attn_q",   "attn_k", "attn_v",  "attn_output",
                                        "ffn_gate", "ffn_up", "ffn_down"};
    static const uint16_t zeros[4 * 256];
    wb_writer *writer;
    wb_error error;
    const uint64_t shape[] = {4, 256};
    const wb_writer_options options = {
        .size = sizeof options, .format = "gguf", .flags = WB_WRITE_FORCE};
    const struct {
        const char *key;
        uint64_t number;
    } keys[] = {{"llama.block_count", 8},
                {"llama.attention.head_count", 8},
                {"llama.attention.head_count_kv", 2},
                {"llama.embedding_length", 256}};
    char *path = text_of("%s/wide.gguf", scratch);
    assert_int_equal(wb_writer_create(&options, &writer, &error), WB_OK);
    assert_int_equal(
        wb_writer_set_string(writer, "general.architecture", SIZE_MAX, "llama", SIZE_MAX, &error),
        WB_OK);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const wb_value value = {
            .size = sizeof value, .type = WB_META_UINT, .bits = 32, .number = keys[i].number};
        assert_int_equal(wb_writer_set(writer, keys[i].key, SIZE_MAX, &value, &error), WB_OK);
    }
    uint64_t count = 0;
    for (int layer = -1; layer < 8; layer++) {
        for (size_t i = 0; i < (layer < 0 ? 2 : sizeof parts / sizeof *parts); i++, count++) {
            char name[64];
            if (layer < 0)
                (void)snprintf(name, sizeof name, i == 0 ? "token_embd.weight" : "output.weight");
            else
                (void)snprintf(name, sizeof name, "blk.%d.%s.weight", layer, parts[i]);
            assert_int_equal(
                wb_writer_add(writer, name, SIZE_MAX, WB_DTYPE_F16, shape, 2, NULL, &error), WB_OK);
        }
    }
    assert_int_equal(wb_writer_plan(writer, path, &error), WB_OK);
    assert_int_equal(wb_writer_begin(writer, &error), WB_OK);
    for (uint64_t i = 0; i < count; i++)
        assert_int_equal(wb_writer_put(writer, i, 0, zeros, sizeof zeros, &error), WB_OK);
    assert_int_equal(wb_writer_commit(writer, &error), WB_OK);
    wb_writer_free(writer);
    return path;
}

/* File types that llama-quantize refuses without an importance matrix must be refused. A rule that
 * gives such a type to single tensors must only cause a warning. */
static void matrices_needed(void **state)
{
    (void)state;
    static const struct {
        const char *quant, *rule;
        uint32_t flags;
        wb_status want;
    } list[] = {
        {"IQ3_XXS", NULL, 0, WB_ERROR_UNSUPPORTED},
        {"IQ3_XS", NULL, 0, WB_ERROR_UNSUPPORTED},
        {"Q2_K_S", NULL, 0, WB_ERROR_UNSUPPORTED},
        {"IQ2_M", NULL, 0, WB_ERROR_UNSUPPORTED},
        {"IQ1_M", NULL, 0, WB_ERROR_UNSUPPORTED},
        {"Q2_K", NULL, 0, WB_OK},
        {"IQ3_S", NULL, 0, WB_OK},
        {"IQ4_XS", NULL, 0, WB_OK},
        {"Q8_0", "attn_q=IQ3_XXS", 0, WB_OK},
        {"Q8_0", "attn_q=IQ2_S", 0, WB_OK},
        {"Q8_0", "attn_q=IQ3_XXS", WB_CONVERT_STRICT, WB_ERROR_UNSUPPORTED},
    };
    char *wide = make_wide();
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        wb_error error;
        wb_conversion *conversion = NULL;
        char pattern[32] = "";
        const char *equals = list[i].rule == NULL ? NULL : strchr(list[i].rule, '=');
        if (equals != NULL)
            (void)snprintf(pattern, sizeof pattern, "%.*s", (int)(equals - list[i].rule),
                           list[i].rule);
        const wb_convert_rule rule = {pattern, equals == NULL ? "" : equals + 1};
        const wb_convert_policy policy = {.size = sizeof policy,
                                          .quant = list[i].quant,
                                          .rules = &rule,
                                          .rule_count = equals != NULL,
                                          .flags = list[i].flags};
        wb_model *model = open_model(wide);
        wb_status status = wb_convert_plan(model, WB_TARGET_GGUF, &policy, &conversion, &error);
        if (status != list[i].want)
            fail_msg("%s %s: %d, %s\n", list[i].quant, pattern, (int)status, error.message);
        if (status != WB_OK)
            assert_string_equal(error.code, "quant-importance");
        bool warned = false;
        for (uint64_t k = 0;
             status == WB_OK && k < wb_findings_count(wb_conversion_findings(conversion)); k++) {
            wb_finding finding = {.size = sizeof finding};
            assert_int_equal(wb_findings_at(wb_conversion_findings(conversion), k, &finding),
                             WB_OK);
            warned |=
                strcmp(finding.code, "quant-importance") == 0 && finding.severity == WB_WARNING;
        }
        assert_int_equal(warned, status == WB_OK && equals != NULL);
        wb_conversion_free(conversion);
        wb_close(model);
    }
    free(wide);
}

/* Writes a model with an unknown type of tokenizer, for which conversion reports a finding. Returns
 * its path, which the caller frees. */
static char *make_odd(void)
{
    static const char key[] = "tokenizer.ggml.model";
    size_t n, at = 0;
    unsigned char *bytes = read_file(TEST_DATA "/twins/llama.gguf", &n);
    while (at + sizeof key + 12 < n && memcmp(bytes + at, key, sizeof key - 1) != 0)
        at++;
    bytes[at + sizeof key - 1 + 12] = 'x'; /* the value follows the key, its type and its length */
    char *path = text_of("%s/odd.gguf", scratch);
    write_file(path, bytes, n);
    free(bytes);
    return path;
}

/* wb_convert_check must report the errors of the run in advance and write nothing. Each finding
 * must be reported once. */
static void looked_at(void **state)
{
    (void)state;
    wb_error error;
    char *odd = make_odd();
    wb_model *model = open_model(odd);
    wb_conversion *conversion;
    char *none = text_of("%s/none/back", scratch), *back = text_of("%s/back", scratch);
    assert_int_equal(wb_convert_plan(model, WB_TARGET_SAFETENSORS, NULL, &conversion, &error),
                     WB_OK);
    assert_int_equal(wb_convert_check(conversion, none, &error), WB_ERROR_NOT_FOUND);
    assert_string_equal(error.file, none);
    assert_int_equal(wb_convert_check(conversion, back, NULL), WB_OK);
    assert_int_equal(access(back, F_OK), -1);
    uint64_t told = wb_findings_count(wb_conversion_findings(conversion));
    assert_true(told > 0);
    assert_int_equal(wb_convert(conversion, back, NULL, &error), WB_OK);
    assert_int_equal(wb_findings_count(wb_conversion_findings(conversion)), told);
    assert_int_equal(wb_convert_check(conversion, back, &error), WB_ERROR_ARGUMENT);
    assert_string_equal(error.code, "output-exists");
    wb_conversion_free(conversion);
    wb_close(model);
    free(back);
    free(none);
    free(odd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules),           cmocka_unit_test(fallbacks),
        cmocka_unit_test(refusals),        cmocka_unit_test(needs),
        cmocka_unit_test(matrices),        cmocka_unit_test(gguf_matrices),
        cmocka_unit_test(matrices_needed), cmocka_unit_test(overflow),
        cmocka_unit_test(half_bytes),      cmocka_unit_test(cancelled),
        cmocka_unit_test(out_of_memory),   cmocka_unit_test(looked_at),
    };
    scratch = scratch_make();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove(scratch);
    return failed;
}
