/* Tests the JSON writer: its output must be as expected, and the parser must read it back. */
#include "support.h"

#include <locale.h>
#include <math.h>

#include "json/json.h"

typedef struct buffer {
    char text[4096];
    size_t n;
    size_t room; /* maximum number of bytes; writing more fails */
    unsigned calls;
} buffer;

static bool append(void *ctx, const char *text, size_t n)
{
    buffer *b = ctx;
    b->calls++;
    if (n > b->room - b->n)
        return false;
    memcpy(b->text + b->n, text, n);
    b->n += n;
    b->text[b->n] = '\0';
    return true;
}

static wb__json_writer writer_into(buffer *b)
{
    memset(b, 0, sizeof *b);
    b->room = sizeof b->text - 1;
    return (wb__json_writer){.write = append, .ctx = b};
}

static void puts_commas_and_colons(void **state)
{
    (void)state;
    buffer b;
    wb__json_writer w = writer_into(&b);
    wb__json_write_begin(&w, '{');
    wb__json_write_key(&w, "a");
    wb__json_write_begin(&w, '[');
    wb__json_write_uint(&w, UINT64_MAX);
    wb__json_write_int(&w, INT64_MIN);
    wb__json_write_begin(&w, '[');
    wb__json_write_end(&w, ']');
    wb__json_write_begin(&w, '{');
    wb__json_write_end(&w, '}');
    wb__json_write_bool(&w, true);
    wb__json_write_bool(&w, false);
    wb__json_write_null(&w);
    wb__json_write_end(&w, ']');
    wb__json_write_key(&w, "");
    wb__json_write_str(&w, WB__STR(""));
    wb__json_write_key_str(&w, (wb__str){"k\0", 2});
    wb__json_write_begin(&w, '{');
    wb__json_write_key(&w, "x");
    wb__json_write_uint(&w, 0);
    wb__json_write_end(&w, '}');
    wb__json_write_end(&w, '}');
    assert_false(w.failed);
    assert_string_equal(b.text, "{\"a\":[18446744073709551615,-9223372036854775808,[],{},true,"
                                "false,null],\"\":\"\",\"k\\u0000\":{\"x\":0}}");
}

static void escapes(void **state)
{
    (void)state;
    static const struct {
        const char *in;
        size_t n;
        const char *out;
    } rows[] = {
        {"a\"b\\c/", 6, "\"a\\\"b\\\\c/\""},
        {"\0\n\x1f\x7f", 4, "\"\\u0000\\u000a\\u001f\\u007f\""},
        {" ~", 2, "\" ~\""}, /* the first and the last character that is not escaped */
        {"\xC3\xA9\xF0\x9F\x98\x80", 6, "\"\xC3\xA9\xF0\x9F\x98\x80\""},
        {"\xFFx\xE2\x82", 4, "\"\xEF\xBF\xBDx\xEF\xBF\xBD\xEF\xBF\xBD\""},
        {"\xED\xA0\x80", 3, "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        buffer b;
        wb__json_writer w = writer_into(&b);
        wb__json_write_str(&w, (wb__str){rows[i].in, rows[i].n});
        assert_string_equal(b.text, rows[i].out);
    }
}

/* Parses the first token of the output. */
static void read_back(const buffer *b, wb__json *json, wb__cursor *cursor)
{
    *cursor = wb__cursor_over(b->text, b->n);
    wb__json_start(json, cursor, &wb__default_allocator);
    assert_true(wb__json_next(json) != WB__JSON_FAULT);
}

static void texts_read_back(void **state)
{
    (void)state;
    uint64_t random = 5;
    for (int i = 0; i < 2000; i++) {
        unsigned char text[300];
        size_t n = 0;
        while (n < 280 && next_random(&random) % 40 != 0) {
            uint32_t c = (uint32_t)(next_random(&random) >> 32) >> (next_random(&random) % 32);
            if (c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF))
                n += wb__utf8_encode(c, text + n);
        }
        buffer b;
        wb__json json;
        wb__cursor cursor;
        wb__json_writer w = writer_into(&b);
        w.for_display = i % 2 == 1;
        wb__json_write_str(&w, (wb__str){(const char *)text, n});
        assert_false(w.failed);
        for (size_t at = 0; w.for_display && at < b.n;) {
            const unsigned char *shown = (const unsigned char *)b.text + at;
            unsigned length = wb__utf8_sequence(shown, b.n - at);
            assert_true(length != 0 && wb__is_printable(wb__utf8_decode(shown, length)));
            at += length;
        }
        read_back(&b, &json, &cursor);
        assert_int_equal(json.token, WB__JSON_STRING);
        assert_int_equal(json.text.len, n);
        assert_memory_equal(json.text.ptr, text, n);
        wb__json_stop(&json);
    }
}

