/*
 * Tests files on web servers that break rules or fail: wrong ranges, changed files, short bodies,
 * redirects, servers without ranges. Opening a model on such a server must give the right bytes or
 * the right error. Only the endpoint of the hub may receive the token. Memory use must be bounded.
 */
#include "web_server.h"

#include <stdatomic.h>

#include "weighbridge/net.h"

#define TENSOR                                                                                     \
    150000 /* size in bytes; large enough that the first request does not reach the second tensor */

static unsigned char *model_bytes;
static size_t model_size;
static unsigned other_port; /* port of a second server, to which to_other redirects */

/* ---- an allocator for several threads ---- */

static counter counts;
static pthread_mutex_t counts_lock = PTHREAD_MUTEX_INITIALIZER;

static void *locked_alloc(void *ctx, size_t bytes)
{
    pthread_mutex_lock(&counts_lock);
    void *memory = counter_alloc(ctx, bytes);
    pthread_mutex_unlock(&counts_lock);
    return memory;
}

static void locked_free(void *ctx, void *memory, size_t bytes)
{
    pthread_mutex_lock(&counts_lock);
    counter_free(ctx, memory, bytes);
    pthread_mutex_unlock(&counts_lock);
}

static const wb_allocator locked = {&counts, locked_alloc, locked_free};

/* ---- answers ---- */

#define ETAG "\"one\""

static void send_range(const web_request *r, uint64_t end)
{
    web_send(r->fd, r->file + r->first, (size_t)(end - r->first));
}

static void honest(const web_request *r)
{
    web_partial(r, ETAG, r->first, r->end, r->size, r->end - r->first);
    send_range(r, r->end);
}

static void no_ranges(const web_request *r)
{
    char *lines = text_of("Content-Length: %zu\r\n", r->size);
    web_header(r->fd, "200 OK", lines);
    web_send(r->fd, r->file, r->size);
    free(lines);
}

/* Sends at most the first 40,000 bytes of the requested range, and declares only these bytes in the
 * response. */
static void short_ranges(const web_request *r)
{
    uint64_t end = r->end - r->first > 40000 ? r->first + 40000 : r->end;
    web_partial(r, ETAG, r->first, end, r->size, end - r->first);
    send_range(r, end);
}

static void cut(const web_request *r)
{
    uint64_t end = r->end - r->first > 40000 ? r->first + 40000 : r->end;
    web_partial(r, ETAG, r->first, r->end, r->size, r->end - r->first);
    send_range(r, end);
}

static void always_empty(const web_request *r)
{
    web_partial(r, ETAG, r->first, r->end, r->size, r->end - r->first);
}

/* Sends 5,000 bytes more than the declared range has. */
static void too_long(const web_request *r)
{
    uint64_t end = r->end - r->first > 40000 ? r->first + 40000 : r->end;
    web_partial(r, ETAG, r->first, end, r->size, end - r->first + 5000);
    send_range(r, end);
    char junk[5000];
    memset(junk, 0x55, sizeof junk);
    web_send(r->fd, junk, sizeof junk);
}

static void shifted(const web_request *r)
{
    uint64_t first = r->first + (r->number > 0);
    web_partial(r, ETAG, first, r->end, r->size, r->end - first);
    send_range(r, r->end);
}

static void beyond(const web_request *r)
{
    web_partial(r, ETAG, r->first, r->size, r->size, r->size - r->first);
    send_range(r, r->size);
}

static void no_content_range(const web_request *r)
{
    web_header(r->fd, "206 Partial Content", "Content-Length: 10\r\n");
    send_range(r, r->first + 10);
}

static void other_size(const web_request *r)
{
    web_partial(r, ETAG, r->first, r->end, r->size + r->number, r->end - r->first);
    send_range(r, r->end);
}

static void other_etag(const web_request *r)
{
    web_partial(r, r->number == 0 ? ETAG : "\"two\"", r->first, r->end, r->size, r->end - r->first);
    send_range(r, r->end);
}

/* Pretends that the file was replaced after the first request: if a later request has the field
 * If-Range, the answer is the complete file. */
