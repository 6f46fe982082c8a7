#define _POSIX_C_SOURCE 200809L
#include "net/s3.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/buffer.h"
#include "crypto/hmac.h"
#include "net/names.h"
#include "net/percent.h"

#define PARAMETERS_MAX 32
#define DATE_BYTES 17 /* "20130524T000000Z" */

/* ---- addresses ---- */

static bool has_dots(wb__str key)
{
    return wb__str_equal(key, WB__STR(".")) || wb__str_equal(key, WB__STR("..")) ||
           wb__str_starts_with(key, WB__STR("./")) || wb__str_starts_with(key, WB__STR("../")) ||
           wb__str_ends_with(key, WB__STR("/.")) || wb__str_ends_with(key, WB__STR("/..")) ||
           wb__str_has(key, WB__STR("/./")) || wb__str_has(key, WB__STR("/../")) ||
           wb__str_has(key, WB__STR("//"));
}

/*
 * Appends "ENDPOINT/BUCKET" if there is an endpoint, otherwise
 * "https://BUCKET.s3.REGION.amazonaws.com". If the name of the bucket contains a dot, the TLS
 * certificate does not cover this host, so "https://s3.REGION.amazonaws.com/BUCKET" is appended.
 */
static void add_place(wb__buffer *out, const char *endpoint, const char *region, const char *bucket)
{
    if (endpoint == NULL && strchr(bucket, '.') == NULL) {
        wb__buffer_text(out, "https://");
        wb__buffer_text(out, bucket);
        wb__buffer_text(out, ".s3.");
        wb__buffer_text(out, region);
        wb__buffer_text(out, ".amazonaws.com");
        return;
    }
    wb__str base = wb__str_from(endpoint, SIZE_MAX);
    while (base.len > 0 && base.ptr[base.len - 1] == '/')
        base.len--;
    if (endpoint == NULL) {
        wb__buffer_text(out, "https://s3.");
        wb__buffer_text(out, region);
        wb__buffer_text(out, ".amazonaws.com");
    } else {
        wb__buffer_add(out, base.ptr, base.len);
    }
    wb__buffer_text(out, "/");
    wb__buffer_text(out, bucket);
}

const char *wb__s3_url(wb__url *url, const wb_allocator *allocator, const char *endpoint,
                       const char *region, const char *bucket, const char *key, const char *query)
{
    wb__buffer text = {.allocator = allocator, .ceiling = WB__URL_MAX};
    *url = (wb__url){.allocator = *allocator};
    if (has_dots(wb__str_from(key, SIZE_MAX)))
        return "a segment of its key is empty, \".\" or \"..\", which web servers do not keep";
    add_place(&text, endpoint, region, bucket);
    wb__buffer_text(&text, "/");
    wb__percent_add(&text, wb__str_from(key, SIZE_MAX), true);
    if (query != NULL) {
        wb__buffer_text(&text, "?");
        wb__buffer_text(&text, query);
    }
    return wb__url_parse_buffer(url, &text);
}

/* ---- the signature ---- */

typedef struct signing {
    wb__context *context;
    const wb__s3 *s3;
    const wb__url *url;
    char date[DATE_BYTES]; /* the first 8 characters are the day */
    wb__buffer scope;      /* "20130524/us-east-1/s3/aws4_request" */
    wb__buffer query;      /* canonical: sorted parameters, joined by '&' */
    wb__buffer text;
} signing;

static int64_t clock_now(void)
{
    return (int64_t)time(NULL);
}

/* Writes seconds since 1970 in the basic format of ISO 8601. */
static void print_date(int64_t seconds, char date[DATE_BYTES])
{
    time_t t = (time_t)seconds;
    struct tm parts;
    if (gmtime_r(&t, &parts) == NULL || strftime(date, DATE_BYTES, "%Y%m%dT%H%M%SZ", &parts) == 0)
        memcpy(date, "19700101T000000Z", DATE_BYTES);
}

static void make_scope(signing *s)
{
    wb__buffer_add(&s->scope, s->date, 8);
    wb__buffer_text(&s->scope, "/");
    wb__buffer_text(&s->scope, s->s3->region);
    wb__buffer_text(&s->scope, "/s3/aws4_request");
}

