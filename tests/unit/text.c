/* Tests core/text.h: validation of UTF-8, compared with an independent decoder, and escaping of
 * texts for display. */
#include "support.h"

#include "core/text.h"

/* Returns true if n bytes are one valid UTF-8 sequence. */
static bool is_well_formed(const unsigned char *s, size_t n)
{
    uint32_t c;
    size_t length = s[0] < 0x80       ? 1
                    : s[0] >> 5 == 6  ? 2
                    : s[0] >> 4 == 14 ? 3
                    : s[0] >> 3 == 30 ? 4
                                      : 0;
    if (length == 0 || length != n)
        return false;
    c = length == 1 ? s[0] : s[0] & (0x7Fu >> length);
    for (size_t i = 1; i < n; i++) {
        if (s[i] >> 6 != 2)
            return false;
        c = c << 6 | (s[i] & 0x3Fu);
    }
    size_t needed = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    return needed == n && c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF);
}

/* Tests sequences of four bytes, with all values of the first two bytes and extreme values of the
 * last two. */
static void finds_sequences(void **state)
{
    (void)state;
    static const unsigned char edges[] = {0x00, 0x7F, 0x80, 0x8F, 0x90,
                                          0x9F, 0xA0, 0xBF, 0xC0, 0xFF};
    unsigned step = is_slow() ? 7 : 1;
    for (unsigned a = 0; a < 256; a++) {
        for (unsigned b = 0; b < 256; b += a < 0xC0 ? 64 : step) {
            for (size_t i = 0; i < sizeof edges; i++) {
                for (size_t k = 0; k < sizeof edges; k++) {
                    unsigned char s[4] = {(unsigned char)a, (unsigned char)b, edges[i], edges[k]};
                    unsigned expected = 0;
                    for (unsigned n = 1; n <= 4 && expected == 0; n++)
                        expected = is_well_formed(s, n) ? n : 0;
                    assert_int_equal(wb__utf8_sequence(s, 4), expected);
                    for (unsigned n = 0; n < 4; n++) /* the same, truncated to n bytes */
                        assert_int_equal(wb__utf8_sequence(s, n), expected <= n ? expected : 0);
                }
            }
        }
    }
}

static void encodes(void **state)
{
    (void)state;
    for (uint32_t c = 0; c <= 0x10FFFF; c += c < 0x3000 ? 1 : is_slow() ? 997 : 13) {
        unsigned char s[4];
        unsigned n = wb__utf8_encode(c, s);
        assert_int_equal(is_well_formed(s, n), c < 0xD800 || c > 0xDFFF);
    }
    unsigned char s[4];
    assert_int_equal(wb__utf8_encode(0x10FFFF, s), 4);
    assert_memory_equal(s, "\xF4\x8F\xBF\xBF", 4);
}

/* The first invalid byte must be found at any position in an ASCII text. */
static void finds_the_first_bad_byte(void **state)
{
    (void)state;
    unsigned char text[64];
    for (size_t at = 0; at < sizeof text; at++) {
        memset(text, 'a', sizeof text);
        assert_int_equal(wb__utf8_valid_prefix(text, sizeof text), sizeof text);
        text[at] = 0xFF;
        assert_int_equal(wb__utf8_valid_prefix(text, sizeof text), at);
        text[at] = 0xC3; /* begins a sequence of two bytes, but the second is missing */
        assert_int_equal(wb__utf8_valid_prefix(text, sizeof text), at);
        if (at + 1 < sizeof text) {
            text[at + 1] = 0xA9;
            assert_int_equal(wb__utf8_valid_prefix(text, sizeof text), sizeof text);
            assert_int_equal(wb__utf8_valid_prefix(text, at + 1), at);
        }
    }
    assert_int_equal(wb__utf8_valid_prefix(text, 0), 0);
}

static void shows(const char *text, size_t n, size_t capacity, const char *expected)
{
    char out[80];
    memset(out, '#', sizeof out);
    wb__printable(out, capacity, (wb__str){text, n});
    assert_string_equal(out, expected);
    assert_int_equal(out[capacity], '#');
}

