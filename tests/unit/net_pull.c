/*
 * Tests the download of a repository from a server in this process: the checksum of the journal,
 * every failure of an allocation, a callback that cancels the download, invalid options, and
 * servers that list one thing and send another.
 */
#include "web_server.h"

#include "crypto/sha1.h"
#include "crypto/sha256.h"
#include "net/names.h"
#include "pull/piece_sum.h"
#include "pull/pull_partial.h"
#include "weighbridge/net.h"

#define COMMIT "0123456789abcdef0123456789abcdef01234567"
#define LARGE ((size_t)WB__PIECE + 1000)

static unsigned char *bytes;
static const char *lies; /* replaces the size of the large file in the listing */

/* ---- the checksum ---- */

static void sums(void **state)
{
    /* Python's package xxhash 3.6 computed these sums of the first n bytes of 131 * i + 7. */
    static const struct {
        size_t n;
        uint64_t sum;
    } rows[] = {{0, UINT64_C(0xef46db3751d8e999)},       {1, UINT64_C(0xa96c7f0ce858bbb7)},
                {3, UINT64_C(0xbed43740ee6332bb)},       {4, UINT64_C(0xfa212ae44b3bb23d)},
                {7, UINT64_C(0x2744460dd675d2c0)},       {8, UINT64_C(0x994b676b71ce94dd)},
                {15, UINT64_C(0x9e6451ed2ff8b1d)},       {31, UINT64_C(0x6711d55e306b5d8f)},
                {32, UINT64_C(0x7f7b8e3bc5d6e25)},       {33, UINT64_C(0x9f85eeb4e1cbe9f)},
                {63, UINT64_C(0xb7c9968c066cb6a5)},      {64, UINT64_C(0x50d4159a0411632e)},
                {100, UINT64_C(0x9ddada11d3dc2d8f)},     {4096, UINT64_C(0xcf05adf75aca30cf)},
                {1048575, UINT64_C(0x72aa7bf0b2e78e6d)}, {1048576, UINT64_C(0x1b13a8085220794b)}};
    unsigned char *text = malloc(1048576);
    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < 1048576; i++)
        text[i] = (unsigned char)(i * 131 + 7);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_true(wb__piece_sum_of(text, rows[i].n) == rows[i].sum);
        wb__piece_sum sum;
        wb__piece_sum_start(&sum);
        for (size_t at = 0, part = 1; at < rows[i].n; at += part, part = part * 3 % 101 + 1) {
            part = part < rows[i].n - at ? part : rows[i].n - at;
            wb__piece_sum_add(&sum, text + at, part);
        }
        assert_true(wb__piece_sum_finish(&sum) == rows[i].sum);
    }
    free(text);
}

/* ---- a hub with two files: small.txt and sub/large.safetensors ---- */

static char *sha256_of(const void *data, size_t n)
{
    wb_error error;
    wb__sha256 hash;
    uint8_t digest[WB__SHA256_BYTES];
    char *digits = calloc(1, 2 * WB__SHA256_BYTES + 1);
    wb__context context = {.file = "", .error = &error, .allocator = wb__default_allocator};
    assert_int_equal(wb__sha256_open(&hash, &context), WB_OK);
    wb__sha256_add(&hash, data, n);
    assert_true(wb__sha256_finish(&hash, digest));
    wb__sha256_close(&hash);
    wb__hex_encode(digest, sizeof digest, digits);
    return digits;
}

static char *git_id_of(const void *data, size_t n)
{
    wb__sha1 hash;
    uint8_t digest[WB__SHA1_BYTES];
    char *digits = calloc(1, 2 * WB__SHA1_BYTES + 1);
    wb__sha1_start_blob(&hash, n);
    wb__sha1_add(&hash, data, n);
    wb__sha1_finish(&hash, digest);
    wb__hex_encode(digest, sizeof digest, digits);
    return digits;
}

static void send_text(const web_request *r, const char *text)
{
    char *lines =
        text_of("Content-Length: %zu\r\nContent-Type: application/json\r\n", strlen(text));
    web_header(r->fd, "200 OK", lines);
    web_send(r->fd, text, strlen(text));
    free(lines);
}

static void send_listing(const web_request *r)
{
    char *sha256 = sha256_of(bytes, LARGE), *id = git_id_of(bytes, 100);
    char *size = text_of("%zu", LARGE);
    char *text =
        text_of("[{\"type\":\"file\",\"path\":\"small.txt\",\"size\":100,\"oid\":\"%s\"},"
                "{\"type\":\"file\",\"path\":\"sub/large.safetensors\",\"size\":%s,\"oid\":\"%s\","
                "\"lfs\":{\"oid\":\"%s\",\"size\":%s}}]",
                id, lies != NULL ? lies : size, id, sha256, lies != NULL ? lies : size);
    send_text(r, text);
    free(text);
    free(size);
    free(id);
    free(sha256);
}

