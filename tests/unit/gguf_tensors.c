/*
 * Tests GGUF tensors. Shapes must be reversed; tensors of every type must be readable in both byte
 * orders, completely and in slices; offsets must be multiples of general.alignment; and
 * wb_verify_model must find invalid values and scales.
 */
#include "support.h"

#include "gguf_build.h"

/*
 * Every GGML type. `fields` describes the fields of a block in order, as in ggml-common.h and the
 * quantizers, with two numbers for each: how many elements it has, and their width in bytes.
 */
static const struct type_row {
    uint32_t number;
    const char *name;
    uint32_t elements, bytes;
    uint8_t fields[8];
} types[] = {
    {0, "F32", 1, 4, {1, 4}},
    {1, "F16", 1, 2, {1, 2}},
    {2, "Q4_0", 32, 18, {1, 2, 16, 1}},
    {3, "Q4_1", 32, 20, {2, 2, 16, 1}},
    {6, "Q5_0", 32, 22, {1, 2, 1, 4, 16, 1}},
    {7, "Q5_1", 32, 24, {2, 2, 1, 4, 16, 1}},
    {8, "Q8_0", 32, 34, {1, 2, 32, 1}},
    {9, "Q8_1", 32, 36, {2, 2, 32, 1}},
    {10, "Q2_K", 256, 84, {80, 1, 2, 2}},
    {11, "Q3_K", 256, 110, {108, 1, 1, 2}},
    {12, "Q4_K", 256, 144, {2, 2, 140, 1}},
    {13, "Q5_K", 256, 176, {2, 2, 172, 1}},
    {14, "Q6_K", 256, 210, {208, 1, 1, 2}},
    {15, "Q8_K", 256, 292, {1, 4, 128, 1, 128, 1, 16, 2}},
    {16, "IQ2_XXS", 256, 66, {1, 2, 16, 4}},
    {17, "IQ2_XS", 256, 74, {33, 2, 8, 1}},
    {18, "IQ3_XXS", 256, 98, {1, 2, 64, 1, 8, 4}},
    {19, "IQ1_S", 256, 50, {1, 2, 32, 1, 8, 2}},
    {20, "IQ4_NL", 32, 18, {1, 2, 16, 1}},
    {21, "IQ3_S", 256, 110, {1, 2, 108, 1}},
    {22, "IQ2_S", 256, 82, {1, 2, 80, 1}},
    {23, "IQ4_XS", 256, 136, {2, 2, 132, 1}},
    {24, "I8", 1, 1, {1, 1}},
    {25, "I16", 1, 2, {1, 2}},
    {26, "I32", 1, 4, {1, 4}},
    {27, "I64", 1, 8, {1, 8}},
    {28, "F64", 1, 8, {1, 8}},
    {29, "IQ1_M", 256, 56, {48, 1, 4, 2}},
    {30, "BF16", 1, 2, {1, 2}},
    {34, "TQ1_0", 256, 54, {52, 1, 1, 2}},
    {35, "TQ2_0", 256, 66, {64, 1, 1, 2}},
    {39, "MXFP4", 32, 17, {17, 1}},
    {40, "NVFP4", 64, 36, {36, 1}},
    {41, "Q1_0", 128, 18, {1, 2, 16, 1}},
    {42, "Q2_0", 64, 18, {1, 2, 16, 1}},
};

#define TYPES (sizeof types / sizeof types[0])

/* Swaps the bytes of all elements of the blocks, to change the byte order. */
static void turn(const struct type_row *type, uint8_t *bytes, size_t blocks)
{
    for (; blocks > 0; blocks--) {
        size_t at = 0;
        for (size_t f = 0; f < 8 && type->fields[f] > 0; f += 2) {
            for (unsigned i = 0; i < type->fields[f]; i++) {
                unsigned width = type->fields[f + 1];
                for (unsigned k = 0; k < width / 2; k++) {
                    uint8_t low = bytes[at + k];
                    bytes[at + k] = bytes[at + width - 1 - k];
                    bytes[at + width - 1 - k] = low;
                }
                at += width;
            }
        }
        assert_int_equal(at, type->bytes);
        bytes += type->bytes;
    }
}

static uint8_t *random_bytes(size_t n, uint64_t seed)
{
    uint8_t *bytes = malloc(n);
    uint64_t state = seed + 1;
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)(next_random(&state) >> 40);
    return bytes;
}