static void replaced(const web_request *r)
{
    if (r->number == 0)
        honest(r);
    else if (strstr(r->text, "If-Range: " ETAG) != NULL)
        no_ranges(r);
    else
        web_header(r->fd, "500 Internal Server Error", "");
}

static void gzip(const web_request *r)
{
    char *lines =
        text_of("Content-Encoding: gzip\r\nContent-Range: bytes %" PRIu64 "-%" PRIu64 "/%zu\r\n",
                r->first, r->end - 1, r->size);
    web_header(r->fd, "206 Partial Content", lines);
    send_range(r, r->end);
    free(lines);
}

static void unsatisfied(const web_request *r)
{
    web_header(r->fd, "416 Range Not Satisfiable",
               "Content-Range: bytes */5\r\nContent-Length: 0\r\n");
}

static void missing(const web_request *r)
{
    web_header(r->fd, "404 Not Found", "Content-Length: 0\r\n");
}

static void busy(const web_request *r)
{
    if (r->number % 2 == 0)
        web_header(r->fd, "503 Service Unavailable", "Retry-After: 0\r\nContent-Length: 0\r\n");
    else
        honest(r);
}

static void page(const web_request *r)
{
    static const char html[] = "<!DOCTYPE html><html><title>Sign in</title></html>";
    web_header(r->fd, "200 OK", "Content-Type: text/html\r\nContent-Length: 50\r\n");
    web_send(r->fd, html, 50);
}

static void not_http(const web_request *r)
{
    web_send(r->fd, "SSH-2.0-OpenSSH_9.2\r\n", 21);
}

static void endless_header(const web_request *r)
{
    char line[1024];
    memset(line, 'x', sizeof line);
    memcpy(line, "ETag: ", 6);
    memcpy(line + sizeof line - 2, "\r\n", 2);
    web_send(r->fd, "HTTP/1.1 206 Partial Content\r\n", 30);
    for (int i = 0; i < 10000; i++)
        web_send(r->fd, line, sizeof line);
}

/* Declares a file of 1 TiB with a safetensors header of 90 MB, and sends only 16 bytes. */
static void huge(const web_request *r)
{
    unsigned char begin[16] = {0};
    put_length(begin, 90000000);
    memcpy(begin + 8, "{\"a\":{\"d", 8);
    web_partial(r, ETAG, r->first, r->first + 102400, UINT64_C(1) << 40, 102400);
    web_send(r->fd, begin, r->first == 0 ? 16 : 0);
}

static void loop(const web_request *r)
{
    web_header(r->fd, "302 Found", "Location: /moved\r\nContent-Length: 0\r\n");
}

static void to_file(const web_request *r)
{
    web_header(r->fd, "302 Found", "Location: file:///etc/passwd\r\nContent-Length: 0\r\n");
}

static void to_http(const web_request *r)
{
    web_header(r->fd, "302 Found", "Location: http://example.org/x\r\nContent-Length: 0\r\n");
}

static void to_other(const web_request *r)
{
    char *lines =
        text_of("Location: http://127.0.0.1:%u/moved?x=1\r\nContent-Length: 0\r\n", other_port);
    web_header(r->fd, "302 Found", lines);
    free(lines);
}

/* Refuses every third request, as if a signed address had expired. */
static void expiring(const web_request *r)
{
    if (r->number % 3 == 2)
        web_header(r->fd, "403 Forbidden", "Content-Length: 0\r\n");
    else
        honest(r);
}

/* ---- one model ---- */

typedef struct result {
    wb_status status;
    wb_error error;
    uint64_t received;
} result;

/* Reads the last tensor, which is after the bytes of the first request, and compares its bytes. */
static wb_status read_last(const wb_model *model, wb_error *error)
{
    uint64_t index;
    unsigned char *bytes = malloc(TENSOR);
    wb_status status = WB_ERROR_NOT_FOUND;
    assert_non_null(bytes);
    if (wb_tensor_find(model, "last", SIZE_MAX, &index) == WB_OK)
        status = wb_tensor_read(model, index, NULL, WB_DTYPE_U8, bytes, TENSOR, error);
    if (status == WB_OK)
        assert_memory_equal(bytes, model_bytes + model_size - TENSOR, TENSOR);
    free(bytes);
    return status;
}

