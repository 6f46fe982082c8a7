/*
 * Tests the parsers of what servers send: header fields, file listings in JSON (Hugging Face Hub),
 * XML (object stores) and HTML. Also tests the settings, which are read from environment variables
 * and files.
 */
#include "support.h"

#include "net/listing.h"
#include "net/response.h"
#include "net/retry.h"
#include "net/s3_list.h"
#include "net/settings.h"

static wb__context make_context(wb_error *error)
{
    wb__context context = {.allocator = wb__default_allocator, .file = ""};
    context.error = wb__error_reset(error, error);
    wb_limits_default(&context.limits);
    return context;
}

/* ---- header fields ---- */

static void put_lines(wb__response *response, const char *const *lines, size_t n)
{
    wb__response_init(response, &wb__default_allocator);
    for (size_t i = 0; i < n; i++)
        wb__response_line(response, lines[i], strlen(lines[i]));
}

static void fields(void **state)
{
    static const char *const lines[] = {"HTTP/1.1 100 Continue\r\n",
                                        "ETag: \"early\"\r\n",
                                        "\r\n",
                                        "HTTP/1.1 206 Partial\r\n",
                                        "content-LENGTH:  12 \r\n",
                                        "Etag: \"a\"\r\n",
                                        "ETag: \"b\"\r\n",
                                        "Link: <x>; rel=\"y\"\r\n",
                                        "Link: <z>; rel=next\r\n",
                                        "no colon\r\n",
                                        "X-Unknown: 1\r\n",
                                        "\r\n"};
    wb__response r;
    (void)state;
    put_lines(&r, lines, sizeof lines / sizeof lines[0]);
    assert_int_equal(r.status, 206);
    assert_string_equal(wb__response_get(&r, WB__FIELD_CONTENT_LENGTH), "12");
    assert_string_equal(wb__response_get(&r, WB__FIELD_ETAG), "\"a\"");
    assert_string_equal(wb__response_get(&r, WB__FIELD_LINK), "<x>; rel=\"y\", <z>; rel=next");
    assert_null(wb__response_get(&r, WB__FIELD_LOCATION));
    wb__response_free(&r);
}

static void too_many_fields(void **state)
{
    char line[2000];
    wb__response r;
    (void)state;
    memset(line, 'x', sizeof line);
    memcpy(line, "Link: <", 7);
    wb__response_init(&r, &wb__default_allocator);
    wb__response_line(&r, "HTTP/2 200", 10);
    for (unsigned i = 0; i < 1000; i++)
        wb__response_line(&r, line, sizeof line);
    assert_true(r.too_large);
    assert_true(r.capacity <= WB__RESPONSE_MAX);
    wb__response_free(&r);
}

static void ranges(void **state)
{
    uint64_t first, end, total;
    static const char *const bad[] = {"bytes 5-4/10",
                                      "bytes 0-10/10",
                                      "bytes 0-9",
                                      "0-9/10",
                                      "bytes -9/10",
                                      "bytes 0-9/10x",
                                      "bytes 0-9/",
                                      "bytes a-9/1",
                                      "bytes 0--9/1",
                                      "items 0-9/10",
                                      "bytes 0-99999999999999999999/1",
                                      "bytes */10"};
    (void)state;
    assert_true(wb__parse_content_range("bytes 2-9/10", &first, &end, &total));
    assert_true(first == 2 && end == 10 && total == 10);
    assert_true(wb__parse_content_range("Bytes 0-0/*", &first, &end, &total));
    assert_true(first == 0 && end == 1 && total == UINT64_MAX);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (wb__parse_content_range(bad[i], &first, &end, &total))
            fail_msg("%s is accepted\n", bad[i]);
    }
    assert_true(wb__parse_unsatisfied_range("bytes */0", &total) && total == 0);
    assert_false(wb__parse_unsatisfied_range("bytes 0-1/2", &total));
}

