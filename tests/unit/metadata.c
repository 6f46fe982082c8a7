/*
 * Tests metadata of several files (equal and conflicting values, repeated keys, size limits) and
 * the capacity of the tensor table.
 */
#include "support.h"

#include "cpu/cpu.h"
#include "gguf_build.h"
#include "model/catalog.h"

/* ---- the same key in two files ---- */

/* Writes metadata entries. If a key begins with '!', the second file has another value or type. */
static void put_scalars(gguf *g, bool second)
{
    gguf_number(g, "a.u32", U32, 5, 4);
    gguf_number(g, "!a.u32", U32, second ? 6 : 5, 4);
    gguf_number(g, "!a.sign", second ? I32 : U32, 5, 4);
    gguf_number(g, "!a.width", second ? U64 : U32, 5, second ? 8 : 4);
    gguf_key(g, "a.text", STR);
    gguf_string(g, "same");
    gguf_key(g, "!a.text", STR);
    gguf_string(g, second ? "other" : "same");
}

static void put_numbers(gguf *g, const char *key, uint32_t type, unsigned width, uint64_t count,
                        uint64_t first)
{
    gguf_key(g, key, ARR);
    gguf_array(g, type, count);
    for (uint64_t i = 0; i < count; i++)
        gguf_uint(g, first + i, width);
}

static void put_texts(gguf *g, const char *key, uint64_t count, const char *last)
{
    gguf_key(g, key, ARR);
    gguf_array(g, STR, count);
    for (uint64_t i = 0; i < count; i++)
        gguf_string(g, i + 1 == count ? last : "text");
}

static void put_arrays(gguf *g, bool second)
{
    put_numbers(g, "b.u32", U32, 4, 3, 1);
    put_numbers(g, "!b.u32", U32, 4, 3, second ? 2 : 1);
    put_numbers(g, "!b.count", U32, 4, second ? 4 : 3, 1);
    put_numbers(g, "!b.sign", second ? I32 : U32, 4, 3, 1);
    put_numbers(g, "!b.width", second ? U16 : U32, second ? 2 : 4, 3, 1);
    put_texts(g, "b.texts", 20, "end");
    put_texts(g, "!b.texts", 20, second ? "END" : "end");
    put_texts(g, "b.no texts", 0, "");
    gguf_key(g, "!b.arrays", ARR); /* nested arrays are never equal, even to themselves */
    gguf_array(g, ARR, 1);
    gguf_array(g, U8, 1);
    gguf_uint(g, 1, 1);
}

static void conflicts(void **state)
{
    (void)state;
    static const uint64_t shape[] = {8, 0};
    char *folder = scratch_make();
    for (unsigned i = 0; i < 2; i++) {
        gguf g;
        char *path = text_of("%s/m-%05u-of-00002.gguf", folder, i + 1);
        char *tensor = text_of("blk.%u.t", i);
        gguf_start(&g, false, 1, 18);
        gguf_number(&g, "split.no", U16, i, 2);
        gguf_number(&g, "split.count", U16, 2, 2);
        gguf_number(&g, "split.tensors.count", I32, 2, 4);
        put_scalars(&g, i == 1);
        put_arrays(&g, i == 1);
        gguf_tensor(&g, tensor, shape, 0, 0);
        gguf_pad(&g, 32);
        for (int k = 0; k < 32; k++)
            gguf_raw(&g, "", 1);
        write_file(path, g.bytes, g.n);
        gguf_free(&g);
        free(path);
        free(tensor);
    }
    wb_model *model;
    wb_error error;
    if (wb_open(folder, NULL, &model, &error) != WB_OK)
        fail_msg("%s\n", error.message);
    const wb_findings *findings = wb_model_findings(model);
    unsigned told = 0, expected = 0;
    for (uint64_t i = 0; i < wb_findings_count(findings); i++) {
        wb_finding f = {.size = sizeof f};
        assert_int_equal(wb_findings_at(findings, i, &f), WB_OK);
        if (strcmp(f.code, "metadata-conflict") != 0)
            continue;
        if (f.name[0] != '!')
            fail_msg("%s: %s\n", f.name, f.message);
        assert_int_not_equal(f.offset, WB_NO_OFFSET);
        told++;
    }
    for (uint64_t i = 0; i < wb_meta_count(model); i++) {
        wb_meta meta = {.size = sizeof meta};
        assert_int_equal(wb_meta_at(model, i, &meta, NULL), WB_OK);
        expected += meta.file != WB_NO_FILE && meta.key[0] == '!';
    }
    assert_int_equal(told, expected);
    assert_int_equal(told, 10);
    wb_close(model);
    scratch_remove(folder);
}

/* ---- capacity ---- */

typedef struct fixture {
    counter memory;
    wb_error error;
    wb__context context;
    wb__catalog model;
} fixture;

static void begin(fixture *f)
{
    memset(f, 0, sizeof *f);
    f->context.allocator = counter_allocator(&f->memory);
    f->context.file = "";
    f->context.error = &f->error;
    wb_limits_default(&f->context.limits);
    wb__catalog_init(&f->model, &f->context.allocator, 0);
    assert_int_equal(wb__catalog_begin_file(&f->model, &f->context, "first", "test", 0), WB_OK);
}

