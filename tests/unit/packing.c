/*
 * Tests how bits and group size of packed tensors are derived from shapes and hints: shapes that
 * fit, are ambiguous, do not belong together, or overflow.
 */
#include "support.h"

#include "cpu/cpu.h"
#include "model/catalog.h"
#include "model/packed.h"

#define NONE {.present = false}
#define MAX_RANK 4

typedef struct part {
    bool present;
    int32_t dtype;
    uint64_t shape[MAX_RANK];
    uint32_t rank;
} part;

#define PART(dtype, ...)                                                                           \
    {true, WB_DTYPE_##dtype, {__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)}
#define SCALAR(dtype) {true, WB_DTYPE_##dtype, {0}, 0}

typedef struct row {
    const char *what;
    part parts[WB__PARTS];
    wb__packing_hint hint;
    uint64_t known;    /* number of inputs that every layer of the model has; 0: unknown */
    wb__scheme scheme; /* expected result; PLAIN: the parts must be refused */
    uint32_t bits, group, rows;
    bool doubtful;
} row;

static int has_size(void *ctx, uint64_t inputs)
{
    return *(const uint64_t *)ctx == inputs;
}

/* Adds a tensor of this dtype and shape to the catalog. It may have any size, because it has no
 * data. */
static void add_part(wb__catalog *model, const part *p, uint32_t *number)
{
    wb__kind kind = {.shape = p->shape, .rank = p->rank, .elements = 1};
    uint32_t k;
    *number = WB__NO_TENSOR;
    if (!p->present)
        return;
    kind.dtype = wb__dtype_get(p->dtype);
    for (uint32_t i = 0; i < p->rank; i++)
        kind.elements *= p->shape[i];
    kind.bytes =
        kind.elements > UINT64_MAX / 8 ? UINT64_MAX : kind.elements * kind.dtype->block_bits / 8;
    assert_true(wb__table_kind(&model->table, &kind, &k));
    *number = (uint32_t)model->table.count;
    wb__table_add(&model->table, WB__STR("t"), k, 0, 0);
}

static void solve(const row *r)
{
    wb_error error;
    wb__context context = {.allocator = wb__default_allocator, .file = "", .error = &error};
    wb__catalog model;
    wb_limits_default(&context.limits);
    wb__catalog_init(&model, &wb__default_allocator, 0);
    assert_int_equal(wb__catalog_begin_file(&model, &context, "x", "test", 0), WB_OK);
    assert_int_equal(wb__table_reserve(&model.table, &context, 100, WB__PARTS), WB_OK);
    wb__packing packed = {.kind = {0}};
    uint32_t parts[WB__PARTS];
    for (int i = 0; i < WB__PARTS; i++)
        add_part(&model, &r->parts[i], &parts[i]);
    uint64_t known = r->known, shape[MAX_RANK] = {0};
    wb__packing_hints hints = {.ctx = &known, .has_size = known == 0 ? NULL : has_size};
    const char *doubt;
    bool fits = wb__packing_solve(&model.table, parts, &r->hint, &hints, &packed, shape, &doubt);
    if (fits != (r->scheme != WB__SCHEME_PLAIN))
        fail_msg("%s: %s\n", r->what, fits ? "fits" : doubt);
    if (!fits)
        assert_non_null(doubt);
    if (fits && (packed.scheme != r->scheme || packed.bits != r->bits || packed.group != r->group ||
                 (r->rows != 0 && packed.rows != r->rows) || (doubt != NULL) != r->doubtful))
        fail_msg("%s: %s, %u bits, groups of %u, %s\n", r->what, wb__scheme_name(packed.scheme),
                 (unsigned)packed.bits, (unsigned)packed.group, doubt == NULL ? "certain" : doubt);
    wb__catalog_free(&model);
}

#define LARGE (UINT64_C(1) << 62)
#define AFFINE_OF(b, g) {.scheme = WB__SCHEME_AFFINE, .bits = b, .group = g}

static const row words[] = {
    {"alone", .parts = {PART(U32, 4, 8), PART(F16, 4, 1), PART(F16, 4, 1)},
     .scheme = WB__SCHEME_AFFINE, .bits = 4, .group = 64, .doubtful = true},
    {"a known size", .parts = {PART(U32, 4, 8), PART(F16, 4, 1), PART(F16, 4, 1)}, .known = 128,
     .scheme = WB__SCHEME_AFFINE, .bits = 2, .group = 128},
    {"said", .parts = {PART(U32, 4, 8), PART(F16, 4, 1), PART(F16, 4, 1)}, AFFINE_OF(8, 32),
     .scheme = WB__SCHEME_AFFINE, .bits = 8, .group = 32},
    {"said, but another size is known",
     .parts = {PART(U32, 4, 8), PART(F16, 4, 1), PART(F16, 4, 1)}, AFFINE_OF(8, 32), .known = 64,
     .scheme = WB__SCHEME_AFFINE, .bits = 4, .group = 64, .doubtful = true},
    {"said of this one",
     .parts = {PART(U32, 4, 8), PART(F16, 4, 1), PART(F16, 4, 1)},
     {.scheme = WB__SCHEME_AFFINE, .bits = 8, .group = 32, .named = true},
     .known = 64,
     .scheme = WB__SCHEME_AFFINE,
     .bits = 8,
     .group = 32},
    {"said, and that is known", .parts = {PART(U32, 4, 8), PART(F16, 4, 1), PART(F16, 4, 1)},
     AFFINE_OF(8, 32), .known = 32, .scheme = WB__SCHEME_AFFINE, .bits = 8, .group = 32},
    {"said, and no size fits", .parts = {PART(U32, 4, 8), PART(F16, 4, 1), PART(F16, 4, 1)},
     AFFINE_OF(8, 32), .known = 7, .scheme = WB__SCHEME_AFFINE, .bits = 8, .group = 32},
    {"affine, of no bits", .parts = {PART(U32, 4, 8), PART(F16, 4, 1), PART(F16, 4, 1)},
     AFFINE_OF(0, 32), .scheme = WB__SCHEME_AFFINE, .bits = 4, .group = 64, .doubtful = true},
    {"16 bits", .parts = {PART(U32, 4, 8), PART(F16, 4, 1), PART(F16, 4, 1)}, AFFINE_OF(16, 16),
     .scheme = WB__SCHEME_AFFINE, .bits = 4, .group = 64, .doubtful = true},
    {"int4, 128",
     .parts = {PART(U32, 4, 4), PART(BF16, 4, 1), PART(BF16, 4, 1)},
     {.scheme = WB__SCHEME_INT4, .named = true},
     .scheme = WB__SCHEME_INT4,
     .bits = 4,
     .group = 32},
    {"int4, 256",
     .parts = {PART(U32, 4, 8), PART(BF16, 4, 1), PART(BF16, 4, 1)},
     {.scheme = WB__SCHEME_INT4, .named = true},
     .scheme = WB__SCHEME_INT4,
     .bits = 4,
     .group = 64},
    {"int4, 512",
     .parts = {PART(U32, 4, 16), PART(BF16, 4, 1), PART(BF16, 4, 1)},
     {.scheme = WB__SCHEME_INT4, .named = true},
     .scheme = WB__SCHEME_INT8,
     .bits = 8,
     .group = 64},
    {"int4, 384: six bits",
     .parts = {PART(U32, 4, 12), PART(BF16, 4, 1), PART(BF16, 4, 1)},
     {.scheme = WB__SCHEME_INT4, .named = true},
     .scheme = WB__SCHEME_AFFINE,
     .bits = 6,
     .group = 64,
     .doubtful = true},
    {"int4 of all",
     .parts = {PART(U32, 4, 8), PART(BF16, 4, 1), PART(BF16, 4, 1)},
     {.scheme = WB__SCHEME_INT4},
     .scheme = WB__SCHEME_INT4,
     .bits = 4,
     .group = 64,
     .doubtful = true},
    {"no such packing", .parts = {PART(U32, 4, 9), PART(F16, 4, 1), PART(F16, 4, 1)}},
    {"no scales in a row", .parts = {PART(U32, 4, 9), PART(F16, 4, 0), PART(F16, 4, 0)}},
    {"a part of a group", .parts = {PART(U32, 4, 9), PART(F16, 4, 7), PART(F16, 4, 7)}},
    {"other rows", .parts = {PART(U32, 4, 8), PART(F16, 5, 1), PART(F16, 4, 1)}},
    {"another rank", .parts = {PART(U32, 4, 8), PART(F16, 1), PART(F16, 4, 1)}},
    {"one dimension", .parts = {PART(U32, 8), PART(F32, 1), PART(F32, 1)}, AFFINE_OF(4, 64),
     .scheme = WB__SCHEME_AFFINE, .bits = 4, .group = 64},
    {"no dimension", .parts = {SCALAR(U32), SCALAR(F32), SCALAR(F32)}},
    {"scales of doubles", .parts = {PART(U32, 4, 8), PART(F64, 4, 1), PART(F16, 4, 1)}},
    {"no biases", .parts = {PART(U32, 4, 8), PART(F16, 4, 1), NONE}},
    {"biases of other rows", .parts = {PART(U32, 4, 8), PART(F16, 4, 1), PART(F16, 5, 1)}},
    {"more biases", .parts = {PART(U32, 4, 8), PART(F16, 4, 1), PART(F16, 4, 2)}},
    {"biases of integers", .parts = {PART(U32, 4, 8), PART(F16, 4, 1), PART(I16, 4, 1)}},
    {"mxfp4", .parts = {PART(U32, 4, 8), PART(U8, 4, 2), NONE}, .scheme = WB__SCHEME_MXFP4,
     .bits = 4, .group = 32},
    {"mxfp8", .parts = {PART(U32, 4, 8), PART(U8, 4, 1), NONE}, .scheme = WB__SCHEME_MXFP8,
     .bits = 8, .group = 32},
    {"nvfp4 for experts", .parts = {PART(U32, 3, 4, 8), PART(U8, 3, 4, 4), NONE, PART(F32, 3)},
     .scheme = WB__SCHEME_NVFP4, .bits = 4, .group = 16},
    {"no float of that size", .parts = {PART(U32, 4, 8), PART(U8, 4, 8), NONE}},
    {"a scale of all that is none", .parts = {PART(U32, 4, 8), PART(U8, 4, 4), NONE, PART(F16, 1)}},
    {"a scale for each row", .parts = {PART(U32, 4, 8), PART(U8, 4, 4), NONE, PART(F32, 4)}},
    {"scales for other experts",
     .parts = {PART(U32, 3, 4, 8), PART(U8, 3, 4, 4), NONE, PART(F32, 2)}},
    {"too many bits", .parts = {PART(U32, 1, LARGE), PART(F16, 1, 1), PART(F16, 1, 1)}},
    {"too many inputs", .parts = {PART(U32, 1, 1, LARGE / 8), PART(F16, 1, 1, LARGE / 16),
                                  PART(F16, 1, 1, LARGE / 16)}},
    {"too many elements", .parts = {PART(U32, LARGE, 8), PART(F16, LARGE, 1), PART(F16, LARGE, 1)}},
};

static const row bytes[] = {
    {"nvfp4", .parts = {PART(U8, 4, 32), PART(F8_E4M3, 4, 4)}, .scheme = WB__SCHEME_NVFP4,
     .bits = 4, .group = 16},
    {"nvfp4 of other rows", .parts = {PART(U8, 4, 32), PART(F8_E4M3, 5, 4)}},
    {"nvfp4 with scales of U8", .parts = {PART(U8, 4, 32), PART(U8, 4, 4)}},
    {"nvfp4 of a part of a group", .parts = {PART(U8, 4, 33), PART(F8_E4M3, 4, 4)}},
    {"nvfp4 with more scales", .parts = {PART(U8, 4, 32), PART(F8_E4M3, 4, 5)}},
    {"nvfp4 of too many inputs", .parts = {PART(U8, 1, LARGE * 2), PART(F8_E4M3, 1, 4)}},
    {"nvfp4 of too many elements", .parts = {PART(U8, LARGE, 32), PART(F8_E4M3, LARGE, 4)}},
    {"fp8", .parts = {PART(F8_E4M3, 200, 300), PART(F32, 2, 3)}, .scheme = WB__SCHEME_FP8_BLOCK,
     .bits = 8, .group = 128, .rows = 128},
    {"fp8 of experts", .parts = {PART(F8_E4M3, 3, 128, 128), PART(BF16, 3, 1, 1)},
     .scheme = WB__SCHEME_FP8_BLOCK, .bits = 8, .group = 128, .rows = 128},
    {"fp8 of other experts", .parts = {PART(F8_E4M3, 3, 128, 128), PART(BF16, 2, 1, 1)}},
    {"fp8, said",
     .parts = {PART(F8_E4M3, 64, 64), PART(F32, 2, 4)},
     {.scheme = WB__SCHEME_FP8_BLOCK, .rows = 32, .group = 16},
     .scheme = WB__SCHEME_FP8_BLOCK,
     .bits = 8,
     .group = 16,
     .rows = 32},
    {"fp8, said otherwise",
     .parts = {PART(F8_E4M3, 64, 64), PART(F32, 1, 1)},
     {.scheme = WB__SCHEME_FP8_BLOCK, .rows = 32, .group = 16},
     .scheme = WB__SCHEME_FP8_BLOCK,
     .bits = 8,
     .group = 128,
     .rows = 128,
     .doubtful = true},
    {"fp8, half said",
     .parts = {PART(F8_E4M3, 64, 64), PART(F32, 1, 1)},
     {.scheme = WB__SCHEME_FP8_BLOCK, .rows = 32},
     .scheme = WB__SCHEME_FP8_BLOCK,
     .bits = 8,
     .group = 128,
     .rows = 128},
    {"fp8, said of neither",
     .parts = {PART(F8_E4M3, 64, 64), PART(F32, 3, 3)},
     {.scheme = WB__SCHEME_FP8_BLOCK, .rows = 32, .group = 16}},
    {"fp8 of one dimension", .parts = {PART(F8_E4M3, 64), PART(F32, 1)}},
    {"fp8 of another rank", .parts = {PART(F8_E4M3, 64, 64), PART(F32, 1)}},
    {"fp8 with scales of integers", .parts = {PART(F8_E4M3, 64, 64), PART(U8, 1, 1)}},
    {"fp8 of too many bytes in all",
     .parts = {PART(F8_E4M3, LARGE / 2, 4), PART(F32, LARGE / 256, 1)}},
    {"fp8 of too many bytes", .parts = {PART(F8_E4M3, LARGE, 128), PART(F32, LARGE / 128, 1)}},
};

static const row across[] = {
    {"awq", .parts = {PART(I32, 64, 2), PART(F16, 2, 16), PART(I32, 2, 2)},
     .scheme = WB__SCHEME_AWQ, .bits = 4, .group = 32},
    {"awq is said to be gptq",
     .parts = {PART(I32, 64, 2), PART(F16, 2, 16), PART(I32, 2, 2)},
     {.scheme = WB__SCHEME_GPTQ, .bits = 4}},
    {"gptq", .parts = {PART(I32, 8, 16), PART(F16, 2, 16), PART(I32, 2, 2), NONE, PART(I32, 64)},
     .scheme = WB__SCHEME_GPTQ, .bits = 4, .group = 32},
    {"gptq of 8 bits",
     .parts = {PART(I32, 16, 16), PART(F16, 2, 16), PART(U32, 2, 4)},
     {.scheme = WB__SCHEME_GPTQ, .bits = 8},
     .scheme = WB__SCHEME_GPTQ,
     .bits = 8,
     .group = 32},
    {"gptq of 2 bits",
     .parts = {PART(I32, 4, 16), PART(F16, 2, 16), PART(U32, 2, 1)},
     {.scheme = WB__SCHEME_GPTQ, .bits = 2},
     .scheme = WB__SCHEME_GPTQ,
     .bits = 2,
     .group = 32},
    {"gptq of 3 bits",
     .parts = {PART(I32, 8, 16), PART(F16, 2, 16), PART(I32, 2, 2)},
     {.scheme = WB__SCHEME_GPTQ, .bits = 3}},
    {"values of three dimensions",
     .parts = {PART(I32, 1, 8, 16), PART(F16, 2, 16), PART(I32, 2, 2)}},
    {"values that are no words", .parts = {PART(I16, 8, 16), PART(F16, 2, 16), PART(I32, 2, 2)}},
    {"scales of one dimension", .parts = {PART(I32, 8, 16), PART(F16, 16), PART(I32, 2, 2)}},
    {"no groups", .parts = {PART(I32, 8, 16), PART(F16, 0, 16), PART(I32, 0, 2)}},
    {"scales of integers", .parts = {PART(I32, 8, 16), PART(I16, 2, 16), PART(I32, 2, 2)}},
    {"no zeros", .parts = {PART(I32, 8, 16), PART(F16, 2, 16), NONE}},
    {"zeros of one dimension", .parts = {PART(I32, 8, 16), PART(F16, 2, 16), PART(I32, 2)}},
    {"zeros that are no words", .parts = {PART(I32, 8, 16), PART(F16, 2, 16), PART(I16, 2, 2)}},
    {"zeros of other groups", .parts = {PART(I32, 8, 16), PART(F16, 2, 16), PART(I32, 3, 2)}},
    {"zeros of other outputs", .parts = {PART(I32, 8, 16), PART(F16, 2, 16), PART(I32, 2, 3)}},
    {"values of other outputs", .parts = {PART(I32, 8, 17), PART(F16, 2, 16), PART(I32, 2, 2)}},
    {"an order of two dimensions",
     .parts = {PART(I32, 8, 16), PART(F16, 2, 16), PART(I32, 2, 2), NONE, PART(I32, 64, 1)}},
    {"an order of floats",
     .parts = {PART(I32, 8, 16), PART(F16, 2, 16), PART(I32, 2, 2), NONE, PART(F32, 64)}},
    {"an order of other inputs",
     .parts = {PART(I32, 8, 16), PART(F16, 2, 16), PART(I32, 2, 2), NONE, PART(I32, 63)}},
    {"groups that do not fill the inputs",
     .parts = {PART(I32, 8, 16), PART(F16, 3, 16), PART(I32, 3, 2)}},
    {"too large a group",
     .parts = {PART(I32, UINT64_C(1) << 40, 16), PART(F16, 1, 16), PART(I32, 1, 2)}},
    {"too many outputs", .parts = {PART(I32, 8, LARGE), PART(F16, 2, 16), PART(I32, 2, 2)}},
    {"too many zeros", .parts = {PART(I32, 8, 2), PART(F16, 2, 16), PART(I32, 2, LARGE)}},
    {"too many inputs", .parts = {PART(I32, LARGE, 16), PART(F16, 2, 16), PART(I32, 2, 2)}},
};

static void check_rows(const row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        solve(&rows[i]);
}

static void packed_words(void **state)
{
    (void)state;
    check_rows(words, sizeof words / sizeof words[0]);
}

static void packed_bytes(void **state)
{
    (void)state;
    check_rows(bytes, sizeof bytes / sizeof bytes[0]);
}

static void packed_across(void **state)
{
    (void)state;
    check_rows(across, sizeof across / sizeof across[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packed_words),
        cmocka_unit_test(packed_bytes),
        cmocka_unit_test(packed_across),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
