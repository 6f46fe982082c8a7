/*
 * Tests opening, reading and verifying with injected faults: each allocation fails, alone or with
 * all later ones; each read of a source fails; and sources give fewer bytes than requested or
 * declared. A call that fails must report the error, free all memory and return no result. A call
 * that succeeds must return the same result as without the fault.
 */
#include "support.h"

static char *folder;

/* A header with metadata, escapes, a scalar, sub-byte elements, several dtypes, an empty tensor and
 * unknown fields. */
static const char rich[] = "{\"__metadata__\":{\"format\":\"pt\",\"k\\u00e9y\":\"v\\n\",\"\":\"\"},"
                           "\"scalar\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]},"
                           "\"n\\u0061me\":{\"dtype\":\"BF16\",\"shape\":[3,5],\"data_offsets\":[4,"
                           "34],\"x\":[1,{\"y\":2}]},"
                           "\"four\":{\"dtype\":\"F4\",\"shape\":[2,4],\"data_offsets\":[34,38]},"
                           "\"none\":{\"dtype\":\"I64\",\"shape\":[0,7],\"data_offsets\":[38,38]},"
                           "\"bytes\":{\"dtype\":\"U8\",\"shape\":[26],\"data_offsets\":[38,64]}} ";
static const size_t rich_data = 64;

/* A header with repeated names and keys, which only compatible mode accepts. The tensors are not
 * in the order of their data. */
static const char repeated[] =
    "{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"},"
    "\"t\":{\"dtype\":\"F32\",\"shape\":[9],\"data_offsets\":[0,4]},"
    "\"u\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[8,12],\"z\":1,\"z\":2},"
    "\"t\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}";

static char *in_folder(const char *name)
{
    return text_of("%s/%s", folder, name);
}

static void put(const char *name, const char *header, size_t data)
{
    char *path = in_folder(name);
    st_write(path, header, data);
    free(path);
}

static void put_text(const char *name, const char *text)
{
    char *path = in_folder(name);
    write_file(path, text, strlen(text));
    free(path);
}

static void put_shards(const char *sub)
{
    char *path = in_folder(sub);
    assert_int_equal(mkdir(path, 0700), 0);
    free(path);
    for (int i = 1; i <= 3; i++) {
        char *name = text_of("%s/model-0000%d-of-00003.safetensors", sub, i);
        char *header = text_of("{\"__metadata__\":{\"n\":\"%d\"},"
                               "\"t%d\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]}}",
                               i, i);
        put(name, header, 16);
        free(name);
        free(header);
    }
}

static void make_files(void)
{
    folder = scratch_make();
    put("rich.safetensors", rich, rich_data);
    put("repeated.safetensors", repeated, 12);
    put_shards("indexed");
    put_text("indexed/model.safetensors.index.json",
             "{\"metadata\":{\"total_size\":48},\"weight_map\":{"
             "\"t1\":\"model-00001-of-00003.safetensors\","
             "\"t2\":\"model-00002-of-00003.safetensors\","
             "\"t3\":\"model-00003-of-00003.safetensors\"}}");
    put_shards("plain");
    put("plain/other.safetensors.bak", "{}", 0);
}

/* ---- operations on a model ---- */

static void mix(uint64_t *digest, const void *bytes, size_t n)
{
    const unsigned char *b = bytes;
    for (size_t i = 0; i < n; i++)
        *digest = (*digest ^ b[i]) * UINT64_C(0x100000001B3);
}