static void end(fixture *f)
{
    wb__catalog_free(&f->model);
    assert_clean(&f->memory);
}

/* A key must count as repeated only if one file contains it twice. The catalog marks a key with the
 * index of its last file modulo 255, so the test uses 600 files. */
static void many_files(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    for (int i = 0; i < 600; i++) {
        bool repeated;
        if (i > 0)
            assert_int_equal(wb__catalog_begin_file(&f.model, &f.context, "next", "test", 0),
                             WB_OK);
        if (i % 255 < 3) { /* file indices that are equal modulo 255, and their neighbours */
            assert_int_equal(
                wb__catalog_add_string(&f.model, &f.context, WB__STR("k"), WB__STR("v"), &repeated),
                WB_OK);
            assert_false(repeated);
        }
        if (i == 255) {
            assert_int_equal(
                wb__catalog_add_string(&f.model, &f.context, WB__STR("k"), WB__STR("v"), &repeated),
                WB_OK);
            assert_true(repeated);
        }
    }
    assert_int_equal(f.model.metas.count, 1);
    end(&f);
}

static void limits_of_metadata(void **state)
{
    (void)state;
    fixture f;
    bool repeated;
    static const char text[8192];
    begin(&f);
#if SIZE_MAX > UINT32_MAX
    const wb__str large = {text, (size_t)UINT32_MAX + 1}, small = WB__STR("small");
    assert_int_equal(wb__catalog_add_string(&f.model, &f.context, large, small, &repeated),
                     WB_ERROR_LIMIT);
    assert_int_equal(wb__catalog_add_string(&f.model, &f.context, small, large, &repeated),
                     WB_ERROR_LIMIT);
    assert_string_equal(f.error.name, "small");
#endif
    f.model.metas.count = UINT32_MAX - 1;
    assert_int_equal(
        wb__catalog_add_string(&f.model, &f.context, WB__STR("k"), WB__STR("v"), &repeated),
        WB_ERROR_LIMIT);
    f.model.metas.count = 0;
    f.memory.fail_at = f.memory.calls + 1;
    wb__str whole = {text, sizeof text};
    assert_int_equal(wb__catalog_add_string(&f.model, &f.context, whole, whole, &repeated),
                     WB_ERROR_MEMORY);
    assert_false(repeated);
    assert_int_equal(f.model.metas.count, 0);
    end(&f);
}

static void limits_of_tensors(void **state)
{
    (void)state;
    static const struct {
        uint64_t names, tensors;
    } rows[] = {
        {UINT64_MAX, 1}, {UINT64_MAX - 10, 1}, {UINT32_MAX, 1}, {10, UINT64_MAX}, {10, UINT32_MAX}};
    fixture f;
    begin(&f);
    assert_int_equal(wb__table_reserve(&f.model.table, &f.context, 10, 1), WB_OK);
    wb__kind kind = {.dtype = wb__dtype_get(WB_DTYPE_U8), .elements = 1, .bytes = 1};
    uint32_t number;
    assert_true(wb__table_kind(&f.model.table, &kind, &number));
    wb__table_add(&f.model.table, WB__STR("t"), number, 0, 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(
            wb__table_reserve(&f.model.table, &f.context, rows[i].names, rows[i].tensors),
            WB_ERROR_LIMIT);
        assert_string_equal(f.error.code, "headers-too-large");
    }
    end(&f);
}

static wb_status never_twice(void *ctx, size_t first, size_t second)
{
    (void)ctx;
    (void)first;
    (void)second;
    return WB_ERROR_FORMAT;
}

/* Tests a table for so many tensors that its records alone use huge pages. */
static void many_tensors(void **state)
{
    (void)state;
    enum { ROOM = 120000, COUNT = 500 };
    fixture f;
    char name[16];
    begin(&f);
    assert_int_equal(wb__table_reserve(&f.model.table, &f.context, ROOM * 9, ROOM), WB_OK);
    wb__kind kind = {.dtype = wb__dtype_get(WB_DTYPE_U8), .elements = 1, .bytes = 1};
    uint32_t number;
    assert_true(wb__table_kind(&f.model.table, &kind, &number));
    for (int i = 0; i < COUNT; i++) {
        int n = snprintf(name, sizeof name, "t%d", i);
        wb__table_add(&f.model.table, (wb__str){name, (size_t)n}, number, 0, 0);
    }
    assert_int_equal(wb__catalog_end_file(&f.model, &f.context, never_twice, NULL), WB_OK);
    for (int i = 0; i < COUNT; i++) {
        int n = snprintf(name, sizeof name, "t%d", i);
        assert_int_equal(wb__table_find(&f.model.table, (wb__str){name, (size_t)n}), i);
    }
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conflicts),          cmocka_unit_test(many_files),
        cmocka_unit_test(limits_of_metadata), cmocka_unit_test(limits_of_tensors),
        cmocka_unit_test(many_tensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