/* Builds a file with one tensor "t" of 3 rows, from its little-endian bytes. */
static gguf make_file(const struct type_row *type, uint64_t columns, bool big,
                      const uint8_t *little, size_t bytes)
{
    gguf g;
    uint64_t shape[] = {columns, 3, 0};
    gguf_start(&g, big, 1, 0);
    gguf_tensor(&g, "t", shape, type->number, 0);
    gguf_pad(&g, 32);
    size_t at = g.n;
    gguf_raw(&g, little, bytes);
    if (big)
        turn(type, g.bytes + at, bytes / type->bytes);
    return g;
}

static wb_model *open_bytes(const gguf *g)
{
    wb_model *model;
    wb_error error;
    if (wb_open_memory(g->bytes, g->n, "test.gguf", NULL, &model, &error) != WB_OK)
        fail_msg("%s at %lld: %s\n", error.code, (long long)error.offset, error.message);
    return model;
}

/* Reads rows 2 and 1, the last block of each row, and a slice that splits blocks, which must be
 * refused for types with blocks. */
static void check_slices(const wb_model *model, const struct type_row *type, uint64_t columns,
                         const uint8_t *little, size_t bytes)
{
    wb_axis axes[2] = {{.start = 2, .count = 2, .step = -1}, {.count = columns, .step = 1}};
    wb_slice slice = {.size = sizeof slice, .rank = 2, .axes = axes, .count = UINT64_MAX};
    size_t row = bytes / 3;
    uint8_t *got = malloc(2 * row);
    wb_error error;
    assert_int_equal(wb_tensor_read(model, 0, &slice, -1, got, 2 * row, &error), WB_OK);
    assert_memory_equal(got, little + 2 * row, row);
    assert_memory_equal(got + row, little + row, row);
    /* Reads the last block of each row. */
    axes[0] = (wb_axis){.count = 3, .step = 1};
    axes[1] = (wb_axis){.start = columns - type->elements, .count = type->elements, .step = 1};
    assert_int_equal(wb_tensor_read(model, 0, &slice, -1, got, 2 * row, &error), WB_OK);
    for (size_t i = 0; i < 3; i++)
        assert_memory_equal(got + i * type->bytes, little + (i + 1) * row - type->bytes,
                            type->bytes);
    axes[1].start--;
    wb_status status = wb_tensor_read(model, 0, &slice, -1, got, 2 * row, &error);
    assert_int_equal(status, type->elements > 1 ? WB_ERROR_UNSUPPORTED : WB_OK);
    free(got);
}

static void check_type(const struct type_row *type, size_t blocks, bool big)
{
    size_t bytes = 3 * blocks * type->bytes;
    uint64_t columns = (uint64_t)blocks * type->elements;
    uint8_t *little = random_bytes(bytes, type->number), *got = malloc(bytes);
    gguf g = make_file(type, columns, big, little, bytes);
    wb_model *model = open_bytes(&g);
    wb_tensor tensor = {.size = sizeof tensor};
    wb_error error;
    const void *data;
    assert_int_equal(wb_tensor_at(model, 0, &tensor, &error), WB_OK);
    assert_int_equal(tensor.dtype, type->number);
    assert_string_equal(wb_dtype_name((int32_t)tensor.dtype), type->name);
    assert_int_equal(tensor.rank, 2);
    assert_true(tensor.shape[0] == 3 && tensor.shape[1] == columns);
    assert_int_equal(tensor.elements, 3 * columns);
    assert_int_equal(tensor.bytes, bytes);
    assert_int_equal(tensor.offset, g.n - bytes);
    assert_int_equal(wb_tensor_read(model, 0, NULL, -1, got, bytes, &error), WB_OK);
    assert_memory_equal(got, little, bytes);
    if (big) {
        assert_int_equal(wb_tensor_data(model, 0, &data, &error), WB_ERROR_UNSUPPORTED);
    } else {
        assert_int_equal(wb_tensor_data(model, 0, &data, &error), WB_OK);
        assert_memory_equal(data, little, bytes);
    }
    check_slices(model, type, columns, little, bytes);
    wb_close(model);
    gguf_free(&g);
    free(little);
    free(got);
}

static void every_type(void **state)
{
    (void)state;
    for (size_t i = 0; i < TYPES; i++) {
        check_type(&types[i], 3, false);
        check_type(&types[i], 3, true);
    }
}

