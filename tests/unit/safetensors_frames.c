/*
 * Tests that the fast readers of safetensors headers parse every member in the notations of common
 * writers, and that files whose data is in another order than their entries are checked correctly.
 */
#include "support.h"

#include "formats/safetensors/safetensors_reader.h"
#include "model/file_order.h"
#include "model/tiling.h"

/* ---- notations ---- */

/* The text of a member without its name and its two data offsets: `before`, from the name to the
 * first offset; `between` the offsets; `after` the second offset. `separator` separates members. */
static const struct notation {
    const char *what, *before, *between, *after, *separator;
} notations[] = {
    {"the official library", "\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[", ",", "]}",
     ","},
    {"MLX", "\":{\"data_offsets\":[", ",", "],\"dtype\":\"F32\",\"shape\":[2,3]}", ","},
    {"shape first", "\":{\"shape\":[2,3],\"data_offsets\":[", ",", "],\"dtype\":\"F32\"}", ","},
    {"a scalar", "\":{\"shape\":[],\"dtype\":\"F64\",\"data_offsets\":[", ",", "]}", ","},
    {"json.dumps", "\": {\"dtype\": \"F32\", \"shape\": [2, 3], \"data_offsets\": [", ", ", "]}",
     ", "},
    {"json.dumps with indent=2",
     "\": {\n    \"dtype\": \"F32\",\n    \"shape\": [\n      2,\n      3\n    ],\n"
     "    \"data_offsets\": [\n      ",
     ",\n      ", "\n    ]\n  }", ",\n  "},
    {"tabs and carriage returns",
     "\" :\t{\r\n\t\"dtype\" : \"F32\" ,\t\"shape\" :\t[ 2 ,\t3 ] ,\r\n\t\"data_offsets\" : [ ",
     "\t,\t", " ]\r\n}", ",\r\n\t"},
};

#define MEMBERS 200

typedef struct header {
    uint8_t *bytes;
    size_t size;
    uint64_t data;
} header;

static header make_header(const struct notation *n)
{
    header h = {.bytes = malloc(MEMBERS * 400), .size = WB__ST_LENGTH_BYTES};
    assert_non_null(h.bytes);
    uint64_t bytes = strstr(n->before, "F64") != NULL ? 8 : 24;
    char *text = (char *)h.bytes;
    text[h.size++] = '{';
    for (unsigned i = 0; i < MEMBERS; i++) {
        h.size += (size_t)sprintf(text + h.size, "%s\"layers.%u.weight%s%llu%s%llu%s",
                                  i == 0 ? "" : n->separator, i * 7919, n->before,
                                  (unsigned long long)h.data, n->between,
                                  (unsigned long long)(h.data + bytes), n->after);
        h.data += bytes;
    }
    text[h.size++] = '}';
    wb__store_le64(h.bytes, h.size - WB__ST_LENGTH_BYTES);
    return h;
}

static wb__st_fast *fast;
static size_t parsed; /* number of members that `fast` parsed */

static const uint8_t *count_members(wb__st_reader *reader, const uint8_t *p, const uint8_t *end,
                                    uint32_t where)
{
    size_t before = reader->table->count;
    const uint8_t *to = fast(reader, p, end, where);
    parsed += reader->table->count - before;
    return to;
}

typedef struct reading {
    wb_error error;
    wb__context context;
    wb__catalog model;
} reading;

static wb_status read_header(reading *r, const header *h, uint32_t features)
{
    r->context = (wb__context){
        .allocator = wb__default_allocator, .file = "", .error = &r->error, .findings = NULL};
    wb_limits_default(&r->context.limits);
    wb__catalog_init(&r->model, &wb__default_allocator, features);
    wb__cursor cursor = wb__cursor_over(h->bytes, h->size);
    cursor.limit = h->size + h->data;
    wb_status status =
        wb__catalog_begin_file(&r->model, &r->context, "x", "safetensors", cursor.limit);
    return status != WB_OK ? status
                           : wb__st_read(&r->context, &cursor, &r->model, count_members,
                                         &wb__st_usual_division);
}

static void is_fast(wb__st_fast *reader, uint32_t features)
{
    if ((wb__cpu_features() & features) != features)
        return;
    fast = reader;
    for (size_t i = 0; i < sizeof notations / sizeof notations[0]; i++) {
        header h = make_header(&notations[i]);
        reading r;
        parsed = 0;
        if (read_header(&r, &h, features) != WB_OK)
            fail_msg("%s: %s\n", notations[i].what, r.error.message);
        if (parsed != MEMBERS)
            fail_msg("%s: the fast reader parsed only %zu members\n", notations[i].what, parsed);
        assert_int_equal(r.model.table.count, MEMBERS);
        for (size_t t = 0; t < MEMBERS; t++)
            assert_int_equal(wb__record_at(&r.model.table, t)->begin,
                             t * wb__table_kind_of(&r.model.table, t)->bytes);
        wb__catalog_free(&r.model);
        free(h.bytes);
    }
}

