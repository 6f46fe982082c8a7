/*
 * Tests small valid files of every format, truncated at each offset and with each byte changed.
 * Reading from memory and from a source that gives few bytes per read must have the same result:
 * the same model, or an error with the same offset and message. Also tests each read of such a
 * source failing once.
 */
#include "model_digest.h"

#include <dirent.h>

/* ---- a source that gives few bytes per read and may fail ---- */

typedef struct source {
    const unsigned char *bytes;
    size_t n, most;
    size_t calls, /* number of calls so far */
        fail_at;  /* number of the call that fails, counted from 1; 0: none */
    wb_status failure;
    unsigned closed;
} source;

static wb_status give(void *ctx, uint64_t offset, void *dst, size_t n, size_t *got)
{
    source *s = ctx;
    if (++s->calls == s->fail_at)
        return s->failure;
    size_t left = offset < s->n ? s->n - (size_t)offset : 0;
    *got = n < s->most ? n : s->most;
    *got = *got < left ? *got : left;
    if (*got > 0)
        memcpy(dst, s->bytes + offset, *got);
    return WB_OK;
}

static void close_source(void *ctx)
{
    ((source *)ctx)->closed++;
}

static wb_status through_source(source *s, const char *label, wb_model **model, wb_error *error)
{
    wb_source described = {
        .size = sizeof described, .ctx = s, .bytes = s->n, .read = give, .close = close_source};
    wb_open_options options = {.size = sizeof options,
                               .flags = s->most % 2 ? WB_OPEN_COMPATIBLE : 0};
    return wb_open_source(&described, label, &options, model, error);
}

/* ---- one file ---- */

static bool is_refusal(wb_status status)
{
    return status == WB_ERROR_FORMAT || status == WB_ERROR_UNSUPPORTED || status == WB_ERROR_LIMIT;
}

/* Opens a file in memory and computes the digest of the model. */
static wb_status ask(const unsigned char *bytes, size_t n, const char *label, size_t most,
                     wb_error *error, uint64_t *digest)
{
    wb_model *model;
    wb_open_options options = {.size = sizeof options, .flags = most % 2 ? WB_OPEN_COMPATIBLE : 0};
    wb_status status = wb_open_memory(bytes, n, label, &options, &model, error);
    if (status == WB_OK) {
        wb_status read = whole_model(model, digest, error);
        if (read != WB_OK &&
            !is_refusal(read)) /* damage in compressed data is found only when it is read */
            fail_msg("%s: reading gives %s\n", label, wb_status_name(read));
        whole_mix(digest, &read, sizeof read);
    }
    wb_close(model);
    return status;
}

static void compare(const unsigned char *bytes, size_t n, const char *label, size_t most)
{
    wb_error error, other;
    uint64_t digest = 0, through = 0;
    wb_model *model;
    source s = {.bytes = bytes, .n = n, .most = most};
    wb_status status = ask(bytes, n, label, most, &error, &digest);
    wb_status second = through_source(&s, label, &model, &other);
    if (second != status)
        fail_msg("%s: %s in memory, %s through a source\n", label, wb_status_name(status),
                 wb_status_name(second));
    if (status != WB_OK) {
        assert_true(is_refusal(status));
        assert_null(model);
        assert_string_equal(error.code, other.code);
        assert_int_equal(error.offset, other.offset);
        assert_string_equal(error.message, other.message);
        assert_true(error.offset == WB_NO_OFFSET || error.offset <= n);
    } else {
        wb_status read = whole_model(model, &through, &other);
        whole_mix(&through, &read, sizeof read);
        assert_true(through == digest);
    }
    wb_close(model);
    assert_int_equal(s.closed, 1);
}

static void mutate(const char *path)
{
    static const unsigned char values[] = {0, 1, ' ', '/', '0', ':', '}', 0x7F, 0x80, 0xFF};
    const char *slash = strrchr(path, '/');
    size_t n;
    unsigned char *bytes = read_file(path, &n);
    compare(bytes, n, slash + 1, 41);
    for (size_t i = 0; i < n; i += is_slow() ? 7 : 1) {
        unsigned char *cut =
            malloc(i + 1); /* a copy, so that sanitizers detect reads past the end */
        assert_non_null(cut);
        memcpy(cut, bytes, i);
        compare(cut, i, slash + 1, 7 + i % 60);
        free(cut);
        unsigned char was = bytes[i];
        for (size_t v = 0; v < sizeof values + 2; v += is_slow() ? 5 : 1) {
            bytes[i] = v < sizeof values    ? values[v]
                       : v == sizeof values ? (unsigned char)(was ^ 1)
                                            : (unsigned char)(was + 2);
            compare(bytes, n, slash + 1, 7 + (i + v) % 60);
        }
        bytes[i] = was;
    }
    free(bytes);
}

