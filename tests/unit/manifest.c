/*
 * Tests digest manifests. Damage must be reported per chunk, even if the model no longer opens.
 * Invalid manifests must be refused. Each allocation of wb_verify with a manifest fails once.
 */
#include "support.h"

#include "hash/hash.h"

#define MIB ((size_t)1 << 20)

/* Header of a model with 3.5 MiB for "a", 5 bytes for "b" and 20 bytes for "c". */
static const char header[] =
    "{\"a\":{\"dtype\":\"U8\",\"shape\":[3670016],\"data_offsets\":[0,3670016]},"
    "\"b\":{\"dtype\":\"I8\",\"shape\":[5],\"data_offsets\":[3670016,3670021]},"
    "\"c\":{\"dtype\":\"U8\",\"shape\":[20],\"data_offsets\":[3670021,3670041]}}";
#define DATA ((size_t)3670041)
#define BEGIN (sizeof header - 1 + 8)

static char *folder, *model_path, *manifest_path;
static unsigned char *whole;
static size_t whole_bytes;

static int put(void *ctx, const char *text, size_t n)
{
    return fwrite(text, 1, n, ctx) != n;
}

static void make_manifest(void)
{
    wb_model *model;
    wb_hashes *hashes;
    wb_hash_options options = {.size = sizeof options, .flags = WB_HASH_FILES | WB_HASH_CHUNKS};
    assert_int_equal(wb_open(model_path, NULL, &model, NULL), WB_OK);
    assert_int_equal(wb_hash_model(model, &options, &hashes, NULL), WB_OK);
    FILE *file = fopen(manifest_path, "wb");
    assert_non_null(file);
    assert_int_equal(wb_hash_manifest(hashes, put, file, NULL), WB_OK);
    assert_int_equal(fclose(file), 0);
    wb_hashes_free(hashes);
    options.flags = WB_HASH_FILES;
    assert_int_equal(wb_hash_model(model, &options, &hashes, NULL), WB_OK);
    assert_int_equal(wb_hash_manifest(hashes, put, NULL, NULL), WB_ERROR_ARGUMENT);
    wb_hashes_free(hashes);
    wb_close(model);
}

static void make(void)
{
    folder = scratch_make();
    model_path = text_of("%s/m.safetensors", folder);
    manifest_path = text_of("%s/manifest.json", folder);
    whole = st_bytes(header, sizeof header - 1, DATA, &whole_bytes);
    write_file(model_path, whole, whole_bytes);
    make_manifest();
}

static void drop(void)
{
    free(whole);
    free(model_path);
    free(manifest_path);
    scratch_remove(folder);
}

static wb_findings *verify(const counter *c, const wb_allocator *allocator, wb_status expected)
{
    wb_findings *findings;
    wb_error error;
    wb_open_options open = {.size = sizeof open, .allocator = allocator};
    wb_verify_options options = {.size = sizeof options, .open = &open, .manifest = manifest_path};
    wb_status status = wb_verify(model_path, &options, &findings, &error);
    /* The call may succeed although an allocation failed, because some allocations only speed up
     * reading. */
    if (c != NULL && c->failed && status == WB_OK)
        return findings;
    if (status != expected)
        fail_msg("%s: %s\n", wb_status_name(status), error.message);
    return findings;
}

/* Returns the findings about the manifest as text. Each line has the code, the offset and the
 * tensor, and also the message if the finding is about a range of bytes. */
static char *said(const wb_findings *findings)
{
    char *all = text_of("%s", "");
    for (uint64_t i = 0; i < wb_findings_count(findings); i++) {
        wb_finding f = {.size = sizeof f};
        assert_int_equal(wb_findings_at(findings, i, &f), WB_OK);
        if (strncmp(f.code, "manifest", 8) != 0)
            continue;
        char *longer = text_of("%s%s@%lld %s: %s\n", all, f.code,
                               f.offset == WB_NO_OFFSET ? -1 : (long long)f.offset, f.name,
                               strncmp(f.message, "bytes", 5) == 0 ? f.message : "");
        free(all);
        all = longer;
    }
    return all;
}

