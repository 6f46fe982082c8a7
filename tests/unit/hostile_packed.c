/*
 * Tests malicious models with packed weights: a config.json that costs memory or time or has values
 * of wrong types, and companion tensors (scales, biases) that belong to two weights, are too short,
 * or have impossible shapes. Reads must stay within the bytes of each tensor.
 */
#include "support.h"

#include <time.h>

/* ---- a file with several tensors ---- */

typedef struct file {
    char *header;
    size_t data;
} file;

static void add_tensor(file *f, const char *name, const char *dtype, const char *shape,
                       size_t bytes)
{
    char *longer =
        text_of("%s%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%zu,%zu]}",
                f->header == NULL ? "{" : f->header, f->header == NULL ? "" : ",", name, dtype,
                shape, f->data, f->data + bytes);
    free(f->header);
    f->header = longer;
    f->data += bytes;
}

static void write_model(file *f, const char *path)
{
    char *header = text_of("%s}", f->header);
    st_write(path, header, f->data);
    free(header);
    free(f->header);
}

static void affine(file *f, const char *module)
{
    static const char *const endings[] = {".weight", ".scales", ".biases"};
    for (size_t i = 0; i < 3; i++) {
        char *name = text_of("%s%s", module, endings[i]);
        if (i == 0)
            add_tensor(f, name, "U32", "2,8", 64);
        else
            add_tensor(f, name, "F16", "2,1", 4);
        free(name);
    }
}

/* Reads every tensor as F32, once completely and once its second half. Returns the number of reads
 * that succeeded. */
static unsigned read_all(const wb_model *model)
{
    unsigned read = 0;
    for (uint64_t i = 0; i < wb_tensor_count(model); i++) {
        wb_tensor tensor = {.size = sizeof tensor};
        wb_encoding encoding = {.size = sizeof encoding};
        uint64_t elements, bytes;
        assert_int_equal(wb_tensor_at(model, i, &tensor, NULL), WB_OK);
        assert_int_equal(wb_tensor_encoding(model, i, &encoding, NULL), WB_OK);
        for (uint64_t half = 0; half < 2; half++) {
            wb_slice slice = {
                .size = sizeof slice, .first = half * (tensor.elements / 2), .count = UINT64_MAX};
            if (wb_tensor_read_size(model, i, &slice, WB_DTYPE_F32, &elements, &bytes, NULL) !=
                    WB_OK ||
                bytes > 1 << 20)
                continue;
            void *dst = malloc(bytes == 0 ? 1 : (size_t)bytes);
            assert_non_null(dst);
            read += wb_tensor_read(model, i, &slice, WB_DTYPE_F32, dst, bytes, NULL) == WB_OK;
            free(dst);
        }
    }
    return read;
}

static wb_model *open_counted(const char *path, counter *memory)
{
    static wb_allocator allocator;
    wb_model *model;
    wb_error error;
    allocator = counter_allocator(memory);
    wb_open_options options = {.size = sizeof options, .allocator = &allocator};
    if (wb_open(path, &options, &model, &error) != WB_OK)
        fail_msg("%s: %s", path, error.message);
    return model;
}

static bool has_finding(const wb_model *model, const char *code)
{
    wb_finding finding = {.size = sizeof finding};
    const wb_findings *findings = wb_model_findings(model);
    for (uint64_t i = 0; i < wb_findings_count(findings); i++) {
        assert_int_equal(wb_findings_at(findings, i, &finding), WB_OK);
        if (strcmp(finding.code, code) == 0)
            return true;
    }
    return false;
}

/* ---- config.json ---- */

static double now(void)
{
    struct timespec t;
    assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), 0);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Opens a directory whose config.json consists of `before`, n times `member` and `after`. %zu in
 * `member` stands for the index. Checks the memory use, and returns the time in seconds. */
static double open_config(const char *before, const char *member, const char *after, size_t n)
{
    char *folder = scratch_make();
    char *config = text_of("%s/config.json", folder);
    char *path = text_of("%s/model.safetensors", folder);
    file f = {0};
    affine(&f, "a");
    write_model(&f, path);
    const char *hole = strstr(member, "%zu");
    size_t room = strlen(before) + n * (strlen(member) + 20) + strlen(after) + 1, at = 0;
    char *text = malloc(room);
    assert_non_null(text);
    at += (size_t)snprintf(text, room, "%s", before);
    for (size_t i = 0; i < n; i++) {
        at += hole == NULL ? (size_t)snprintf(text + at, room - at, "%s", member)
                           : (size_t)snprintf(text + at, room - at, "%.*s%zx%s",
                                              (int)(hole - member), member, i, hole + 3);
        if (i + 1 < n)
            text[at++] = ',';
    }
    at += (size_t)snprintf(text + at, room - at, "%s", after);
    write_file(config, text, at);
    counter memory = {0};
    double start = now();
    wb_model *model = open_counted(folder, &memory);
    (void)wb_meta_count(model); /* parses the config again */
    double seconds = now() - start;
    size_t limit = 8 * (at + 300) + ((size_t)1 << 20);
    if (memory.peak > limit)
        fail_msg("%s%s: %zu bytes took %zu, %.2f times", before, member, at, memory.peak,
                 (double)memory.peak / (double)at);
    assert_true(read_all(model) > 0);
    wb_close(model);
    assert_clean(&memory);
    free(text);
    free(path);
    free(config);
    scratch_remove(folder);
    return seconds;
}

