/*
 * Tests .npz archives and .npy headers that the test builds byte by byte: contradictions between
 * their parts, contents other than arrays, and failing reads.
 */
#include "support.h"

#include "formats/format.h"

/* ---- archives ---- */

typedef struct zip {
    uint8_t bytes[20000];
    size_t n;
    uint8_t directory[4000];
    size_t directory_bytes, count;
} zip;

typedef struct member {
    const char *name;
    const uint8_t *data; /* contents as stored in the archive */
    size_t n, unpacked;  /* size of `data`, and uncompressed size (0: equal), in bytes */
    uint16_t flags, method;
    uint32_t crc;
    uint32_t local_bytes, /* uncompressed size in the local header; 0: as in the directory */
        local_packed;     /* compressed size in the local header; 0: as in the directory */
    const uint8_t *local_extra, *extra;
    size_t local_extra_bytes, extra_bytes;
    size_t gap; /* number of unused bytes before the member */
} member;

static void put_number(uint8_t *to, uint64_t value, int width)
{
    for (int i = 0; i < width; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

/* Writes the fields that a local header and a directory entry have in common, from the flags to the
 * length of the name. */
static void put_facts(uint8_t *to, const member *m, uint32_t packed, uint32_t bytes)
{
    put_number(to, m->flags, 2);
    put_number(to + 2, m->method, 2);
    put_number(to + 8, m->crc, 4);
    put_number(to + 12, packed, 4);
    put_number(to + 16, bytes, 4);
    put_number(to + 20, strlen(m->name), 2);
}

static void add(zip *z, const member *m)
{
    size_t name = strlen(m->name);
    uint32_t bytes = (uint32_t)(m->unpacked != 0 ? m->unpacked : m->n);
    memset(z->bytes + z->n, 'g', m->gap);
    z->n += m->gap;
    size_t at = z->n;
    uint8_t *p = z->bytes + z->n, *entry = z->directory + z->directory_bytes;
    memset(p, 0, 30);
    memcpy(p, "PK\3\4", 4);
    put_facts(p + 6, m, m->local_packed != 0 ? m->local_packed : (uint32_t)m->n,
              m->local_bytes != 0 ? m->local_bytes : bytes);
    put_number(p + 28, m->local_extra_bytes, 2);
    memcpy(p + 30, m->name, name);
    if (m->local_extra_bytes > 0)
        memcpy(p + 30 + name, m->local_extra, m->local_extra_bytes);
    z->n += 30 + name + m->local_extra_bytes;
    if (m->n > 0)
        memcpy(z->bytes + z->n, m->data, m->n);
    z->n += m->n;
    if ((m->flags & 8) != 0) {
        memcpy(z->bytes + z->n, "PK\7\10", 4);
        put_number(z->bytes + z->n + 4, m->crc, 4);
        put_number(z->bytes + z->n + 8, m->n, 4);
        put_number(z->bytes + z->n + 12, bytes, 4);
        z->n += 16;
    }
    memset(entry, 0, 46);
    memcpy(entry, "PK\1\2", 4);
    put_facts(entry + 8, m, (uint32_t)m->n, bytes);
    put_number(entry + 30, m->extra_bytes, 2);
    put_number(entry + 42, at, 4);
    memcpy(entry + 46, m->name, name);
    if (m->extra_bytes > 0)
        memcpy(entry + 46 + name, m->extra, m->extra_bytes);
    z->directory_bytes += 46 + name + m->extra_bytes;
    z->count++;
}

static void finish(zip *z)
{
    size_t at = z->n;
    memcpy(z->bytes + z->n, z->directory, z->directory_bytes);
    z->n += z->directory_bytes;
    uint8_t *p = z->bytes + z->n;
    memset(p, 0, 22);
    memcpy(p, "PK\5\6", 4);
    put_number(p + 8, z->count, 2);
    put_number(p + 10, z->count, 2);
    put_number(p + 12, z->directory_bytes, 4);
    put_number(p + 16, at, 4);
    z->n += 22;
}

static bool has_zlib;

/* Opens a file in memory. Returns the status and sets the number of findings. */
static wb_status open_it(const uint8_t *bytes, size_t n, const char *label, const wb_limits *limits,
                         wb_error *error, size_t *findings)
{
    wb_model *model;
    wb_open_options options = {.size = sizeof options, .limits = limits};
    uint8_t *exact = malloc(n); /* a copy, so that sanitizers detect reads past the end */
    assert_non_null(exact);
    memcpy(exact, bytes, n);
    wb_status status = wb_open_memory(exact, n, label, &options, &model, error);
    *findings = status == WB_OK ? (size_t)wb_findings_count(wb_model_findings(model)) : 0;
    wb_close(model);
    free(exact);
    return status;
}

static void expect(zip *z, const char *code, uint64_t offset, size_t findings)
{
    wb_error error;
    size_t found;
    finish(z);
    wb_status status = open_it(z->bytes, z->n, "x.npz", NULL, &error, &found);
    if (!has_zlib && status == WB_ERROR_UNSUPPORTED)
        return;
    if (strcmp(error.code, code) != 0 || (status != WB_OK && error.offset != offset) ||
        found != findings)
        fail_msg("%s at %lld, %zu findings: %s\n", error.code, (long long)error.offset, found,
                 error.message);
}

/* ---- arrays ---- */

/* Makes a .npy file of version 1 with this header and n bytes of data. Returns its size. */
static size_t put_array(uint8_t *to, const char *header, size_t n)
{
    memcpy(to, "\x93NUMPY\1\0", 8);
    put_number(to + 8, strlen(header), 2);
    memcpy(to + 10, header, strlen(header));
    memset(to + 10 + strlen(header), 1, n);
    return 10 + strlen(header) + n;
}

#define SOUND "{'descr': '|u1', 'fortran_order': False, 'shape': (4,), }\n"

/* Makes a deflate stream: `empty` stored blocks without bytes, then one with n bytes, of which the
 * last `cut` are missing. */
static size_t put_deflated(uint8_t *to, size_t empty, const uint8_t *data, size_t n, size_t cut)
{
    size_t at = 0;
    for (; empty > 0; empty--, at += 5)
        memcpy(to + at, "\0\0\0\xFF\xFF", 5);
    to[at] = 1;
    put_number(to + at + 1, n, 2);
    put_number(to + at + 3, ~(uint64_t)n, 2);
    memcpy(to + at + 5, data, n - cut);
    return at + 5 + n - cut;
}

static uint32_t crc_of(const uint8_t *p, size_t n)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ ((crc & 1) != 0 ? UINT32_C(0xEDB88320) : 0);
    }
    return ~crc;
}

