/*
 * Tests digests. SHA-256 must agree with the examples of the standard and between implementations.
 * Digests of values must be equal for the same model in different formats, and must agree with
 * their definition. Also tests each allocation failing once, progress reports, and threads.
 */
#include "executor.h"
#include "support.h"

#include "cpu/cpu.h"
#include "crypto/libcrypto.h"
#include "hash/hash.h"

static void hex(const uint8_t digest[WB_DIGEST_BYTES], char text[65])
{
    for (size_t i = 0; i < WB_DIGEST_BYTES; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", digest[i]);
}

/* ---- SHA-256 ---- */

static void digest_with(const wb__sha256_kernel *kernel, const void *bytes, size_t n, char text[65])
{
    uint8_t digest[WB_DIGEST_BYTES];
    wb__sha256_lane lane = {.kernel = kernel};
    size_t blocks = n / WB__SHA256_BLOCK;
    wb__sha256_lane_start(&lane);
    wb__sha256_lane_add(&lane, bytes, blocks);
    wb__sha256_lane_finish(&lane, (const uint8_t *)bytes + blocks * WB__SHA256_BLOCK,
                           n % WB__SHA256_BLOCK, digest);
    hex(digest, text);
}

/* Tests the examples of FIPS 180-4, and a million letters "a". */
static void standard(void **state)
{
    (void)state;
    static const struct {
        const char *text, *digest;
    } examples[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    const wb__sha256_kernel *kernels[] = {&wb__sha256_scalar, wb__sha256_x86(wb__cpu_features())};
    char text[65];
    size_t n = 1000000;
    char *many = malloc(n);
    assert_non_null(many);
    memset(many, 'a', n);
    for (size_t k = 0; k < 2; k++) {
        if (kernels[k] == NULL)
            continue;
        for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
            digest_with(kernels[k], examples[i].text, strlen(examples[i].text), text);
            assert_string_equal(text, examples[i].digest);
        }
        digest_with(kernels[k], many, n, text);
        assert_string_equal(text,
                            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
    free(many);
}

/* All implementations must give the same digests: for one message, for two in parallel, and with
 * libcrypto if it is installed. */
static void implementations(void **state)
{
    (void)state;
    enum { ROUNDS = 40, LONGEST = 40 };
    const wb__sha256_kernel *kernel = wb__sha256_x86(wb__cpu_features());
    uint64_t seed = 7;
    static uint8_t a[LONGEST * 64], b[LONGEST * 64];
    for (size_t i = 0; i < sizeof a; i++) {
        a[i] = (uint8_t)next_random(&seed);
        b[i] = (uint8_t)next_random(&seed);
    }
    for (int round = 0; round < ROUNDS && kernel != NULL; round++) {
        wb__sha256_state s[3], t[3];
        size_t n = (size_t)(next_random(&seed) % LONGEST);
        for (size_t i = 0; i < 8; i++) {
            s[0][i] = s[1][i] = s[2][i] = (uint32_t)next_random(&seed);
            t[0][i] = t[1][i] = t[2][i] = (uint32_t)next_random(&seed);
        }
        wb__sha256_scalar.two(s[0], a, t[0], b, n);
        kernel->two(s[1], a, t[1], b, n);
        kernel->one(s[2], a, n);
        kernel->one(t[2], b, n);
        assert_memory_equal(s[0], s[1], sizeof s[0]);
        assert_memory_equal(s[0], s[2], sizeof s[0]);
        assert_memory_equal(t[0], t[1], sizeof t[0]);
        assert_memory_equal(t[0], t[2], sizeof t[0]);
    }
    wb_error error;
    wb__context context = {
        .allocator = wb__default_allocator, .file = "", .error = wb__error_reset(NULL, &error)};
    wb__libcrypto_sha256 *library;
    assert_int_equal(wb__libcrypto_sha256_new(&context, &library), WB_OK);
    if (library == NULL)
        skip();
    for (int round = 0; round < ROUNDS; round++) {
        size_t n = (size_t)(next_random(&seed) % sizeof a);
        uint8_t digest[WB_DIGEST_BYTES];
        char expected[65], text[65];
        assert_true(wb__libcrypto_sha256_add(library, a, n) &&
                    wb__libcrypto_sha256_finish(library, digest));
        hex(digest, expected);
        digest_with(&wb__sha256_scalar, a, n, text);
        assert_string_equal(text, expected);
    }
    wb__libcrypto_sha256_free(library);
}

/* Hashes messages in pieces of random length. All messages use the same wb__sha256, one after the
 * other. */
static void pieces(void **state)
{
    (void)state;
    enum { LONGEST = 500 };
    uint8_t bytes[LONGEST], digest[WB_DIGEST_BYTES];
    uint64_t seed = 11;
    wb_error error;
    wb__context context = {
        .allocator = wb__default_allocator, .file = "", .error = wb__error_reset(NULL, &error)};
    wb__sha256 hash;
    assert_int_equal(wb__sha256_open(&hash, &context), WB_OK);
    for (int round = 0; round < 300; round++) {
        char expected[65], text[65];
        size_t n = (size_t)(next_random(&seed) % LONGEST);
        for (size_t i = 0; i < n; i++)
            bytes[i] = (uint8_t)next_random(&seed);
        for (size_t at = 0; at < n;) {
            size_t some = (size_t)(next_random(&seed) % 150);
            some = some < n - at ? some : n - at;
            wb__sha256_add(&hash, bytes + at, some);
            at += some;
        }
        assert_true(wb__sha256_finish(&hash, digest));
        hex(digest, text);
        digest_with(&wb__sha256_scalar, bytes, n, expected);
        assert_string_equal(text, expected);
    }
    wb__sha256_close(&hash);
}

/* ---- models ---- */

static wb_model *open_model(const char *path, const wb_allocator *allocator)
{
    wb_model *model;
    wb_error error;
    wb_open_options options = {
        .size = sizeof options, .access = WB_ACCESS_READ, .allocator = allocator};
    if (wb_open(path, &options, &model, &error) != WB_OK)
        fail_msg("%s: %s\n", path, error.message);
    return model;
}

static wb_hashes *hash(const wb_model *model, const wb_executor *executor, uint32_t flags)
{
    wb_hashes *hashes;
    wb_error error;
    wb_hash_options options = {.size = sizeof options, .flags = flags, .executor = executor};
    if (wb_hash_model(model, &options, &hashes, &error) != WB_OK)
        fail_msg("%s\n", error.message);
    return hashes;
}

static const char *const families[] = {"llama", "mistral", "mixtral", "qwen2", "qwen3", "qwen3moe",
                                       "gemma", "gemma2",  "gemma3",  "phi3",  "bert"};

/* Checks that both models have tensors with the same names and digests. Ignores tensors that do not
 * count for the model digest (`counts` is 0), because one format omits them. */
static void assert_same_tensors(const char *family, const wb_hashes *a, const wb_hashes *b)
{
    wb_tensor_hash x = {.size = sizeof x}, y = {.size = sizeof y};
    uint64_t i = 0, j = 0, same = 0;
    for (;; i++, j++) {
        while (wb_hash_tensor_at(a, i, &x) == WB_OK && !x.counts)
            i++;
        while (wb_hash_tensor_at(b, j, &y) == WB_OK && !y.counts)
            j++;
        bool more = wb_hash_tensor_at(a, i, &x) == WB_OK;
        if (more != (wb_hash_tensor_at(b, j, &y) == WB_OK))
            fail_msg("%s: not as many tensors\n", family);
        if (!more)
            break;
        if (x.name_len != y.name_len || memcmp(x.name, y.name, x.name_len) != 0 ||
            memcmp(x.digest, y.digest, sizeof x.digest) != 0)
            fail_msg("%s: %s and %s\n", family, x.name, y.name);
        same++;
    }
    assert_true(same > 10);
}

static void twins(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        char *path = text_of("%s/twins/%s", TEST_DATA, families[i]);
        char *file = text_of("%s.gguf", path);
        wb_model *a = open_model(path, NULL), *b = open_model(file, NULL);
        wb_hashes *x = hash(a, NULL, 0), *y = hash(b, NULL, WB_HASH_VALUES);
        uint8_t p[WB_DIGEST_BYTES], q[WB_DIGEST_BYTES];
        assert_same_tensors(families[i], x, y);
        assert_int_equal(wb_hash_values(x, p), WB_OK);
        assert_int_equal(wb_hash_values(y, q), WB_OK);
        assert_memory_equal(p, q, sizeof p);
        assert_int_equal(wb_hash_file(x, 0, p), WB_OK);
        assert_int_equal(wb_hash_file(x, wb_file_count(a), p), WB_ERROR_NOT_FOUND);
        assert_int_equal(wb_hash_file(y, 0, q), WB_ERROR_NOT_FOUND);
        wb_hashes_free(x);
        wb_hashes_free(y);
        wb_close(a);
        wb_close(b);
        free(path);
        free(file);
    }
}

/* Computes the digest of values by its definition: SHA-256 of rank, dimensions and values. */
static void by_hand(const float *values, size_t n, const uint64_t *shape, uint64_t rank,
                    char text[65])
{
    unsigned char bytes[512];
    assert_true(8 * (rank + 1) + 4 * n <= sizeof bytes);
    put_length(bytes, rank);
    for (size_t i = 0; i < rank; i++)
        put_length(bytes + 8 * (i + 1), shape[i]);
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        wb__store_le32(bytes + 8 * (rank + 1) + 4 * i, bits);
    }
    digest_with(&wb__sha256_scalar, bytes, (size_t)(8 * (rank + 1)) + 4 * n, text);
}

static const char odd[] = "{\"a\":{\"dtype\":\"BF16\",\"shape\":[2,3],\"data_offsets\":[0,12]},"
                          "\"b\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[12,16]},"
                          "\"c\":{\"dtype\":\"C64\",\"shape\":[1],\"data_offsets\":[16,24]},"
                          "\"d\":{\"dtype\":\"F4\",\"shape\":[2,2],\"data_offsets\":[24,26]},"
                          "\"e\":{\"dtype\":\"I64\",\"shape\":[0,7],\"data_offsets\":[26,26]},"
                          "\"f\":{\"dtype\":\"U8\",\"shape\":[6],\"data_offsets\":[26,32]}}";

/* All NaNs must give the same digest. A complex number must count as two values. */
static void odd_values(void **state)
{
    (void)state;
    static const uint8_t data[32] = {
        0xC0, 0xFF, 0x80, 0x7F, 0x80, 0x3F, 0x81, 0x7F, 0x00, 0x80, 0x80, 0xFF, 0, 0, 0xC0, 0x3F,
        0,    0,    0x80, 0x3F, 0,    0,    0x00, 0x40, 0x21, 0x43, 1,    2,    3, 4, 5,    250};
    uint32_t quiet = 0x7FC00000;
    float nan;
    memcpy(&nan, &quiet, sizeof nan);
    const float inf = 1.0f / 0.0f;
    const struct {
        const char *name;
        float values[6];
        size_t n;
        uint64_t shape[2], rank, nans, infinities;
    } expected[] = {
        {"a", {nan, inf, 1, nan, -0.0f, -inf}, 6, {2, 3}, 2, 2, 2},
        {"b", {1.5f}, 1, {0}, 0, 0, 0},
        {"c", {1, 2}, 2, {1}, 1, 0, 0},
        {"d", {0.5f, 1, 1.5f, 2}, 4, {2, 2}, 2, 0, 0},
        {"e", {0}, 0, {0, 7}, 2, 0, 0},
        {"f", {1, 2, 3, 4, 5, 250}, 6, {6}, 1, 0, 0},
    };
    size_t n;
    unsigned char *bytes = st_bytes(odd, sizeof odd - 1, sizeof data, &n);
    memcpy(bytes + 8 + sizeof odd - 1, data, sizeof data);
    wb_model *model;
    assert_int_equal(wb_open_memory(bytes, n, "odd", NULL, &model, NULL), WB_OK);
    wb_hashes *hashes = hash(model, NULL, WB_HASH_VALUES);
    assert_int_equal(wb_hash_tensor_count(hashes), 6);
    for (size_t i = 0; i < 6; i++) {
        char text[65], found[65];
        wb_tensor_hash h = {.size = sizeof h};
        assert_int_equal(wb_hash_tensor_at(hashes, i, &h), WB_OK);
        assert_string_equal(h.name, expected[i].name);
        by_hand(expected[i].values, expected[i].n, expected[i].shape, expected[i].rank, text);
        hex(h.digest, found);
        assert_string_equal(found, text);
        assert_int_equal(h.nan, expected[i].nans);
        assert_int_equal(h.infinite, expected[i].infinities);
    }
    wb_tensor_hash h = {.size = sizeof h};
    assert_int_equal(wb_hash_tensor_at(hashes, 6, &h), WB_ERROR_NOT_FOUND);
    h.size = 1;
    assert_int_equal(wb_hash_tensor_at(hashes, 0, &h), WB_ERROR_ARGUMENT);
    wb_hashes_free(hashes);
    wb_close(model);
    free(bytes);
}

/* Tests an attention head with permuted rows that is larger than the buffer of the reader. Reads of
 * any size must return the rows in the right order. */
static void large_heads(void **state)
{
    (void)state;
    if (is_slow())
        return;
    enum { ROWS = 1026, COLUMNS = 1025 }; /* one head of 1,051,650 values */
    wb__row_order order = {.head_rows = ROWS, .columns = COLUMNS};
    static const char header[] =
        "{\"blk.0.attn_q.weight\":{\"dtype\":\"F32\",\"shape\":[1026,1025],"
        "\"data_offsets\":[0,4206600]}}";
    size_t n;
    unsigned char *bytes = st_bytes(header, sizeof header - 1, (size_t)4 * ROWS * COLUMNS, &n);
    for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++) {
        float value = (float)i;
        memcpy(bytes + 8 + sizeof header - 1 + 4 * i, &value, sizeof value);
    }
    wb_model *model;
    wb_error error;
    assert_int_equal(wb_open_memory(bytes, n, "large", NULL, &model, &error), WB_OK);
    wb__context context = wb__context_of(model, wb__error_reset(NULL, &error));
    wb__comparables subjects;
    assert_int_equal(wb__comparables_make(&subjects, model, &context), WB_OK);
    assert_int_equal(subjects.count, 1);
    subjects.list[0].order = order;
    wb__reader reader = {0};
    assert_int_equal(wb__reader_open(&reader, model, &context, &subjects.list[0]), WB_OK);
    uint64_t seed = 3;
    static float got[70000];
    for (uint64_t at = 0; at < subjects.list[0].floats;) {
        size_t count = (size_t)(next_random(&seed) % 70000);
        if (count > subjects.list[0].floats - at)
            count = (size_t)(subjects.list[0].floats - at);
        assert_int_equal(wb__reader_read(&reader, at, count, got), WB_OK);
        for (size_t i = 0; i < count; i += 37) {
            uint64_t row = (at + i) / COLUMNS, column = (at + i) % COLUMNS;
            uint64_t stored = row < ROWS / 2 ? 2 * row : 2 * (row - ROWS / 2) + 1;
            assert_true(got[i] == (float)(stored * COLUMNS + column));
        }
        at += count;
    }
    wb__reader_close(&reader);
    wb__comparables_free(&subjects);
    wb_close(model);
    free(bytes);
}

