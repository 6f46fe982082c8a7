/*
 * Tests wb_diff_models: every kind of difference, tied output embeddings, the order of the result,
 * the same result with any number of threads, each allocation failing once, and progress reports.
 */
#include "executor.h"
#include "support.h"

#include <math.h>

#include "diff/diff.h"

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

static wb_diff *compare(const wb_model *a, const wb_model *b, uint32_t kinds,
                        const wb_executor *executor)
{
    wb_diff *diff;
    wb_error error;
    wb_diff_options options = {.size = sizeof options, .kinds = kinds, .executor = executor};
    if (wb_diff_models(a, b, &options, &diff, &error) != WB_OK)
        fail_msg("%s\n", error.message);
    return diff;
}

/* ---- sums ---- */

static void sums(void **state)
{
    (void)state;
    enum { N = 1003 };
    static float a[N], b[N];
    uint64_t seed = 9;
    double aa = 0, bb = 0, ab = 0, dd = 0, most = 0;
    for (size_t i = 0; i < N; i++) {
        a[i] = (float)((double)(next_random(&seed) % 20001) / 10000 - 1);
        b[i] = i % 3 == 0 ? a[i] : a[i] + (float)((double)(next_random(&seed) % 1001) / 50000);
        double d = (double)b[i] - (double)a[i];
        aa += (double)a[i] * (double)a[i];
        bb += (double)b[i] * (double)b[i];
        ab += (double)a[i] * (double)b[i];
        dd += d * d;
        most = fabs(d) > most ? fabs(d) : most;
    }
    for (size_t cut = 0; cut <= N; cut += 251) {
        wb__sums first = {0}, second = {0};
        wb__sums_add(&first, a, b, cut);
        wb__sums_add(&second, a + cut, b + cut, N - cut);
        wb__sums_join(&first, &second);
        wb_distance d = wb__sums_distance(&first);
        assert_int_equal(d.values, N);
        assert_true(fabs(d.nmse - dd / aa) < 1e-12 * d.nmse);
        assert_true(fabs(d.cosine - ab / sqrt(aa * bb)) < 1e-12);
        assert_true(fabs(d.snr + 10 * log10(dd / aa)) < 1e-9);
        assert_true(d.maximum == most);
    }
}

static void odd_sums(void **state)
{
    (void)state;
    const float inf = 1.0f / 0.0f, nan = inf - inf;
    const float a[] = {nan, nan, inf, inf, 1, 0.0f, 3}, b[] = {-nan, 1, inf, -inf, 1, -0.0f, nan};
    wb__sums s = {0};
    wb__sums_add(&s, a, b, 7);
    wb_distance d = wb__sums_distance(&s);
    assert_int_equal(d.values, 7);
    assert_int_equal(d.not_finite, 3);
    assert_int_equal(d.different, 4);
    assert_true(d.nmse == 0 && d.maximum == 0 && d.cosine == 1 && isinf(d.snr) && d.snr > 0);
    const float zero[2] = {0, 0}, one[2] = {1, 0};
    s = (wb__sums){0};
    wb__sums_add(&s, zero, one, 2);
    d = wb__sums_distance(&s);
    assert_true(isinf(d.nmse) && d.cosine == 0 && isinf(d.snr) && d.snr < 0);
    s = (wb__sums){0};
    wb__sums_add(&s, one, zero, 2);
    d = wb__sums_distance(&s);
    assert_true(d.nmse == 1 && d.cosine == 0 && d.snr == 0);
    s = (wb__sums){0};
    d = wb__sums_distance(&s);
    assert_true(d.values == 0 && d.nmse == 0 && d.cosine == 1);
}

/* ---- models ---- */

static const char *const families[] = {"llama", "mistral", "mixtral", "qwen2", "qwen3", "qwen3moe",
                                       "gemma", "gemma2",  "gemma3",  "phi3",  "bert"};