static void configs(void **state)
{
    (void)state;
    static const struct {
        const char *before, *member, *after;
    } rows[] = {
        {"{\"quantization\":{\"bits\":4,\"group_size\":64,", "\"%zu\":{}", "}}"},
        {"{\"quantization\":{\"bits\":4,\"group_size\":64,", "\"%zu\":false", "}}"},
        {"{\"quantization\":{\"bits\":4,\"group_size\":64,", "\"\":{}", "}}"},
        {"{\"quantization\":{\"bits\":4,\"group_size\":64,", "\"a\":false", "}}"},
        {"{\"quantization\":{\"bits\":4,\"group_size\":64,", "\"\":0", "}}"},
        {"{\"quantization\":{\"bits\":4,\"group_size\":64,\"a\":{", "\"bits\":8", "}}}"},
        {"{", "\"quantization\":{\"bits\":4,\"group_size\":64}", "}"},
        {"{\"text_config\":{\"quantization_config\":{", "\"model.layers.%zu\":{\"bits\":4}", "}}}"},
        {"{", "\"x%zu_size\":%zu", "}"},
        {"{", "\"%zu\":1", "}"},
        {"{", "\"\":1", "}"},
        {"{\"a\":[", "[]", "]}"},
        {"{\"a\":[", "1", "]}"},
        {"{\"architectures\":[", "\"%zu\"", "]}"},
        {"{", "\"rope_scaling\":{\"factor\":%zu}", "}"},
    };
    size_t n = is_slow() ? 300 : 10000;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        (void)open_config(rows[i].before, rows[i].member, rows[i].after, 10);
        /* Reading four times as many members must take less than 8 times as long. Linear time would
         * give 4, and quadratic time 16. The limit lies between them, because other programs may
         * disturb the measurement. */
        double some = 0, more = 1;
        for (int attempt = 0; attempt < 5 && more > 0.05 && more > 8 * some; attempt++) {
            some = open_config(rows[i].before, rows[i].member, rows[i].after, n);
            more = open_config(rows[i].before, rows[i].member, rows[i].after, 4 * n);
        }
        if (!is_slow() && more > 0.05 && more > 8 * some)
            fail_msg("%s%s: %f s, four times as many %f s", rows[i].before, rows[i].member, some,
                     more);
    }
}

/* Tests more than a million of the smallest members. Their number is just above a power of two, so
 * that hash tables have just grown. */
static void million(void **state)
{
    (void)state;
    static const char *const members[] = {"\"%zu\":{}", "\"\":{}", "\"\":0"};
    for (size_t i = 0; i < 3 && !is_slow() && sizeof(size_t) == 8; i++)
        (void)open_config("{\"quantization\":{\"bits\":4,\"group_size\":64,", members[i], "}}",
                          1100000);
}

/* ---- values of every type ---- */

static const char *const values[] = {"null",
                                     "true",
                                     "false",
                                     "0",
                                     "1",
                                     "-1",
                                     "4",
                                     "7",
                                     "64",
                                     "16",
                                     "65536",
                                     "65537",
                                     "4.0",
                                     "4.5",
                                     "1e3",
                                     "1e99",
                                     "\"4\"",
                                     "\"\"",
                                     "[]",
                                     "[4]",
                                     "{}",
                                     "NaN",
                                     "-Infinity",
                                     "18446744073709551615",
                                     "18446744073709551616",
                                     "\"affine\"",
                                     "\"nvfp4\"",
                                     "\"gptq\"",
                                     "{\"bits\":8}",
                                     "\"\\u0000\""};