static result read_model(unsigned port, const char *endpoint)
{
    result r = {.status = WB_OK};
    wb_net *net = NULL;
    wb_model *model = NULL;
    wb_files files = WB_FILES_INIT;
    wb_net_stats stats = WB_NET_STATS_INIT;
    wb_open_options options = WB_OPEN_OPTIONS_INIT;
    const wb_net_options net_options = {.size = sizeof net_options,
                                        .retries = 1,
                                        .endpoint = endpoint,
                                        .token = "secret",
                                        .allocator = &locked};
    char *address = text_of("http://127.0.0.1:%u/m.safetensors", port);
    options.access = WB_ACCESS_READ;
    options.files = &files;
    options.allocator = &locked;
    r.status = wb_net_open(&net_options, &net, &r.error);
    if (r.status == WB_OK)
        r.status = wb_net_files(net, &files, &r.error);
    if (r.status == WB_OK)
        r.status = wb_open(address, &options, &model, &r.error);
    if (r.status == WB_OK)
        r.status = read_last(model, &r.error);
    if (net != NULL && wb_net_statistics(net, &stats, NULL) == WB_OK)
        r.received = stats.received;
    wb_close(model);
    wb_net_close(net);
    free(address);
    return r;
}

typedef struct scenario {
    const char *name;
    void (*answer)(const web_request *request);
    wb_status status;
    const char *code;  /* of the error */
    unsigned requests; /* maximum */
} scenario;

static const scenario scenarios[] = {
    {"honest", honest, WB_OK, NULL, 8},
    {"short ranges", short_ranges, WB_OK, NULL, 24},
    {"cut", cut, WB_OK, NULL, 24},
    {"too long", too_long, WB_OK, NULL, 24},
    {"busy", busy, WB_OK, NULL, 24},
    {"expiring", expiring, WB_OK, NULL, 24},
    {"no ranges", no_ranges, WB_ERROR_IO, "net-reply", 8},
    {"always empty", always_empty, WB_ERROR_IO, "net-connection", 8},
    {"shifted", shifted, WB_ERROR_IO, "net-reply", 8},
    {"beyond", beyond, WB_ERROR_IO, "net-reply", 8},
    {"no Content-Range", no_content_range, WB_ERROR_IO, "net-reply", 8},
    {"other size", other_size, WB_ERROR_FORMAT, "net-changed", 8},
    {"other ETag", other_etag, WB_ERROR_CHANGED, "net-changed", 8},
    {"replaced", replaced, WB_ERROR_CHANGED, "net-changed", 8},
    {"gzip", gzip, WB_ERROR_IO, "net-reply", 8},
    {"416", unsatisfied, WB_ERROR_IO, "net-reply", 8},
    {"404", missing, WB_ERROR_NOT_FOUND, "net-not-found", 8},
    {"not HTTP", not_http, WB_ERROR_IO, "net-reply", 8},
    {"endless header", endless_header, WB_ERROR_IO, NULL, 8},
    {"huge", huge, WB_ERROR_IO, "net-connection", 8},
    {"page", page, WB_ERROR_FORMAT, NULL, 8},
    {"loop", loop, WB_ERROR_IO, "net-redirect", 30},
    {"to a file", to_file, WB_ERROR_IO, "net-redirect", 8},
    {"to http", to_http, WB_ERROR_IO, "net-redirect", 8},
};

/* Returns false if this build or machine has no libcurl. */
static bool has_network(void)
{
    web_server server;
    web_start(&server, honest, model_bytes, model_size);
    result r = read_model(server.port, NULL);
    web_stop(&server);
    return r.status != WB_ERROR_UNSUPPORTED;
}

static void hostile_servers(void **state)
{
    (void)state;
    if (!has_network())
        skip();
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        const scenario *s = &scenarios[i];
        web_server server;
        counts = (counter){0};
        web_start(&server, s->answer, model_bytes, model_size);
        result r = read_model(server.port, NULL);
        web_stop(&server);
        if (r.status != s->status || (s->code != NULL && strcmp(r.error.code, s->code) != 0))
            fail_msg("%s: status %d, %s: %s\n", s->name, (int)r.status, r.error.code,
                     r.error.message);
        if (server.requests > s->requests)
            fail_msg("%s: %u requests\n", s->name, server.requests);
        if (counts.peak > ((size_t)20 << 20))
            fail_msg("%s: %zu bytes of memory\n", s->name, counts.peak);
        assert_false(server.saw_token);
        assert_clean(&counts);
    }
}