/* ---- threads ---- */

static void any_number_of_threads(void **state)
{
    (void)state;
    wb_model *model = open_model(TEST_DATA "/twins/mixtral.gguf", NULL);
    wb_hashes *serial = hash(model, NULL, 0);
    for (size_t threads = 1; threads <= 8; threads *= 2) {
        wb_executor executor = crew_executor(&threads);
        wb_hashes *other = hash(model, &executor, 0);
        uint8_t p[WB_DIGEST_BYTES], q[WB_DIGEST_BYTES];
        assert_same_tensors("mixtral", serial, other);
        assert_true(wb_hash_values(serial, p) == WB_OK && wb_hash_values(other, q) == WB_OK);
        assert_memory_equal(p, q, sizeof p);
        assert_true(wb_hash_file(serial, 0, p) == WB_OK && wb_hash_file(other, 0, q) == WB_OK);
        assert_memory_equal(p, q, sizeof p);
        wb_hashes_free(other);
    }
    wb_hashes_free(serial);
    wb_close(model);
}

/* ---- progress ---- */

typedef struct watch {
    uint64_t done, total, calls, stop_at;
    bool wrong;
} watch;

static int watched(void *ctx, uint64_t done, uint64_t total)
{
    watch *w = ctx;
    w->wrong |= done < w->done || done > total || (w->total != 0 && total != w->total);
    w->done = done;
    w->total = total;
    return ++w->calls == w->stop_at;
}

