/* Tests the parsing of URLs, addresses and names from servers, and the rules about tokens and http.
 */
#include "support.h"

#include "net/address.h"
#include "net/names.h"
#include "net/trust.h"
#include "net/url.h"

/* ---- URLs ---- */

static void canonical(void **state)
{
    static const char *const pairs[][2] = {
        {"HTTP://Example.ORG", "http://example.org/"},
        {"https://example.org:443/a?b=c#d", "https://example.org/a?b=c"},
        {"http://example.org:80/", "http://example.org/"},
        {"http://example.org:8080", "http://example.org:8080/"},
        {"https://[2001:DB8::1]:8443/x", "https://[2001:db8::1]:8443/x"},
        {"http://h/a/../b/./c/", "http://h/b/c/"},
        {"http://h/../../x", "http://h/x"},
        {"http://h/a/..", "http://h/"},
        {"http://h/a b\xC3\xA9", "http://h/a%20b%C3%A9"},
        {"http://h/%2e%2e/x", "http://h/%2e%2e/x"},
        {"http://h?q", "http://h/?q"},
        {"http://h:/x", "http://h/x"},
        {"http://h//a//b", "http://h//a//b"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        wb__url url, again;
        assert_null(
            wb__url_parse(&url, &wb__default_allocator, wb__str_from(pairs[i][0], SIZE_MAX)));
        assert_string_equal(url.text, pairs[i][1]);
        assert_null(wb__url_parse(&again, &wb__default_allocator, (wb__str){url.text, url.len}));
        assert_string_equal(again.text, url.text);
        wb__url_free(&url);
        wb__url_free(&again);
    }
}

static void refused_urls(void **state)
{
    static const char *const urls[] = {
        "ftp://h/",        "file:///etc/passwd",   "h/x",           "http://",
        "http:///x",       "http://user@h/",       "http://u:p@h/", "http://h:0/",
        "http://h:65536/", "http://h:80a/",        "http://h:-1/",  "http://h\r\nX: y/",
        "http://h/\n",     "http://-h/",           "http://h h/",   "http://[::1/",
        "http://[zz]/",    "http://\xC3\xA9.org/", "http://[::1]x/"};
    wb__url url;
    (void)state;
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        if (wb__url_parse(&url, &wb__default_allocator, wb__str_from(urls[i], SIZE_MAX)) == NULL)
            fail_msg("%s is accepted\n", urls[i]);
        wb__url_free(&url);
    }
    assert_non_null(wb__url_parse(&url, &wb__default_allocator, WB__STR("http://h/a\0b")));
    wb__url_free(&url);
    char *long_one = malloc(WB__URL_MAX + 2);
    memset(long_one, 'a', WB__URL_MAX + 1);
    memcpy(long_one, "http://h/", 9);
    assert_non_null(
        wb__url_parse(&url, &wb__default_allocator, (wb__str){long_one, WB__URL_MAX + 1}));
    wb__url_free(&url);
    free(long_one);
}

static void relative(void **state)
{
    /* The examples of RFC 3986, section 5.4.1, that can occur in a Location field. */
    static const char *const pairs[][2] = {
        {"g", "http://a/b/c/g"},       {"./g", "http://a/b/c/g"}, {"g/", "http://a/b/c/g/"},
        {"/g", "http://a/g"},          {"//g", "http://g/"},      {"?y", "http://a/b/c/d;p?y"},
        {"g?y", "http://a/b/c/g?y"},   {"", "http://a/b/c/d;p"},  {".", "http://a/b/c/"},
        {"..", "http://a/b/"},         {"../g", "http://a/b/g"},  {"../../../g", "http://a/g"},
        {"https://x/y", "https://x/y"}};
    wb__url base, url;
    (void)state;
    assert_null(wb__url_parse(&base, &wb__default_allocator, WB__STR("http://a/b/c/d;p?q")));
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        assert_null(wb__url_resolve(&url, &base, wb__str_from(pairs[i][0], SIZE_MAX)));
        assert_string_equal(url.text, pairs[i][1]);
        wb__url_free(&url);
    }
    assert_non_null(wb__url_resolve(&url, &base, WB__STR("javascript:alert(1)")));
    wb__url_free(&url);
    wb__url_free(&base);
}

