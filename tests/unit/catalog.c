/*
 * Tests the tensor catalog: lookup of all sorts of names with every hash function, repeated names,
 * tensor kinds (dtype and shape), models of many files, and metadata.
 */
#include "support.h"

#include "cpu/cpu.h"
#include "model/catalog.h"

typedef struct fixture {
    counter memory;
    wb_error error;
    wb__context context;
    wb_findings findings;
    wb__catalog model;
    size_t told[8]; /* indices that the `repeated` callback received */
    size_t told_count;
    wb_status answer;
} fixture;

static void begin(fixture *f, uint32_t features)
{
    memset(f, 0, sizeof *f);
    f->context.allocator = counter_allocator(&f->memory);
    f->context.file = "";
    f->context.error = &f->error;
    f->context.findings = &f->findings;
    wb_limits_default(&f->context.limits);
    wb__findings_init(&f->findings, &f->context.allocator);
    wb__catalog_init(&f->model, &f->context.allocator, features);
}

static void end(fixture *f)
{
    wb__catalog_free(&f->model);
    wb__findings_clear(&f->findings);
    assert_clean(&f->memory);
}

static wb_status repeated(void *ctx, size_t first, size_t second)
{
    fixture *f = ctx;
    if (f->told_count < 8) {
        f->told[f->told_count++] = first;
        f->told[f->told_count++] = second;
    }
    return f->answer;
}

static void begin_file(fixture *f, const char *path, size_t tensors, size_t name_bytes)
{
    assert_int_equal(wb__catalog_begin_file(&f->model, &f->context, path, "test", 1000), WB_OK);
    assert_int_equal(wb__table_reserve(&f->model.table, &f->context, name_bytes, tensors), WB_OK);
}

static uint32_t kind_of_rank(fixture *f, uint32_t rank, const uint64_t *shape)
{
    wb__kind kind = {.shape = shape, .rank = rank, .dtype = wb__dtype_get(WB_DTYPE_F32)};
    uint32_t number;
    wb__kind_measure(&kind);
    assert_true(wb__table_kind(&f->model.table, &kind, &number));
    return number;
}

static void add(fixture *f, wb__str name, uint64_t begin)
{
    wb__table_add(&f->model.table, name, kind_of_rank(f, 0, NULL), begin, 0);
}

static wb_status end_file(fixture *f)
{
    return wb__catalog_end_file(&f->model, &f->context, repeated, f);
}

/* Returns name i. Names are short or long; some contain NUL, and many differ in few bytes only. */
static wb__str name_of(size_t i, char out[400])
{
    size_t n = i % 7 == 0 ? i % 300 : 4 + i % 70;
    if (n < 4)
        n = 4;
    memset(out, i % 3 == 0 ? '\0' : 'n', n);
    size_t at = i % (n - 3);
    out[at] = (char)i;
    out[at + 1] = (char)(i >> 8);
    out[at + 2] = (char)(i >> 16);
    out[at + 3] = (char)at; /* makes all names distinct */
    return (wb__str){out, n};
}

static void finds_names(void **state)
{
    (void)state;
    uint32_t all = wb__cpu_features();
    const uint32_t features[] = {0, all & WB__CPU_AES, all};
    for (size_t k = 0; k < 3; k++) {
        fixture f;
        char text[400];
        size_t n = is_slow() ? 300 : 20000;
        begin(&f, features[k]);
        assert_int_equal(wb__table_find(&f.model.table, WB__STR("")), WB__NO_TENSOR);
        begin_file(&f, "a", n + 1, n * 310 + 1);
        for (size_t i = 0; i < n; i++)
            add(&f, name_of(i, text), i);
        add(&f, WB__STR(""), n); /* an empty name is valid */
        assert_int_equal(end_file(&f), WB_OK);
        assert_int_equal(f.told_count, 0);
        for (size_t i = 0; i < n; i++) {
            wb__str name = name_of(i, text);
            assert_int_equal(wb__table_find(&f.model.table, name), i);
            assert_true(wb__str_equal(wb__table_name(&f.model.table, i), name));
            assert_int_equal(wb__catalog_offset_of(&f.model, i), i);
            name.len--;
            assert_true(wb__table_find(&f.model.table, name) != i);
        }
        assert_int_equal(wb__table_find(&f.model.table, WB__STR("")), n);
        assert_int_equal(wb__table_find(&f.model.table, WB__STR("no such")), WB__NO_TENSOR);
        end(&f);
    }
}

