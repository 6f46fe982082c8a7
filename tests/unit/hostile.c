/*
 * Tests safetensors headers that are made to exhaust memory. Allocated memory must never exceed 8
 * times the bytes present, plus 1 MiB. "Bytes present" is the real size of the file, whatever the
 * header declares. The option --trace prints the memory use of each case.
 */
#include "support.h"

typedef struct text {
    char *at;
    size_t len, capacity;
} text;

static void add(text *t, const char *bytes, size_t n)
{
    if (t->capacity - t->len < n) {
        t->capacity = (t->capacity + n) * 2;
        t->at = realloc(t->at, t->capacity);
        assert_non_null(t->at);
    }
    memcpy(t->at + t->len, bytes, n);
    t->len += n;
}

static void add_text(text *t, const char *bytes)
{
    add(t, bytes, strlen(bytes));
}

/* Appends number i as a short name without characters that need an escape. */
static void add_number(text *t, uint64_t i)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ "
                                 "!#$%&'()*+,-./:;<=>?@[]^_`{|}~";
    do {
        add(t, &digits[i % (sizeof digits - 1)], 1);
        i /= sizeof digits - 1;
    } while (i > 0);
}

/* Appends member i of a header. */
typedef void member(text *t, uint64_t i);

static void one_tensor(text *t, uint64_t i)
{
    add_text(t, "\"");
    add_number(t, i);
    add_text(t, "\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}");
}

static void one_kind(text *t, uint64_t i)
{
    char number[24];
    add_text(t, "\"");
    add_number(t, i);
    add_text(t, "\":{\"dtype\":\"U8\",\"shape\":[0,");
    (void)snprintf(number, sizeof number, "%llu", (unsigned long long)i);
    add_text(t, number);
    add_text(t, "],\"data_offsets\":[0,0]}");
}

static void one_array(text *t, uint64_t i)
{
    add_text(t, "\"");
    add_number(t, i);
    add_text(t, "\":[\"U8\",[0],[0,0]]");
}

static void one_array_kind(text *t, uint64_t i)
{
    char number[24];
    add_text(t, "\"");
    add_number(t, i);
    add_text(t, "\":[\"U8\",[0,");
    (void)snprintf(number, sizeof number, "%llu", (unsigned long long)i);
    add_text(t, number);
    add_text(t, "],[0,0]]");
}

static void same_array(text *t, uint64_t i)
{
    (void)i;
    add_text(t, "\"\":[\"U8\",[0],[0,0]]");
}

static void one_overlap(text *t, uint64_t i)
{
    add_text(t, "\"");
    add_number(t, i);
    add_text(t, i % 2 ? "\":[\"U8\",[1],[7,8]]" : "\":[\"U8\",[1],[0,1]]");
}

static void one_field(text *t, uint64_t i)
{
    add_text(t, "\"");
    add_number(t, i);
    add_text(t, "\":0");
}

static void one_string(text *t, uint64_t i)
{
    add_text(t, "\"");
    add_number(t, i);
    add_text(t, "\":\"\"");
}

static void same_string(text *t, uint64_t i)
{
    (void)i;
    add_text(t, "\"\":\"\"");
}

static void one_zero(text *t, uint64_t i)
{
    (void)i;
    add_text(t, "0");
}

static void one_nest(text *t, uint64_t i)
{
    add_text(t, "\"");
    add_number(t, i);
    add_text(t, "\":");
    for (int k = 0; k < 120; k++)
        add_text(t, "[");
    for (int k = 0; k < 120; k++)
        add_text(t, "]");
}

static void one_long_name(text *t, uint64_t i)
{
    (void)i;
    add_text(t, "\"");
    for (int k = 0; k < 20000; k++)
        add_text(t, "x");
    add_number(t, i);
    add_text(t, "\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}");
}

static void one_wide(text *t, uint64_t i)
{
    add_text(t, "\"");
    add_number(t, i);
    add_text(t, "\":[\"U8\",[0");
    for (int k = 0; k < 9; k++)
        add_text(t, ",0");
    add_text(t, i % 2 ? ",1],[0,0]]" : "],[0,0]]");
}

static void one_letter(text *t, uint64_t i)
{
    (void)i;
    add_text(t, "xxxxxxxx");
}