static void out_of_memory(void **state)
{
    counter c = {0};
    wb_allocator allocator = counter_allocator(&c);
    bool done = false;
    (void)state;
    for (size_t at = 1; !done; at++) {
        wb__url base, url = {0}, copy = {0};
        c = (counter){.fail_at = at};
        const char *fault = wb__url_parse(&base, &allocator, WB__STR("http://h/a"));
        if (fault == NULL)
            fault = wb__url_resolve(&url, &base, WB__STR("b/c"));
        bool copied = fault != NULL || wb__url_copy(&copy, &url);
        assert_true(fault == NULL || fault == wb__url_memory);
        done = !c.failed;
        assert_int_equal(fault == NULL && copied, done);
        wb__url_free(&base);
        wb__url_free(&url);
        wb__url_free(&copy);
        assert_clean(&c);
    }
}

/* ---- who may see a token ---- */

static void make_settings(wb__settings *settings, const char *endpoint)
{
    memset(settings, 0, sizeof *settings);
    settings->token = "hf_secret";
    assert_null(wb__url_parse(&settings->endpoint, &wb__default_allocator,
                              wb__str_from(endpoint, SIZE_MAX)));
}

static void tokens(void **state)
{
    static const struct row {
        const char *endpoint, *url;
        bool token, allowed;
    } rows[] = {
        {"https://hub.org", "https://hub.org/api", true, true},
        {"https://hub.org", "https://HUB.org:443/x", true, true},
        {"https://hub.org", "http://hub.org/x", false, false},
        {"https://hub.org", "https://hub.org:8443/x", false, true},
        {"https://hub.org", "https://hub.org.evil.org/x", false, true},
        {"https://hub.org", "https://cdn.hub.org/x", false, true},
        {"https://hub.org", "https://evil.org/hub.org", false, true},
        {"http://mirror.org", "http://mirror.org/x", true, true},
        {"http://mirror.org", "http://mirror.org:81/x", false, true},
        {"http://mirror.org", "http://other.org/x", false, false},
        {"http://127.0.0.1:80", "http://127.0.0.1/x", true, true},
        {"https://hub.org", "http://127.0.0.1:9/x", false, true},
        {"https://hub.org", "http://localhost/x", false, true},
        {"https://hub.org", "http://[::1]/x", false, true},
        {"https://hub.org", "http://a.localhost/x", false, true},
        {"https://hub.org", "http://127.0.0.1.evil.org/x", false, false},
        {"https://hub.org", "http://localhost.evil.org/x", false, false},
        {"https://hub.org", "http://127.1/x", false, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        wb__settings settings;
        wb__url url;
        make_settings(&settings, rows[i].endpoint);
        assert_null(
            wb__url_parse(&url, &wb__default_allocator, wb__str_from(rows[i].url, SIZE_MAX)));
        if (wb__trust_token(&settings, &url) != rows[i].token ||
            wb__trust_scheme(&settings, &url, false) != rows[i].allowed)
            fail_msg("%s, endpoint %s\n", rows[i].url, rows[i].endpoint);
        assert_true(wb__trust_scheme(&settings, &url, true));
        wb__url_free(&url);
        wb__url_free(&settings.endpoint);
    }
}

static void redirects(void **state)
{
    static const struct row {
        const char *from, *location;
        bool follows;
    } rows[] = {
        {"https://hub.org/a", "https://cdn.org/b", true},
        {"https://hub.org/a", "/b", true},
        {"https://hub.org/a", "http://hub.org/b", false},
        {"https://hub.org/a", "http://127.0.0.1/b", false},
        {"https://hub.org/a", "file:///etc/passwd", false},
        {"http://127.0.0.1/a", "http://127.0.0.1:99/b", true},
        {"http://127.0.0.1/a", "http://evil.org/b", false},
        {"http://127.0.0.1/a", "https://cdn.org/b", true},
    };
    wb__settings settings;
    (void)state;
    make_settings(&settings, "https://hub.org");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        wb__url from, target;
        assert_null(
            wb__url_parse(&from, &wb__default_allocator, wb__str_from(rows[i].from, SIZE_MAX)));
        const char *fault = wb__trust_redirect(&settings, &from, rows[i].location, false, &target);
        if ((fault == NULL) != rows[i].follows)
            fail_msg("%s to %s\n", rows[i].from, rows[i].location);
        wb__url_free(&target);
        wb__url_free(&from);
    }
    wb__url_free(&settings.endpoint);
}

