/*
 * Tests writing of headers. Values that the format cannot represent must be refused, and the error
 * must name the tensor or key. Also tests layouts, and each allocation failing once.
 */
#include "support.h"

#include "formats/format.h"

#define METAS 4
#define TENSORS 4

typedef struct out {
    counter memory;
    wb_allocator allocator;
    wb_error error;
    wb__context context;
    wb__arena arena;
    wb__out_meta metas[METAS];
    wb__out_tensor tensors[TENSORS];
    const wb__out_meta *meta_list[METAS];
    wb__out_tensor *tensor_list[TENSORS];
    wb__out_file file;
} out;

static const uint64_t two[] = {2, 1};

static void begin(out *o)
{
    memset(o, 0, sizeof *o);
    o->allocator = counter_allocator(&o->memory);
    o->context = (wb__context){.allocator = o->allocator, .file = "", .error = &o->error};
    wb_limits_default(&o->context.limits);
    o->arena.allocator = &o->allocator;
    o->file = (wb__out_file){.metas = o->meta_list,
                             .tensors = o->tensor_list,
                             .alignment = 32,
                             .arena = &o->arena,
                             .header.allocator = &o->allocator};
}

static void end(out *o)
{
    wb__buffer_free(&o->file.header);
    wb__arena_free(&o->arena);
    assert_clean(&o->memory);
}

static wb__out_tensor *add_tensor(out *o, const char *name, int32_t dtype, uint64_t bytes)
{
    wb__out_tensor *t = &o->tensors[o->file.tensor_count];
    *t = (wb__out_tensor){.name = wb__str_from(name, SIZE_MAX),
                          .dtype = wb__dtype_get(dtype),
                          .rank = 1,
                          .shape = two,
                          .bytes = bytes};
    o->tensor_list[o->file.tensor_count++] = t;
    return t;
}

static wb__out_meta *add_meta(out *o, const char *key, uint32_t tag, const void *value,
                              size_t bytes)
{
    wb__out_meta *m = &o->metas[o->file.meta_count];
    *m = (wb__out_meta){wb__str_from(key, SIZE_MAX), tag, value, bytes};
    o->meta_list[o->file.meta_count++] = m;
    return m;
}

static const char text_value[] = "\2\0\0\0\0\0\0\0ab";
#define TEXT WB__TAG_STRING, text_value, 10

static void refused(out *o, const wb__format *format, wb_status status, const char *code,
                    const char *name)
{
    assert_int_equal(format->write(&o->context, &o->file), status);
    assert_string_equal(o->error.code, code);
    if (strncmp(o->error.name, name, strlen(name)) != 0)
        fail_msg("%s: %s, not %s\n", code, o->error.name, name);
    end(o);
}

#define GGUF (&wb__format_gguf)
#define ST (&wb__format_safetensors)

static void refused_by_gguf(void **state)
{
    (void)state;
    out o;
    char *longest = malloc(70000);
    assert_non_null(longest);
    memset(longest, 'k', 69999);
    longest[69999] = '\0';
    begin(&o);
    add_meta(&o, longest, TEXT);
    refused(&o, GGUF, WB_ERROR_UNSUPPORTED, "write-metadata", "kkk");
    begin(&o);
    add_meta(&o, "", TEXT);
    refused(&o, GGUF, WB_ERROR_UNSUPPORTED, "write-metadata", "");
    begin(&o);
    add_meta(&o, "x", TEXT)->key = WB__STR("a\0b");
    refused(&o, GGUF, WB_ERROR_UNSUPPORTED, "write-metadata", "a\\x00b");
    begin(&o);
    longest[64] = '\0';
    add_tensor(&o, longest, WB_DTYPE_F32, 8);
    refused(&o, GGUF, WB_ERROR_UNSUPPORTED, "write-tensor-name", "kkk");
    begin(&o);
    add_tensor(&o, "x", WB_DTYPE_F32, 8)->name = WB__STR("a\0b");
    refused(&o, GGUF, WB_ERROR_UNSUPPORTED, "write-tensor-name", "a\\x00b");
    begin(&o);
    add_tensor(&o, "t", WB_DTYPE_F32, 8)->rank = 5;
    refused(&o, GGUF, WB_ERROR_UNSUPPORTED, "gguf-rank", "t");
    begin(&o);
    add_tensor(&o, "t", WB_DTYPE_U8, 8);
    refused(&o, GGUF, WB_ERROR_UNSUPPORTED, "write-dtype", "t");
    static const uint64_t large[][2] = {{UINT64_MAX, 8}, {UINT64_MAX - 8, 0}, {UINT64_MAX - 31, 0}};
    for (size_t i = 0; i < 3; i++) {
        begin(&o);
        add_tensor(&o, "t", WB_DTYPE_F32, large[i][0]);
        if (large[i][1] != 0)
            add_tensor(&o, "u", WB_DTYPE_F32, large[i][1]);
        refused(&o, GGUF, WB_ERROR_LIMIT, "gguf-overflow", i < 2 ? "t" : "");
    }
    static const uint64_t alignments[] = {0, 4, UINT64_C(1) << 40};
    for (size_t i = 0; i < 3; i++) {
        begin(&o);
        o.file.alignment = alignments[i];
        refused(&o, GGUF, WB_ERROR_ARGUMENT, "gguf-alignment", "general.alignment");
    }
    begin(&o);
    o.context.limits.gguf_header = 20;
    refused(&o, GGUF, WB_ERROR_LIMIT, "write-header-too-large", "");
    free(longest);
}

