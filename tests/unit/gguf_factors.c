/*
 * Tests NVFP4 in GGUF with a per-tensor scale. NAME.weight and NAME.scale must form one tensor. A
 * value must be computed by multiplying the block scale by the per-tensor scale first, and then by
 * the code. A scale of the wrong type or shape must stay a separate tensor and be reported.
 */
#include "support.h"

#include <math.h>

#include "gguf_build.h"

#define COLUMNS 192
#define BLOCKS_A_ROW (COLUMNS / 64)
#define ROWS 5
#define EXPERTS 3
#define ALIGNMENT 32

typedef struct tensor {
    const char *name;
    uint32_t type;
    uint64_t shape[5]; /* innermost first, terminated by 0 */
    const void *data;
    size_t bytes;
} tensor;

enum { TYPE_F32 = 0, TYPE_F16 = 1, TYPE_NVFP4 = 40 };

static uint8_t blocks[EXPERTS * ROWS * BLOCKS_A_ROW * 36];

/* Makes blocks with random codes and block scales. One scale is 0x7F, which GGML treats as 0. */
static void make_blocks(void)
{
    uint64_t random = 88172645463325252u;
    for (size_t i = 0; i < sizeof blocks; i++) {
        blocks[i] = (uint8_t)(next_random(&random) >> 32);
        if (i % 36 < 4)
            blocks[i] &= 0x7F;
    }
    blocks[1] = 0x7F;
    blocks[2] = 0;
}

