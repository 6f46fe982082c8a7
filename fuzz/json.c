/*
 * Tests the JSON parser and writer. Reading a text from memory and through a window (a buffer of a
 * few bytes that is refilled) must give the same tokens, or the same error at the same offset.
 * Skipping a value must find the same errors as reading its tokens. Numbers must equal those of
 * strtod. Tokens that were written must read back as the same tokens.
 */
#include <float.h>

#include "support/fuzz.h"
#include "json/json.h"

/* ---- a window of a few bytes ---- */

typedef struct small_window {
    const uint8_t *bytes;
    uint8_t *buffer;
    size_t capacity;
} small_window;

static bool fill(wb__cursor *cursor)
{
    small_window *window = cursor->fill_ctx;
    size_t kept = wb__cursor_at_hand(cursor);
    uint64_t left = cursor->limit - cursor->end_at;
    size_t n = window->capacity - kept;
    n = left < n ? (size_t)left : n;
    if (n == 0)
        return false;
    memmove(window->buffer, cursor->p, kept);
    memcpy(window->buffer + kept, window->bytes + cursor->end_at, n);
    cursor->p = window->buffer;
    cursor->end = window->buffer + kept + n;
    cursor->end_at += n;
    return true;
}

static wb__cursor windowed(small_window *window, uint64_t limit)
{
    return (wb__cursor){.p = window->buffer,
                        .end = window->buffer,
                        .limit = limit,
                        .fill = fill,
                        .fill_ctx = window,
                        .reach = window->capacity};
}

/* ---- the writer ---- */

typedef struct text {
    uint8_t *bytes;
    size_t size, capacity;
} text;

static bool append(void *ctx, const char *bytes, size_t n)
{
    text *t = ctx;
    if (t->size + n > t->capacity) {
        t->capacity = 2 * (t->size + n);
        t->bytes = realloc(t->bytes, t->capacity);
        CHECK(t->bytes != NULL);
    }
    memcpy(t->bytes + t->size, bytes, n);
    t->size += n;
    return true;
}