/* The hash must depend only on the bytes of the name, and must not read bytes around it. */
static void hashes_names_alone(void **state)
{
    (void)state;
    const uint32_t features[] = {0, wb__cpu_features() & WB__CPU_AES};
    for (size_t k = 0; k < 2; k++) {
        wb__name_hasher hasher;
        wb__name_hasher_draw(&hasher, features[k]);
        for (size_t len = 0; len <= 150; len++) {
            char room[200];
            memset(room, 0x5A, sizeof room);
            char *name = malloc(len + 1);
            assert_non_null(name);
            char *end = name + len + 1,
                 *begin = end - len; /* the name ends at the last byte of the block */
            for (size_t i = 0; i < len; i++)
                begin[i] = room[20 + i] = (char)(3 * i + len);
            uint32_t hash = hasher.hash(&hasher, begin, len);
            assert_int_equal(hasher.hash(&hasher, room + 20, len), hash);
            for (size_t i = 0; i < len; i++) {
                room[20 + i] ^= 1;
                assert_int_not_equal(hasher.hash(&hasher, room + 20, len), hash);
                room[20 + i] ^= 1;
            }
            free(name);
        }
    }
}

static void keeps_the_last_of_a_name(void **state)
{
    (void)state;
    fixture f;
    begin(&f, wb__cpu_features());
    begin_file(&f, "a", 7, 100);
    static const char *const names[] = {"a", "bb", "a", "ccc", "bb", "bb", "d"};
    for (size_t i = 0; i < 7; i++)
        add(&f, wb__str_from(names[i], SIZE_MAX), i);
    assert_int_equal(end_file(&f), WB_OK);
    assert_int_equal(f.told_count, 6);
    static const size_t pairs[] = {0, 2, 1, 4, 4, 5};
    assert_memory_equal(f.told, pairs, sizeof pairs);
    static const struct {
        const char *name;
        uint64_t begin;
    } left[] = {{"a", 2}, {"ccc", 3}, {"bb", 5}, {"d", 6}};
    assert_int_equal(f.model.table.count, 4);
    for (size_t i = 0; i < 4; i++) {
        wb__str name = wb__str_from(left[i].name, SIZE_MAX);
        assert_true(wb__str_equal(wb__table_name(&f.model.table, i), name));
        assert_int_equal(wb__record_at(&f.model.table, i)->begin, left[i].begin);
        assert_int_equal(wb__table_find(&f.model.table, name), i);
    }
    assert_int_equal(wb__catalog_file_in_hand(&f.model)->tensor_count, 4);
    end(&f);

    begin(&f, 0);
    f.answer = WB_ERROR_FORMAT;
    begin_file(&f, "a", 2, 10);
    add(&f, WB__STR("x"), 0);
    add(&f, WB__STR("x"), 1);
    assert_int_equal(end_file(&f), WB_ERROR_FORMAT);
    end(&f);
}