static void twins(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        char *path = text_of("%s/twins/%s", TEST_DATA, families[i]);
        char *file = text_of("%s.gguf", path);
        wb_model *a = open_model(path, NULL), *b = open_model(file, NULL);
        wb_diff *diff = compare(a, b, 0, NULL);
        wb_distance total;
        wb_diff_distance(diff, &total);
        assert_true(total.values > 1000 && total.different == 0);
        /* The encodings differ (F16 and F32), and so do the metadata entries that declare the
         * encodings. */
        assert_int_equal(wb_diff_kinds(diff) & ~(WB_DIFF_METADATA | WB_DIFF_ENCODINGS), 0);
        for (uint32_t field = 0; field < WB_CONFIG_FIELDS; field++)
            assert_false(wb_diff_config(diff, field));
        wb_diff_free(diff);
        diff =
            compare(b, a, WB_DIFF_VALUES | WB_DIFF_NAMES | WB_DIFF_SHAPES | WB_DIFF_CONFIG, NULL);
        assert_int_equal(wb_diff_kinds(diff), 0);
        wb_diff_free(diff);
        diff = compare(a, a, 0, NULL);
        assert_int_equal(wb_diff_kinds(diff), 0);
        assert_int_equal(wb_diff_meta_count(diff), 0);
        wb_diff_free(diff);
        wb_close(a);
        wb_close(b);
        free(path);
        free(file);
    }
}

/* If one model stores the output tensor and the other ties it to the embedding, the output tensor
 * must be compared with the embedding. */
static void tied(void **state)
{
    (void)state;
    char *folder = scratch_make();
    static const char *const configs[] = {
        "{\"model_type\":\"llama\",\"tie_word_embeddings\":true}",
        "{\"model_type\":\"llama\",\"tie_word_embeddings\":false}"};
    static const char *const headers[] = {
        "{\"model.embed_tokens.weight\":{\"dtype\":\"U8\",\"shape\":[2,3],\"data_offsets\":[0,6]}}",
        "{\"model.embed_tokens.weight\":{\"dtype\":\"U8\",\"shape\":[2,3],\"data_offsets\":[0,6]},"
        "\"lm_head.weight\":{\"dtype\":\"U8\",\"shape\":[2,3],\"data_offsets\":[6,12]}}"};
    wb_model *models[2];
    for (int i = 0; i < 2; i++) {
        char *sub = text_of("%s/%d", folder, i);
        char *config = text_of("%s/config.json", sub), *file = text_of("%s/model.safetensors", sub);
        size_t n;
        assert_int_equal(mkdir(sub, 0700), 0);
        write_file(config, configs[i], strlen(configs[i]));
        unsigned char *bytes = st_bytes(headers[i], strlen(headers[i]), i == 0 ? 6 : 12, &n);
        if (i == 1)
            memcpy(bytes + n - 6, bytes + n - 12, 6);
        write_file(file, bytes, n);
        models[i] = open_model(sub, NULL);
        free(bytes);
        free(sub);
        free(config);
        free(file);
    }
    for (int i = 0; i < 2; i++) {
        wb_diff *diff = compare(models[i], models[1 - i], WB_DIFF_NAMES | WB_DIFF_VALUES, NULL);
        assert_int_equal(wb_diff_kinds(diff), 0);
        assert_int_equal(wb_diff_tensor_count(diff), 2);
        wb_tensor_diff t = {.size = sizeof t};
        assert_int_equal(wb_diff_tensor_at(diff, 0, &t), WB_OK);
        assert_string_equal(t.name, "output.weight");
        assert_true(t.compared && t.a != UINT64_MAX && t.b != UINT64_MAX);
        assert_int_equal(t.distance.values, 6);
        assert_int_equal(wb_diff_tensor_at(diff, 2, &t), WB_ERROR_NOT_FOUND);
        t.size = 0;
        assert_int_equal(wb_diff_tensor_at(diff, 0, &t), WB_ERROR_ARGUMENT);
        wb_diff_free(diff);
    }
    wb_hashes *hashes[2];
    uint8_t digests[2][WB_DIGEST_BYTES];
    for (int i = 0; i < 2; i++) { /* an output equal to the embedding must not change the digest */
        assert_int_equal(wb_hash_model(models[i], NULL, &hashes[i], NULL), WB_OK);
        assert_int_equal(wb_hash_values(hashes[i], digests[i]), WB_OK);
        wb_hashes_free(hashes[i]);
        wb_close(models[i]);
    }
    assert_memory_equal(digests[0], digests[1], WB_DIGEST_BYTES);
    scratch_remove(folder);
}

/* ---- threads ---- */

/* Makes a file with two tensors of pseudo-random values. The first is so large that the library
 * compares it in several segments. */
static unsigned char *large_file(size_t *n, uint64_t seed)
{
    static const char header[] =
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[1500,1024],\"data_offsets\":[0,6144000]},"
        "\"b\":{\"dtype\":\"F32\",\"shape\":[33],\"data_offsets\":[6144000,6144132]}}";
    unsigned char *bytes = st_bytes(header, sizeof header - 1, 6144132, n);
    for (size_t i = 0; i < 6144132 / 4; i++) {
        float value = (float)(next_random(&seed) % 1000003) / 1000003.0f;
        memcpy(bytes + *n - 6144132 + 4 * i, &value, sizeof value);
    }
    return bytes;
}