static void types(void **state)
{
    (void)state;
    static const char *const forms[] = {
        "{\"quantization\":%s}",
        "{\"quantization_config\":%s}",
        "{\"quantization\":{\"bits\":%s,\"group_size\":64}}",
        "{\"quantization\":{\"group_size\":%s,\"bits\":4}}",
        "{\"quantization\":{\"group_size\":16,\"bits\":%s}}",
        "{\"quantization\":{\"mode\":%s}}",
        "{\"quantization_config\":{\"quant_method\":%s}}",
        "{\"quantization\":{\"bits\":4,\"group_size\":64,\"a\":%s}}",
        "{\"quantization\":{\"bits\":4,\"a\":{\"group_size\":%s}}}",
        "{\"quantization\":{\"bits\":4,\"a\":{\"mode\":%s}}}",
        "{\"text_config\":%s}",
        "{\"hidden_size\":%s,\"quantization\":{}}",
        "{\"num_attention_heads\":%s,\"hidden_size\":64,\"head_dim\":%s}",
        "%s",
    };
    char *folder = scratch_make();
    char *config = text_of("%s/config.json", folder);
    char *path = text_of("%s/model.safetensors", folder);
    file f = {0};
    affine(&f, "a");
    affine(&f, "b");
    write_model(&f, path);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
            if (is_slow() && (i + k) % 8 != 0)
                continue;
            char text[400];
            const char *hole = strstr(forms[i], "%s"), *second = strstr(hole + 2, "%s");
            size_t middle = second == NULL ? strlen(hole + 2) : (size_t)(second - hole - 2);
            (void)snprintf(text, sizeof text, "%.*s%s%.*s%s%s", (int)(hole - forms[i]), forms[i],
                           values[k], (int)middle, hole + 2, second == NULL ? "" : values[k],
                           second == NULL ? "" : second + 2);
            write_file(config, text, strlen(text));
            counter memory = {0};
            wb_model *model = open_counted(folder, &memory);
            wb_config c = {.size = sizeof c};
            assert_int_equal(wb_config_get(model, &c, NULL), WB_OK);
            assert_true(wb_tensor_count(model) == 2 || wb_tensor_count(model) == 6);
            (void)read_all(model);
            wb_close(model);
            assert_clean(&memory);
        }
    }
    free(path);
    free(config);
    scratch_remove(folder);
}

/* ---- companions ---- */

typedef struct tensor_row {
    const char *name, *dtype, *shape;
    size_t bytes;
} tensor_row;

#define ROWS 7

static const struct companions {
    const char *what;
    tensor_row rows[ROWS];
    unsigned count;      /* expected number of tensors */
    const char *finding; /* code of the finding about packing; NULL: none */
} cases[] = {
    {"two tensors want the same scales",
     {{"a.weight", "U32", "2,8", 64},
      {"a.scales", "F16", "2,1", 4},
      {"a.biases", "F16", "2,1", 4},
      {"a.qweight", "I32", "1,1", 4},
      {"a.qzeros", "I32", "2,1", 8}},
     3,
     "packing-unknown"},
    {"the scales of one are the values of another",
     {{"a", "U32", "2,4", 32}, {"a.scale", "U32", "2,1", 8}, {"a.scale.scale", "U8", "2,1", 2}},
     3,
     "packing-unknown"},
    {"an order that is too short",
     {{"a.qweight", "I32", "2,8", 64},
      {"a.qzeros", "I32", "1,1", 4},
      {"a.scales", "F16", "1,8", 16},
      {"a.g_idx", "I32", "15", 60}},
     4,
     "packing-unknown"},
    {"an order of bytes",
     {{"a.qweight", "I32", "2,8", 64},
      {"a.qzeros", "I32", "1,1", 4},
      {"a.scales", "F16", "1,8", 16},
      {"a.g_idx", "I8", "16", 16}},
     4,
     "packing-unknown"},
    {"an order as it should be, of groups there are none of",
     {{"a.qweight", "I32", "2,8", 64},
      {"a.qzeros", "I32", "1,1", 4},
      {"a.scales", "F16", "1,8", 16},
      {"a.g_idx", "I32", "16", 64}},
     1,
     NULL},
    {"zero points for fewer outputs",
     {{"a.qweight", "I32", "2,16", 128},
      {"a.qzeros", "I32", "1,1", 4},
      {"a.scales", "F16", "1,16", 32}},
     3,
     "packing-unknown"},
    {"zero points of bytes",
     {{"a.qweight", "I32", "8,1", 32},
      {"a.qzeros", "I8", "1,1", 1},
      {"a.scales", "F16", "1,8", 16}},
     3,
     "packing-unknown"},
    {"scales for fewer rows",
     {{"a.weight", "U32", "2,8", 64}, {"a.scales", "F16", "1,1", 2}, {"a.biases", "F16", "1,1", 2}},
     3,
     "packing-unknown"},
    {"rows without end, of which there are none",
     {{"a.weight", "U32", "0,288230376151711744", 0}, {"a.scales", "U8", "0,72057594037927936", 0}},
     1,
     NULL},
    {"more inputs than can be counted",
     {{"a.weight", "U32", "0,18446744073709551615", 0},
      {"a.scales", "F16", "0,18446744073709551615", 0},
      {"a.biases", "F16", "0,18446744073709551615", 0}},
     3,
     "packing-unknown"},
    {"no scales in a row",
     {{"a.weight", "U32", "4611686018427387904,0", 0},
      {"a.scales", "F16", "4611686018427387904,0", 0},
      {"a.biases", "F16", "4611686018427387904,0", 0}},
     3,
     "packing-unknown"},
    {"no dimensions",
     {{"a.weight", "U32", "", 4}, {"a.scales", "F16", "", 2}, {"a.biases", "F16", "", 2}},
     3,
     "packing-unknown"},
    {"squares of rows without end",
     {{"a.weight", "F8_E4M3", "18446744073709551615,0", 0},
      {"a.weight_scale_inv", "F32", "144115188075855872,0", 0}},
     1,
     NULL},
    {"a global scale for each expert there is none of",
     {{"a", "U32", "0,2,2", 0}, {"a.scale", "U8", "0,2,1", 0}, {"a.global_scale", "F32", "0", 0}},
     1,
     NULL},
    {"as many global scales as rows",
     {{"a", "U32", "2,2", 16}, {"a.scale", "U8", "2,1", 2}, {"a.global_scale", "F32", "2", 8}},
     3,
     "packing-unknown"},
    {"biases of values that have none, and of no shape that fits",
     {{"a", "U32", "2,4", 32}, {"a.scale", "U8", "2,1", 2}, {"a.bias", "F64", "3", 24}},
     2,
     NULL},
    {"global scales that lie across",
     {{"a", "U32", "2,1,2", 16},
      {"a.scale", "U8", "2,1,1", 2},
      {"a.global_scale", "F32", "1,2", 8}},
     3,
     "packing-unknown"},
};