static void put_file(gguf *g, bool big, const tensor *tensors, size_t count)
{
    size_t at = 0;
    gguf_start(g, big, count, 0);
    for (size_t i = 0; i < count; i++) {
        gguf_tensor(g, tensors[i].name, tensors[i].shape, tensors[i].type, at);
        at += (tensors[i].bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    for (size_t i = 0; i < count; i++) {
        const uint8_t *bytes = tensors[i].data;
        gguf_pad(g, ALIGNMENT);
        for (size_t k = 0; k < tensors[i].bytes; k += 4) {
            size_t n = tensors[i].bytes - k < 4 ? tensors[i].bytes - k : 4;
            for (size_t b = 0; b < n; b++) {
                bool turns = big && tensors[i].type == TYPE_F32;
                gguf_raw(g, bytes + k + (turns ? n - 1 - b : b), 1);
            }
        }
    }
    gguf_pad(g, ALIGNMENT);
}

static wb_model *open_tensors(gguf *g, bool big, const tensor *tensors, size_t count)
{
    wb_model *model;
    wb_error error;
    put_file(g, big, tensors, count);
    if (wb_open_memory(g->bytes, g->n, "factors.gguf", NULL, &model, &error) != WB_OK)
        fail_msg("%s\n", error.message);
    return model;
}

/* Computes element i as llama.cpp's converter and ModelOpt do. */
static float value_of(const uint8_t *data, size_t i, float factor)
{
    static const float codes[16] = {0, .5F,  1,  1.5F,  2,  3,  4,  6,
                                    0, -.5F, -1, -1.5F, -2, -3, -4, -6};
    const uint8_t *block = data + i / 64 * 36;
    unsigned group = i % 64 / 16, within = i % 16;
    unsigned byte = block[4 + 8 * group + within % 8];
    unsigned e4m3 = block[group];
    float scale = e4m3 >> 3 == 0 ? ldexpf((float)(e4m3 & 7), -9)
                                 : ldexpf(1 + (float)(e4m3 & 7) / 8, (int)(e4m3 >> 3) - 7);
    volatile float scaled = (e4m3 == 0x7F ? 0 : scale) * factor;
    return codes[within < 8 ? byte & 15 : byte >> 4] * scaled;
}

static void check_values(const wb_model *model, uint64_t index, const float *factors,
                         size_t a_factor, size_t first, size_t count)
{
    wb_slice slice = {.size = sizeof slice, .first = first, .count = count};
    float *values = malloc(count * sizeof *values);
    assert_non_null(values);
    assert_int_equal(
        wb_tensor_read(model, index, &slice, WB_DTYPE_F32, values, count * sizeof *values, NULL),
        WB_OK);
    for (size_t i = 0; i < count; i++) {
        float expected = value_of(blocks, first + i, factors[(first + i) / a_factor]);
        if (memcmp(&values[i], &expected, sizeof expected) != 0)
            fail_msg("element %zu is %.9g in place of %.9g\n", first + i, (double)values[i],
                     (double)expected);
    }
    free(values);
}

static const float factors[EXPERTS] = {0.123F, 3.7F, 1e-4F};

#define MATRIX_BYTES (ROWS * BLOCKS_A_ROW * 36)

static const tensor sound[] = {
    {"blk.0.attn_v.scale", TYPE_F32, {1}, factors, 4},
    {"blk.0.attn_v.weight", TYPE_NVFP4, {COLUMNS, ROWS}, blocks, MATRIX_BYTES},
    {"blk.0.ffn_up_exps.weight", TYPE_NVFP4, {COLUMNS, ROWS, EXPERTS}, blocks, sizeof blocks},
    {"blk.0.attn_k.weight", TYPE_NVFP4, {COLUMNS, ROWS}, blocks, MATRIX_BYTES},
    {"blk.0.ffn_up_exps.scale", TYPE_F32, {EXPERTS}, factors, sizeof factors},
};

#define SOUND (sizeof sound / sizeof sound[0])

static uint64_t number_of(const wb_model *model, const char *name)
{
    uint64_t index = 0;
    if (wb_tensor_find(model, name, SIZE_MAX, &index) != WB_OK)
        fail_msg("there is no %s\n", name);
    return index;
}

/* ---- weight and scale form one tensor ---- */

static void joins(void **state)
{
    (void)state;
    const size_t matrix = (size_t)ROWS * COLUMNS;
    const float one = 1;
    for (int big = 0; big < 2; big++) {
        gguf g;
        wb_model *model = open_tensors(&g, big, sound, SOUND);
        assert_int_equal(wb_tensor_count(model), 3);
        uint64_t single = number_of(model, "blk.0.attn_v.weight");
        uint64_t stack = number_of(model, "blk.0.ffn_up_exps.weight");
        check_values(model, single, factors, matrix, 0, matrix);
        check_values(model, stack, factors, matrix, 0, EXPERTS * matrix);
        /* A slice from the middle of a group in one expert into the next expert. */
        check_values(model, stack, factors, matrix, matrix - 7, matrix + 20);
        check_values(model, number_of(model, "blk.0.attn_k.weight"), &one, matrix, 0, matrix);
        wb_close(model);
        gguf_free(&g);
    }
}

static void says_so(void **state)
{
    (void)state;
    gguf g;
    wb_model *model = open_tensors(&g, false, sound, SOUND);
    uint64_t single = number_of(model, "blk.0.attn_v.weight");
    wb_encoding encoding = {.size = sizeof encoding};
    assert_int_equal(wb_tensor_encoding(model, single, &encoding, NULL), WB_OK);
    assert_string_equal(encoding.type, "NVFP4");
    assert_int_equal(encoding.bits, 4);
    assert_int_equal(encoding.group_size, 64);
    assert_int_equal(encoding.dtype, WB_DTYPE_NVFP4);
    assert_int_equal(encoding.parts, 2);
    assert_int_equal(encoding.global, WB_MLX_GLOBAL_FACTOR);
    wb_tensor whole = {.size = sizeof whole}, part = {.size = sizeof part};
    assert_int_equal(wb_tensor_at(model, single, &whole, NULL), WB_OK);
    assert_int_equal(whole.bytes, MATRIX_BYTES + 4);
    assert_int_equal(whole.elements, ROWS * COLUMNS);
    wb_part role = {.size = sizeof role};
    assert_int_equal(wb_tensor_part(model, single, 1, &role, NULL), WB_OK);
    assert_string_equal(role.role, "global_scale");
    assert_int_equal(wb_tensor_at(model, role.index, &part, NULL), WB_OK);
    assert_string_equal(part.name, "blk.0.attn_v.scale");
    /* Part 0 must have the bytes of the blocks only. */
    uint8_t bytes[MATRIX_BYTES];
    assert_int_equal(wb_tensor_part(model, single, 0, &role, NULL), WB_OK);
    assert_int_equal(wb_tensor_read(model, role.index, NULL, -1, bytes, sizeof bytes, NULL), WB_OK);
    assert_memory_equal(bytes, blocks, sizeof bytes);
    const void *data;
    assert_int_equal(wb_tensor_data(model, single, &data, NULL), WB_ERROR_UNSUPPORTED);
    wb_close(model);
    gguf_free(&g);
}

/* ---- what is none ---- */

static bool has_finding(const wb_findings *findings, const char *code)
{
    for (uint64_t i = 0; i < wb_findings_count(findings); i++) {
        wb_finding finding = {.size = sizeof finding};
        assert_int_equal(wb_findings_at(findings, i, &finding), WB_OK);
        if (strcmp(finding.code, code) == 0)
            return true;
    }
    return false;
}

static void refuses(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        tensor scale;
        bool experts;
        bool joined;
        const char *told; /* code of the finding reported on opening; NULL: none */
    } cases[] = {
        {"F16", {"w.scale", TYPE_F16, {1}, factors, 2}, false, false, "packing-unknown"},
        {"two", {"w.scale", TYPE_F32, {2}, factors, 8}, false, false, "packing-unknown"},
        {"blocks", {"w.scale", TYPE_NVFP4, {64}, blocks, 36}, false, false, "packing-unknown"},
        {"another name", {"w.scales", TYPE_F32, {1}, factors, 4}, false, false, NULL},
        {"of activations", {"w.input_scale", TYPE_F32, {1}, factors, 4}, false, false, NULL},
        {"of two dimensions", {"w.scale", TYPE_F32, {1, 1}, factors, 4}, false, true, NULL},
        {"two for three", {"w.scale", TYPE_F32, {2}, factors, 8}, true, false, "packing-unknown"},
        {"one for three", {"w.scale", TYPE_F32, {1}, factors, 4}, true, true, NULL},
        {"turned", {"w.scale", TYPE_F32, {1, EXPERTS}, factors, 12}, true, true, NULL},
        {"columns",
         {"w.scale", TYPE_F32, {EXPERTS, 1}, factors, 12},
         true,
         false,
         "packing-unknown"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tensor tensors[2] = {{"w.weight", TYPE_NVFP4, {COLUMNS, ROWS}, blocks, MATRIX_BYTES}};
        if (cases[i].experts) {
            tensors[0].shape[2] = EXPERTS;
            tensors[0].bytes = sizeof blocks;
        }
        tensors[1] = cases[i].scale;
        gguf g;
        wb_model *model = open_tensors(&g, false, tensors, 2);
        if (wb_tensor_count(model) != (cases[i].joined ? 1 : 2))
            fail_msg("%s: %d tensors\n", cases[i].what, (int)wb_tensor_count(model));
        const wb_findings *findings = wb_model_findings(model);
        if (has_finding(findings, "packing-unknown") != (cases[i].told != NULL))
            fail_msg("%s: not told of as it should be\n", cases[i].what);
        wb_close(model);
        gguf_free(&g);
    }
}

/* A scale must stay a separate tensor if its weight is missing or is not NVFP4. */
static void stays_alone(void **state)
{
    (void)state;
    static const uint8_t halves[2 * 34] = {0};
    const tensor alone[] = {{"w.scale", TYPE_F32, {1}, factors, 4}};
    const tensor other[] = {{"w.weight", 8, {64}, halves, sizeof halves},
                            {"w.scale", TYPE_F32, {1}, factors, 4}};
    gguf g;
    wb_model *model = open_tensors(&g, false, alone, 1);
    assert_int_equal(wb_tensor_count(model), 1);
    wb_close(model);
    gguf_free(&g);
    model = open_tensors(&g, false, other, 2);
    assert_int_equal(wb_tensor_count(model), 2);
    wb_close(model);
    gguf_free(&g);
}

/* A scale that is NaN or infinite must be reported by wb_verify_model. */
static void odd_factors(void **state)
{
    (void)state;
    const float odd[] = {NAN, INFINITY, 0, -2, 3e38F};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        const tensor tensors[] = {{"w.weight", TYPE_NVFP4, {COLUMNS, ROWS}, blocks, MATRIX_BYTES},
                                  {"w.scale", TYPE_F32, {1}, &odd[i], 4}};
        gguf g;
        float values[64];
        wb_findings *findings;
        wb_slice slice = {.size = sizeof slice, .count = 64};
        wb_model *model = open_tensors(&g, false, tensors, 2);
        assert_int_equal(wb_tensor_count(model), 1);
        assert_int_equal(
            wb_tensor_read(model, 0, &slice, WB_DTYPE_F32, values, sizeof values, NULL), WB_OK);
        assert_true(i != 0 || isnan(values[0]));
        assert_int_equal(wb_verify_model(model, NULL, &findings, NULL), WB_OK);
        assert_int_equal(has_finding(findings, "values-nan"), i == 0);
        assert_int_equal(has_finding(findings, "values-infinite"), i == 1);
        wb_findings_free(findings);
        wb_close(model);
        gguf_free(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(joins), cmocka_unit_test(says_so),
                                       cmocka_unit_test(refuses), cmocka_unit_test(stays_alone),
                                       cmocka_unit_test(odd_factors)};
    make_blocks();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