static void refused_by_safetensors(void **state)
{
    (void)state;
    out o;
    for (int go = 0; go < 2; go++) {
        begin(&o);
        o.file.go_layout = go;
        add_meta(&o, "n", WB__TAG_U32, "\1\0\0\0xxxx", 8);
        refused(&o, ST, WB_ERROR_UNSUPPORTED, "write-metadata", "n");
        begin(&o);
        o.file.go_layout = go;
        add_tensor(&o, "t", WB_DTYPE_F32, UINT64_MAX);
        add_tensor(&o, "u", WB_DTYPE_F32, 8);
        refused(&o, ST, WB_ERROR_LIMIT, "safetensors-overflow", "u");
        begin(&o);
        o.file.go_layout = go;
        add_tensor(&o, "t", WB_DTYPE_F32, UINT64_MAX - 10);
        refused(&o, ST, WB_ERROR_LIMIT, "safetensors-overflow", "");
    }
    begin(&o);
    add_tensor(&o, "t", WB_DTYPE_Q8_0, 34);
    add_tensor(&o, "u", WB_DTYPE_F32, 8);
    refused(&o, ST, WB_ERROR_UNSUPPORTED, "safetensors-dtype", "t");
    begin(&o);
    o.context.limits.safetensors_header = 10;
    add_tensor(&o, "t", WB_DTYPE_F32, 8);
    refused(&o, ST, WB_ERROR_LIMIT, "write-header-too-large", "");
    begin(&o); /* an alignment that no header length can satisfy */
    o.file.alignment = UINT64_C(1) << 63;
    add_tensor(&o, "t", WB_DTYPE_F32, 8);
    refused(&o, ST, WB_ERROR_LIMIT, "write-header-too-large", "");
    begin(&o); /* without a limit of the caller, the format's maximum applies */
    o.context.limits.safetensors_header = UINT64_MAX;
    add_tensor(&o, "t", WB_DTYPE_F32, 8);
    assert_int_equal(ST->write(&o.context, &o.file), WB_OK);
    end(&o);
}

/* Opens a file that consists of the written header and zeros as tensor data, and checks the offsets
 * of the tensors. */
static void reads_back(out *o, uint64_t tensors, const char *label)
{
    size_t n;
    assert_true(wb__to_size(o->file.bytes, &n));
    unsigned char *bytes = calloc(1, n);
    assert_non_null(bytes);
    memcpy(bytes, o->file.header.bytes, o->file.header.n);
    wb_model *model;
    wb_error error;
    if (wb_open_memory(bytes, n, label, NULL, &model, &error) != WB_OK)
        fail_msg("%s: %s\n", label, error.message);
    assert_int_equal(wb_tensor_count(model), tensors);
    for (size_t i = 0; i < o->file.tensor_count; i++) {
        wb_tensor t = {.size = sizeof t};
        uint64_t index;
        assert_int_equal(
            wb_tensor_find(model, o->tensors[i].name.ptr, o->tensors[i].name.len, &index), WB_OK);
        assert_int_equal(wb_tensor_at(model, index, &t, NULL), WB_OK);
        assert_int_equal(t.offset, o->tensors[i].begin);
    }
    wb_close(model);
    free(bytes);
}

/* In Ollama's layout, all keys of the header are sorted. "__metadata__" may be first, in the middle
 * or last, or the only key. */