static void companions(void **state)
{
    (void)state;
    char *folder = scratch_make();
    char *path = text_of("%s/model.safetensors", folder);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        file f = {0};
        for (const tensor_row *row = cases[i].rows; row < cases[i].rows + ROWS; row++) {
            if (row->name != NULL)
                add_tensor(&f, row->name, row->dtype, row->shape, row->bytes);
        }
        write_model(&f, path);
        counter memory = {0};
        wb_model *model = open_counted(path, &memory);
        if (wb_tensor_count(model) != cases[i].count ||
            has_finding(model, "packing-unknown") != (cases[i].finding != NULL))
            fail_msg("%s: %d tensors, expected %u", cases[i].what, (int)wb_tensor_count(model),
                     cases[i].count);
        (void)read_all(model);
        wb_close(model);
        assert_clean(&memory);
    }
    free(path);
    scratch_remove(folder);
}

/* ---- many ---- */

/* Many packed tensors, also with parts that do not match, must not exceed the memory bound. */
static void many(void **state)
{
    (void)state;
    static const struct {
        const char *dtypes[3], *endings[3], *shape;
    } rows[] = {
        {{"U32", "F16", "F16"}, {".weight", ".scales", ".biases"}, "0,1"},
        {{"U32", "F16", NULL}, {".weight", ".scales", NULL}, "0,1"},
        {{"U32", "U8", NULL}, {"", ".scale", NULL}, "0"},
        {{"I32", "F16", "I32"}, {".qweight", ".scales", ".qzeros"}, "0"},
        {{"F8_E4M3", "F32", NULL}, {".weight", ".weight_scale_inv", NULL}, "0,0"},
        {{"U8", "F8_E4M3", NULL}, {".weight", ".weight_scale", NULL}, "0"},
    };
    char *folder = scratch_make();
    char *path = text_of("%s/model.safetensors", folder);
    size_t n = is_slow() ? 100 : 4000;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t room = n * 3 * 120 + 16, at = 1;
        char *text = malloc(room);
        assert_non_null(text);
        text[0] = '{';
        for (size_t k = 0; k < 3 * n; k++) {
            if (rows[i].dtypes[k % 3] != NULL)
                at += (size_t)snprintf(
                    text + at, room - at,
                    "%s\"%zx%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[0,0]}",
                    at > 1 ? "," : "", k / 3, rows[i].endings[k % 3], rows[i].dtypes[k % 3],
                    rows[i].shape);
        }
        (void)snprintf(text + at, room - at, "}");
        st_write(path, text, 0);
        counter memory = {0};
        wb_model *model = open_counted(path, &memory);
        if (memory.peak > 8 * at + ((size_t)1 << 20))
            fail_msg("%s%s: %zu bytes took %zu, %.2f times", rows[i].dtypes[0], rows[i].endings[0],
                     at, memory.peak, (double)memory.peak / (double)at);
        wb_close(model);
        assert_clean(&memory);
        free(text);
    }
    free(path);
    scratch_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(configs),    cmocka_unit_test(million), cmocka_unit_test(types),
        cmocka_unit_test(companions), cmocka_unit_test(many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