static void joins_files(void **state)
{
    (void)state;
    fixture f;
    char text[400];
    begin(&f, wb__cpu_features());
    size_t total = 0;
    for (size_t file = 0; file < 60; file++) { /* includes files without tensors */
        size_t tensors = file % 4 == 3 ? 0 : file * 3;
        begin_file(&f, "path", tensors, tensors * 310);
        wb__catalog_file_in_hand(&f.model)->data_begin = file * 1000;
        for (size_t i = 0; i < tensors; i++)
            add(&f, name_of(total + i, text), i);
        assert_int_equal(end_file(&f), WB_OK);
        total += tensors;
    }
    for (size_t file = 0, i = 0; file < 60; file++) {
        for (size_t k = 0; k < (file % 4 == 3 ? 0 : file * 3); k++, i++) {
            assert_int_equal(wb__table_find(&f.model.table, name_of(i, text)), i);
            assert_int_equal(wb__catalog_file_of(&f.model, i), file);
            assert_int_equal(wb__catalog_offset_of(&f.model, i), file * 1000 + k);
        }
    }
    begin_file(&f, "last", 1, 310);
    add(&f, name_of(5, text), 0); /* an earlier file contains this name too */
    assert_int_equal(end_file(&f), WB_ERROR_FORMAT);
    assert_string_equal(f.error.code, "tensor-in-two-files");
    assert_int_equal(f.told_count, 0);
    end(&f);
}

static void measures_kinds(void **state)
{
    (void)state;
    static const struct {
        int32_t dtype;
        uint32_t rank;
        uint64_t shape[4];
        wb__kind_fault fault;
        uint64_t elements, bytes;
    } rows[] = {
        {WB_DTYPE_F32, 0, {0}, WB__KIND_SOUND, 1, 4},
        {WB_DTYPE_F64, 3, {2, 3, 4}, WB__KIND_SOUND, 24, 192},
        {WB_DTYPE_F32, 2, {0, UINT64_MAX}, WB__KIND_SOUND, 0, 0},
        {WB_DTYPE_F32, 3, {0, UINT64_MAX, UINT64_MAX}, WB__KIND_SOUND, 0, 0},
        {WB_DTYPE_F32, 3, {UINT64_MAX, 2, 0}, WB__KIND_OVERFLOW, 0, 0},
        {WB_DTYPE_U8, 1, {UINT64_MAX / 8}, WB__KIND_SOUND, UINT64_MAX / 8, UINT64_MAX / 8},
        {WB_DTYPE_U8, 1, {UINT64_MAX / 8 + 1}, WB__KIND_OVERFLOW, 0, 0},
        {WB_DTYPE_F4, 1, {3}, WB__KIND_SUB_BYTE, 0, 0},
        {WB_DTYPE_F4, 2, {2, 3}, WB__KIND_SOUND, 6, 3},
        {WB_DTYPE_F6_E2M3, 1, {4}, WB__KIND_SOUND, 4, 3},
        {WB_DTYPE_F6_E2M3, 1, {2}, WB__KIND_SUB_BYTE, 0, 0},
        {WB_DTYPE_F4, 1, {UINT64_MAX / 4}, WB__KIND_SUB_BYTE, 0, 0},
        {WB_DTYPE_F4, 1, {UINT64_MAX / 4 + 1}, WB__KIND_OVERFLOW, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        wb__kind kind = {
            .shape = rows[i].shape, .rank = rows[i].rank, .dtype = wb__dtype_get(rows[i].dtype)};
        wb__kind_measure(&kind);
        assert_int_equal(kind.fault, rows[i].fault);
        if (kind.fault == WB__KIND_SOUND) {
            assert_true(kind.elements == rows[i].elements);
            assert_true(kind.bytes == rows[i].bytes);
        }
    }
}

static void shares_kinds(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 0);
    uint64_t shape[2] = {2, 3};
    uint32_t scalar = kind_of_rank(&f, 0, NULL);
    uint32_t number = kind_of_rank(&f, 2, shape);
    assert_int_equal(kind_of_rank(&f, 2, shape), number);
    assert_int_equal(kind_of_rank(&f, 0, NULL), scalar);
    shape[0] = 3;
    shape[1] = 2;
    assert_true(kind_of_rank(&f, 2, shape) != number); /* same number of elements, other shape */
    assert_true(kind_of_rank(&f, 1, shape) != number);
    for (uint64_t i = 0; i < 2000; i++) { /* more kinds than are cached */
        shape[0] = i;
        uint32_t kind = kind_of_rank(&f, 2, shape);
        assert_int_equal(((const wb__kind *)wb__list_at(&f.model.table.kinds, kind))->shape[0], i);
    }
    end(&f);
}