static void shows_what_may_be_shown(void **state)
{
    (void)state;
    shows("", 0, 8, "");
    shows("plain", 5, 40, "plain");
    shows("a\0b\n\x7F", 5, 40, "a\\x00b\\x0a\\x7f");
    shows("\x1B[31m", 5, 40, "\\x1b[31m");
    shows("C:\\x", 4, 40, "C:\\\\x");
    shows("h\xC3\xA9", 3, 40, "h\xC3\xA9");
    shows("\xC2\x9B"
          "31m",
          5, 40, "\\xc2\\x9b31m"); /* a control character in UTF-8 */
    shows("\xC2\xA0", 2, 40, "\xC2\xA0");
    shows("\xFF\xC3", 2, 40, "\\xff\\xc3");
    shows("1234567", 7, 8, "1234...");
    shows("1234", 4, 8, "1234");
    shows("12345", 5, 8, "1234...");
    shows("a\xE2\x80\xAE", 4, 40, "a\\xe2\\x80\\xae"); /* right-to-left override */
    shows("\xE2\x80\xA8\xEF\xBB\xBF", 6, 40, "\\xe2\\x80\\xa8\\xef\\xbb\\xbf");
    shows("\xF3\xA0\x81\x81", 4, 40, "\\xf3\\xa0\\x81\\x81"); /* a tag */
    shows("\xF0\x9F\x98\x80", 4, 40, "\xF0\x9F\x98\x80");
    shows("123\xE2\x82\xAC", 6, 8, "123..."); /* truncation must not split a character */
    shows("12\n", 3, 8, "12...");             /* truncation must not split an escape */
}

static void compares(void **state)
{
    (void)state;
    assert_true(wb__str_equal_nocase(WB__STR("bF16"), WB__STR("Bf16")));
    assert_false(wb__str_equal_nocase(WB__STR("BF16"), WB__STR("BF1")));
    assert_false(
        wb__str_equal_nocase(WB__STR("["), WB__STR("{"))); /* differ by 0x20, but are no letters */
    assert_false(wb__str_equal_nocase(WB__STR("\xC9"), WB__STR("\xE9")));
    assert_true(wb__str_ends_with(WB__STR("a.safetensors"), WB__STR(".safetensors")));
    assert_false(wb__str_ends_with(WB__STR("ors"), WB__STR(".safetensors")));
    assert_true(wb__str_equal((wb__str){NULL, 0}, WB__STR("")));
    assert_int_equal(wb__str_from("a\0b", 3).len, 3);
    assert_int_equal(wb__str_from("a\0b", SIZE_MAX).len, 1);
    assert_int_equal(wb__str_from(NULL, 9).len, 0);
}

static void hides_what_is_no_character(void **state)
{
    (void)state;
    static const uint32_t hidden[] = {0,      0x1F,   0x7F,   0x80,   0x9B,   0x9F,   0xAD,
                                      0x61C,  0x200B, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A,
                                      0x202E, 0x2060, 0x2066, 0x2069, 0xFE0F, 0xFEFF, 0xE0001},
                          visible[] = {' ',    '~',    0xA0,    0xAC,    0xAE,    0x200A,  0x2010,
                                       0x2027, 0x202F, 0x205F,  0x2070,  0xFDFF,  0xFE10,  0xFEFE,
                                       0xFF00, 0xFFFD, 0x1F600, 0xDFFFF, 0xE1000, 0x10FFFF};
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        assert_false(wb__is_printable(hidden[i]));
    for (size_t i = 0; i < sizeof visible / sizeof *visible; i++)
        assert_true(wb__is_printable(visible[i]));
}

/* All wb__printable functions must convert any text to the same printable text. A truncated result
 * must be printable, too. */
static void prints_any_text(void **state)
{
    (void)state;
    uint64_t random = 9;
    for (int i = 0; i < 20000; i++) {
        unsigned char text[64];
        char whole[300], cut[300];
        size_t n = 0, most = (size_t)(random >> 33) % 56;
        while (n < most) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
            uint32_t c = (uint32_t)(random >> 32) >> (random >> 20 & 31);
            if ((random >> 30 & 15) == 0 || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
                text[n++] = (unsigned char)(random >> 40);
            else
                n += wb__utf8_encode(c, text + n);
        }
        size_t capacity = 8 + (size_t)(random >> 50) % 100;
        wb__str from = {(const char *)text, n};
        size_t length = wb__printable_length(from, false, whole, sizeof whole);
        assert_int_equal(length, strlen(whole));
        assert_int_equal(wb__printable_length(from, false, NULL, 0), length);
        wb__printable(cut, capacity, from);
        assert_true(strlen(cut) < capacity);
        if (length + 3 < capacity)
            assert_string_equal(cut, whole);
        const unsigned char *shown = (const unsigned char *)cut;
        for (size_t at = 0; shown[at] != 0;) {
            unsigned sequence = wb__utf8_sequence(shown + at, strlen(cut) - at);
            assert_true(sequence != 0 && wb__is_printable(wb__utf8_decode(shown + at, sequence)));
            at += sequence;
        }
        wb__printable_message(cut, sizeof cut, (wb__str){whole, length});
        assert_string_equal(cut, whole); /* what is printable stays unchanged in a message */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_sequences),
                                       cmocka_unit_test(encodes),
                                       cmocka_unit_test(finds_the_first_bad_byte),
                                       cmocka_unit_test(shows_what_may_be_shown),
                                       cmocka_unit_test(hides_what_is_no_character),
                                       cmocka_unit_test(prints_any_text),
                                       cmocka_unit_test(compares)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