/* The endpoint of the hub must get the token. The server to which it redirects must not. */
static void tokens(void **state)
{
    web_server first, second;
    (void)state;
    if (!has_network())
        skip();
    web_start(&second, honest, model_bytes, model_size);
    other_port = second.port;
    web_start(&first, to_other, model_bytes, model_size);
    char *endpoint = text_of("http://127.0.0.1:%u", first.port);
    result r = read_model(first.port, endpoint);
    web_stop(&first);
    web_stop(&second);
    free(endpoint);
    if (r.status != WB_OK)
        fail_msg("%s\n", r.error.message);
    assert_true(first.saw_token);
    assert_false(second.saw_token);
    assert_true(second.requests >= 2);
}

/* Only the bytes of the first request and of the last tensor may be fetched. */
static void few_bytes(void **state)
{
    web_server server;
    (void)state;
    if (!has_network())
        skip();
    web_start(&server, honest, model_bytes, model_size);
    result r = read_model(server.port, NULL);
    web_stop(&server);
    assert_int_equal(r.status, WB_OK);
    assert_true(r.received <= 102400 + TENSOR);
}

/* Each allocation fails once. */
static void faults(void **state)
{
    web_server server;
    (void)state;
    if (!has_network())
        skip();
    web_start(&server, honest, model_bytes, model_size);
    bool failed = true;
    for (size_t i = 1; failed && i < 2000; i += is_slow() ? 7 : 1) {
        counts = (counter){.fail_at = i};
        result r = read_model(server.port, NULL);
        failed = counts.failed;
        if (r.status != WB_OK && r.status != WB_ERROR_MEMORY)
            fail_msg("allocation %zu: %s\n", i, r.error.message);
        assert_true(failed || r.status == WB_OK);
        assert_clean(&counts);
    }
    assert_false(failed);
    web_stop(&server);
}

/* ---- files of one wb_net ---- */

static wb_net *open_net(const wb_net_options *options, wb_files *files)
{
    wb_net *net;
    wb_error error;
    *files = (wb_files)WB_FILES_INIT;
    if (wb_net_open(options, &net, &error) != WB_OK || wb_net_files(net, files, &error) != WB_OK)
        fail_msg("%s\n", error.message);
    return net;
}

static const wb_net_options few_retries = {
    .size = sizeof few_retries, .retries = 1, .token = "secret", .allocator = &locked};

static wb_status read_bytes(const wb_source *source, uint64_t offset)
{
    unsigned char bytes[1000];
    size_t got = 0;
    wb_status status = source->read(source->ctx, offset, bytes, sizeof bytes, &got);
    if (status == WB_OK && (got == 0 || memcmp(bytes, model_bytes + offset, got) != 0))
        status = WB_ERROR_FORMAT;
    return status;
}

#define SHARED 8 /* number of files that both threads open; the first does not exist */

/* Number of requests for a file that was not passed to wb_files.expect before it was opened. */
static atomic_uint requests_alone;
static atomic_uint requests_shared;

static void slow(const web_request *r)
{
    usleep(20000);
    if (strstr(r->text, "GET /moved0 ") != NULL) {
        missing(r);
        return;
    }
    bool alone = strstr(r->text, "GET /moved-alone ") != NULL;
    atomic_fetch_add(alone ? &requests_alone : &requests_shared, 1);
    honest(r);
}

typedef struct reader {
    wb_files *files;
    pthread_barrier_t *barrier;
    char *paths[SHARED];
    char *alone;
    char failure[1024];
} reader;

static void open_shared(reader *r, const char *path, wb_status expected)
{
    wb_error error;
    int is_folder = 0;
    wb_source source = WB_SOURCE_INIT;
    wb_status status = r->files->open(r->files->ctx, path, &source, &is_folder, &error);
    if (status != expected)
        (void)snprintf(r->failure, sizeof r->failure, "%s: %s", path, error.message);
    else if (status == WB_OK && read_bytes(&source, 0) != WB_OK)
        (void)snprintf(r->failure, sizeof r->failure, "%s: wrong bytes", path);
}

