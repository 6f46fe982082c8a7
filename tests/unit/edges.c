/*
 * Tests edge cases that ordinary files do not reach: findings and memory at their limits, cursors
 * that cannot advance, misplaced numbers and brackets in JSON, GGUF files with the same defect
 * twice, safetensors headers with defects outside the entries, and headers that cannot be read
 * completely.
 */
#include "support.h"

#include "core/core.h"
#include "cpu/cpu.h"
#include "formats/safetensors/safetensors_reader.h"
#include "gguf_build.h"
#include "json/tree.h"

/* ---- core ---- */

static void findings(void **state)
{
    (void)state;
    char longest[3000];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    const wb_finding finding = {.size = sizeof finding,
                                .severity = WB_WARNING,
                                .code = "x",
                                .file = longest,
                                .name = longest,
                                .message = longest,
                                .advice = longest};
    for (size_t k = 1; k <= 5;
         k++) { /* the allocations of the list and of each of the four strings fail in turn */
        counter memory = {.fail_at = k};
        wb_allocator allocator = counter_allocator(&memory);
        wb_findings list;
        wb__findings_init(&list, &allocator);
        assert_false(wb__findings_add(&list, &finding));
        assert_int_equal(list.count, 0);
        wb__findings_clear(&list);
        assert_clean(&memory);
    }
    wb_findings list;
    wb_finding small = finding;
    small.file = small.name = small.message = small.advice = "x";
    wb__findings_init(&list, &wb__default_allocator);
    for (int i = 0; i < 1010; i++)
        assert_true(wb__findings_add(&list, &small));
    assert_int_equal(list.count, 1000);
    small.severity = WB_FATAL; /* a finding of severity WB_FATAL is always stored */
    assert_true(wb__findings_add(&list, &small));
    assert_int_equal(list.count, 1001);
    wb__findings_clear(&list);
}

#if defined(__SANITIZE_ADDRESS__)
#define CHECKED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) ||                         \
    __has_feature(thread_sanitizer)
#define CHECKED 1
#endif
#endif

static void memory_beyond_all(void **state)
{
    (void)state;
#ifndef CHECKED /* the malloc of sanitizers ends the program if such a size is requested */
    assert_null(wb__alloc(&wb__default_allocator, SIZE_MAX / 2 + 2));
    assert_null(wb__alloc(&wb__default_allocator, SIZE_MAX / 4));
#endif
}

static void cursors(void **state)
{
    (void)state;
    static const uint8_t bytes[4] = {1, 2, 3, 4};
    wb__cursor c = {.p = bytes, .end = bytes + 4, .end_at = 4, .limit = 10, .reach = SIZE_MAX};
    assert_false(
        wb__cursor_want(&c, 5)); /* more bytes exist, but the cursor has no fill function */
    assert_true(c.failed && !c.truncated);
    c = wb__cursor_over(bytes, 4);
    assert_int_equal(wb__cursor_le64(&c), 0);
    assert_true(c.truncated && !c.failed);
}

/* ---- JSON ---- */

static void brackets(void **state)
{
    (void)state;
    static const char text[] = "[1,{\"a\":2,\"b\":3},4]";
    wb__cursor cursor = wb__cursor_over(text, sizeof text - 1);
    wb__json json;
    wb__json_start(&json, &cursor, &wb__default_allocator);
    assert_int_equal(wb__json_next(&json), WB__JSON_ARRAY);
    assert_false(wb__json_reach_key(&json));
    assert_int_equal(wb__json_next(&json), WB__JSON_UINT);
    assert_false(wb__json_reach_key(&json)); /* no key follows an element */
    assert_int_equal(wb__json_next(&json), WB__JSON_OBJECT);
    assert_false(wb__json_reach_element(&json));
    assert_int_equal(wb__json_next(&json), WB__JSON_KEY);
    assert_int_equal(wb__json_next(&json), WB__JSON_UINT);
    assert_false(wb__json_reach_element(&json)); /* in an object, so no element follows */
    assert_true(wb__json_reach_key(&json));
    assert_int_equal(wb__json_next(&json), WB__JSON_KEY);
    wb__json_stop(&json);
}