static void go_layouts(void **state)
{
    (void)state;
    static const struct {
        const char *names[3];
        const char *begin;
    } rows[] = {{{"b", "", "c"}, "{\"\":{"},
                {{"A", "b", NULL}, "{\"A\":{"},
                {{"b", "c", NULL}, "{\"__metadata__\":{"},
                {{"A", "B", NULL}, "{\"A\":{"},
                {{NULL}, "{\"__metadata__\":{"}};
    for (int with = 0; with < 2; with++) {
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            out o;
            begin(&o);
            o.file.go_layout = true;
            size_t n = 0;
            for (; n < 3 && rows[i].names[n] != NULL; n++)
                add_tensor(&o, rows[i].names[n], WB_DTYPE_F32, 8);
            if (with)
                add_meta(&o, "k", TEXT);
            assert_int_equal(ST->write(&o.context, &o.file), WB_OK);
            if (with)
                assert_memory_equal(o.file.header.bytes + 8, rows[i].begin, strlen(rows[i].begin));
            reads_back(&o, n, "x.safetensors");
            end(&o);
        }
    }
}

static void other_layouts(void **state)
{
    (void)state;
    out o;
    for (int keeps = 0; keeps < 2; keeps++) {
        begin(&o);
        o.file.keeps_order = keeps;
        o.file.align_tensors = true;
        add_tensor(&o, "b", WB_DTYPE_F32, 8);
        add_tensor(&o, "a", WB_DTYPE_F32, 8);
        add_tensor(&o, "", WB_DTYPE_F32, 8);
        assert_int_equal(ST->write(&o.context, &o.file), WB_OK);
        for (int i = 0; i < 3; i++)
            assert_int_equal(o.tensors[i].begin % 32, 0);
        assert_true(keeps == (o.tensors[0].begin < o.tensors[2].begin));
        reads_back(&o, 5, "x.safetensors"); /* 3 tensors and 2 padding tensors between them */
        end(&o);
    }
    begin(&o); /* no tensors and no metadata */
    assert_int_equal(ST->write(&o.context, &o.file), WB_OK);
    end(&o);
    for (int big = 0; big < 2; big++) { /* name lengths with every remainder modulo 32 */
        for (int n = 0; n < 33; n++) {
            char name[40];
            begin(&o);
            (void)snprintf(name, sizeof name, "%0*d", n + 1, 0);
            o.file.big_endian = big;
            add_tensor(&o, name, WB_DTYPE_F32, 8);
            add_tensor(&o, "", WB_DTYPE_F32, 8);
            add_meta(&o, "general.alignment", WB__TAG_U32, "\100\0\0\0", 4);
            assert_int_equal(GGUF->write(&o.context, &o.file), WB_OK);
            assert_int_equal(o.file.header.n % 32, 0);
            reads_back(&o, 2, "x.gguf");
            end(&o);
        }
    }
    begin(&o); /* header offsets have 32 bits, so they limit the length */
    o.context.limits.gguf_header = UINT64_MAX;
    assert_int_equal(GGUF->write(&o.context, &o.file), WB_OK);
    assert_true(o.file.header.ceiling <= UINT32_MAX);
    end(&o);
}

static wb_status write_one(out *o, int way)
{
    begin(o);
    o->file.go_layout = way == 1;
    o->file.align_tensors = way == 2;
    o->file.big_endian = way == 4;
    add_tensor(o, "b", WB_DTYPE_F32, 8);
    add_tensor(o, "a", WB_DTYPE_F32, 8);
    add_meta(o, "k", TEXT);
    return 0;
}

static void allocations(void **state)
{
    (void)state;
    out o;
    for (int way = 0; way < 5; way++) {
        const wb__format *format = way < 3 ? ST : GGUF;
        size_t calls = 1;
        for (size_t k = 0; k <= calls; k++) {
            (void)write_one(&o, way);
            o.memory.fail_at = k;
            wb_status status = format->write(&o.context, &o.file);
            assert_int_equal(status, k == 0 ? WB_OK : WB_ERROR_MEMORY);
            calls = k == 0 ? o.memory.calls : calls;
            end(&o);
        }
        assert_true(calls >= 2);
    }
}

static void names_of_formats(void **state)
{
    (void)state;
    static const char *const names[] = {"safetensors", "gguf", "npy", "npz"};
    for (size_t i = 0; i < 4; i++) {
        const wb__format *format = wb__format_named(wb__str_from(names[i], SIZE_MAX));
        assert_non_null(format);
        assert_string_equal(format->name, names[i]);
    }
    assert_null(wb__format_named(WB__STR("pickle")));
    assert_int_equal(wb__tag_width(WB__TAG_F64), 8);
    assert_int_equal(wb__tag_width(WB__TAG_ARRAY), 0);
    assert_int_equal(wb__tag_width(WB__TAG_COUNT), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_by_gguf), cmocka_unit_test(refused_by_safetensors),
        cmocka_unit_test(go_layouts),      cmocka_unit_test(other_layouts),
        cmocka_unit_test(allocations),     cmocka_unit_test(names_of_formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