/* Verifies against the text of the manifest. */
static wb_status verify_text(size_t bytes, const wb_limits *limits, wb_findings **findings,
                             wb_error *error)
{
    size_t n;
    unsigned char *file = read_file(manifest_path, &n);
    char *text = malloc(n); /* without NUL, so that sanitizers see reads behind the end */
    assert_non_null(text);
    memcpy(text, file, n);
    wb_open_options open = {.size = sizeof open, .limits = limits};
    wb_verify_options options = {.size = sizeof options,
                                 .open = &open,
                                 .manifest_text = text,
                                 .manifest_bytes = bytes < n ? bytes : n};
    wb_status status = wb_verify(model_path, &options, findings, error);
    assert_memory_equal(text, file, n); /* it is not changed */
    free(text);
    free(file);
    return status;
}

static void expect(const char *expected, int verdict)
{
    wb_error error;
    wb_findings *findings = verify(NULL, NULL, WB_OK);
    char *text = said(findings);
    assert_string_equal(text, expected);
    assert_int_equal(wb_findings_verdict(findings), verdict);
    free(text);
    wb_findings_free(findings);
    assert_int_equal(verify_text(SIZE_MAX, NULL, &findings, &error), WB_OK);
    text = said(findings);
    assert_string_equal(text, expected);
    assert_int_equal(wb_findings_verdict(findings), verdict);
    free(text);
    wb_findings_free(findings);
}

static void flip(size_t at)
{
    unsigned char *copy = malloc(whole_bytes);
    assert_non_null(copy);
    memcpy(copy, whole, whole_bytes);
    copy[at] ^= 1;
    write_file(model_path, copy, whole_bytes);
    free(copy);
}

static void damage(void **state)
{
    (void)state;
    char *text;
    make();
    expect("", 0);
    flip(BEGIN);
    text = text_of("manifest-damage@%zu a: bytes %zu to %zu differ from the manifest\n", BEGIN,
                   BEGIN, BEGIN + MIB - 1);
    expect(text, 1);
    free(text);
    flip(BEGIN + 3 * MIB + 7); /* in the last chunk of "a" */
    text = text_of("manifest-damage@%zu a: bytes %zu to %zu differ from the manifest\n",
                   BEGIN + 3 * MIB, BEGIN + 3 * MIB, BEGIN + 3 * MIB + MIB / 2 - 1);
    expect(text, 1);
    free(text);
    flip(whole_bytes - 21); /* the last byte of "b" */
    text = text_of("manifest-damage@%zu b: bytes %zu to %zu differ from the manifest\n",
                   whole_bytes - 25, whole_bytes - 25, whole_bytes - 21);
    expect(text, 1);
    free(text);
    flip(8 + 3); /* in the header: damages the name "a" */
    text = text_of("manifest-damage@0 : bytes 0 to %zu, outside of all tensors, differ from the "
                   "manifest\n",
                   BEGIN - 1);
    expect(text, 2);
    free(text);
    write_file(model_path, whole, whole_bytes - 10);
    text = text_of("manifest-length@%zu : \n"
                   "manifest-damage@%zu c: bytes %zu to %zu differ from the manifest\n",
                   whole_bytes - 10, whole_bytes - 20, whole_bytes - 20, whole_bytes - 1);
    expect(text, 2);
    free(text);
    /* Adjacent damaged chunks of one tensor must be reported as one range. */
    unsigned char *zeros = calloc(1, whole_bytes);
    assert_non_null(zeros);
    memcpy(zeros, whole, BEGIN);
    write_file(model_path, zeros, whole_bytes);
    text = text_of("manifest-damage@%zu a: bytes %zu to %zu differ from the manifest\n"
                   "manifest-damage@%zu b: bytes %zu to %zu differ from the manifest\n"
                   "manifest-damage@%zu c: bytes %zu to %zu differ from the manifest\n",
                   BEGIN, BEGIN, whole_bytes - 26, whole_bytes - 25, whole_bytes - 25,
                   whole_bytes - 21, whole_bytes - 20, whole_bytes - 20, whole_bytes - 1);
    expect(text, 1);
    free(text);
    free(zeros);
    drop();
}