static void one_escape(text *t, uint64_t i)
{
    (void)i;
    add_text(t, "\\n");
}

static const struct family {
    const char *name, *before, *after;
    member *each;
    const char *between;
} families[] = {
    {"tensors", "{", "}", one_tensor, ","},
    {"kinds", "{", "}", one_kind, ","},
    {"entries as arrays", "{", "}", one_array, ","},
    {"kinds in arrays", "{", "}", one_array_kind, ","},
    {"one name", "{", "}", same_array, ","},
    {"overlaps", "{", "}", one_overlap, ","},
    {"ranks in arrays", "{", "}", one_wide, ","},
    {"unknown fields", "{\"t\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0],", "}}",
     one_field, ","},
    {"metadata", "{\"__metadata__\":{", "}}", one_string, ","},
    {"one metadata key", "{\"__metadata__\":{", "}}", same_string, ","},
    {"rank", "{\"t\":{\"dtype\":\"U8\",\"shape\":[", "],\"data_offsets\":[0,0]}}", one_zero, ","},
    {"nesting", "{\"t\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0],", "}}", one_nest,
     ","},
    {"too deep", "{\"t\":{\"x\":", "", one_letter, "["},
    {"long names", "{", "}", one_long_name, ","},
    {"a name", "{\"", "\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}", one_letter,
     ""},
    {"an escaped name", "{\"", "\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}",
     one_escape, ""},
    {"a metadata key", "{\"__metadata__\":{\"", "\":\"\"}}", one_letter, ""},
    {"a metadata value", "{\"__metadata__\":{\"k\":\"", "\"}}", one_letter, ""},
    {"an escaped value", "{\"__metadata__\":{\"k\":\"", "\"}}", one_escape, ""},
    {"an array before fields",
     "{\"a\":[\"U8\",[0],[0,0]],\"t\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0],",
     "}}", one_field, ","},
    {"never closed", "{\"__metadata__\":{\"k\":\"", "", one_letter, ""},
    {"spaces", "{", "}", one_letter, NULL},
};

static text header_of(const struct family *f, size_t bytes)
{
    text t = {NULL, 0, 0};
    add_text(&t, f->before);
    if (f->between == NULL) {
        while (t.len < bytes)
            add_text(&t, " ");
    } else {
        for (uint64_t i = 0; t.len < bytes; i++) {
            if (i > 0)
                add_text(&t, f->between);
            f->each(&t, i);
        }
    }
    add_text(&t, f->after);
    return t;
}

/* ---- opening it ---- */

typedef struct memory_file {
    const unsigned char *bytes;
    size_t n;
} memory_file;

static wb_status read_memory(void *ctx, uint64_t offset, void *dst, size_t n, size_t *got)
{
    const memory_file *file = ctx;
    *got = file->n - (size_t)offset < n ? file->n - (size_t)offset : n;
    memcpy(dst, file->bytes + offset, *got);
    return WB_OK;
}

static bool trace;

static void check_peak(const char *name, const char *how, const counter *memory, size_t present)
{
    size_t limit = 8 * present + ((size_t)1 << 20);
    if (trace)
        fprintf(stderr, "%-24s %-22s %9zu bytes: peak %6.2f times, limit %6.2f\n", name, how,
                present, (double)memory->peak / (double)present, (double)limit / (double)present);
    else if (memory->peak > limit)
        fail_msg("%s, %s: %zu bytes took %zu\n", name, how, present, memory->peak);
}

static void open_header(const char *name, const unsigned char *bytes, size_t n, uint32_t flags)
{
    memory_file file = {bytes, n};
    wb_source source = {.size = sizeof source, .ctx = &file, .bytes = n, .read = read_memory};
    for (int windowed = 0; windowed < 2; windowed++) {
        counter memory = {0};
        wb_allocator allocator = counter_allocator(&memory);
        wb_open_options options = {.size = sizeof options, .flags = flags, .allocator = &allocator};
        wb_model *model;
        wb_status status = windowed
                               ? wb_open_source(&source, "x.safetensors", &options, &model, NULL)
                               : wb_open_memory(bytes, n, "x.safetensors", &options, &model, NULL);
        (void)status; /* the bound must hold for accepted and refused files */
        check_peak(name, flags ? "compatible" : "strict", &memory, n);
        wb_close(model);
        assert_clean(&memory);
    }
}