static void hub(const web_request *r)
{
    web_request file = *r;
    if (strstr(r->text, "/revision/") != NULL) {
        send_text(r, "{\"sha\":\"" COMMIT "\"}");
        return;
    }
    if (strstr(r->text, "/tree/") != NULL) {
        send_listing(r);
        return;
    }
    file.size = strstr(r->text, "small.txt") != NULL ? 100 : LARGE;
    web_parse_range(&file);
    web_partial(&file, "\"one\"", file.first, file.end, file.size, file.end - file.first);
    web_send(file.fd, bytes + file.first, (size_t)(file.end - file.first));
}

/* ---- pulling ---- */

static counter counts;
static pthread_mutex_t counts_lock = PTHREAD_MUTEX_INITIALIZER;

static void *locked_alloc(void *ctx, size_t n)
{
    pthread_mutex_lock(&counts_lock);
    void *memory = counter_alloc(ctx, n);
    pthread_mutex_unlock(&counts_lock);
    return memory;
}

static void locked_free(void *ctx, void *memory, size_t n)
{
    pthread_mutex_lock(&counts_lock);
    counter_free(ctx, memory, n);
    pthread_mutex_unlock(&counts_lock);
}

static const wb_allocator locked = {&counts, locked_alloc, locked_free};

static bool has_network(void)
{
    wb_net *net;
    wb_source source = WB_SOURCE_INIT;
    wb_error error;
    assert_int_equal(wb_net_open(NULL, &net, &error), WB_OK);
    wb_status status = wb_net_source(net, "http://127.0.0.1:1/x", &source, &error);
    wb_net_close(net);
    return status != WB_ERROR_UNSUPPORTED;
}

static wb_status pull_all(const char *endpoint, const char *directory, const wb_progress *progress,
                          wb_error *error)
{
    wb_net *net;
    wb_pull *pull = NULL;
    wb_net_options net_options = WB_NET_OPTIONS_INIT;
    wb_pull_options options = WB_PULL_OPTIONS_INIT;
    net_options.allocator = &locked;
    net_options.endpoint = endpoint;
    net_options.retries = UINT32_MAX;
    options.directory = directory;
    wb_status status = wb_net_open(&net_options, &net, error);
    if (status != WB_OK)
        return status;
    status = wb_pull_open(net, "hf://o/n", &options, &pull, error);
    if (status == WB_OK)
        status = wb_pull_run(pull, progress, error);
    wb_pull_close(pull);
    wb_net_close(net);
    return status;
}

static void check_file(const char *folder, const char *name, size_t n)
{
    char *path = text_of("%s/%s", folder, name);
    size_t size;
    unsigned char *found = read_file(path, &size);
    assert_int_equal(size, n);
    assert_memory_equal(found, bytes, n);
    free(found);
    free(path);
}

static void check_files(const char *folder)
{
    check_file(folder, "small.txt", 100);
    check_file(folder, "sub/large.safetensors", LARGE);
}

/* Each allocation fails once, into the cache and into a folder. */
static void without_memory(bool into_cache)
{
    web_server server;
    wb_error error;
    if (!has_network())
        skip();
    web_start(&server, hub, bytes, LARGE);
    char *endpoint = text_of("http://127.0.0.1:%u/moved", server.port);
    bool failed = true;
    for (size_t i = 1; failed && i < 4000; i += is_slow() ? 11 : 1) {
        char *scratch = scratch_make();
        char *to = text_of("%s/to", scratch);
        char *snapshot = text_of("%s/models--o--n/snapshots/" COMMIT, to);
        setenv("HF_HUB_CACHE", to, 1);
        counts = (counter){.fail_at = i};
        wb_status status = pull_all(endpoint, into_cache ? NULL : to, NULL, &error);
        failed = counts.failed;
        if (status != WB_OK && status != WB_ERROR_MEMORY)
            fail_msg("allocation %zu: %s\n", i, error.message);
        assert_true(failed || status == WB_OK);
        assert_clean(&counts);
        if (status == WB_OK)
            check_files(into_cache ? snapshot : to);
        free(snapshot);
        free(to);
        scratch_remove(scratch);
    }
    assert_false(failed);
    free(endpoint);
    web_stop(&server);
}

static void cache_without_memory(void **state)
{
    (void)state;
    without_memory(true);
}

static void folder_without_memory(void **state)
{
    (void)state;
    without_memory(false);
}

/* ---- stopping ---- */

static int stop_late(void *ctx, uint64_t done, uint64_t total)
{
    uint64_t *most = ctx;
    assert_true(done <= total && total == LARGE + 100);
    *most = done > *most ? done : *most;
    return done > 100;
}