/* wb__json_write_real writes whole numbers with a point, and other numbers like
 * wb__json_write_double. */
static void reals_have_a_point(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{5, "5.0"},         {-3, "-3.0"},       {0, "0.0"},
                 {0.5, "0.5"},       {1e-6, "1e-06"},    {1e22, "1e+22"},
                 {INFINITY, "null"}, {1000000, "1e+06"}, {1e6 + 0.5, "1000000.5"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        buffer b;
        wb__json_writer w = writer_into(&b);
        wb__json_write_real(&w, cases[i].value);
        assert_int_equal(b.n, strlen(cases[i].text));
        assert_memory_equal(b.text, cases[i].text, b.n);
    }
}

static uint64_t double_back(double value)
{
    buffer b;
    wb__json json;
    wb__cursor cursor;
    wb__json_writer w = writer_into(&b);
    wb__json_write_double(&w, value);
    read_back(&b, &json, &cursor);
    uint64_t bits = wb__json_real_bits(&json);
    wb__json_stop(&json);
    return bits;
}

static void doubles_read_back(void **state)
{
    (void)state;
    uint64_t random = 6;
    for (int i = 0; i < (is_slow() ? 200 : 10000); i++) {
        uint64_t bits = next_random(&random);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value))
            assert_true(double_back(value) == bits);
    }
}

static void doubles_are_short(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } rows[] = {{0.1, "0.1"},       {1, "1"},      {-0.0, "-0"},       {1e300, "1e+300"},
                {0.3, "0.3"},       {NAN, "null"}, {INFINITY, "null"}, {-INFINITY, "null"},
                {2.5e-7, "2.5e-07"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        buffer b;
        wb__json_writer w = writer_into(&b);
        wb__json_write_double(&w, rows[i].value);
        assert_string_equal(b.text, rows[i].text);
    }
}

/* The locale of the application must have no effect, even if it has decimal commas. */
static void minds_no_locale(void **state)
{
    (void)state;
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8") == NULL &&
        setlocale(LC_NUMERIC, "fr_FR.UTF-8") == NULL)
        skip();
    buffer b;
    wb__json_writer w = writer_into(&b);
    wb__json_write_double(&w, 0.125);
    (void)setlocale(LC_NUMERIC, "C");
    assert_string_equal(b.text, "0.125");
}

static void remembers_a_failure(void **state)
{
    (void)state;
    for (size_t room = 0; room < 22; room++) {
        buffer b;
        wb__json_writer w = writer_into(&b);
        b.room = room;
        wb__json_write_begin(&w, '[');
        wb__json_write_str(&w, WB__STR("abc\n"));
        wb__json_write_double(&w, 1.5);
        wb__json_write_end(&w, ']');
        bool complete = room >= sizeof "[\"abc\\u000a\",1.5]" - 1;
        assert_int_equal(w.failed, !complete);
        unsigned calls = b.calls;
        if (!complete) {
            wb__json_write_null(&w); /* must write nothing after an error */
            assert_int_equal(b.calls, calls);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(puts_commas_and_colons), cmocka_unit_test(escapes),
        cmocka_unit_test(texts_read_back),        cmocka_unit_test(reals_have_a_point),
        cmocka_unit_test(doubles_read_back),      cmocka_unit_test(doubles_are_short),
        cmocka_unit_test(minds_no_locale),        cmocka_unit_test(remembers_a_failure)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