static wb_status use_tensor(const wb_model *model, uint64_t i, uint64_t *digest)
{
    wb_tensor tensor = {.size = sizeof tensor};
    unsigned char out[1024];
    uint64_t elements, bytes;
    wb_status status = wb_tensor_at(model, i, &tensor, NULL);
    if (status != WB_OK)
        return status;
    mix(digest, tensor.name, tensor.name_len);
    mix(digest, tensor.shape, tensor.rank * sizeof *tensor.shape);
    if (wb_tensor_read_size(model, i, NULL, WB_DTYPE_F32, &elements, &bytes, NULL) != WB_OK)
        return WB_OK;
    status = wb_tensor_read(model, i, NULL, WB_DTYPE_F32, out, sizeof out, NULL);
    if (status == WB_OK)
        mix(digest, out, (size_t)bytes);
    if (status == WB_OK && tensor.rank == 2 && tensor.dtype == WB_DTYPE_BF16) {
        wb_axis axes[2];
        status = wb_slice_parse("::-1,1::2", SIZE_MAX, tensor.shape, 2, axes, NULL);
        wb_slice slice = {.size = sizeof slice, .rank = 2, .axes = axes, .count = UINT64_MAX};
        if (status == WB_OK)
            status = wb_tensor_read(model, i, &slice, -1, out, sizeof out, NULL);
        if (status == WB_OK)
            mix(digest, out, 12);
    }
    return status;
}

static void use_findings(const wb_findings *findings, uint64_t *digest)
{
    for (uint64_t i = 0; i < wb_findings_count(findings); i++) {
        wb_finding finding = {.size = sizeof finding};
        assert_int_equal(wb_findings_at(findings, i, &finding), WB_OK);
        mix(digest, finding.code, strlen(finding.code));
        mix(digest, finding.message, strlen(finding.message));
    }
}

static wb_status use_model(const wb_model *model, uint64_t *digest)
{
    const char *names;
    const uint64_t *offsets;
    wb_status status = wb_tensor_names(model, WB_NAMES_NATIVE, &names, &offsets, NULL);
    if (status != WB_OK) {
        assert_null(names);
        return status;
    }
    mix(digest, names, (size_t)offsets[wb_tensor_count(model)]);
    for (uint64_t i = 0; i < wb_tensor_count(model) && status == WB_OK; i++)
        status = use_tensor(model, i, digest);
    /* Look up a missing key first: this creates the derived metadata and reports a failed
     * allocation. wb_meta_count below would also create it, but cannot report the failure. */
    uint64_t entry;
    if (status == WB_OK)
        status = wb_meta_find(model, "no such key", SIZE_MAX, &entry);
    if (status != WB_ERROR_NOT_FOUND)
        return status;
    status = WB_OK;
    for (uint64_t i = 0; i < wb_meta_count(model); i++) {
        wb_meta meta = {.size = sizeof meta};
        assert_int_equal(wb_meta_at(model, i, &meta, NULL), WB_OK);
        mix(digest, meta.key, meta.key_len);
    }
    use_findings(wb_model_findings(model), digest);
    return status;
}

/* ---- allocations ---- */

typedef struct scenario {
    const char *path;
    uint32_t flags;
    wb_access access;
} scenario;

static wb_status run_open(const scenario *s, const wb_allocator *allocator, uint64_t *digest)
{
    wb_open_options options = {
        .size = sizeof options, .access = s->access, .flags = s->flags, .allocator = allocator};
    wb_model *model;
    wb_error error;
    char *path = in_folder(s->path);
    wb_status status = wb_open(path, &options, &model, &error);
    free(path);
    assert_int_equal(error.status, status);
    assert_true((status == WB_OK) == (model != NULL));
    if (status == WB_OK)
        status = use_model(model, digest);
    wb_close(model);
    return status;
}

static wb_status run_verify(const scenario *s, const wb_allocator *allocator, uint64_t *digest)
{
    wb_open_options open = {.size = sizeof open, .flags = s->flags, .allocator = allocator};
    wb_verify_options options = {.size = sizeof options, .open = &open};
    wb_findings *findings;
    char *path = in_folder(s->path);
    wb_status status = wb_verify(path, &options, &findings, NULL);
    free(path);
    assert_true((status == WB_OK) == (findings != NULL));
    if (status == WB_OK)
        use_findings(findings, digest);
    wb_findings_free(findings);
    return status;
}