static void progress(void **state)
{
    (void)state;
    wb_model *model = open_model(TEST_DATA "/twins/llama", NULL);
    watch w = {0};
    wb_progress report = {&w, watched};
    wb_hash_options options = {.size = sizeof options, .progress = &report};
    wb_hashes *hashes;
    wb_error error;
    assert_int_equal(wb_hash_model(model, &options, &hashes, &error), WB_OK);
    assert_true(w.calls > 2 && !w.wrong);
    wb_hashes_free(hashes);
    uint64_t calls = w.calls;
    for (uint64_t i = 1; i <= calls; i++) {
        w = (watch){.stop_at = i};
        assert_int_equal(wb_hash_model(model, &options, &hashes, &error), WB_ERROR_CANCELLED);
        assert_null(hashes);
        assert_int_equal(w.calls, i);
    }
    options.flags = 8;
    assert_int_equal(wb_hash_model(model, &options, &hashes, &error), WB_ERROR_ARGUMENT);
    options.flags = WB_HASH_CHUNKS;
    assert_int_equal(wb_hash_model(model, &options, &hashes, &error), WB_ERROR_ARGUMENT);
    options.size = 3;
    assert_int_equal(wb_hash_model(model, &options, &hashes, &error), WB_ERROR_ARGUMENT);
    wb_close(model);
}