/* If a type can be decoded, the values from both byte orders must be equal. */
static void decodes_alike(void **state)
{
    (void)state;
    unsigned decoded = 0;
    for (size_t i = 0; i < TYPES; i++) {
        const struct type_row *type = &types[i];
        size_t bytes = 6u * type->bytes, n = 6u * type->elements;
        uint8_t *little = random_bytes(bytes, i + 99);
        float *values[2];
        wb_status status = WB_OK;
        for (int big = 0; big < 2; big++) {
            gguf g = make_file(type, 2u * type->elements, big != 0, little, bytes);
            wb_model *model = open_bytes(&g);
            values[big] = calloc(n, sizeof(float));
            status =
                wb_tensor_read(model, 0, NULL, WB_DTYPE_F32, values[big], n * sizeof(float), NULL);
            wb_close(model);
            gguf_free(&g);
        }
        if (status == WB_OK)
            assert_memory_equal(values[0], values[1], n * sizeof(float));
        else
            assert_int_equal(status, WB_ERROR_UNSUPPORTED);
        decoded += status == WB_OK;
        free(values[0]);
        free(values[1]);
        free(little);
    }
    assert_true(decoded >= 33);
}

/* Tests tensors that are larger than the read buffers, and whose size is not a multiple of the
 * buffer size. */
static void large_tensors(void **state)
{
    (void)state;
    static const uint32_t numbers[] = {0, 2, 14, 15, 39};
    for (size_t i = 0; i < TYPES; i++) {
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
            if (types[i].number != numbers[k])
                continue;
            size_t megabyte = is_slow() ? 100000 : 1 << 20;
            check_type(&types[i], (megabyte + 777) / 2 / types[i].bytes, false);
            check_type(&types[i], (megabyte + 777) / 2 / types[i].bytes, true);
            check_type(&types[i], (megabyte + 777) / types[i].bytes, true);
        }
    }
}

static void converts_big_endian(void **state)
{
    (void)state;
    static const float values[6] = {1, -2.5F, 0.5F, 65504, 1e-3F, 0};
    gguf g = make_file(&types[0], 2, true, (const uint8_t *)values, sizeof values);
    wb_model *model = open_bytes(&g);
    uint16_t halves[6];
    assert_int_equal(wb_tensor_read(model, 0, NULL, WB_DTYPE_F16, halves, sizeof halves, NULL),
                     WB_OK);
    static const uint8_t expected[12] = {0, 0x3C, 0, 0xC1, 0, 0x38, 0xFF, 0x7B, 0x19, 0x14, 0, 0};
    assert_memory_equal(halves, expected, 12);
    wb_close(model);
    gguf_free(&g);
}

/* ---- what verify finds ---- */

static void expect_finding(const gguf *g, const char *code, wb_severity severity, uint64_t offset)
{
    wb_model *model = open_bytes(g);
    wb_findings *findings;
    wb_error error;
    bool found = false;
    assert_int_equal(wb_verify_model(model, NULL, &findings, &error), WB_OK);
    for (uint64_t i = 0; i < wb_findings_count(findings); i++) {
        wb_finding finding = {.size = sizeof finding};
        assert_int_equal(wb_findings_at(findings, i, &finding), WB_OK);
        found |= code != NULL && strcmp(finding.code, code) == 0 && finding.severity == severity &&
                 finding.offset == offset;
        if (code == NULL && finding.severity >= WB_SEVERE)
            fail_msg("%s: %s\n", finding.code, finding.message);
    }
    if (code != NULL && !found)
        fail_msg("no %s at %llu\n", code, (unsigned long long)offset);
    wb_findings_free(findings);
    wb_close(model);
}

/* Sets a binary16 scale of every block type to infinity, then to NaN, in both byte orders.
 * wb_verify_model must report it. */
static void odd_scales(void **state)
{
    (void)state;
    for (size_t i = 0; i < TYPES; i++) {
        const struct type_row *type = &types[i];
        size_t at = 0, scale = SIZE_MAX;
        for (size_t f = 0; f < 8 && type->fields[f] > 0; f += 2) {
            if (scale == SIZE_MAX && type->fields[f + 1] == 2)
                scale = at + 2u * (type->fields[f] - 1u);
            at += (size_t)type->fields[f] * type->fields[f + 1];
        }
        /* Skips types whose first 16-bit field is not a scale, or that have no such field. */
        if (type->elements == 1 || scale == SIZE_MAX || type->number == 15 || type->number == 17 ||
            type->number == 23 || type->number == 29)
            continue;
        for (int big = 0; big < 2; big++) {
            size_t bytes = 3u * type->bytes;
            uint8_t *little = calloc(bytes, 1);
            little[type->bytes + scale + 1] = 0x7C; /* infinity */
            gguf g = make_file(type, type->elements, big != 0, little, bytes);
            expect_finding(&g, "values-infinite", WB_SEVERE, g.n - bytes);
            gguf_free(&g);
            little[type->bytes + scale] = 1; /* NaN */
            g = make_file(type, type->elements, big != 0, little, bytes);
            expect_finding(&g, "values-nan", WB_SEVERE, g.n - bytes);
            gguf_free(&g);
            little[type->bytes + scale + 1] = 0x7B;
            g = make_file(type, type->elements, big != 0, little, bytes);
            expect_finding(&g, NULL, 0, 0);
            gguf_free(&g);
            free(little);
        }
    }
}