/* ---- addresses ---- */

static void addresses(void **state)
{
    static const struct row {
        const char *text, *repo, *revision, *path;
        int type;
    } rows[] = {
        {"hf://o/n", "o/n", "main", "", WB__REPO_MODEL},
        {"hf://o/n/", "o/n", "main", "", WB__REPO_MODEL},
        {"HF://o/n@v1.0/a/b.gguf", "o/n", "v1.0", "a/b.gguf", WB__REPO_MODEL},
        {"hf://models/o/n", "o/n", "main", "", WB__REPO_MODEL},
        {"hf://models/n", "models/n", "main", "", WB__REPO_MODEL},
        {"hf://datasets/o/n@x", "o/n", "x", "", WB__REPO_DATASET},
        {"hf://spaces/o/n/f", "o/n", "main", "f", WB__REPO_SPACE},
        {"hf://o/n@refs/pr/12/x.json", "o/n", "refs/pr/12", "x.json", WB__REPO_MODEL},
        {"hf://o/n@refs/convert/parquet", "o/n", "refs/convert/parquet", "", WB__REPO_MODEL},
        {"hf://o/n@feature%2Fa/x", "o/n", "feature/a", "x", WB__REPO_MODEL},
        {"hf://o/n.gguf@0123456789012345678901234567890123456789", "o/n.gguf",
         "0123456789012345678901234567890123456789", "", WB__REPO_MODEL},
        {"s3://bucket/a/b", "bucket", "", "a/b", 0},
        {"s3://bucket", "bucket", "", "", 0},
        {"gs://bucket/dir/", "bucket", "", "dir/", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        wb__address a;
        wb__arena arena = {.allocator = &wb__default_allocator};
        const char *fault = wb__address_parse(&a, &arena, rows[i].text);
        if (fault != NULL || strcmp(a.repo, rows[i].repo) != 0 ||
            strcmp(a.revision, rows[i].revision) != 0 || strcmp(a.path, rows[i].path) != 0 ||
            (int)a.type != rows[i].type)
            fail_msg("%s: %s %s %s %s\n", rows[i].text, fault, a.repo, a.revision, a.path);
        wb__arena_free(&arena);
    }
}

static void refused_addresses(void **state)
{
    static const char *const texts[] = {"hf://",
                                        "hf://o",
                                        "hf://o/",
                                        "hf:///n",
                                        "hf://o/n//x",
                                        "hf://o/n/../x",
                                        "hf://o/n/./x",
                                        "hf://o/..",
                                        "hf://o/n@",
                                        "hf://o/n@../x",
                                        "hf://o/n@a%2F..%2Fb",
                                        "hf://o/n@%zz",
                                        "hf://o/n@%00",
                                        "hf://o/a--b",
                                        "hf://o/n/a\\b",
                                        "hf://o/n/.git/x",
                                        "hf://o/n\n",
                                        "s3://",
                                        "s3://B",
                                        "s3://a..b/x",
                                        "s3://-bc/x",
                                        "model.gguf",
                                        "ollama://x",
                                        "hf:/o/n"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        wb__address a;
        wb__arena arena = {.allocator = &wb__default_allocator};
        if (wb__address_parse(&a, &arena, texts[i]) == NULL)
            fail_msg("%s is accepted\n", texts[i]);
        wb__arena_free(&arena);
    }
}

static void pages(void **state)
{
    static const struct row {
        const char *url, *repo, *revision, *path; /* repo NULL: not the page of a repository */
    } rows[] = {
        {"https://hub.org/o/n", "o/n", "main", ""},
        {"https://hub.org/o/n/blob/main/a/b.gguf?download=true", "o/n", "main", "a/b.gguf"},
        {"https://hub.org/o/n/resolve/v1%2F2/x%20y.gguf", "o/n", "v1/2", "x y.gguf"},
        {"https://hub.org/datasets/o/n/tree/main/d#top", "o/n", "main", "d"},
        {"https://hub.org/o/n/resolve/refs%2Fpr%2F1/x", "o/n", "refs/pr/1", "x"},
        {"https://hub.org/o/n/discussions/1", NULL, NULL, NULL},
        {"https://hub.org/docs", NULL, NULL, NULL},
        {"https://hub.org.evil/o/n", NULL, NULL, NULL},
        {"https://other.org/o/n/resolve/main/x", NULL, NULL, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        wb__address a = {0};
        bool is_page;
        wb__arena arena = {.allocator = &wb__default_allocator};
        assert_null(wb__address_of_page(&a, &arena, rows[i].url, "https://hub.org", &is_page));
        if (is_page != (rows[i].repo != NULL) ||
            (is_page &&
             (strcmp(a.repo, rows[i].repo) != 0 || strcmp(a.revision, rows[i].revision) != 0 ||
              strcmp(a.path, rows[i].path) != 0)))
            fail_msg("%s\n", rows[i].url);
        wb__arena_free(&arena);
    }
}

/* ---- names ---- */

static void blob_names(void **state)
{
    static const char sha1[] = "\"0123456789abcdef0123456789abcdef01234567\"";
    (void)state;
    assert_int_equal(wb__blob_name(WB__STR("\"x\"")).len, 0);
    assert_int_equal(wb__blob_name(wb__str_from(sha1, SIZE_MAX)).len, 40);
    assert_int_equal(wb__blob_name(WB__STR("W/\"0123456789abcdef0123456789abcdef01234567\"")).len,
                     40);
    assert_int_equal(wb__blob_name(WB__STR("0123456789ABCDEF0123456789ABCDEF01234567")).len, 0);
    assert_int_equal(wb__blob_name(WB__STR("\"../../../../etc/passwd0000000000000000000\"")).len,
                     0);
}

static void conflicts(void **state)
{
    static const char *const good[] = {"A", "B/c", "B/d", "a-b", "b/e"};
    static const char *const same[] = {"Model.gguf", "model.gguf"};
    static const char *const nested[] = {"a", "a-b", "a/c"};
    bool out_of_memory;
    (void)state;
    assert_null(wb__paths_conflict(&wb__default_allocator, good, 5, &out_of_memory));
    assert_non_null(wb__paths_conflict(&wb__default_allocator, same, 2, &out_of_memory));
    assert_string_equal(wb__paths_conflict(&wb__default_allocator, nested, 3, &out_of_memory), "a");
    assert_null(wb__paths_conflict(&wb__default_allocator, good, 0, &out_of_memory));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(canonical), cmocka_unit_test(refused_urls),
        cmocka_unit_test(relative),  cmocka_unit_test(out_of_memory),
        cmocka_unit_test(tokens),    cmocka_unit_test(redirects),
        cmocka_unit_test(addresses), cmocka_unit_test(refused_addresses),
        cmocka_unit_test(pages),     cmocka_unit_test(blob_names),
        cmocka_unit_test(conflicts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