static void trees(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool sound, is_int, is_double;
        int64_t value;
    } rows[] = {{"-1", true, true, true, -1},
                {"-1.5", true, false, true, 0},
                {"-1e2", true, false, true, 0},
                {"-1E2", true, false, true, 0},
                {"-Infinity", true, false, true, 0},
                {"NaN", true, false, true, 0},
                {"7\t", true, true, true, 7},
                {"7\r", true, true, true, 7},
                {"7 \n", true, true, true, 7},
                {"7x", false, false, false, 0},
                {"-NaN", false, false, false, 0},
                {"\"7\"", true, false, false, 0},
                {"-9223372036854775808", true, true, true, INT64_MIN},
                {"-9223372036854775809", true, false, true, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *text = text_of("%s", rows[i].text);
        wb__tree tree;
        int64_t value = 0;
        double real;
        assert_int_equal(wb__tree_parse(&tree, text, strlen(text), &wb__default_allocator),
                         rows[i].sound);
        if (rows[i].sound) {
            if (wb__tree_int(&tree, 0, &value) != rows[i].is_int || value != rows[i].value)
                fail_msg("%s: %lld\n", text, (long long)value);
            assert_int_equal(wb__tree_double(&tree, 0, &real), rows[i].is_double);
        }
        wb__tree_free(&tree);
        free(text);
    }
#if SIZE_MAX > UINT32_MAX
    char text[] = "1"; /* not read */
    wb__tree tree;
    assert_false(wb__tree_parse(&tree, text, UINT32_MAX, &wb__default_allocator));
    assert_int_equal(tree.fault, WB__JSON_FAULT_STRING_LENGTH);
    wb__tree_free(&tree);
#endif
}

/* ---- GGUF ---- */

static size_t count_of(const wb_findings *all, const char *code)
{
    size_t n = 0;
    for (uint64_t i = 0; i < wb_findings_count(all); i++) {
        wb_finding f = {.size = sizeof f};
        assert_int_equal(wb_findings_at(all, i, &f), WB_OK);
        n += strcmp(f.code, code) == 0;
    }
    return n;
}

/* Gaps between tensors, and tensors out of order, must be reported once per file. */
static void odd_twice(void **state)
{
    (void)state;
    static const uint64_t shape[] = {8, 0};
    static const uint64_t gaps[] = {0, 64, 160, 256}, swaps[] = {32, 0, 96, 64};
    for (int way = 0; way < 2; way++) {
        gguf g;
        gguf_start(&g, false, 4, 0);
        for (unsigned i = 0; i < 4; i++) {
            char name[8];
            (void)snprintf(name, sizeof name, "t%u", i);
            gguf_tensor(&g, name, shape, 0, way == 0 ? gaps[i] : swaps[i]);
        }
        gguf_pad(&g, 32);
        for (int i = 0; i < 288; i++)
            gguf_raw(&g, "", 1);
        wb_model *model;
        wb_error error;
        wb_status status =
            wb_open_memory(g.bytes, way == 0 ? g.n : g.n - 160, "x.gguf", NULL, &model, &error);
        if (status != WB_OK)
            fail_msg("%d: %s\n", way, error.message);
        assert_true(wb_findings_count(wb_model_findings(model)) >= 1);
        assert_int_equal(count_of(wb_model_findings(model), way == 0 ? "gguf-gap" : "gguf-order"),
                         1);
        wb_close(model);
        gguf_free(&g);
    }
}

/* The size of nested arrays, computed from their element counts, overflows 64 bits. */
static void arrays_owe_too_much(void **state)
{
    (void)state;
    gguf g;
    gguf_start(&g, false, 0, 1);
    gguf_key(&g, "k", ARR);
    gguf_array(&g, ARR, 2);
    gguf_array(&g, STR, (UINT64_C(1) << 61) - 1);
    for (int i = 0; i < 64; i++)
        gguf_raw(&g, "", 1);
    wb_model *model;
    wb_error error;
    assert_int_equal(wb_open_memory(g.bytes, g.n, "x.gguf", NULL, &model, &error), WB_ERROR_FORMAT);
    assert_string_equal(error.code, "gguf-length");
    gguf_free(&g);
}