static void *read_shared(void *ctx)
{
    reader *r = ctx;
    (void)pthread_barrier_wait(r->barrier);
    r->files->expect(r->files->ctx, (const char *const *)r->paths, SHARED);
    for (size_t i = 0; i < SHARED; i++)
        open_shared(r, r->paths[i], i == 0 ? WB_ERROR_NOT_FOUND : WB_OK);
    (void)pthread_barrier_wait(r->barrier);
    open_shared(r, r->alone, WB_OK);
    return NULL;
}

/* If two threads open the same file, it must be requested only once. */
static void two_threads(void **state)
{
    web_server server;
    wb_files files;
    pthread_t threads[2];
    pthread_barrier_t barrier;
    reader readers[2] = {{.files = &files, .barrier = &barrier},
                         {.files = &files, .barrier = &barrier}};
    (void)state;
    if (!has_network())
        skip();
    counts = (counter){0};
    web_start(&server, slow, model_bytes, model_size);
    wb_net *net = open_net(&few_retries, &files);
    assert_int_equal(pthread_barrier_init(&barrier, NULL, 2), 0);
    for (size_t t = 0; t < 2; t++) {
        for (unsigned i = 0; i < SHARED; i++)
            readers[t].paths[i] = text_of("http://127.0.0.1:%u/moved%u", server.port, i);
        readers[t].alone = text_of("http://127.0.0.1:%u/moved-alone", server.port);
        assert_int_equal(pthread_create(&threads[t], NULL, read_shared, &readers[t]), 0);
    }
    for (size_t t = 0; t < 2; t++)
        assert_int_equal(pthread_join(threads[t], NULL), 0);
    wb_net_close(net);
    web_stop(&server);
    for (size_t t = 0; t < 2; t++) {
        if (readers[t].failure[0] != '\0')
            fail_msg("thread %zu: %s\n", t, readers[t].failure);
        for (unsigned i = 0; i < SHARED; i++)
            free(readers[t].paths[i]);
        free(readers[t].alone);
    }
    assert_int_equal(pthread_barrier_destroy(&barrier), 0);
    assert_int_equal(atomic_load(&requests_shared), SHARED - 1);
    assert_int_equal(atomic_load(&requests_alone), 1);
    assert_clean(&counts);
}

static void no_size(const web_request *r)
{
    char *lines =
        text_of("Content-Range: bytes %" PRIu64 "-%" PRIu64 "/*\r\n", r->first, r->end - 1);
    web_header(r->fd, "206 Partial Content", lines);
    send_range(r, r->end);
    free(lines);
}

/* If the server does not state the size of a file, each attempt to open it must give the same
 * error. */
static void unknown_size(void **state)
{
    web_server server;
    wb_files files;
    wb_error error;
    (void)state;
    if (!has_network())
        skip();
    web_start(&server, no_size, model_bytes, model_size);
    wb_net *net = open_net(&few_retries, &files);
    char *path = text_of("http://127.0.0.1:%u/m.safetensors", server.port);
    for (unsigned i = 0; i < 2; i++) {
        wb_source source = WB_SOURCE_INIT;
        if (wb_net_source(net, path, &source, &error) != WB_ERROR_UNSUPPORTED)
            fail_msg("open %u: %s\n", i, error.message);
    }
    wb_net_close(net);
    web_stop(&server);
    free(path);
}

static void first_missing(const web_request *r)
{
    if (strstr(r->text, "GET /moved-missing ") != NULL) {
        missing(r);
        return;
    }
    usleep(300000);
    honest(r);
}

/* wb_files.expect gets two paths, and the first file does not exist. The other file must be fetched
 * nevertheless. */