static double real_of(const wb__json *json)
{
    uint64_t bits = wb__json_real_bits(json);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void write_token(wb__json_writer *writer, const wb__json *json)
{
    switch (json->token) {
    case WB__JSON_OBJECT: wb__json_write_begin(writer, '{'); break;
    case WB__JSON_OBJECT_END: wb__json_write_end(writer, '}'); break;
    case WB__JSON_ARRAY: wb__json_write_begin(writer, '['); break;
    case WB__JSON_ARRAY_END: wb__json_write_end(writer, ']'); break;
    case WB__JSON_KEY: wb__json_write_key_str(writer, json->text); break;
    case WB__JSON_STRING: wb__json_write_str(writer, json->text); break;
    case WB__JSON_UINT: wb__json_write_uint(writer, json->uint); break;
    case WB__JSON_REAL: wb__json_write_double(writer, real_of(json)); break;
    case WB__JSON_TRUE: wb__json_write_bool(writer, true); break;
    case WB__JSON_FALSE: wb__json_write_bool(writer, false); break;
    case WB__JSON_NULL: wb__json_write_null(writer); break;
    default: break;
    }
}

/* ---- what must hold ---- */

static bool is_number(wb__json_token token)
{
    return token == WB__JSON_UINT || token == WB__JSON_REAL;
}

/* Compares the number just read with the result of strtod. The digits of the number end at the
 * cursor. */
static void check_number(const wb__json *json, const uint8_t *bytes)
{
    char digits[1200];
    size_t n = (size_t)(wb__cursor_at(json->cursor) - json->at);
    if (n >= sizeof digits)
        return;
    memcpy(digits, bytes + json->at, n);
    digits[n] = '\0';
#if FLT_EVAL_METHOD == 0 || defined(__SSE2_MATH__)
    double mine = real_of(json), theirs = strtod(digits, NULL);
    CHECK(memcmp(&mine, &theirs, sizeof mine) == 0);
    CHECK(mine <= DBL_MAX && mine >= -DBL_MAX);
#endif
    if (json->token == WB__JSON_UINT)
        CHECK(strtoull(digits, NULL, 10) == json->uint);
}

/* The parser rejected a number as too large. Checks that the number also overflows in strtod. */
static void check_overflow(const wb__json *json, const uint8_t *bytes)
{
    char digits[1200];
    size_t n = (size_t)(wb__cursor_at(json->cursor) - json->at);
    if (n >= sizeof digits)
        return;
    memcpy(digits, bytes + json->at, n);
    digits[n] = '\0';
    double theirs = strtod(digits, NULL);
    CHECK(theirs > DBL_MAX || theirs < -DBL_MAX);
}

static void compare(const wb__json *a, const wb__json *b, bool same_text)
{
    CHECK(a->token == b->token);
    CHECK(a->fault == b->fault);
    if (same_text)
        CHECK(a->at == b->at && a->depth == b->depth);
    if (a->token == WB__JSON_KEY || a->token == WB__JSON_STRING)
        CHECK(wb__str_equal(a->text, b->text));
    if (a->token == WB__JSON_UINT)
        CHECK(a->uint == b->uint);
    if (is_number(a->token))
        CHECK(wb__json_real_bits(a) == wb__json_real_bits(b));
}

/* Reads the tokens of the text from memory and through a window, compares them, and writes them. */
static wb__json_fault walk(const uint8_t *bytes, size_t size, size_t capacity, text *written,
                           uint64_t *fault_at)
{
    uint8_t buffer[64];
    small_window window = {bytes, buffer, capacity};
    wb__cursor in_memory = wb__cursor_over(bytes, size);
    wb__cursor through = windowed(&window, size);
    wb__json a, b;
    wb__json_writer writer = {.write = append, .ctx = written};
    wb__json_start(&a, &in_memory, &wb__default_allocator);
    wb__json_start(&b, &through, &wb__default_allocator);
    do {
        (void)wb__json_next(&a);
        (void)wb__json_next(&b);
        compare(&a, &b, true);
        CHECK(a.at <= size && a.depth <= WB__JSON_MAX_DEPTH);
        if (a.token == WB__JSON_KEY || a.token == WB__JSON_STRING)
            CHECK(wb__utf8_valid_prefix((const unsigned char *)a.text.ptr, a.text.len) ==
                  a.text.len);
        if (is_number(a.token))
            check_number(&a, bytes);
        if (a.token == WB__JSON_FAULT && a.fault == WB__JSON_FAULT_RANGE)
            check_overflow(&a, bytes);
        write_token(&writer, &a);
    } while (a.token > WB__JSON_END);
    CHECK(wb__cursor_at(&in_memory) == wb__cursor_at(&through));
    CHECK(wb__json_next(&a) == a.token); /* after the end or an error, the token stays the same */
    wb__json_fault fault = a.fault;
    *fault_at = a.token == WB__JSON_END ? wb__cursor_at(&in_memory) : a.at;
    wb__json_stop(&a);
    wb__json_stop(&b);
    return fault;
}

static void skip(const uint8_t *bytes, size_t size, wb__json_fault fault, uint64_t fault_at)
{
    wb__cursor cursor = wb__cursor_over(bytes, size);
    wb__json json;
    wb__json_start(&json, &cursor, &wb__default_allocator);
    (void)wb__json_next(&json);
    bool sound = wb__json_skip(&json);
    CHECK(sound == (fault == WB__JSON_FAULT_NONE));
    CHECK(json.fault == fault);
    CHECK((sound ? wb__cursor_at(&cursor) : json.at) == fault_at);
    CHECK(json.scratch_len == 0 || json.token == WB__JSON_STRING || !sound);
    wb__json_stop(&json);
}

static void read_again(const uint8_t *bytes, size_t size, const text *written)
{
    wb__cursor first = wb__cursor_over(bytes, size);
    wb__cursor second = wb__cursor_over(written->bytes, written->size);
    wb__json a, b;
    wb__json_start(&a, &first, &wb__default_allocator);
    wb__json_start(&b, &second, &wb__default_allocator);
    do {
        (void)wb__json_next(&a);
        (void)wb__json_next(&b);
        /* Compare the values: 1e3 and 1000 are the same number, and the writer may use either. */
        if (is_number(a.token) && is_number(b.token)) {
            if (a.token == WB__JSON_UINT)
                CHECK(b.token == WB__JSON_UINT && a.uint == b.uint);
            CHECK(wb__json_real_bits(&a) == wb__json_real_bits(&b));
        } else {
            compare(&a, &b, false);
        }
    } while (a.token > WB__JSON_END);
    CHECK(wb__cursor_left(&second) == 0);
    wb__json_stop(&a);
    wb__json_stop(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    text written = {NULL, 0, 0}, again = {NULL, 0, 0};
    uint64_t at, at_again;
    wb__json_fault fault = walk(data, size, 4 + size % 13, &written, &at);
    skip(data, size, fault, at);
    if (fault == WB__JSON_FAULT_NONE) {
        read_again(data, (size_t)at, &written);
        CHECK(walk(written.bytes, written.size, 4, &again, &at_again) == WB__JSON_FAULT_NONE);
        CHECK(again.size == written.size);
        CHECK(memcmp(again.bytes, written.bytes, again.size) == 0);
    }
    free(written.bytes);
    free(again.bytes);
    return 0;
}