/* Tests an array of arrays: each allocation fails once, and an array contains invalid booleans. */
static void arrays_in_arrays(void **state)
{
    (void)state;
    size_t calls = 1;
    for (size_t k = 0; k <= calls + 1; k++) {
        bool bad = k == calls + 1;
        counter memory = {.fail_at = bad ? 0 : k};
        wb_allocator allocator = counter_allocator(&memory);
        wb_open_options options = {.size = sizeof options, .allocator = &allocator};
        gguf g;
        gguf_start(&g, false, 0, 1);
        gguf_key(&g, "k", ARR);
        gguf_array(&g, ARR, 300);
        for (int i = 0; i < 300; i++) {
            gguf_array(&g, i % 2 == 0 ? BOOL : STR, 100);
            for (int j = 0; j < 100; j++)
                gguf_uint(&g, bad && i == 20 ? 2 : 0, i % 2 == 0 ? 1 : 8);
        }
        wb_model *model;
        wb_status status = wb_open_memory(g.bytes, g.n, "x.gguf", &options, &model, NULL);
        assert_int_equal(status, bad ? WB_ERROR_FORMAT : k == 0 ? WB_OK : WB_ERROR_MEMORY);
        wb_close(model);
        calls = k == 0 ? memory.calls : calls;
        assert_clean(&memory);
        gguf_free(&g);
    }
    assert_true(calls > 5);
}

/* No file of a split model declares the quantization version. This must be reported only once. */
static void blocks_in_a_second_part(void **state)
{
    (void)state;
    static const uint64_t shape[] = {32, 0};
    char *folder = scratch_make();
    for (unsigned i = 0; i < 2; i++) {
        gguf g;
        char *path = text_of("%s/m-%05u-of-00002.gguf", folder, i + 1);
        gguf_start(&g, false, 1, 3);
        gguf_number(&g, "split.no", U16, i, 2);
        gguf_number(&g, "split.count", U16, 2, 2);
        gguf_number(&g, "split.tensors.count", I32, 2, 4);
        gguf_tensor(&g, i == 0 ? "a" : "b", shape, 8, 0); /* Q8_0 */
        gguf_pad(&g, 32);
        for (int k = 0; k < 64; k++)
            gguf_raw(&g, "", 1);
        write_file(path, g.bytes, g.n);
        gguf_free(&g);
        free(path);
    }
    wb_model *model;
    assert_int_equal(wb_open(folder, NULL, &model, NULL), WB_OK);
    assert_int_equal(count_of(wb_model_findings(model), "gguf-quantization-version"), 1);
    wb_close(model);
    scratch_remove(folder);
    /* A file that was merged from a split model may declare 0 files. */
    gguf g;
    gguf_start(&g, false, 0, 2);
    gguf_number(&g, "split.no", U16, 0, 2);
    gguf_number(&g, "split.count", U16, 0, 2);
    assert_int_equal(wb_open_memory(g.bytes, g.n, "x.gguf", NULL, &model, NULL), WB_OK);
    assert_int_equal(wb_findings_verdict(wb_model_findings(model)), 0);
    wb_close(model);
    gguf_free(&g);
}

/* ---- safetensors ---- */

static wb_status open_header(const char *header, uint32_t flags, uint64_t rank, wb_error *error)
{
    size_t n;
    wb_limits limits;
    wb_model *model;
    unsigned char *bytes = st_bytes(header, strlen(header), 4, &n);
    wb_limits_default(&limits);
    limits.rank = rank;
    wb_open_options options = {.size = sizeof options, .flags = flags, .limits = &limits};
    wb_status status = wb_open_memory(bytes, n, "x.safetensors", &options, &model, error);
    wb_close(model);
    free(bytes);
    return status;
}

static void odd_headers(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        bool compatible; /* accepted in compatible mode, because the official library accepts it */
    } rows[] = {
        {" {\"t\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}", true},
        {"\n{\"t\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}", true},
        {" [\"t\"]", false},
        {"{\"t\":{\"dtype\":{\"U8\":null},\"shape\":[4],\"data_offsets\":[0,4]}}", true},
        {"{\"t\":{\"dtype\":{\"U8\":null,\"U9\":null},\"shape\":[4],\"data_offsets\":[0,4]}}",
         false},
        {"{\"t\":{\"dtype\":{\"U8\":1},\"shape\":[4],\"data_offsets\":[0,4]}}", false},
        {"{\"t\":{\"dtype\":{},\"shape\":[4],\"data_offsets\":[0,4]}}", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        wb_error error;
        assert_int_equal(open_header(rows[i].header, 0, 100, &error), WB_ERROR_FORMAT);
        wb_status status = open_header(rows[i].header, WB_OPEN_COMPATIBLE, 100, &error);
        if ((status == WB_OK) != rows[i].compatible)
            fail_msg("%s: %s\n", rows[i].header, error.message);
    }
    wb_error error;
    static const char two[] = "{\"t\":{\"dtype\":\"U8\",\"shape\":[2,2],\"data_offsets\":[0,4]}}";
    assert_int_equal(open_header(two, 0, UINT64_MAX, &error), WB_OK);
    assert_int_equal(open_header(two, 0, 2, &error), WB_OK);
    assert_int_equal(open_header(two, 0, 1, &error), WB_ERROR_LIMIT);
}