static void headers(void **state)
{
    (void)state;
    size_t largest = is_slow() ? (size_t)100 << 10 : (size_t)1 << 20;
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        for (size_t bytes = 1000; bytes <= largest; bytes = bytes * 5 / 2) {
            size_t n;
            text header = header_of(&families[i], bytes);
            unsigned char *file = st_bytes(header.at, header.len, 0, &n);
            open_header(families[i].name, file, n, 0);
            open_header(families[i].name, file, n, WB_OPEN_COMPATIBLE);
            free(file);
            free(header.at);
        }
    }
}

/* Bytes that are declared, but missing, must not cost memory. */
static void announced(void **state)
{
    (void)state;
    for (uint64_t length = 2; length < UINT64_MAX / 3; length *= 3) {
        unsigned char bytes[64] = "????????{\"a\":{\"dtype\":\"F32\",\"shape\":[0]";
        put_length(bytes, length);
        open_header("announced", bytes, sizeof bytes, 0);
    }
}

/* ---- folders ---- */

static void shards(void **state)
{
    (void)state;
    size_t bytes = is_slow() ? (size_t)50 << 10 : (size_t)1 << 20;
    /* Tests a large file before three small ones, a large file after three small ones, and four
     * equal files. */
    for (int order = 0; order < 3; order++) {
        char *folder = scratch_make();
        size_t present = 0;
        for (int i = 0; i < 4; i++) {
            size_t size = order == 2 ? bytes / 4 : i == 3 * order ? bytes : 300;
            text header = {NULL, 0, 0};
            add_text(&header, "{");
            for (uint64_t k = 0; header.len < size; k++) {
                if (k > 0)
                    add_text(&header, ",");
                add_text(&header, "\"");
                add_number(&header, (uint64_t)i * 1000000 + k);
                add_text(&header, "\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}");
            }
            add_text(&header, "}");
            add(&header, "", 1);
            char *path = text_of("%s/model-%05d-of-00004.safetensors", folder, i + 1);
            st_write(path, header.at, 0);
            present += header.len + 7;
            free(path);
            free(header.at);
        }
        counter memory = {0};
        wb_allocator allocator = counter_allocator(&memory);
        wb_open_options options = {.size = sizeof options, .allocator = &allocator};
        wb_model *model;
        assert_int_equal(wb_open(folder, &options, &model, NULL), WB_OK);
        check_peak("shards",
                   order == 0   ? "large first"
                   : order == 1 ? "large last"
                                : "equal",
                   &memory, present);
        wb_close(model);
        assert_clean(&memory);
        scratch_remove(folder);
    }
}

/* Tests an index that names as many files as possible. The files do not exist. */
static void many_files(void **state)
{
    (void)state;
    char *folder = scratch_make();
    char *deep = text_of("%s/%0200d", folder, 0);
    char *path = text_of("%s/model.safetensors.index.json", deep);
    assert_int_equal(mkdir(deep, 0700), 0);
    text index = {NULL, 0, 0};
    add_text(&index, "{\"weight_map\":{");
    for (uint64_t i = 0; i < (is_slow() ? 2000 : 60000); i++) {
        char pair[40];
        (void)snprintf(pair, sizeof pair, "%s\"%llx\":\"%llx\"", i == 0 ? "" : ",",
                       (unsigned long long)i, (unsigned long long)i);
        add_text(&index, pair);
    }
    add_text(&index, "}}");
    write_file(path, index.at, index.len);
    counter memory = {0};
    wb_allocator allocator = counter_allocator(&memory);
    wb_open_options options = {.size = sizeof options, .allocator = &allocator};
    wb_model *model;
    wb_error error;
    assert_int_equal(wb_open(deep, &options, &model, &error), WB_ERROR_FORMAT);
    assert_string_equal(error.code, "shard-missing");
    check_peak("index", "files", &memory, index.len);
    assert_clean(&memory);
    free(index.at);
    free(path);
    free(deep);
    scratch_remove(folder);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(headers), cmocka_unit_test(announced),
                                       cmocka_unit_test(shards), cmocka_unit_test(many_files)};
    trace = argc > 1 && strcmp(argv[1], "--trace") == 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