static wb_status run_stream(const scenario *s, const wb_allocator *allocator, uint64_t *digest)
{
    wb_open_options options = {.size = sizeof options, .flags = s->flags, .allocator = allocator};
    wb_model *model;
    int ends[2];
    size_t n;
    char *path = in_folder(s->path);
    unsigned char *bytes = read_file(path, &n);
    free(path);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], bytes, n), (ssize_t)n);
    assert_int_equal(close(ends[1]), 0);
    free(bytes);
    wb_status status = wb_open_fd(ends[0], "stream", &options, &model, NULL);
    assert_int_equal(close(ends[0]), 0);
    if (status == WB_OK)
        status = use_model(model, digest);
    wb_close(model);
    return status;
}

typedef wb_status run_function(const scenario *s, const wb_allocator *allocator, uint64_t *digest);

static void fail_each(run_function *run, const scenario *s, bool for_good)
{
    uint64_t expected = 0;
    counter memory = {0};
    wb_allocator allocator = counter_allocator(&memory);
    wb_status sound = run(s, &allocator, &expected);
    size_t calls = memory.calls;
    assert_int_equal(sound, WB_OK);
    assert_clean(&memory);
    assert_true(calls > 1);
    for (size_t k = 1; k <= calls; k++) {
        uint64_t digest = 0;
        memory = (counter){.fail_at = k, .for_good = for_good};
        wb_status status = run(s, &allocator, &digest);
        assert_true(memory.failed);
        assert_clean(&memory);
        /* A call may succeed without the allocation, but the result must be the same. */
        if (status != WB_ERROR_MEMORY && (status != WB_OK || digest != expected))
            fail_msg("%s: allocation %zu of %zu failed%s, status %s\n", s->path, k, calls,
                     for_good ? " with all after it" : "", wb_status_name(status));
    }
}

static void fail_both(run_function *run, const scenario *s)
{
    fail_each(run, s, false);
    fail_each(run, s, true);
}

static const scenario scenarios[] = {
    {"rich.safetensors", 0, WB_ACCESS_MAP},
    {"rich.safetensors", WB_OPEN_COMPATIBLE, WB_ACCESS_SNAPSHOT},
    {"repeated.safetensors", WB_OPEN_COMPATIBLE, WB_ACCESS_READ},
    {"indexed", 0, WB_ACCESS_MAP},
    {"indexed/model-00002-of-00003.safetensors", 0, WB_ACCESS_READ},
    {"plain", 0, WB_ACCESS_SNAPSHOT},
    {"plain/model-00003-of-00003.safetensors", 0, WB_ACCESS_MAP},
};

#define SCENARIOS (sizeof scenarios / sizeof scenarios[0])

static void allocations_of_open(void **state)
{
    (void)state;
    for (size_t i = 0; i < SCENARIOS; i++)
        fail_both(run_open, &scenarios[i]);
}

static void allocations_of_verify(void **state)
{
    (void)state;
    for (size_t i = 0; i < SCENARIOS; i++)
        fail_both(run_verify, &scenarios[i]);
}

/* Tests a file that is refused. The findings of such a file are created after parsing. */
static void allocations_of_refusal(void **state)
{
    (void)state;
    scenario refused = {"repeated.safetensors", 0, WB_ACCESS_MAP};
    fail_both(run_verify, &refused);
}

static void allocations_of_stream(void **state)
{
    (void)state;
    fail_both(run_stream, &scenarios[0]);
}

/* ---- reads ---- */

typedef struct fake {
    const unsigned char *bytes;
    size_t present; /* real size of the source in bytes */
    size_t most;    /* maximum number of bytes that one read returns */
    size_t calls;
    size_t fail_at; /* number of the read that fails, counted from 1; 0: none */
    wb_status failure;
    bool lies; /* claims to have returned more bytes than requested */
    unsigned closed;
} fake;

static wb_status fake_read(void *ctx, uint64_t offset, void *dst, size_t n, size_t *got)
{
    fake *f = ctx;
    if (++f->calls == f->fail_at)
        return f->failure;
    if (f->lies) {
        *got = n + 1;
        return WB_OK;
    }
    size_t left = offset < f->present ? f->present - (size_t)offset : 0;
    if (n > left)
        n = left;
    if (n > f->most)
        n = f->most;
    if (n != 0)
        memcpy(dst, f->bytes + offset, n);
    *got = n;
    return WB_OK;
}