/* Tests the mutations of the small files of a directory whose names begin with `begin`. */
static void mutate_folder(const char *folder, const char *begin)
{
    DIR *d = opendir(folder);
    assert_non_null(d);
    size_t count = 0;
    for (const struct dirent *entry; (entry = readdir(d)) != NULL;) {
        struct stat st;
        if (strncmp(entry->d_name, begin, strlen(begin)) != 0)
            continue;
        char *path = text_of("%s/%s", folder, entry->d_name);
        assert_int_equal(stat(path, &st), 0);
        if (st.st_size <= 400 && (!is_slow() || count % 5 == 0))
            mutate(path);
        count++;
        free(path);
    }
    closedir(d);
    assert_true(count > 5);
}

static void mutated_gguf(void **state)
{
    (void)state;
    mutate_folder(TEST_DATA "/bad/gguf", "ok_");
    mutate(TEST_DATA "/bad/gguf/be_v3.gguf");
    if (!is_slow())
        mutate(TEST_DATA "/bad/gguf/arr_nested.gguf");
}

static void mutated_npy(void **state)
{
    (void)state;
    mutate_folder(TEST_DATA "/bad/npy", "0_");
}

static void mutated_safetensors(void **state)
{
    (void)state;
    static const char header[] = "{\"__metadata__\":{\"a\":\"\\u00e9\",\"b\":\"\"},\"x\":{"
                                 "\"dtype\":\"F16\",\"shape\":[1,2],\"data_"
                                 "offsets\":[0,4]},\"y.w\":{\"shape\":[],\"data_offsets\":[4,5],"
                                 "\"dtype\":\"U8\",\"z\":[{}]},"
                                 "\"z\":[\"I8\",[0],[5,5]]}";
    char *folder = scratch_make();
    char *path = text_of("%s/x.safetensors", folder);
    st_write(path, header, 5);
    mutate(path);
    free(path);
    scratch_remove(folder);
}

/* ---- reads that fail ---- */

static void reads_that_fail(void **state)
{
    static const char *const paths[] = {"/npy/stored.npz",
                                        "/npy/deflated.npz",
                                        "/npy/i8.both.npy",
                                        "/npy/f4.npy",
                                        "/bad/gguf/be_v3.gguf",
                                        "/twins/llama.gguf",
                                        "/bad/npy/0_-_atnone_descriptor_64.npz",
                                        "/bad/npy/0_-_atnone_zip64.npz",
                                        "/golden/hub/gptq_v2.safetensors"};
    static const wb_status failures[] = {WB_ERROR_IO, WB_ERROR_MEMORY, WB_ERROR_CANCELLED};
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        char *path = text_of("%s%s", TEST_DATA, paths[i]);
        size_t n, calls = 1;
        unsigned char *bytes = read_file(path, &n);
        for (size_t most = 100; most != 0; most = most == 100 ? SIZE_MAX : 0) {
            uint64_t expected = 0;
            size_t step = is_slow() ? 1 + calls / 10 : 1 + calls / 200;
            for (size_t k = 0; k <= calls; k += k == 0 ? 1 : step) {
                source s = {.bytes = bytes, .n = n, .most = most, .fail_at = k};
                s.failure = failures[k % 3];
                wb_model *model;
                wb_error error;
                uint64_t digest = 0;
                wb_status status = through_source(&s, path, &model, &error);
                if (status == WB_ERROR_UNSUPPORTED) /* a compressed file, and zlib is missing */
                    break;
                if (status == WB_OK)
                    status = whole_model(model, k == 0 ? &expected : &digest, &error);
                wb_close(model);
                assert_int_equal(s.closed, 1);
                /* If this run made fewer than k reads, no read was made to fail. */
                if (k == 0)
                    calls = s.calls;
                else if (s.calls >= k && status != s.failure)
                    fail_msg("%s: read %zu of %zu, %s\n", path, k, calls, wb_status_name(status));
                assert_true(k != 0 || status == WB_OK);
            }
        }
        free(bytes);
        free(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mutated_gguf),
        cmocka_unit_test(mutated_npy),
        cmocka_unit_test(mutated_safetensors),
        cmocka_unit_test(reads_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