/* Appends "&NAME=VALUE" with the value encoded. */
static void add_parameter(signing *s, const char *name, wb__str value)
{
    wb__buffer_text(&s->text, "&");
    wb__buffer_text(&s->text, name);
    wb__buffer_text(&s->text, "=");
    wb__percent_add(&s->text, value, false);
}

static void add_credential(signing *s)
{
    wb__buffer value = {.allocator = &s->context->allocator, .ceiling = s->text.ceiling};
    wb__buffer_text(&value, s->s3->key);
    wb__buffer_text(&value, "/");
    wb__buffer_add(&value, s->scope.bytes, s->scope.n);
    add_parameter(s, "X-Amz-Credential", (wb__str){(char *)value.bytes, value.n});
    s->text.out_of_memory |= value.out_of_memory;
    s->text.too_large |= value.too_large;
    wb__buffer_free(&value);
}

static int compare_parameters(const void *a, const void *b)
{
    return wb__str_compare(*(const wb__str *)a, *(const wb__str *)b);
}

/* Sorts the parameters in s->text, each of which begins with '&', into s->query. */
static bool sort_parameters(signing *s)
{
    wb__str list[PARAMETERS_MAX];
    size_t n = 0;
    wb__str rest = {(const char *)s->text.bytes, s->text.n};
    while (rest.len > 0) {
        rest = (wb__str){rest.ptr + 1, rest.len - 1};
        size_t length = wb__str_find(rest, WB__STR("&"));
        length = length == SIZE_MAX ? rest.len : length;
        if (n == PARAMETERS_MAX)
            return false;
        list[n++] = (wb__str){rest.ptr, length};
        rest = (wb__str){rest.ptr + length, rest.len - length};
    }
    qsort(list, n, sizeof list[0], compare_parameters);
    for (size_t i = 0; i < n; i++) {
        wb__buffer_text(&s->query, i > 0 ? "&" : "");
        wb__buffer_add(&s->query, list[i].ptr, list[i].len);
    }
    s->text.n = 0;
    return true;
}

static bool make_query(signing *s)
{
    char seconds[16];
    (void)snprintf(seconds, sizeof seconds, "%u", s->s3->seconds != 0 ? s->s3->seconds : 3600u);
    if (s->url->len > s->url->query + 1) {
        wb__buffer_text(&s->text, "&");
        wb__buffer_text(&s->text, s->url->text + s->url->query + 1);
    }
    add_parameter(s, "X-Amz-Algorithm", WB__STR("AWS4-HMAC-SHA256"));
    add_credential(s);
    add_parameter(s, "X-Amz-Date", wb__str_from(s->date, SIZE_MAX));
    add_parameter(s, "X-Amz-Expires", wb__str_from(seconds, SIZE_MAX));
    add_parameter(s, "X-Amz-SignedHeaders", WB__STR("host"));
    if (s->s3->token != NULL)
        add_parameter(s, "X-Amz-Security-Token", wb__str_from(s->s3->token, SIZE_MAX));
    return !wb__buffer_failed(&s->text) && sort_parameters(s) && !wb__buffer_failed(&s->query);
}

/* Appends the value of the header field Host. */
static void add_host(signing *s)
{
    wb__str origin = wb__url_origin(s->url);
    size_t scheme = wb__str_find(origin, WB__STR("://")) + 3;
    wb__buffer_add(&s->text, origin.ptr + scheme, origin.len - scheme);
}

/* The canonical request. */
static void add_request(signing *s)
{
    wb__str path = wb__url_path(s->url);
    wb__buffer_text(&s->text, "GET\n");
    wb__buffer_add(&s->text, path.ptr, path.len);
    wb__buffer_text(&s->text, "\n");
    wb__buffer_add(&s->text, s->query.bytes, s->query.n);
    wb__buffer_text(&s->text, "\nhost:");
    add_host(s);
    wb__buffer_text(&s->text, "\n\nhost\nUNSIGNED-PAYLOAD");
}

static bool hash_text(signing *s, char digits[2 * WB__SHA256_BYTES])
{
    wb__sha256 hash;
    uint8_t digest[WB__SHA256_BYTES];
    bool good = wb__sha256_open(&hash, s->context) == WB_OK;
    if (good) {
        wb__sha256_add(&hash, s->text.bytes, s->text.n);
        good = wb__sha256_finish(&hash, digest);
    }
    wb__sha256_close(&hash);
    if (good)
        wb__hex_encode(digest, sizeof digest, digits);
    return good;
}