typedef struct source {
    const unsigned char *bytes;
    size_t n, calls, fail_at;
} source;

static wb_status give(void *ctx, uint64_t offset, void *dst, size_t n, size_t *got)
{
    source *s = ctx;
    if (++s->calls == s->fail_at)
        return WB_ERROR_IO;
    *got = n < 1 << 16 ? n : 1 << 16;
    memcpy(dst, s->bytes + offset, *got);
    return WB_OK;
}

/* Tests headers that are larger than the read buffer, with each read failing once. */
static void reads_of_headers(void **state)
{
    (void)state;
    const size_t room = 600000;
    for (int way = 0; way < 4; way++) {
        char *header = malloc(room + 1);
        assert_non_null(header);
        memset(header, ' ', room);
        header[room] = '\0';
        size_t n = (size_t)snprintf(header, room, "{\"__metadata__\":{\"k\":\"");
        if (way == 1) { /* a string as long as the header */
            memset(header + n, 'x', room - n);
            memcpy(header + room - 100, "\"}}", 3);
            memset(header + room - 97, ' ', 97);
        } else if (way == 2) { /* invalid near its beginning, and invalid UTF-8 near its end */
            memcpy(header + n, "\x01\"}}", 4);
            header[room - 10] = (char)0xFF;
        } else if (way == 3) { /* filled with members */
            n = 1;
            header[0] = '{';
            for (unsigned i = 0; n < room - 200; i++)
                n += (size_t)snprintf(
                    header + n, room - n,
                    "%s\"t%u\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}",
                    i > 0 ? "," : "", i);
            header[n] = '}';
        } else {
            memcpy(header + n, "\"}}", 3);
        }
        size_t length, calls = 1;
        unsigned char *bytes = st_bytes(header, room, 0, &length);
        for (size_t k = 0; k <= calls; k++) {
            source s = {.bytes = bytes, .n = length, .fail_at = k};
            wb_source described = {
                .size = sizeof described, .ctx = &s, .bytes = length, .read = give};
            wb_model *model;
            wb_error error;
            wb_status status = wb_open_source(&described, "x.safetensors", NULL, &model, &error);
            if (k == 0)
                assert_int_equal(status, way == 2 ? WB_ERROR_FORMAT : WB_OK);
            else /* an error in the JSON may be found before the read that fails */
                assert_true(status == WB_ERROR_IO || (way == 2 && status == WB_ERROR_FORMAT));
            calls = k == 0 ? s.calls : calls;
            wb_close(model);
        }
        assert_true(calls > 8);
        free(bytes);
        free(header);
    }
}

/* Each vectorized fast parser must be selected only if the CPU has all features that it needs. */
static void fast_readers(void **state)
{
    (void)state;
#if WB__X86
    assert_true(wb__st_fast_for(WB__CPU_VAES | WB__CPU_AES | WB__CPU_AVX2) == wb__st_fast_avx512);
    assert_true(wb__st_fast_for(WB__CPU_VAES | WB__CPU_AVX2) == wb__st_fast_portable);
    assert_true(wb__st_fast_for(WB__CPU_AVX2 | WB__CPU_AES) == wb__st_fast_avx2);
    assert_true(wb__st_fast_for(WB__CPU_AVX2) == wb__st_fast_portable);
    assert_true(wb__st_fast_for(WB__CPU_AES) == wb__st_fast_portable);
#endif
    assert_true(wb__st_fast_for(0) == wb__st_fast_portable);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(findings),
        cmocka_unit_test(memory_beyond_all),
        cmocka_unit_test(cursors),
        cmocka_unit_test(brackets),
        cmocka_unit_test(trees),
        cmocka_unit_test(odd_twice),
        cmocka_unit_test(arrays_owe_too_much),
        cmocka_unit_test(arrays_in_arrays),
        cmocka_unit_test(blocks_in_a_second_part),
        cmocka_unit_test(odd_headers),
        cmocka_unit_test(reads_of_headers),
        cmocka_unit_test(fast_readers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