/* ---- memory ---- */

static int drop(void *ctx, const char *text, size_t n)
{
    (void)text;
    *(size_t *)ctx += n;
    return 0;
}

static void memory_fails(void **state)
{
    (void)state;
    static const char *const paths[] = {TEST_DATA "/twins/qwen3moe", TEST_DATA "/twins/llama.gguf",
                                        TEST_DATA "/models/qwen3-4bit-3shards"};
    for (size_t p = 0; p < sizeof paths / sizeof paths[0]; p++) {
        size_t calls = 1;
        for (size_t at = 0; at <= calls; at += is_slow() ? 13 : 1) {
            counter c = {0};
            wb_allocator allocator = counter_allocator(&c);
            wb_model *model = open_model(paths[p], &allocator);
            wb_hash_options options = {.size = sizeof options,
                                       .flags = WB_HASH_FILES | WB_HASH_VALUES | WB_HASH_CHUNKS};
            wb_hashes *hashes;
            wb_error error;
            size_t written = 0;
            c.calls = 0;
            c.fail_at = at;
            wb_status status = wb_hash_model(model, &options, &hashes, &error);
            if (status == WB_OK)
                status = wb_hash_manifest(hashes, drop, &written, &error);
            if (at == 0) {
                assert_int_equal(status, WB_OK);
                assert_true(written > 1000);
                calls = c.calls;
            } else if (c.failed && status != WB_ERROR_IO) {
                assert_int_equal(status, WB_ERROR_MEMORY);
                assert_null(hashes);
            }
            wb_hashes_free(hashes);
            wb_close(model);
            assert_clean(&c);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(standard),
        cmocka_unit_test(implementations),
        cmocka_unit_test(pieces),
        cmocka_unit_test(twins),
        cmocka_unit_test(odd_values),
        cmocka_unit_test(large_heads),
        cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(progress),
        cmocka_unit_test(memory_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