static uint8_t array[200], packed[4000];

static member sound_member(const char *name)
{
    size_t n = put_array(array, SOUND, 4);
    return (member){.name = name, .data = array, .n = n, .crc = crc_of(array, n)};
}

static void stored_members(void **state)
{
    (void)state;
    static zip z, none;
    static char longest[1200];
    member m = sound_member("a.npy");
    add(&z, &m);
    expect(&z, "", 0, 0);

    z = none; /* a member whose name is longer than the read buffer */
    memset(longest, 'n', sizeof longest);
    memcpy(longest + sizeof longest - 5, ".npy", 5);
    m.name = longest;
    add(&z, &m);
    expect(&z, "", 0, 0);

    z = none; /* an entry for a directory should have no data; if it has, there is a finding */
    m.name = "folder/";
    add(&z, &m);
    m.name = "a.npy";
    add(&z, &m);
    expect(&z, "", 0, 1);

    z = none; /* two gaps must give one finding */
    m.gap = 3;
    add(&z, &m);
    m.name = "b.npy";
    add(&z, &m);
    expect(&z, "", 0, 1);

    z = none; /* the directory has fewer entries than it declares */
    m = sound_member("a.npy");
    m.name = longest;
    add(&z, &m);
    z.count = 2;
    expect(&z, "npz-entry", 30 + sizeof longest - 1 + m.n + 46 + sizeof longest - 1, 0);
}