static void all_notations(void **state)
{
    (void)state;
    is_fast(wb__st_fast_portable, 0);
#if WB__X86
    is_fast(wb__st_fast_avx2, WB__CPU_AVX2 | WB__CPU_AES);
    is_fast(wb__st_fast_avx512, WB__CPU_AVX512 | WB__CPU_VAES | WB__CPU_AES);
#endif
}

/* ---- order of the data ---- */

static uint64_t seed = 1;

static unsigned below(unsigned n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(seed >> 33) % n;
}

/* Sorts the tensors by offset and returns true if they are contiguous. The caller compares the
 * result with that of the fast check, wb__tiling_check. */
static bool is_tiled(const wb__catalog *model, wb__context *context, uint64_t *end)
{
    wb__order order;
    const wb__catalog_file *file = &model->files[0];
    assert_int_equal(wb__order_make(&order, context, &model->table, file), WB_OK);
    *end = 0;
    bool tiled = true;
    for (size_t i = 0; i < order.count; i++) {
        size_t tensor = wb__order_at(&order, i);
        tiled = tiled && wb__tensor_begin(&model->table, tensor) == *end &&
                wb__table_kind_of(&model->table, tensor)->fault == WB__KIND_SOUND;
        *end = wb__tensor_end(&model->table, tensor);
    }
    wb__order_free(&order);
    return tiled;
}

/* Adds tensors that cover the data in a random order. Damages one of them in two of three cases. */
static void add_tensors(wb__catalog *model, unsigned n, uint64_t unit, bool has_empty)
{
    uint64_t begin[40], size[40], at = 0;
    for (unsigned i = 0; i < n; i++) {
        size[i] = (has_empty ? below(4) : 1 + below(3)) * unit;
        begin[i] = at;
        at += size[i];
    }
    for (unsigned i = n; i > 1; i--) {
        unsigned other = below(i);
        uint64_t b = begin[i - 1], s = size[i - 1];
        begin[i - 1] = begin[other];
        size[i - 1] = size[other];
        begin[other] = b;
        size[other] = s;
    }
    if (n > 0 && below(3) == 0)
        begin[below(n)] += unit;
    if (n > 0 && below(3) == 0)
        size[below(n)] += unit;
    for (unsigned i = 0; i < n; i++) {
        char name[16];
        uint32_t number;
        wb__kind kind = {.shape = &size[i], .rank = 1, .dtype = wb__dtype_get(WB_DTYPE_U8)};
        wb__kind_measure(&kind);
        if (below(40) == 0)
            kind.fault = WB__KIND_SIZE;
        assert_true(wb__table_kind(&model->table, &kind, &number));
        int len = snprintf(name, sizeof name, "t%u", i);
        wb__table_add(&model->table, (wb__str){name, (size_t)len}, number, begin[i], 0);
    }
}

static void all_orders(void **state)
{
    (void)state;
    size_t tiled = 0, refused = 0;
    for (int round = 0; round < 20000; round++) {
        wb_error error;
        wb__context context = {
            .allocator = wb__default_allocator, .file = "", .error = &error, .findings = NULL};
        wb__catalog model;
        wb_limits_default(&context.limits);
        wb__catalog_init(&model, &wb__default_allocator, 0);
        assert_int_equal(wb__catalog_begin_file(&model, &context, "x", "test", 0), WB_OK);
        assert_int_equal(wb__table_reserve(&model.table, &context, 40 * 16, 40), WB_OK);
        bool has_empty = below(4) == 0;
        add_tensors(&model, below(12), UINT64_C(1) << below(50), has_empty);
        assert_int_equal(wb__catalog_end_file(&model, &context, NULL, NULL), WB_OK);
        uint64_t end, fast_end = UINT64_MAX;
        bool expected = is_tiled(&model, &context, &end);
        bool found =
            wb__tiling_check(&model.table, &model.files[0], &wb__default_allocator, &fast_end);
        assert_true(found ? expected && fast_end == end : !expected || has_empty);
        tiled += found;
        refused += !found;
        wb__catalog_free(&model);
    }
    assert_true(tiled > 5000 && refused > 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_notations),
        cmocka_unit_test(all_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