static void announced(void **state)
{
    web_server server;
    wb_files files;
    wb_error error;
    wb_source source = WB_SOURCE_INIT;
    (void)state;
    if (!has_network())
        skip();
    web_start(&server, first_missing, model_bytes, model_size);
    wb_net *net = open_net(&few_retries, &files);
    char *absent = text_of("http://127.0.0.1:%u/moved-missing", server.port);
    char *path = text_of("http://127.0.0.1:%u/moved", server.port);
    const char *const paths[] = {absent, path};
    files.expect(files.ctx, paths, 2);
    assert_int_equal(wb_net_source(net, path, &source, &error), WB_OK);
    assert_int_equal(read_bytes(&source, 0), WB_OK);
    wb_net_close(net);
    web_stop(&server);
    assert_int_equal(server.requests, 2);
    free(absent);
    free(path);
}

static atomic_uint answered;

/* Redirects to /moved. The second response for /moved has only part of the range. The third refuses
 * the request, as if the address had expired. */
static void lapsing(const web_request *r)
{
    static unsigned contents;
    if (strstr(r->text, "GET /m.safetensors ") != NULL)
        web_header(r->fd, "302 Found", "Location: /moved\r\nContent-Length: 0\r\n");
    else if (++contents == 3)
        web_header(r->fd, "403 Forbidden", "Content-Length: 0\r\n");
    else if (contents == 2)
        short_ranges(r);
    else
        honest(r);
    atomic_fetch_add(&answered, 1);
}

/* Waits until the server has answered n requests, and the client has seen the last answer. */
static void await_answers(unsigned n)
{
    for (unsigned i = 0; i < 1000 && atomic_load(&answered) < n; i++)
        usleep(10000);
    usleep(100000);
}

/* After a redirect address has expired, a request asks for a new one. The reader that started this
 * request may return before the answer, because its own bytes have arrived. Nobody then processes
 * the answer, so other readers must not wait for it. */
static void abandoned_search(void **state)
{
    web_server server;
    wb_files files;
    wb_error error;
    wb_source source = WB_SOURCE_INIT;
    (void)state;
    if (!has_network())
        skip();
    web_start(&server, lapsing, model_bytes, model_size);
    wb_net *net = open_net(&few_retries, &files);
    char *path = text_of("http://127.0.0.1:%u/m.safetensors", server.port);
    assert_int_equal(wb_net_source(net, path, &source, &error), WB_OK);
    for (unsigned n = 3; n <= 5; n++) { /* short, refused, redirected */
        assert_int_equal(read_bytes(&source, 200000), WB_OK);
        await_answers(n);
    }
    assert_int_equal(read_bytes(&source, 280000), WB_OK);
    wb_net_close(net);
    web_stop(&server);
    free(path);
}

/* ---- messages ---- */

static void denied(const web_request *r)
{
    web_header(r->fd, "403 Forbidden", "Content-Length: 0\r\n");
}

/* If the server refuses a request, the message must name the source of the token only if the
 * request contained the token. */
static void token_in_messages(void **state)
{
    web_server server;
    (void)state;
    if (!has_network())
        skip();
    web_start(&server, denied, model_bytes, model_size);
    char *endpoint = text_of("http://127.0.0.1:%u", server.port);
    result other = read_model(server.port, NULL), own = read_model(server.port, endpoint);
    web_stop(&server);
    free(endpoint);
    if (strstr(other.error.message, "token: none") == NULL ||
        strstr(own.error.message, "token: wb_net_options.token") == NULL)
        fail_msg("%s\n%s\n", other.error.message, own.error.message);
}

static void copy_note(void *ctx, const char *message)
{
    (void)snprintf(ctx, 256, "%s", message);
}

/* If the endpoint is not the default one, a note must say that it receives the token. The note must
 * name the source of the token, but not the source of the endpoint. */
static void mirror_note(void **state)
{
    web_server server;
    wb_files files;
    wb_error error;
    char note[256] = "";
    wb_source source = WB_SOURCE_INIT;
    wb_net_options options = few_retries;
    (void)state;
    if (!has_network())
        skip();
    options.endpoint = "https://hub.invalid";
    options.note = copy_note;
    options.note_ctx = note;
    web_start(&server, honest, model_bytes, model_size);
    wb_net *net = open_net(&options, &files);
    char *path = text_of("http://127.0.0.1:%u/m.safetensors", server.port);
    assert_int_equal(wb_net_source(net, path, &source, &error), WB_OK);
    assert_string_equal(
        note, "the endpoint https://hub.invalid receives the access token in wb_net_options.token");
    wb_net_close(net);
    web_stop(&server);
    free(path);
}