/* Tests members that have both 32-bit and 64-bit sizes. */
static void wide_sizes(void **state)
{
    (void)state;
    static zip z, none;
    uint8_t extra[40] = {1, 0, 16, 0};
    member m = sound_member("a.npy");
    put_number(extra + 4, m.n, 8);
    put_number(extra + 12, m.n, 8);
    m.local_extra = extra;
    m.local_extra_bytes = 20;
    add(&z, &m); /* the local header has 64-bit sizes, although it does not need them */
    expect(&z, "", 0, 0);
    for (int which = 0; which < 2; which++) {
        z = none;
        m.local_bytes = which == 0 ? (uint32_t)m.n + 1 : 0;
        m.local_packed = which == 1 ? (uint32_t)m.n + 1 : 0;
        add(&z, &m);
        expect(&z, "npz-local-header", 0, 0);
    }
    z = none; /* the extra field has more values than the format defines */
    m = sound_member("a.npy");
    put_number(extra + 2, 32, 2);
    m.extra = extra;
    m.extra_bytes = 36;
    add(&z, &m);
    expect(&z, "npz-entry", 30 + 5 + m.n, 0);
    z = none;
    put_number(extra + 2, 24, 2);
    m.extra_bytes = 0;
    m.local_extra = extra;
    m.local_extra_bytes = 28;
    add(&z, &m);
    expect(&z, "npz-local-header", 0, 0);
}

static void compressed_members(void **state)
{
    (void)state;
    static zip z, none;
    member m = sound_member("a.npy");
    size_t n = m.n;
    m.method = 8;
    m.data = packed;
    m.unpacked = n;
    const struct {
        size_t empty, cut, unpacked;
        const char *code;
    } rows[] = {{0, 0, n, ""},
                {300, 0, n, ""}, /* begins with 300 deflate blocks that contain no bytes */
                {0, n - 5, n, "deflate"},
                {300, n - 5, n, "deflate"},
                {0, 0, n + 1, "npy-extent"},
                {0, 0, 7, "npy-truncated"},
                {0, 0, 9, "npy-truncated"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        z = none;
        m.n = put_deflated(packed, rows[i].empty, array, n, rows[i].cut);
        m.unpacked = rows[i].unpacked;
        add(&z, &m);
        expect(&z, rows[i].code, 35, 0);
    }
    static const struct {
        const char *begin, *code;
        size_t n;
    } headers[] = {{"\x93NUMPY\1\0\0\0xxxx", "npy-header", 14},
                   {"\x93NUMPY\2\0\0\0\xFF\0xxxx", "npy-header-too-large", 16},
                   {"\x93NUMPY\4\0\0\0xxxx", "npy-version", 14}};
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        z = none;
        m.n = put_deflated(packed, 0, (const uint8_t *)headers[i].begin, headers[i].n, 0);
        m.unpacked = headers[i].n;
        add(&z, &m);
        expect(&z, headers[i].code, 35, 0);
    }
}

static void ends(void **state)
{
    (void)state;
    wb_error error;
    size_t found;
    uint8_t bytes[42] = {'P', 'K', 6, 7}; /* a zip64 locator without a zip64 end record */
    put_number(bytes + 16, 1, 4);
    memcpy(bytes + 20, "PK\5\6", 4);
    assert_int_equal(open_it(bytes, sizeof bytes, "x.npz", NULL, &error, &found), WB_ERROR_FORMAT);
    assert_string_equal(error.code, "npz-end");
    assert_int_equal(error.offset, 0);
    static zip z;
    member m = sound_member("a.npy");
    add(&z, &m);
    finish(&z);
    wb_limits limits;
    wb_limits_default(&limits);
    limits.npz_directory = UINT64_MAX;
    assert_int_equal(open_it(z.bytes, z.n, "x.npz", &limits, &error, &found), WB_OK);
    limits.npz_directory = 10;
    assert_int_equal(open_it(z.bytes, z.n, "x.npz", &limits, &error, &found), WB_ERROR_LIMIT);
}

/* ---- headers of arrays ---- */