static void links(void **state)
{
    static const char *const rows[][2] = {{"<http://h/a>; rel=\"next\"", "http://h/a"},
                                          {"<a>; rel=prev, <b>; rel=next", "b"},
                                          {"<a,b>; title=\"x, y; rel=next\"; rel=\"NEXT\"", "a,b"},
                                          {"<a>; rel=\"xet-auth\"", ""},
                                          {"<a>;rel=next", "a"},
                                          {"<a", ""},
                                          {"a; rel=next", ""},
                                          {"", ""}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        wb__str found = wb__parse_link(rows[i][0], "next");
        if (!wb__str_equal(found, wb__str_from(rows[i][1], SIZE_MAX)))
            fail_msg("%s: %.*s\n", rows[i][0], (int)found.len, found.ptr);
    }
}

static uint64_t wait_of(const char *field, int64_t now)
{
    wb__response r;
    const char *const lines[] = {"HTTP/1.1 429 Slow", field};
    put_lines(&r, lines, 2);
    uint64_t wait = wb__response_wait(&r, now);
    wb__response_free(&r);
    return wait;
}

static void waits(void **state)
{
    int64_t seconds;
    (void)state;
    assert_int_equal(wait_of("RateLimit: \"resolvers\";r=0;t=55", 0), 56);
    assert_int_equal(wait_of("RateLimit: \"resolvers\";r=7;t=55", 0), UINT64_MAX);
    assert_int_equal(wait_of("Retry-After: 120", 0), 120);
    assert_int_equal(wait_of("Retry-After: soon", 0), UINT64_MAX);
    assert_int_equal(wait_of("X: y", 0), UINT64_MAX);
    assert_true(wb__parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT", &seconds));
    assert_int_equal(seconds, 784111777);
    assert_int_equal(wait_of("Retry-After: Sun, 06 Nov 1994 08:49:37 GMT", 784111770), 7);
    assert_int_equal(wait_of("Retry-After: Sun, 06 Nov 1994 08:49:37 GMT", 784111799), 0);
    assert_true(wb__parse_http_date("Thu, 29 Feb 2024 00:00:00 GMT", &seconds));
    assert_int_equal(seconds, 1709164800);
    assert_false(wb__parse_http_date("Sun, 06 Nov 1994 08:49:37 CET", &seconds));
    assert_false(wb__parse_http_date("Sun, 06 Foo 1994 08:49:37 GMT", &seconds));
}

static void back_off(void **state)
{
    (void)state;
    assert_int_equal(wb__retry_wait_ms(1, UINT64_MAX, 0), 500);
    assert_int_equal(wb__retry_wait_ms(3, UINT64_MAX, 0), 2000);
    assert_int_equal(wb__retry_wait_ms(60, UINT64_MAX, 0), 30000);
    for (uint64_t random = 0; random < 100; random++) {
        uint64_t wait = wb__retry_wait_ms(2, UINT64_MAX, random * 7919);
        assert_true(wait > 500 && wait <= 1000);
    }
    assert_int_equal(wb__retry_wait_ms(1, 7, 99), 7000);
    assert_int_equal(wb__retry_wait_ms(1, 301, 0), UINT64_MAX);
    assert_true(wb__status_passes(429) && wb__status_passes(503) && wb__status_passes(408));
    assert_false(wb__status_passes(404) || wb__status_passes(501) || wb__status_passes(206));
}

/* ---- listings of a hub ---- */

#define OID "0123456789abcdef0123456789abcdef01234567"
#define SHA OID "89abcdef0123456789abcdef"

static wb_status list(wb__listing *listing, wb_error *error, const char *page, bool cached)
{
    wb__context context = make_context(error);
    wb__listing_init(listing, &wb__default_allocator);
    wb_status status = cached ? wb__listing_add_cached(listing, &context, page, strlen(page))
                              : wb__listing_add_page(listing, &context, page, strlen(page));
    return status == WB_OK ? wb__listing_finish(listing, &context) : status;
}

static const char page[] =
    "[{\"type\":\"directory\",\"oid\":\"" OID "\",\"size\":0,\"path\":\"b\"},"
    "{\"type\":\"file\",\"oid\":\"" OID
    "\",\"size\":5,\"path\":\"b/c.json\",\"extra\":{\"a\":[1]},\"x\":\"\\u0041\"},"
    "{\"type\":\"file\",\"oid\":\"" OID "\",\"size\":130,\"path\":\"a.gguf\","
    "\"lfs\":{\"oid\":\"" SHA "\",\"size\":70000000000,\"pointerSize\":130},\"xetHash\":\"" SHA
    "\"}]";

static void listings(void **state)
{
    wb__listing listing, again;
    wb_error error;
    wb__buffer text = {.allocator = &wb__default_allocator, .ceiling = 4096};
    (void)state;
    assert_int_equal(list(&listing, &error, page, false), WB_OK);
    assert_int_equal(wb__listing_count(&listing), 2);
    const wb__repo_file *file = wb__listing_find(&listing, WB__STR("a.gguf"));
    assert_non_null(file);
    assert_true(file->size == 70000000000);
    assert_string_equal(wb__repo_file_blob(file), SHA);
    assert_string_equal(wb__repo_file_blob(wb__listing_at(&listing, 1)), OID);
    assert_true(wb__listing_has_folder(&listing, WB__STR("b")));
    assert_false(wb__listing_has_folder(&listing, WB__STR("a.gguf")));
    assert_null(wb__listing_find(&listing, WB__STR("b")));
    wb__listing_print(&listing, &text);
    wb__buffer_add(&text, "", 1);
    assert_string_equal(
        (const char *)text.bytes,
        "{\"format_version\":1,\"files\":{\"a.gguf\":{\"size\":70000000000,\"blob_id\":\"" OID
        "\",\"lfs_sha256\":\"" SHA "\",\"lfs_size\":70000000000,\"xet_hash\":\"" SHA
        "\"},\"b/c.json\":{\"size\":5,\"blob_id\":\"" OID "\"}}}");
    assert_int_equal(list(&again, &error, (const char *)text.bytes, true), WB_OK);
    assert_int_equal(wb__listing_count(&again), 2);
    assert_string_equal(wb__listing_at(&again, 0)->xet, SHA);
    wb__listing_free(&again);
    wb__listing_free(&listing);
    wb__buffer_free(&text);
}

static void bad_listings(void **state)
{
    static const struct row {
        const char *text, *code;
    } rows[] = {
        {"[{\"type\":\"file\",\"oid\":\"" OID "\",\"size\":5,\"path\":\"../x\"}]", "net-name"},
        {"[{\"type\":\"file\",\"oid\":\"" OID "\",\"size\":5,\"path\":\"/etc/x\"}]", "net-name"},
        {"[{\"type\":\"file\",\"oid\":\"" OID "\",\"size\":5,\"path\":\"a\\\\b\"}]", "net-name"},
        {"[{\"type\":\"file\",\"oid\":\"" OID "\",\"size\":5,\"path\":\"a\\u0000b\"}]", "net-name"},
        {"[{\"type\":\"file\",\"oid\":\"" OID "\",\"size\":5,\"path\":\"\"}]", "net-name"},
        {"[{\"type\":\"file\",\"oid\":\"" OID "\",\"size\":5,\"path\":\"C:x\"}]", "net-name"},
        {"[{\"type\":\"file\",\"oid\":\"" OID "\",\"size\":5,\"path\":\"a\"},"
         "{\"type\":\"file\",\"oid\":\"" OID "\",\"size\":5,\"path\":\"A\"}]",
         "net-name"},
        {"[{\"type\":\"file\",\"oid\":\"" OID "\",\"size\":5,\"path\":\"a\"},"
         "{\"type\":\"file\",\"oid\":\"" OID "\",\"size\":5,\"path\":\"a/b\"}]",
         "net-name"},
        {"[{\"type\":\"file\",\"oid\":\"../../x\",\"size\":5,\"path\":\"a\"}]", "net-reply"},
        {"[{\"type\":\"file\",\"oid\":\"" OID "\",\"path\":\"a\"}]", "net-reply"},
        {"[{\"type\":\"file\",\"oid\":\"" OID "\",\"size\":-1,\"path\":\"a\"}]", "net-reply"},
        {"[{\"type\":\"file\",\"oid\":\"" OID "\",\"size\":9999999999999999999,\"path\":\"a\"}]",
         "net-reply"},
        {"[{\"type\":\"file\",\"oid\":\"" OID "\",\"size\":5,\"path\":\"a\",\"lfs\":{\"oid\":\"" OID
         "\"}}]",
         "net-reply"},
        {"{\"error\":\"no\"}", "net-reply"},
        {"[1]", "net-reply"},
        {"[", "net-reply"},
        {"<html>", "net-reply"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        wb__listing listing;
        wb_error error;
        if (list(&listing, &error, rows[i].text, false) != WB_ERROR_FORMAT ||
            strcmp(error.code, rows[i].code) != 0)
            fail_msg("%s: %s: %s\n", rows[i].text, error.code, error.message);
        wb__listing_free(&listing);
    }
}

static void commits(void **state)
{
    wb_error error;
    wb__context context = make_context(&error);
    char commit[WB__HEX_COMMIT + 1], message[64];
    (void)state;
    static const char good[] = "{\"id\":\"o/n\",\"sha\":\"" OID "\",\"siblings\":[{\"a\":1}]}";
    assert_int_equal(wb__read_commit(&context, good, sizeof good - 1, commit), WB_OK);
    assert_string_equal(commit, OID);
    static const char *const bad[] = {"{}", "{\"sha\":\"../x\"}", "{\"sha\":null}", "[]",
                                      "{\"sha\":\"0123456789ABCDEF0123456789ABCDEF01234567\"}"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(wb__read_commit(&context, bad[i], strlen(bad[i]), commit),
                         WB_ERROR_FORMAT);
    static const char said[] = "{\"error\":\"no\\u001b[2J\"}";
    wb__read_error(&wb__default_allocator, said, sizeof said - 1, message, sizeof message);
    assert_string_equal(message, "no\\x1b[2J");
    wb__read_error(&wb__default_allocator, "<html>", 6, message, sizeof message);
    assert_string_equal(message, "");
}

static void listing_without_memory(void **state)
{
    counter c = {0};
    wb_allocator allocator = counter_allocator(&c);
    bool done = false;
    (void)state;
    for (size_t at = 1; !done; at++) {
        wb_error error;
        wb__listing listing;
        c = (counter){.fail_at = at};
        wb__context context = {.allocator = allocator, .file = ""};
        context.error = wb__error_reset(&error, &error);
        wb__listing_init(&listing, &allocator);
        wb_status status = wb__listing_add_page(&listing, &context, page, sizeof page - 1);
        if (status == WB_OK)
            status = wb__listing_finish(&listing, &context);
        done = !c.failed;
        assert_int_equal(status, done ? WB_OK : WB_ERROR_MEMORY);
        wb__listing_free(&listing);
        assert_clean(&c);
    }
}

/* ---- XML and pages of web servers ---- */

static wb_status collect(void *ctx, wb__str text)
{
    char *all = ctx;
    strncat(all, text.ptr, text.len);
    strcat(all, "|");
    return WB_OK;
}

static void xml(void **state)
{
    static const char document[] =
        "<?xml "
        "version=\"1.0\"?><ListBucketResult><Contents><Key>a&amp;b/x&#46;gguf</Key><Size>5</Size>"
        "</Contents><Contents><Key>c</Key></Contents><KeyCount>2</KeyCount>"
        "<NextContinuationToken>t&lt;&#x3E;&bad;</NextContinuationToken></ListBucketResult>";
    char all[256] = "";
    wb__buffer scratch = {.allocator = &wb__default_allocator, .ceiling = 4096};
    wb__str text = wb__str_from(document, sizeof document - 1);
    (void)state;
    assert_int_equal(wb__xml_each(text, "Key", &scratch, collect, all), WB_OK);
    assert_string_equal(all, "a&b/x.gguf|c|");
    scratch.n = 0;
    wb__xml_find(text, "NextContinuationToken", &scratch);
    assert_int_equal(scratch.n, 8);
    assert_memory_equal(scratch.bytes, "t<>&bad;", 8);
    scratch.n = 0;
    wb__xml_find(WB__STR("<Key"), "Key", &scratch);
    assert_int_equal(scratch.n, 0);
    wb__buffer_free(&scratch);
}

static void links_of_pages(void **state)
{
    static const char document[] =
        "<a href=\"../\">../</a><a href=\"model%20a.gguf\">x</a><a href=\"sub/\">sub/</a>"
        "<a href=\"?C=N;O=D\">N</a><a href=\"/abs\">a</a><a href=\"http://x/y\">y</a>"
        "<a href=\"./b.json\">b</a><a href=\"%2e%2e\">up</a><a href=\"a%2fb\">ab</a><a "
        "href=\"%00\">";
    char all[256] = "";
    wb__buffer scratch = {.allocator = &wb__default_allocator, .ceiling = 4096};
    (void)state;
    assert_int_equal(
        wb__html_each_link(wb__str_from(document, sizeof document - 1), &scratch, collect, all),
        WB_OK);
    assert_string_equal(all, "model a.gguf|sub/|b.json|");
    wb__buffer_free(&scratch);
}

/* A link that is longer than any valid name must be skipped. The links after it must be listed. */
static void long_links(void **state)
{
    static const char last[] = "\"><a href=\"%62.json\">";
    char all[2048] = "", expected[2048] = "";
    char *document = malloc(20000);
    wb__buffer scratch = {.allocator = &wb__default_allocator, .ceiling = 4096};
    (void)state;
    assert_non_null(document);
    strcpy(document, "<a href=\"");
    for (size_t i = 0; i < 255; i++) { /* the longest name */
        strcat(document, "%61");
        strcat(expected, "a");
    }
    strcat(document, "/\"><a href=\"");
    size_t n = strlen(document);
    memset(document + n, 'x', 10000);
    memcpy(document + n + 10000, last, sizeof last);
    assert_int_equal(wb__html_each_link(wb__str_from(document, SIZE_MAX), &scratch, collect, all),
                     WB_OK);
    strcat(expected, "/|b.json|");
    assert_string_equal(all, expected);
    wb__buffer_free(&scratch);
    free(document);
}

/* ---- settings ---- */

static const char *from_table(void *ctx, const char *name)
{
    const char *const *table = ctx;
    for (; table[0] != NULL; table += 2) {
        if (strcmp(table[0], name) == 0)
            return table[1];
    }
    return NULL;
}

static wb_status read_settings(wb__settings *settings, wb_error *error, const char *const *table)
{
    wb__context context = make_context(error);
    const wb__environment environment = {from_table, (void *)(uintptr_t)table};
    static wb_allocator allocator;
    allocator = wb__default_allocator;
    wb_status status = wb__settings_read(settings, &context, &environment, NULL, NULL);
    settings->arena.allocator = &allocator;
    return status;
}

static void variables(void **state)
{
    wb__settings s;
    wb_error error;
    (void)state;
    const char *const plain[] = {"HOME", "/home/u", NULL};
    assert_int_equal(read_settings(&s, &error, plain), WB_OK);
    assert_string_equal(s.endpoint_text, "https://huggingface.co");
    assert_string_equal(s.hub_cache, "/home/u/.cache/huggingface/hub");
    assert_true(s.is_default_endpoint && s.token == NULL && !s.offline);
    assert_int_equal(s.stall_timeout, 10);
    wb__settings_free(&s);

    const char *const set[] = {"HOME",
                               "/home/u",
                               "HF_ENDPOINT",
                               "http://localhost:80/hub//",
                               "HF_TOKEN",
                               "  hf_abc\n",
                               "HF_HOME",
                               "~/hf/$USER/${X}",
                               "USER",
                               "me",
                               "XDG_CACHE_HOME",
                               "/c",
                               "HF_HUB_OFFLINE",
                               "yes",
                               "HF_HUB_DOWNLOAD_TIMEOUT",
                               "2.5",
                               "SSL_CERT_FILE",
                               "~/ca.pem",
                               NULL};
    assert_int_equal(read_settings(&s, &error, set), WB_OK);
    assert_string_equal(s.endpoint_text, "http://localhost/hub");
    assert_string_equal(s.token, "hf_abc");
    assert_string_equal(s.token_source, "HF_TOKEN");
    assert_string_equal(s.hub_cache, "/home/u/hf/me/${X}/hub");
    assert_string_equal(s.ca_file, "/home/u/ca.pem");
    assert_int_equal(s.stall_timeout, 3);
    assert_true(s.offline);
    wb__settings_free(&s);

    const char *const base[] = {"XDG_CACHE_HOME", "/c", NULL};
    assert_int_equal(read_settings(&s, &error, base), WB_OK);
    assert_string_equal(s.hub_cache, "/c/huggingface/hub");
    wb__settings_free(&s);

    const char *const cache[] = {"HUGGINGFACE_HUB_CACHE", "/x/y", "XDG_CACHE_HOME", "/c", NULL};
    assert_int_equal(read_settings(&s, &error, cache), WB_OK);
    assert_string_equal(s.hub_cache, "/x/y");
    wb__settings_free(&s);
}

static void bad_variables(void **state)
{
    static const char *const rows[][2] = {
        {"HF_ENDPOINT", "ftp://x"},       {"HF_TOKEN", "hf_a b"},
        {"HF_TOKEN", "hf_a\r\nX: y"},     {"HF_HUB_DOWNLOAD_TIMEOUT", "soon"},
        {"HF_HUB_DOWNLOAD_TIMEOUT", "0"}, {"HF_ENDPOINT", "https://u:p@hub.org"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        wb__settings s;
        wb_error error;
        const char *const table[] = {rows[i][0], rows[i][1], NULL};
        if (read_settings(&s, &error, table) != WB_ERROR_ARGUMENT ||
            strstr(error.message, rows[i][0]) == NULL || strstr(error.message, "hf_a") != NULL)
            fail_msg("%s=%s: %s\n", rows[i][0], rows[i][1], error.message);
        wb__settings_free(&s);
    }
}

/* Tests the address of the hub. A '/' at its end must not matter. If an address is invalid, the
 * error must name the option or variable that contains it. */
static void endpoints(void **state)
{
    wb__settings s;
    wb_error error;
    const char *const hub[] = {"HF_ENDPOINT", "https://huggingface.co/", NULL};
    const char *const mirror[] = {"HF_ENDPOINT", "https://huggingface.co/hub", NULL};
    const wb__environment environment = {from_table, (void *)(uintptr_t)hub};
    (void)state;
    assert_int_equal(read_settings(&s, &error, hub), WB_OK);
    assert_true(s.is_default_endpoint);
    wb__settings_free(&s);
    assert_int_equal(read_settings(&s, &error, mirror), WB_OK);
    assert_false(s.is_default_endpoint);
    wb__settings_free(&s);
    wb__context context = make_context(&error);
    assert_int_equal(wb__settings_read(&s, &context, &environment, "ftp://x", NULL),
                     WB_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "wb_net_options.endpoint"));
    assert_null(strstr(error.message, "HF_ENDPOINT"));
    wb__settings_free(&s);
}

static void token_files(void **state)
{
    wb__settings s;
    wb_error error;
    char *folder = scratch_make();
    char *path = text_of("%s/token", folder);
    (void)state;
    write_file(path, "hf_file\n", 8);
    const char *const table[] = {"HF_HOME", folder, NULL};
    assert_int_equal(read_settings(&s, &error, table), WB_OK);
    assert_string_equal(s.token, "hf_file");
    assert_string_equal(s.token_source, path);
    wb__settings_free(&s);
    const char *const off[] = {"HF_HOME", folder, "HF_HUB_DISABLE_IMPLICIT_TOKEN", "1", NULL};
    assert_int_equal(read_settings(&s, &error, off), WB_OK);
    assert_null(s.token);
    wb__settings_free(&s);
    free(path);
    scratch_remove(folder);
}

static void aws_files(void **state)
{
    static const char credentials[] = "# comment\n[default]\naws_access_key_id = AK\n"
                                      "aws_secret_access_key=SK==\n\n[work]\naws_access_key_id=WK\n"
                                      "aws_secret_access_key = WS\naws_session_token = WT\n";
    static const char config[] = "[default]\nregion = eu-west-1\n[profile work]\nregion=us-west-2\n"
                                 "endpoint_url = http://127.0.0.1:9000\n";
    wb__settings s;
    wb_error error;
    char *folder = scratch_make();
    char *a = text_of("%s/credentials", folder), *b = text_of("%s/config", folder);
    (void)state;
    write_file(a, credentials, sizeof credentials - 1);
    write_file(b, config, sizeof config - 1);
    const char *const files[] = {"AWS_SHARED_CREDENTIALS_FILE", a, "AWS_CONFIG_FILE", b, NULL};
    const char *const work[] = {
        "AWS_SHARED_CREDENTIALS_FILE", a, "AWS_CONFIG_FILE", b, "AWS_PROFILE", "work", NULL};
    const char *const mixed[] = {"AWS_SHARED_CREDENTIALS_FILE",
                                 a,
                                 "AWS_CONFIG_FILE",
                                 b,
                                 "AWS_ACCESS_KEY_ID",
                                 "EK",
                                 "AWS_SECRET_ACCESS_KEY",
                                 "ES",
                                 "AWS_REGION",
                                 "r",
                                 NULL};
    const char *const home[] = {
        "HOME",         folder, "AWS_SHARED_CREDENTIALS_FILE", "~/credentials", "AWS_CONFIG_FILE",
        "$HOME/config", NULL};
    /* `known` sets the AWS key with environment variables, so the credentials file, which is too
     * large, must not be read. */
    char *large = text_of("%s/large", folder);
    char *bytes = calloc(1, 300000);
    assert_non_null(bytes);
    write_file(large, bytes, 300000);
    free(bytes);
    const char *const known[] = {"AWS_SHARED_CREDENTIALS_FILE",
                                 large,
                                 "AWS_CONFIG_FILE",
                                 b,
                                 "AWS_ACCESS_KEY_ID",
                                 "EK",
                                 "AWS_SECRET_ACCESS_KEY",
                                 "ES",
                                 NULL};
    const char *const half[] = {"AWS_ACCESS_KEY_ID", "EK", NULL};
    const struct row {
        const char *const *table;
        const char *key, *secret, *token, *region;
    } rows[] = {{files, "AK", "SK==", NULL, "eu-west-1"},
                {work, "WK", "WS", "WT", "us-west-2"},
                {mixed, "EK", "ES", NULL, "r"},
                {home, "AK", "SK==", NULL, "eu-west-1"},
                {known, "EK", "ES", NULL, "eu-west-1"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        wb__context context = make_context(&error);
        const wb__environment environment = {from_table, (void *)(uintptr_t)rows[i].table};
        assert_int_equal(read_settings(&s, &error, rows[i].table), WB_OK);
        assert_int_equal(wb__settings_read_aws(&s, &context, &environment), WB_OK);
        assert_string_equal(s.aws_key, rows[i].key);
        assert_string_equal(s.aws_secret, rows[i].secret);
        assert_string_equal(s.aws_region, rows[i].region);
        assert_int_equal(s.aws_token == NULL, rows[i].token == NULL);
        wb__settings_free(&s);
    }
    wb__context context = make_context(&error);
    const wb__environment environment = {from_table, (void *)(uintptr_t)half};
    assert_int_equal(read_settings(&s, &error, half), WB_OK);
    assert_int_equal(wb__settings_read_aws(&s, &context, &environment), WB_ERROR_ARGUMENT);
    wb__settings_free(&s);
    free(large);
    free(a);
    free(b);
    scratch_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields),      cmocka_unit_test(too_many_fields),
        cmocka_unit_test(ranges),      cmocka_unit_test(links),
        cmocka_unit_test(waits),       cmocka_unit_test(back_off),
        cmocka_unit_test(listings),    cmocka_unit_test(bad_listings),
        cmocka_unit_test(commits),     cmocka_unit_test(listing_without_memory),
        cmocka_unit_test(xml),         cmocka_unit_test(links_of_pages),
        cmocka_unit_test(long_links),  cmocka_unit_test(endpoints),
        cmocka_unit_test(variables),   cmocka_unit_test(bad_variables),
        cmocka_unit_test(token_files), cmocka_unit_test(aws_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