static void keeps_metadata(void **state)
{
    (void)state;
    fixture f;
    bool twice;
    begin(&f, wb__cpu_features());
    assert_null(wb__catalog_find_meta(&f.model, WB__STR("k")));
    begin_file(&f, "a", 0, 0);
    for (int i = 0; i < 1000; i++) {
        char key[16];
        int n = snprintf(key, sizeof key, "key%d", i);
        assert_int_equal(wb__catalog_add_string(&f.model, &f.context, (wb__str){key, (size_t)n},
                                                (wb__str){key + 3, (size_t)n - 3}, &twice),
                         WB_OK);
        assert_false(twice);
    }
    assert_int_equal(
        wb__catalog_add_string(&f.model, &f.context, WB__STR("key7"), (wb__str){"x\0y", 3}, &twice),
        WB_OK);
    assert_true(twice); /* the later value replaces the earlier one */
    assert_true(
        wb__str_equal(wb__meta_text(&f.model, wb__catalog_find_meta(&f.model, WB__STR("key7"))),
                      (wb__str){"x\0y", 3}));
    assert_int_equal(f.model.metas.count, 1000);
    assert_int_equal(end_file(&f), WB_OK);
    begin_file(&f, "b", 0, 0);
    assert_int_equal(
        wb__catalog_add_string(&f.model, &f.context, WB__STR("key8"), WB__STR("other"), &twice),
        WB_OK);
    assert_false(twice); /* the value of the first file stays, with a finding */
    assert_int_equal(f.findings.count, 1);
    assert_string_equal(f.findings.list[0].code, "metadata-conflict");
    assert_int_equal(
        wb__catalog_add_string(&f.model, &f.context, WB__STR("key9"), WB__STR("9"), &twice), WB_OK);
    assert_int_equal(f.findings.count, 1); /* an equal value is no conflict */
    assert_true(wb__str_equal(
        wb__meta_text(&f.model, wb__catalog_find_meta(&f.model, WB__STR("key8"))), WB__STR("8")));
    assert_null(wb__catalog_find_meta(&f.model, WB__STR("key1000")));
    end(&f);
}

static void minds_its_limits(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 0);
    f.context.limits.files = 2;
    begin_file(&f, "a", 0, 0);
    assert_int_equal(wb__table_reserve(&f.model.table, &f.context, UINT64_C(1) << 32, 1),
                     WB_ERROR_LIMIT);
    assert_int_equal(wb__table_reserve(&f.model.table, &f.context, 1, UINT64_C(1) << 32),
                     WB_ERROR_LIMIT);
    assert_int_equal(wb__table_reserve(&f.model.table, &f.context, UINT64_MAX, UINT64_MAX),
                     WB_ERROR_LIMIT);
    assert_string_equal(f.error.code, "headers-too-large");
    assert_int_equal(end_file(&f), WB_OK);
    begin_file(&f, "b", 0, 0);
    assert_int_equal(wb__catalog_begin_file(&f.model, &f.context, "c", "test", 0), WB_ERROR_LIMIT);
    assert_string_equal(f.error.code, "too-many-files");
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_names),
                                       cmocka_unit_test(hashes_names_alone),
                                       cmocka_unit_test(keeps_the_last_of_a_name),
                                       cmocka_unit_test(joins_files),
                                       cmocka_unit_test(measures_kinds),
                                       cmocka_unit_test(shares_kinds),
                                       cmocka_unit_test(keeps_metadata),
                                       cmocka_unit_test(minds_its_limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