/* Tests invalid manifests, each with a different error. */
static void refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "[]",
        "{",
        "{}",
        "{\"weighbridge_manifest\":\"1\"}",
        "{\"weighbridge_manifest\":1}",
        "{\"weighbridge_manifest\":1,\"chunk_bytes\":65536,\"files\":[]}",
        "{\"weighbridge_manifest\":1,\"chunk_bytes\":1048576,\"files\":{}}",
        "{\"weighbridge_manifest\":1,\"chunk_bytes\":1048576,\"files\":[1]}",
        "{\"weighbridge_manifest\":1,\"chunk_bytes\":1048576,\"files\":[{}]}",
        "{\"weighbridge_manifest\":1,\"chunk_bytes\":1048576,\"files\":[{\"name\":\"..\","
        "\"bytes\":0,\"parts\":[]}]}",
        "{\"weighbridge_manifest\":1,\"chunk_bytes\":1048576,\"files\":[{\"name\":\"a\\u0000b\","
        "\"bytes\":0,\"parts\":[]}]}",
        "{\"weighbridge_manifest\":1,\"chunk_bytes\":1048576,\"files\":[{\"name\":\"x\","
        "\"bytes\":1,\"parts\":[]}]}",
        "{\"weighbridge_manifest\":1,\"chunk_bytes\":1048576,\"files\":[{\"name\":\"x\","
        "\"bytes\":1,\"parts\":[{\"bytes\":1,\"chunks\":[]}]}]}",
        "{\"weighbridge_manifest\":1,\"chunk_bytes\":1048576,\"files\":[{\"name\":\"x\","
        "\"bytes\":1,\"parts\":[{\"bytes\":1,\"chunks\":[\"ff\"]}]}]}",
        "{\"weighbridge_manifest\":1,\"chunk_bytes\":1048576,\"files\":[{\"name\":\"x\","
        "\"bytes\":0,\"parts\":[{\"bytes\":0,\"chunks\":[]}]}]}",
        "{\"weighbridge_manifest\":1,\"chunk_bytes\":1048576,\"files\":[{\"name\":\"x\","
        "\"bytes\":18446744073709551615,\"parts\":[{\"bytes\":18446744073709551615,"
        "\"chunks\":[7]}]}]}",
        "{\"weighbridge_manifest\":1,\"chunk_bytes\":1048576,\"files\":[{\"name\":\"x\","
        "\"bytes\":1,\"parts\":[{\"tensor\":3,\"bytes\":1,\"chunks\":[]}]}]}",
    };
    wb_findings *findings;
    wb_error error;
    make();
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        write_file(manifest_path, texts[i], strlen(texts[i]));
        assert_null(verify(NULL, NULL, WB_ERROR_FORMAT));
        assert_int_equal(verify_text(SIZE_MAX, NULL, &findings, &error), WB_ERROR_FORMAT);
    }
    /* A manifest in memory obeys the limit for JSON files, and may be cut anywhere. */
    make_manifest();
    wb_limits limits;
    wb_limits_default(&limits);
    limits.json_bytes = 100;
    assert_int_equal(verify_text(101, &limits, &findings, &error), WB_ERROR_LIMIT);
    for (size_t bytes = 0; bytes <= 100; bytes++)
        assert_int_equal(verify_text(bytes, &limits, &findings, &error), WB_ERROR_FORMAT);
    static const char later[] = "{\"weighbridge_manifest\":2}";
    write_file(manifest_path, later, sizeof later - 1);
    assert_null(verify(NULL, NULL, WB_ERROR_UNSUPPORTED));
    assert_int_equal(remove(manifest_path), 0);
    assert_null(verify(NULL, NULL, WB_ERROR_NOT_FOUND));
    drop();
}

static void memory_fails(void **state)
{
    (void)state;
    make();
    for (int broken = 0; broken < 2; broken++) {
        size_t calls = 1;
        if (broken) /* the model does not open */
            write_file(model_path, "x", 1);
        for (size_t at = 0; at <= calls; at += is_slow() ? 11 : 1) {
            counter c = {.fail_at = at};
            wb_allocator allocator = counter_allocator(&c);
            wb_findings *findings = verify(&c, &allocator, at == 0 ? WB_OK : WB_ERROR_MEMORY);
            if (findings != NULL) {
                char *text = said(findings);
                assert_int_equal(strlen(text) > 0, broken);
                free(text);
            }
            if (at == 0)
                calls = c.calls;
            wb_findings_free(findings);
            assert_clean(&c);
        }
    }
    drop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damage),
        cmocka_unit_test(refused),
        cmocka_unit_test(memory_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