static void any_number_of_threads(void **state)
{
    (void)state;
    if (is_slow())
        return;
    size_t n;
    unsigned char *x = large_file(&n, 1), *y = large_file(&n, 2);
    wb_model *a, *b;
    assert_int_equal(wb_open_memory(x, n, "x", NULL, &a, NULL), WB_OK);
    assert_int_equal(wb_open_memory(y, n, "y", NULL, &b, NULL), WB_OK);
    wb_diff *serial = compare(a, b, 0, NULL);
    assert_int_equal(wb_diff_kinds(serial), WB_DIFF_VALUES);
    for (size_t threads = 1; threads <= 8; threads *= 2) {
        wb_executor executor = crew_executor(&threads);
        wb_diff *other = compare(a, b, 0, &executor);
        wb_distance d, e;
        for (uint64_t i = 0; i < 2; i++) {
            wb_tensor_diff t = {.size = sizeof t}, u = {.size = sizeof u};
            assert_int_equal(wb_diff_tensor_at(serial, i, &t), WB_OK);
            assert_int_equal(wb_diff_tensor_at(other, i, &u), WB_OK);
            assert_string_equal(t.name, u.name);
            assert_memory_equal(&t.distance, &u.distance, sizeof t.distance);
        }
        wb_diff_distance(serial, &d);
        wb_diff_distance(other, &e);
        assert_memory_equal(&d, &e, sizeof d);
        wb_diff_free(other);
    }
    wb_diff_free(serial);
    wb_close(a);
    wb_close(b);
    free(x);
    free(y);
}

/* ---- progress, memory ---- */

typedef struct watch {
    uint64_t calls, stop_at;
} watch;

static int watched(void *ctx, uint64_t done, uint64_t total)
{
    watch *w = ctx;
    assert_true(done <= total);
    return ++w->calls == w->stop_at;
}

static void progress(void **state)
{
    (void)state;
    wb_model *a = open_model(TEST_DATA "/twins/llama", NULL);
    wb_model *b = open_model(TEST_DATA "/twins/llama.gguf", NULL);
    watch w = {0};
    wb_progress report = {&w, watched};
    wb_diff_options options = {.size = sizeof options, .progress = &report};
    wb_diff *diff;
    wb_error error;
    assert_int_equal(wb_diff_models(a, b, &options, &diff, &error), WB_OK);
    assert_true(w.calls > 10);
    wb_diff_free(diff);
    w = (watch){.stop_at = 5};
    assert_int_equal(wb_diff_models(a, b, &options, &diff, &error), WB_ERROR_CANCELLED);
    assert_null(diff);
    assert_int_equal(w.calls, 5);
    options.kinds = 64;
    assert_int_equal(wb_diff_models(a, b, &options, &diff, &error), WB_ERROR_ARGUMENT);
    options.size--;
    assert_int_equal(wb_diff_models(a, b, &options, &diff, &error), WB_ERROR_ARGUMENT);
    wb_close(a);
    wb_close(b);
}

static void memory_fails(void **state)
{
    (void)state;
    static const char *const paths[][2] = {
        {TEST_DATA "/twins/qwen3moe", TEST_DATA "/twins/qwen3moe.gguf"},
        {TEST_DATA "/twins/llama", TEST_DATA "/models/llama-tied-float16-4bit"}};
    for (size_t p = 0; p < 2; p++) {
        size_t calls = 1;
        for (size_t at = 0; at <= calls; at += is_slow() ? 29 : 1) {
            counter c = {0};
            wb_allocator allocator = counter_allocator(&c);
            wb_model *a = open_model(paths[p][0], &allocator);
            wb_model *b = open_model(paths[p][1], &allocator);
            wb_diff *diff;
            wb_error error;
            c.calls = 0;
            c.fail_at = at;
            wb_status status = wb_diff_models(a, b, NULL, &diff, &error);
            if (at == 0) {
                assert_int_equal(status, WB_OK);
                calls = c.calls;
            } else if (c.failed) {
                assert_int_equal(status, WB_ERROR_MEMORY);
                assert_null(diff);
            }
            wb_diff_free(diff);
            wb_close(a);
            wb_close(b);
            assert_clean(&c);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums),         cmocka_unit_test(odd_sums),
        cmocka_unit_test(twins),        cmocka_unit_test(tied),
        cmocka_unit_test(progress),     cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(memory_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