static void stopped(void **state)
{
    web_server server;
    wb_error error;
    uint64_t most = 0;
    wb_progress progress = {&most, stop_late};
    (void)state;
    if (!has_network())
        skip();
    counts = (counter){0};
    web_start(&server, hub, bytes, LARGE);
    char *endpoint = text_of("http://127.0.0.1:%u/moved", server.port);
    char *scratch = scratch_make();
    assert_int_equal(pull_all(endpoint, scratch, &progress, &error), WB_ERROR_CANCELLED);
    assert_true(most > 0);
    assert_int_equal(pull_all(endpoint, scratch, NULL, &error), WB_OK);
    check_files(scratch);
    scratch_remove(scratch);
    free(endpoint);
    web_stop(&server);
    assert_clean(&counts);
}

/* ---- contradictions and arguments ---- */

/* The listing states another size than the server of the file. Then the listing is not trusted any
 * more, and the next call succeeds. */
static void lying_sizes(void **state)
{
    static const char *const sizes[] = {"1048577", "2000000", "0", "9223372036854775806"};
    web_server server;
    wb_error error;
    (void)state;
    if (!has_network())
        skip();
    counts = (counter){0};
    web_start(&server, hub, bytes, LARGE);
    char *endpoint = text_of("http://127.0.0.1:%u/moved", server.port);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char *scratch = scratch_make();
        lies = sizes[i];
        wb_status status = pull_all(endpoint, scratch, NULL, &error);
        lies = NULL;
        if (status != WB_ERROR_FORMAT && !(i == 3 && status == WB_ERROR_IO))
            fail_msg("%s: %d %s\n", sizes[i], (int)status, error.message);
        char *name = text_of("%s/sub/large.safetensors", scratch);
        assert_int_equal(access(name, F_OK), -1);
        assert_int_equal(pull_all(endpoint, scratch, NULL, &error), WB_OK);
        check_files(scratch);
        free(name);
        scratch_remove(scratch);
    }
    free(endpoint);
    web_stop(&server);
    assert_clean(&counts);
}

static void arguments(void **state)
{
    wb_net *net;
    wb_pull *pull;
    wb_error error;
    wb_pull_options options = WB_PULL_OPTIONS_INIT;
    static const char *const addresses[] = {
        NULL, "", "x", "https://example.org/", "s3://b/", "hf://o", "hf://o/n/../x"};
    (void)state;
    assert_int_equal(wb_net_open(NULL, &net, &error), WB_OK);
    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
        assert_int_equal(wb_pull_open(net, addresses[i], NULL, &pull, &error), WB_ERROR_ARGUMENT);
        assert_null(pull);
        assert_true(error.message[0] != '\0');
    }
    assert_int_equal(wb_pull_open(net, "hf://o/n", NULL, NULL, &error), WB_ERROR_ARGUMENT);
    options.flags = 1u << 31;
    assert_int_equal(wb_pull_open(net, "hf://o/n", &options, &pull, &error), WB_ERROR_ARGUMENT);
    options.flags = 0;
    options.sha256 = "12";
    assert_int_equal(wb_pull_open(net, "https://example.org/x", &options, &pull, &error),
                     WB_ERROR_ARGUMENT);
    assert_int_equal(wb_pull_open(net, "hf://o/n", &options, &pull, &error), WB_ERROR_ARGUMENT);
    options.sha256 = NULL;
    options.include_count = 1;
    assert_int_equal(wb_pull_open(net, "hf://o/n", &options, &pull, &error), WB_ERROR_ARGUMENT);
    options.include_count = 0;
    options.directory = "";
    assert_int_equal(wb_pull_open(net, "hf://o/n", &options, &pull, &error), WB_ERROR_ARGUMENT);
    wb_pull_close(NULL);
    wb_net_close(net);
}

int main(void)
{
    static const char *const names[] = {
        "HF_ENDPOINT", "HF_TOKEN",  "HF_TOKEN_PATH", "HF_HUB_OFFLINE",
        "http_proxy",  "all_proxy", "ALL_PROXY",     "TRANSFORMERS_OFFLINE"};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums),
        cmocka_unit_test(cache_without_memory),
        cmocka_unit_test(folder_without_memory),
        cmocka_unit_test(stopped),
        cmocka_unit_test(lying_sizes),
        cmocka_unit_test(arguments),
    };
    uint64_t seed = 5;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unsetenv(names[i]);
    setenv("no_proxy", "*", 1);
    bytes = malloc(LARGE);
    assert_non_null(bytes);
    for (size_t i = 0; i < LARGE; i++)
        bytes[i] = (unsigned char)next_random(&seed);
    /* Compute a digest first, so that the library loads libcrypto before libcurl does. In the other
     * order, the loader of glibc leaks 40 bytes. */
    free(sha256_of(bytes, 1));
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(bytes);
    return failed;
}