/* Replaces the canonical request in s->text by the string to sign, which contains the hash of the
 * canonical request. */
static bool make_string_to_sign(signing *s)
{
    char digits[2 * WB__SHA256_BYTES];
    if (wb__buffer_failed(&s->text) || !hash_text(s, digits))
        return false;
    s->text.n = 0;
    wb__buffer_text(&s->text, "AWS4-HMAC-SHA256\n");
    wb__buffer_text(&s->text, s->date);
    wb__buffer_text(&s->text, "\n");
    wb__buffer_add(&s->text, s->scope.bytes, s->scope.n);
    wb__buffer_text(&s->text, "\n");
    wb__buffer_add(&s->text, digits, sizeof digits);
    return !wb__buffer_failed(&s->text);
}

static bool hmac(signing *s, uint8_t key[WB__SHA256_BYTES], wb__str message)
{
    uint8_t code[WB__SHA256_BYTES];
    if (wb__hmac_sha256(s->context, key, WB__SHA256_BYTES, message.ptr, message.len, code) != WB_OK)
        return false;
    memcpy(key, code, sizeof code);
    return true;
}

/* Computes the signature of s->text. The signing key is derived from the secret, the day, the
 * region and the service. */
static bool sign(signing *s, uint8_t code[WB__SHA256_BYTES])
{
    wb__buffer secret = {.allocator = &s->context->allocator, .ceiling = (size_t)4 << 10};
    wb__buffer_text(&secret, "AWS4");
    wb__buffer_text(&secret, s->s3->secret);
    bool good = !wb__buffer_failed(&secret) &&
                wb__hmac_sha256(s->context, secret.bytes, secret.n, s->date, 8, code) == WB_OK;
    if (secret.bytes != NULL)
        memset(secret.bytes, 0, secret.n);
    wb__buffer_free(&secret);
    return good && hmac(s, code, wb__str_from(s->s3->region, SIZE_MAX)) &&
           hmac(s, code, WB__STR("s3")) && hmac(s, code, WB__STR("aws4_request")) &&
           hmac(s, code, (wb__str){(char *)s->text.bytes, s->text.n});
}

static bool print_url(signing *s, const uint8_t code[WB__SHA256_BYTES], wb__url *out)
{
    char digits[2 * WB__SHA256_BYTES];
    wb__hex_encode(code, WB__SHA256_BYTES, digits);
    s->text.n = 0;
    wb__buffer_add(&s->text, s->url->text, s->url->query);
    wb__buffer_text(&s->text, "?");
    wb__buffer_add(&s->text, s->query.bytes, s->query.n);
    wb__buffer_text(&s->text, "&X-Amz-Signature=");
    wb__buffer_add(&s->text, digits, sizeof digits);
    return !wb__buffer_failed(&s->text) &&
           wb__url_parse(out, &s->url->allocator, (wb__str){(char *)s->text.bytes, s->text.n}) ==
               NULL;
}

bool wb__s3_presign(const wb__s3 *s3, const wb__url *url, wb__url *out)
{
    wb_error error;
    wb__context context = {.allocator = url->allocator, .file = ""};
    uint8_t code[WB__SHA256_BYTES];
    *out = (wb__url){.allocator = url->allocator};
    if (s3->key == NULL)
        return wb__url_copy(out, url);
    context.error = wb__error_reset(NULL, &error);
    signing s = {.context = &context, .s3 = s3, .url = url};
    s.scope = s.query = s.text =
        (wb__buffer){.allocator = &context.allocator, .ceiling = 2 * WB__URL_MAX};
    print_date(s3->now != NULL ? s3->now() : clock_now(), s.date);
    make_scope(&s);
    bool good = !wb__buffer_failed(&s.scope) && make_query(&s);
    if (good)
        add_request(&s);
    good = good && make_string_to_sign(&s) && sign(&s, code) && print_url(&s, code, out);
    wb__buffer_free(&s.scope);
    wb__buffer_free(&s.query);
    wb__buffer_free(&s.text);
    return good;
}