/* Like odd_scales, for types with other scales. The scale of IQ1_M is stored in the upper four bits
 * of each of four 16-bit words, that of Q8_K is a binary32, and that of MXFP4 has 8 bits. */
static void odd_scales_elsewhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < TYPES; i++) {
        const struct type_row *type = &types[i];
        size_t bytes = 3u * type->bytes;
        uint8_t *little = calloc(bytes, 1);
        if (type->number == 29) {
            little[48 + 7] = 0x7F; /* bits 15 to 12 of the scale: 7 */
            little[48 + 5] = 0xCF; /* bits 11 to 8 of the scale: 0xC; 0x7C00 is infinity */
        } else if (type->number == 15) {
            memcpy(little, "\0\0\x80\x7F", 4);
        } else if (type->number == 39) {
            little[0] = 0xFF;
        } else {
            free(little);
            continue;
        }
        for (int big = 0; big < 2; big++) {
            gguf g = make_file(type, type->elements, big != 0, little, bytes);
            expect_finding(&g, type->number == 39 ? "values-nan" : "values-infinite", WB_SEVERE,
                           g.n - bytes);
            gguf_free(&g);
        }
        free(little);
    }
}

static void plain_values(void **state)
{
    (void)state;
    float values[6] = {1, 2, 3, 4, 5, 6};
    static const uint32_t nan = 0x7FC00000;
    for (int big = 0; big < 2; big++) {
        gguf g = make_file(&types[0], 2, big != 0, (const uint8_t *)values, sizeof values);
        expect_finding(&g, NULL, 0, 0);
        gguf_free(&g);
        memcpy(&values[3], &nan, 4);
        g = make_file(&types[0], 2, big != 0, (const uint8_t *)values, sizeof values);
        expect_finding(&g, "values-nan", WB_SEVERE, g.n - sizeof values);
        gguf_free(&g);
        values[3] = 4;
    }
}

/* ---- offsets of tensors ---- */

/* Tests valid and invalid offsets of two tensors of 12 bytes, with general.alignment 64. */
static void alignment(void **state)
{
    (void)state;
    static const uint64_t shape[] = {3, 0};
    static const struct {
        uint64_t first, second;
        const char *code; /* NULL: the file opens */
    } cases[] = {{0, 64, NULL},
                 {64, 0, NULL},
                 {0, 128, NULL},
                 {0, 32, "gguf-offset"},
                 {0, 0, "gguf-overlap"},
                 {0, 192, "gguf-extent"},
                 {0, UINT64_MAX - 63, "gguf-extent"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gguf g;
        gguf_start(&g, false, 2, 1);
        gguf_number(&g, "general.alignment", U32, 64, 4);
        gguf_tensor(&g, "first", shape, 0, cases[i].first);
        gguf_tensor(&g, "second", shape, 0, cases[i].second);
        gguf_pad(&g, 64);
        size_t data = g.n;
        for (size_t k = 0; k < 128 + 12; k++)
            gguf_raw(&g, "", 1);
        wb_model *model;
        wb_error error;
        wb_status status = wb_open_memory(g.bytes, g.n, "test.gguf", NULL, &model, &error);
        if (cases[i].code == NULL) {
            wb_tensor tensor = {.size = sizeof tensor};
            uint64_t index;
            assert_int_equal(status, WB_OK);
            assert_int_equal(wb_tensor_find(model, "second", SIZE_MAX, &index), WB_OK);
            assert_int_equal(wb_tensor_at(model, index, &tensor, NULL), WB_OK);
            assert_true(tensor.offset == data + cases[i].second);
        } else {
            assert_int_equal(status, WB_ERROR_FORMAT);
            assert_string_equal(error.code, cases[i].code);
            assert_string_equal(error.name, "second");
        }
        wb_close(model);
        gguf_free(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type),    cmocka_unit_test(decodes_alike),
        cmocka_unit_test(large_tensors), cmocka_unit_test(converts_big_endian),
        cmocka_unit_test(odd_scales),    cmocka_unit_test(odd_scales_elsewhere),
        cmocka_unit_test(plain_values),  cmocka_unit_test(alignment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