static void headers(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t n;
        const char *code;
        uint32_t storing;
    } rows[] = {
        {SOUND, 4, "", 0},
        {"{\r'descr'\t:\r\n'|u1','fortran_order':False,'shape':(4,)}\r", 4, "", 0},
        {"{'descr':'=u1','fortran_order':False,'shape':(4,)}", 4, "", 0},
        {"{'descr':'>u1','fortran_order':False,'shape':(4,)}", 4, "", 0},
        {"{'descr':'>u2','fortran_order':False,'shape':(2,)}", 4, "", WB_STORED_BIG_ENDIAN},
        {"{'descr':'=u2','fortran_order':False,'shape':(2,)}", 4, "npy-header", 0},
        {"{'descr':'|V2','fortran_order':False,'shape':(2,)}", 4, "", 0},
        {"{'descr':'=V2','fortran_order':False,'shape':(2,)}", 4, "", 0},
        {"{'descr':'|a4','fortran_order':False,'shape':(2,)}", 4, "npy-dtype", 0},
        {"{'descr':'|u1','fortran_order':True,'shape':(2,2)}", 4, "", WB_STORED_COLUMNS},
        {"{'descr':'|u1','fortran_order':True,'shape':(2,2,0)}", 0, "", 0},
        {"{'descr':'|u1','fortran_order':True,'shape':(1,4)}", 4, "", 0},
        {"{'descr':", 0, "npy-header", 0},
        {"{'descr':[", 0, "npy-dtype", 0},
        {"{'descr':[('a','O')],", 0, "npy-objects", 0},
        {"{'descr':[('a','|O')],", 0, "npy-objects", 0},
        {"{'descr':[('aOb','u1')],", 0, "npy-dtype", 0},
        {"{'descr':[('Ob','u1')],", 0, "npy-dtype", 0},
        {"{'descr':('aO','u1'),", 0, "npy-dtype", 0},
        {"{'descr':'|u1','fortran_order':Fals", 0, "npy-header", 0},
        {"{'descr':'|u1','fortran_order':Maybe,'shape':(4,)}", 0, "npy-header", 0},
        {"{'descr':'|u1','fortran_order':False,'shape':(18446744073709551616,)}", 0, "npy-header",
         0},
        {"{'descr':'|u1','fortran_order':False,'shape':(184467440737095516150,)}", 0, "npy-header",
         0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t bytes[200];
        wb_model *model;
        wb_error error;
        size_t n = put_array(bytes, rows[i].header, rows[i].n);
        wb_status status = wb_open_memory(bytes, n, "x.npy", NULL, &model, &error);
        assert_int_equal(error.status, status);
        if (strcmp(error.code, rows[i].code) != 0)
            fail_msg("%s: '%s' %s\n", rows[i].header, error.code, error.message);
        if (model != NULL) {
            wb_tensor tensor = {.size = sizeof tensor};
            assert_int_equal(wb_tensor_at(model, 0, &tensor, NULL), WB_OK);
            assert_int_equal(tensor.storing, rows[i].storing);
        }
        wb_close(model);
    }
    /* A limit of the caller above the maximum of the library must have no effect. */
    wb_limits limits;
    wb_error error;
    size_t found;
    static uint8_t large[140000] = "\x93NUMPY\2\0";
    put_number(large + 8, 131073, 4);
    wb_limits_default(&limits);
    limits.npy_header = UINT64_MAX;
    assert_int_equal(open_it(large, sizeof large, "x.npy", &limits, &error, &found),
                     WB_ERROR_LIMIT);
    assert_int_equal(error.offset, 8);
}

/* ---- reads that fail ---- */

typedef struct source {
    const uint8_t *bytes;
    size_t n, calls, fail_at;
} source;

static wb_status give(void *ctx, uint64_t offset, void *dst, size_t n, size_t *got)
{
    source *s = ctx;
    if (++s->calls == s->fail_at)
        return WB_ERROR_IO;
    memcpy(dst, s->bytes + offset, n);
    *got = n;
    return WB_OK;
}

