#include "core/text.h"

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool wb__str_equal_nocase(wb__str a, wb__str b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++) {
        if (lower(a.ptr[i]) != lower(b.ptr[i]))
            return false;
    }
    return true;
}

int wb__str_compare(wb__str a, wb__str b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n == 0 ? 0 : memcmp(a.ptr, b.ptr, n);
    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

bool wb__str_starts_with(wb__str text, wb__str start)
{
    return text.len >= start.len && wb__str_equal((wb__str){text.ptr, start.len}, start);
}

bool wb__str_ends_with(wb__str text, wb__str end)
{
    return text.len >= end.len && memcmp(text.ptr + text.len - end.len, end.ptr, end.len) == 0;
}

size_t wb__str_find(wb__str text, wb__str part)
{
    if (part.len == 0)
        return 0;
    for (size_t at = 0; at + part.len <= text.len; at++) {
        const char *first = memchr(text.ptr + at, part.ptr[0], text.len - part.len + 1 - at);
        if (first == NULL)
            return SIZE_MAX;
        at = (size_t)(first - text.ptr);
        /* Many calls of memcmp for a common first byte would be slow. */
        if ((part.len == 1 || first[1] == part.ptr[1]) &&
            wb__str_equal((wb__str){first, part.len}, part))
            return at;
    }
    return SIZE_MAX;
}

unsigned wb__utf8_sequence(const unsigned char *text, size_t n)
{
    if (n == 0)
        return 0;
    unsigned char first = text[0];
    if (first < 0x80)
        return 1;

    /*
     * The first byte determines the length. The values E0, F0, ED and F4 also narrow the range of
     * the second byte. This excludes overlong forms (E0, F0), surrogates (ED) and code points above
     * U+10FFFF (F4).
     */
    unsigned length;
    unsigned char low = 0x80, high = 0xBF;
    if (first >= 0xC2 && first <= 0xDF) {
        length = 2;
    } else if (first >= 0xE0 && first <= 0xEF) {
        length = 3;
        if (first == 0xE0)
            low = 0xA0;
        if (first == 0xED)
            high = 0x9F;
    } else if (first >= 0xF0 && first <= 0xF4) {
        length = 4;
        if (first == 0xF0)
            low = 0x90;
        if (first == 0xF4)
            high = 0x8F;
    } else {
        return 0;
    }
    if (n < length || text[1] < low || text[1] > high)
        return 0;
    for (unsigned i = 2; i < length; i++) {
        if (!wb__utf8_is_continuation(text[i]))
            return 0;
    }
    return length;
}

size_t wb__utf8_valid_prefix(const unsigned char *text, size_t n)
{
    size_t i = 0;
    while (i < n) {
        uint64_t word;
        while (n - i >= sizeof word) { /* skip eight ASCII bytes at a time */
            memcpy(&word, text + i, sizeof word);
            if (word & UINT64_C(0x8080808080808080))
                break;
            i += sizeof word;
        }
        if (i == n)
            break;
        unsigned length = wb__utf8_sequence(text + i, n - i);
        if (length == 0)
            break;
        i += length;
    }
    return i;
}

uint32_t wb__utf8_decode(const unsigned char *text, unsigned length)
{
    if (length == 1)
        return text[0];
    uint32_t c = text[0] & (0xFFu >> (length + 1));
    for (unsigned i = 1; i < length; i++)
        c = c << 6 | (text[i] & 0x3Fu);
    return c;
}

unsigned wb__utf8_encode(uint32_t c, unsigned char out[4])
{
    if (c < 0x80) {
        out[0] = (unsigned char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (unsigned char)(0xC0 | c >> 6);
        out[1] = (unsigned char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (unsigned char)(0xE0 | c >> 12);
        out[1] = (unsigned char)(0x80 | (c >> 6 & 0x3F));
        out[2] = (unsigned char)(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = (unsigned char)(0xF0 | c >> 18);
    out[1] = (unsigned char)(0x80 | (c >> 12 & 0x3F));
    out[2] = (unsigned char)(0x80 | (c >> 6 & 0x3F));
    out[3] = (unsigned char)(0x80 | (c & 0x3F));
    return 4;
}