static void fake_close(void *ctx)
{
    ((fake *)ctx)->closed++;
}

static wb_status run_source(fake *f, uint64_t promised, wb_error *error, uint64_t *digest)
{
    counter memory = {0};
    wb_allocator allocator = counter_allocator(&memory);
    wb_open_options options = {.size = sizeof options, .allocator = &allocator};
    wb_source source = {
        .size = sizeof source, .ctx = f, .bytes = promised, .read = fake_read, .close = fake_close};
    wb_model *model;
    wb_status status = wb_open_source(&source, "a source", &options, &model, error);
    assert_int_equal(f->closed, status == WB_OK ? 0 : 1);
    if (status == WB_OK)
        status = use_model(model, digest);
    wb_close(model);
    assert_int_equal(f->closed, 1);
    assert_clean(&memory);
    return status;
}

static void reads_that_fail(void **state)
{
    static const wb_status failures[] = {WB_ERROR_IO, WB_ERROR_MEMORY, WB_ERROR_CANCELLED};
    (void)state;
    size_t n;
    unsigned char *bytes = st_bytes(rich, sizeof rich - 1, rich_data, &n);
    uint64_t expected = 0;
    wb_error error;
    fake sound = {.bytes = bytes, .present = n, .most = SIZE_MAX};
    assert_int_equal(run_source(&sound, n, &error, &expected), WB_OK);
    for (size_t most = 1; most < n + 40; most += 37) {
        uint64_t digest = 0;
        fake slow = {.bytes = bytes, .present = n, .most = most};
        assert_int_equal(run_source(&slow, n, &error, &digest), WB_OK);
        assert_true(digest == expected);
        for (size_t k = 1; k <= slow.calls; k += most == 1 ? 7 : 1) {
            fake f = {.bytes = bytes, .present = n, .most = most, .fail_at = k};
            f.failure = failures[k % 3];
            assert_int_equal(run_source(&f, n, &error, &digest), f.failure);
        }
    }
    free(bytes);
}

static void sources_that_end_early(void **state)
{
    (void)state;
    size_t n;
    unsigned char *bytes = st_bytes(rich, sizeof rich - 1, rich_data, &n);
    for (size_t present = 0; present < n; present++) {
        uint64_t digest = 0;
        wb_error error;
        fake f = {.bytes = bytes, .present = present, .most = 100};
        wb_status status = run_source(&f, n, &error, &digest);
        assert_int_equal(status, WB_ERROR_IO);
        if (error.status == WB_OK) /* opening succeeded, and reading a tensor failed */
            continue;
        assert_string_equal(error.code, "file-ends-early");
        assert_string_equal(error.file, "a source");
        assert_int_equal(error.offset, present);
    }
    fake liar = {.bytes = bytes, .present = n, .lies = true};
    uint64_t digest = 0;
    wb_error error;
    assert_int_equal(run_source(&liar, n, &error, &digest), WB_ERROR_IO);
    free(bytes);
}

/* If a source declares more bytes than any memory can hold, the error must contain the offset at
 * which the real data ends. */
static void sources_that_promise_much(void **state)
{
    (void)state;
    size_t n;
    unsigned char *bytes = st_bytes(rich, sizeof rich - 1, rich_data, &n);
    fake f = {.bytes = bytes, .present = n, .most = SIZE_MAX};
    uint64_t digest = 0;
    wb_error error;
    assert_int_equal(run_source(&f, UINT64_MAX, &error, &digest), WB_ERROR_IO);
    assert_string_equal(error.code, "file-ends-early");
    assert_int_equal(error.offset, n);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_of_open),      cmocka_unit_test(allocations_of_verify),
        cmocka_unit_test(allocations_of_refusal),   cmocka_unit_test(allocations_of_stream),
        cmocka_unit_test(reads_that_fail),          cmocka_unit_test(sources_that_end_early),
        cmocka_unit_test(sources_that_promise_much)};
    make_files();
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove(folder);
    return failures;
}