static void fail_each_read(const uint8_t *bytes, size_t n, const char *label, size_t at_least)
{
    size_t calls = 1;
    for (size_t k = 0; k <= calls; k++) {
        source s = {.bytes = bytes, .n = n, .fail_at = k};
        wb_source described = {.size = sizeof described, .ctx = &s, .bytes = n, .read = give};
        wb_model *model;
        wb_status status = wb_open_source(&described, label, NULL, &model, NULL);
        if (!has_zlib && status == WB_ERROR_UNSUPPORTED)
            return;
        assert_int_equal(status, k == 0 ? WB_OK : WB_ERROR_IO);
        wb_close(model);
        calls = k == 0 ? s.calls : calls;
    }
    assert_true(!has_zlib || calls >= at_least);
}

/* Tests members that are larger than the buffers, so that they are read in pieces. */
static void reads_of_archives(void **state)
{
    (void)state;
    static zip z;
    static uint8_t large[6000];
    static char longest[1100];
    memset(longest, 'n', sizeof longest);
    memcpy(longest + sizeof longest - 5, ".npy", 5);
    member m = sound_member(longest);
    add(&z, &m);
    size_t n = put_array(large, "{'descr':'|u1','fortran_order':False,'shape':(3000,)}", 3000);
    m = (member){.name = "b.npy", .data = large, .n = n, .flags = 8, .crc = crc_of(large, n)};
    add(&z, &m);
    m.method = 8;
    m.name = "c.npy";
    m.data = packed;
    m.unpacked = sound_member("").n;
    m.n = put_deflated(packed, 600, array, m.unpacked, 0);
    m.crc = crc_of(array, m.unpacked);
    if (has_zlib)
        add(&z, &m);
    finish(&z);
    fail_each_read(z.bytes, z.n, "x.npz", 8);
}

static bool never_fills(wb__cursor *cursor)
{
    (void)cursor;
    return false;
}

/* Tests a .npy file of which only the first bytes are available, because further reads fail. */
static void reads_of_arrays(void **state)
{
    (void)state;
    uint8_t bytes[200];
    size_t n = put_array(bytes, SOUND, 4);
    for (size_t at_hand = 0; at_hand <= 60; at_hand += 20) {
        wb_error error = {.status = WB_ERROR_IO};
        wb__context context = {.allocator = wb__default_allocator, .file = "", .error = &error};
        wb__catalog model;
        wb_limits_default(&context.limits);
        wb__catalog_init(&model, &wb__default_allocator, 0);
        assert_int_equal(wb__catalog_begin_file(&model, &context, "x", "npy", n), WB_OK);
        wb__cursor cursor = {.p = bytes,
                             .end = bytes + at_hand,
                             .end_at = at_hand,
                             .limit = n,
                             .fill = never_fills,
                             .reach = n};
        assert_int_equal(wb__format_npy.read(&context, &cursor, &model), WB_ERROR_IO);
        assert_true(cursor.failed);
        wb__catalog_free(&model);
    }
}

/* ---- other files ---- */

static void foreign_files(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } rows[] = {{"<!DOCTYPE html>", "web page"},
                {"  <html><body>", "web page"},
                {"<HEAD>", "web page"},
                {"algg....", "legacy ggml"},
                {"lmgg....", "legacy ggml"},
                {"ggla....", "legacy ggml"},
                {"ggml....", "legacy ggml"},
                {"{\"a\":1}", "JSON"},
                {"{}", "JSON"},
                {" { ", "JSON"},
                {"{", "JSON"},
                {"{a", ""}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        wb_model *model;
        wb_error error;
        assert_int_not_equal(
            wb_open_memory(rows[i].text, strlen(rows[i].text), "x", NULL, &model, &error), WB_OK);
        assert_null(model);
        if (strstr(error.message, rows[i].says) == NULL)
            fail_msg("%s: %s\n", rows[i].text, error.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stored_members),
        cmocka_unit_test(wide_sizes),
        cmocka_unit_test(compressed_members),
        cmocka_unit_test(ends),
        cmocka_unit_test(headers),
        cmocka_unit_test(reads_of_archives),
        cmocka_unit_test(reads_of_arrays),
        cmocka_unit_test(foreign_files),
    };
    wb_model *model;
    has_zlib = wb_open(TEST_DATA "/npy/deflated.npz", NULL, &model, NULL) == WB_OK;
    wb_close(model);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
