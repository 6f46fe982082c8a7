/*
 * Tests the hash functions for signatures, the signing of URLs of object stores (the results must
 * be those of botocore), and the prediction of the length of a model file's header (net/extent.h).
 */
#include "support.h"

#include "crypto/hmac.h"
#include "crypto/sha1.h"
#include "net/extent.h"
#include "net/names.h"
#include "net/s3.h"

/* ---- hashes ---- */

static void check_hex(const uint8_t *bytes, size_t n, const char *expected)
{
    char digits[129];
    wb__hex_encode(bytes, n, digits);
    digits[2 * n] = '\0';
    assert_string_equal(digits, expected);
}

static void hmacs(void **state)
{
    wb_error error;
    wb__context context = {.allocator = wb__default_allocator, .file = ""};
    uint8_t code[WB__SHA256_BYTES], key[131];
    (void)state;
    context.error = wb__error_reset(&error, &error);
    /* RFC 4231, test cases 2 and 6 */
    assert_int_equal(wb__hmac_sha256(&context, "Jefe", 4, "what do ya want for nothing?", 28, code),
                     WB_OK);
    check_hex(code, sizeof code,
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key);
    assert_int_equal(wb__hmac_sha256(&context, key, sizeof key,
                                     "Test Using Larger Than Block-Size Key - Hash Key First", 54,
                                     code),
                     WB_OK);
    check_hex(code, sizeof code,
              "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

static void sha1s(void **state)
{
    uint8_t digest[WB__SHA1_BYTES];
    wb__sha1 hash;
    (void)state;
    /* FIPS 180-4 examples, and one million times "a" */
    wb__sha1_start(&hash);
    wb__sha1_add(&hash, "abc", 3);
    wb__sha1_finish(&hash, digest);
    check_hex(digest, sizeof digest, "a9993e364706816aba3e25717850c26c9cd0d89d");
    wb__sha1_start(&hash);
    for (unsigned i = 0; i < 1000000 / 25; i++)
        wb__sha1_add(&hash, "aaaaaaaaaaaaaaaaaaaaaaaaa", 25);
    wb__sha1_finish(&hash, digest);
    check_hex(digest, sizeof digest, "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
    /* git hash-object */
    wb__sha1_start_blob(&hash, 0);
    wb__sha1_finish(&hash, digest);
    check_hex(digest, sizeof digest, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
    wb__sha1_start_blob(&hash, 11);
    wb__sha1_add(&hash, "hello world", 11);
    wb__sha1_finish(&hash, digest);
    check_hex(digest, sizeof digest, "95d09f2b10159347eece71399a7e2e907ea3df4f");
}

/* ---- signatures ---- */

static int64_t fixed_time;

static int64_t fixed_now(void)
{
    return fixed_time;
}

static char *field(char **line)
{
    char *begin = *line;
    size_t n = strcspn(begin, "\t\n");
    *line = begin + n + (begin[n] != '\0');
    begin[n] = '\0';
    return begin;
}

static void signatures(void **state)
{
    size_t n;
    unsigned rows = 0;
    char *text = (char *)read_file(TEST_DATA "/net/s3_presigned.tsv", &n);
    (void)state;
    for (char *line = text; *line != '\0'; rows++) {
        wb__url url, signed_url;
        const char *address = field(&line), *region = field(&line), *key = field(&line);
        const char *secret = field(&line), *token = field(&line);
        fixed_time = strtoll(field(&line), NULL, 10);
        unsigned seconds = (unsigned)strtoul(field(&line), NULL, 10);
        const wb__s3 s3 = {key,    secret,  strcmp(token, "-") == 0 ? NULL : token,
                           region, seconds, fixed_now};
        const char *expected = field(&line);
        assert_null(wb__url_parse(&url, &wb__default_allocator, wb__str_from(address, SIZE_MAX)));
        assert_true(wb__s3_presign(&s3, &url, &signed_url));
        /* botocore appends its parameters in another order; the signature covers all of them */
        const char *ours = strstr(signed_url.text, "X-Amz-Signature=");
        const char *theirs = strstr(expected, "X-Amz-Signature=");
        assert_int_equal(signed_url.len, strlen(expected));
        assert_string_equal(ours, theirs);
        wb__url_free(&url);
        wb__url_free(&signed_url);
    }
    assert_true(rows >= 7);
    free(text);
}

/* The example of the documentation of AWS ("Authenticating Requests: Using Query Parameters"). */
static void documented(void **state)
{
    wb__url url, signed_url;
    const wb__s3 s3 = {"AKIAIOSFODNN7EXAMPLE",
                       "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                       NULL,
                       "us-east-1",
                       86400,
                       fixed_now};
    (void)state;
    fixed_time = 1369353600;
    assert_null(wb__url_parse(&url, &wb__default_allocator,
                              WB__STR("https://examplebucket.s3.amazonaws.com/test.txt")));
    assert_true(wb__s3_presign(&s3, &url, &signed_url));
    assert_string_equal(
        signed_url.text,
        "https://examplebucket.s3.amazonaws.com/"
        "test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524"
        "%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&"
        "X-Amz-SignedHeaders=host&X-Amz-Signature="
        "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
    wb__url_free(&url);
    wb__url_free(&signed_url);
}

static void object_urls(void **state)
{
    static const char *const rows[][5] = {
        {NULL, "us-east-1", "bucket", "a b/c.gguf",
         "https://bucket.s3.us-east-1.amazonaws.com/a%20b/c.gguf"},
        {NULL, "eu-west-1", "my.bucket", "x", "https://s3.eu-west-1.amazonaws.com/my.bucket/x"},
        {"http://127.0.0.1:9000/", "r", "bucket", "x", "http://127.0.0.1:9000/bucket/x"},
        {"http://127.0.0.1:9000", "r", "bucket", "a/../b", NULL},
        {"http://127.0.0.1:9000", "r", "bucket", "a//b", NULL},
        {"http://127.0.0.1:9000", "r", "bucket", ".", NULL},
        {"http://127.0.0.1:9000", "r", "bucket", "..", NULL},
        {"http://127.0.0.1:9000", "r", "bucket", "a/.", NULL},
        {"http://127.0.0.1:9000", "r", "bucket", "a/..", NULL},
        {"http://127.0.0.1:9000", "r", "bucket", "a./..b", "http://127.0.0.1:9000/bucket/a./..b"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        wb__url url;
        const char *fault = wb__s3_url(&url, &wb__default_allocator, rows[i][0], rows[i][1],
                                       rows[i][2], rows[i][3], NULL);
        assert_int_equal(fault == NULL, rows[i][4] != NULL);
        if (fault == NULL)
            assert_string_equal(url.text, rows[i][4]);
        wb__url_free(&url);
    }
}

/* ---- headers ---- */

/* Makes a GGUF header with a vocabulary: arrays of `tokens` tokens, token types and merges. Returns
 * its bytes, which the caller frees. */
static uint8_t *make_gguf(size_t tokens, size_t tensors, size_t *size)
{
    size_t capacity = tokens * 64 + tensors * 128 + 4096, n = 0;
    uint8_t *bytes = malloc(capacity);
    uint64_t seed = 7;
#define PUT(value, width)                                                                          \
    do {                                                                                           \
        uint64_t v_ = (value);                                                                     \
        memcpy(bytes + n, &v_, width);                                                             \
        n += width;                                                                                \
    } while (0)
#define PUT_TEXT(text, length)                                                                     \
    do {                                                                                           \
        size_t l_ = (length);                                                                      \
        PUT(l_, 8);                                                                                \
        memset(bytes + n, 'x', l_);                                                                \
        n += l_;                                                                                   \
    } while (0)
    memcpy(bytes, "GGUF", 4);
    n = 4;
    PUT(3, 4);
    PUT(tensors, 8);
    PUT(5, 8);
    PUT_TEXT("general.architecture", 20);
    PUT(8, 4);
    PUT_TEXT("llama", 5);
    PUT_TEXT("llama.block_count", 17);
    PUT(4, 4);
    PUT(32, 4);
    for (int merges = 0; merges <= 1; merges++) {
        PUT_TEXT("tokenizer.ggml.tokens", 21);
        PUT(9, 4);
        PUT(8, 4);
        PUT(tokens, 8);
        for (size_t i = 0; i < tokens; i++)
            PUT_TEXT("", (size_t)(next_random(&seed) % 8 + 2 + i * 4 / tokens + (merges ? 3 : 0)));
        if (merges)
            break;
        PUT_TEXT("tokenizer.ggml.token_type", 25);
        PUT(9, 4);
        PUT(5, 4);
        PUT(tokens, 8);
        memset(bytes + n, 1, tokens * 4);
        n += tokens * 4;
    }
    for (size_t i = 0; i < tensors; i++) {
        PUT_TEXT("blk.10.attn_q.weight", 20);
        PUT(2, 4);
        PUT(4096, 8);
        PUT(4096, 8);
        PUT(1, 4);
        PUT(0, 8);
    }
    *size = n;
    return bytes;
}

/* Simulates how cached_file.c fetches a header: each request ends where the header is predicted to
 * end. Returns the number of requests, and sets *fetched to the number of bytes fetched. */
static unsigned fetch_header(const uint8_t *bytes, size_t size, size_t first, size_t *fetched)
{
    wb__extent e = {0};
    unsigned requests = 0;
    size_t at = 0, end = first;
    while (at < size) {
        requests++;
        wb__extent_feed(&e, bytes + at, (end < size ? end : size) - at);
        at = end;
        end = e.end > at ? (size_t)e.end : at + (at / 2 > 65536 ? at / 2 : 65536);
    }
    *fetched = at;
    return requests;
}

static void vocabularies(void **state)
{
    static const size_t sizes[][2] = {{128256, 291}, {262208, 444}, {151936, 700},
                                      {32000, 100},  {1000, 20},    {250000, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t size, fetched;
        uint8_t *bytes = make_gguf(sizes[i][0], sizes[i][1], &size);
        unsigned requests = fetch_header(bytes, size, 102400, &fetched);
        if (requests > 5 || fetched > size + size / 2 + 131072)
            fail_msg("%zu tokens: %u requests, %zu of %zu bytes\n", sizes[i][0], requests, fetched,
                     size);
        free(bytes);
    }
}

/* After all bytes of a header were passed, in pieces of any size, the predicted end must be the
 * real one. */
static void in_pieces(void **state)
{
    size_t size;
    uint8_t *bytes = make_gguf(1500, 30, &size);
    wb__extent whole = {0};
    (void)state;
    wb__extent_feed(&whole, bytes, size);
    assert_int_equal(whole.end, size);
    for (size_t piece = 9; piece < 200; piece += 13) {
        wb__extent e = {0};
        for (size_t at = 0; at < size; at += piece)
            wb__extent_feed(&e, bytes + at, size - at < piece ? size - at : piece);
        assert_int_equal(e.end, size);
        assert_int_equal(e.fed, size);
    }
    free(bytes);
}

static void other_files(void **state)
{
    static const uint8_t safetensors[] = {0x10, 0x27, 0, 0, 0, 0, 0, 0, '{', '"'};
    wb__extent e = {0};
    (void)state;
    wb__extent_feed(&e, safetensors, sizeof safetensors);
    assert_int_equal(e.end, 10008);
    e = (wb__extent){0};
    wb__extent_feed(&e, (const uint8_t *)"<!DOCTYPE html>", 15);
    assert_int_equal(e.end, 0);
    e = (wb__extent){0};
    uint8_t hostile[64] = "GGUF";
    memset(hostile + 4, 0xFF, 60);
    wb__extent_feed(&e, hostile, sizeof hostile);
    assert_int_equal(e.end, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hmacs),      cmocka_unit_test(sha1s),       cmocka_unit_test(signatures),
        cmocka_unit_test(documented), cmocka_unit_test(object_urls), cmocka_unit_test(vocabularies),
        cmocka_unit_test(in_pieces),  cmocka_unit_test(other_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