/* ---- listings ---- */

static void endless_pages(const web_request *r)
{
    static const char xml[] = "<ListBucketResult><Contents><Key>m.gguf</Key></Contents>"
                              "<NextContinuationToken>t</NextContinuationToken></ListBucketResult>";
    char *lines = text_of("Content-Length: %zu\r\n", sizeof xml - 1);
    web_header(r->fd, "200 OK", lines);
    web_send(r->fd, xml, sizeof xml - 1);
    free(lines);
}

static wb_status ignore_name(void *ctx, const char *name)
{
    (void)ctx;
    (void)name;
    return WB_OK;
}

/* If the pages of an object listing do not end, the call must fail. The call must not return a part
 * of the list as if it were the whole list. */
static void listing_without_end(void **state)
{
    web_server server;
    wb_files files;
    wb_error error;
    (void)state;
    if (!has_network())
        skip();
    web_start(&server, endless_pages, model_bytes, model_size);
    char *endpoint = text_of("http://127.0.0.1:%u", server.port);
    setenv("AWS_ENDPOINT_URL", endpoint, 1);
    wb_net *net = open_net(&few_retries, &files);
    wb_status status = files.list(files.ctx, "s3://moved/", ignore_name, NULL, &error);
    wb_net_close(net);
    web_stop(&server);
    free(endpoint);
    if (status != WB_ERROR_LIMIT || strstr(error.message, "1,000 pages") == NULL)
        fail_msg("%d: %s\n", (int)status, error.message);
    assert_int_equal(server.requests, 1000);
}

/* Removes the environment variables that contain settings of the user or name a proxy, because they
 * would change the results of the tests. */
static void clear_environment(void)
{
    static const char *const names[] = {"HF_ENDPOINT",
                                        "HF_TOKEN",
                                        "HF_TOKEN_PATH",
                                        "HUGGING_FACE_HUB_TOKEN",
                                        "http_proxy",
                                        "HF_HUB_OFFLINE",
                                        "all_proxy",
                                        "TRANSFORMERS_OFFLINE",
                                        "ALL_PROXY",
                                        "HF_HUB_DISABLE_IMPLICIT_TOKEN",
                                        "HF_HUB_DOWNLOAD_TIMEOUT",
                                        "AWS_ACCESS_KEY_ID",
                                        "AWS_SECRET_ACCESS_KEY",
                                        "AWS_SESSION_TOKEN",
                                        "AWS_PROFILE",
                                        "AWS_REGION",
                                        "AWS_DEFAULT_REGION",
                                        "AWS_ENDPOINT_URL_S3"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unsetenv(names[i]);
    setenv("no_proxy", "*", 1);
    setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent", 1);
    setenv("AWS_CONFIG_FILE", "/nonexistent", 1);
}

static void make_model(void)
{
    char *header = text_of("{\"first\":{\"dtype\":\"U8\",\"shape\":[%d],\"data_offsets\":[0,%d]},"
                           "\"last\":{\"dtype\":\"U8\",\"shape\":[%d],\"data_offsets\":[%d,%d]}}  ",
                           TENSOR, TENSOR, TENSOR, TENSOR, 2 * TENSOR);
    uint64_t seed = 1;
    model_bytes = st_bytes(header, strlen(header), (size_t)2 * TENSOR, &model_size);
    for (size_t i = 8 + strlen(header); i < model_size; i++)
        model_bytes[i] = (unsigned char)next_random(&seed);
    free(header);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_servers),     cmocka_unit_test(tokens),
        cmocka_unit_test(few_bytes),           cmocka_unit_test(faults),
        cmocka_unit_test(two_threads),         cmocka_unit_test(unknown_size),
        cmocka_unit_test(announced),           cmocka_unit_test(abandoned_search),
        cmocka_unit_test(token_in_messages),   cmocka_unit_test(mirror_note),
        cmocka_unit_test(listing_without_end),
    };
    clear_environment();
    make_model();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(model_bytes);
    return failed;
}
