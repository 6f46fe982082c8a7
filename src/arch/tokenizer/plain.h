/*
 * arch/tokenizer/plain.h: fast parser for the large lists in tokenizer.json. It accepts only plain
 * notation: strings without escapes, and numbers with few digits. A function that returns a
 * pointer returns the position after the parsed item, or NULL if the item is not in plain notation
 * and the JSON parser must parse it.
 */
#ifndef WB_ARCH_TOKENIZER_PLAIN_H
#define WB_ARCH_TOKENIZER_PLAIN_H

#include "core/core.h"

static inline const uint8_t *wb__plain_space(const uint8_t *p, const uint8_t *end)
{
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    return p;
}

/* Two-byte sequences are checked inline because they are frequent in byte-level tokens. */
static inline bool wb__plain_is_utf8(const uint8_t *p, const uint8_t *end)
{
    while (p < end) {
        if (*p < 0x80) {
            p++;
        } else if (*p >= 0xC2 && *p <= 0xDF && end - p >= 2 && wb__utf8_is_continuation(p[1])) {
            p += 2;
        } else {
            unsigned n = wb__utf8_sequence(p, (size_t)(end - p));
            if (n == 0)
                return false;
            p += n;
        }
    }
    return true;
}

/*
 * Parses a string without escapes and with valid UTF-8; p is at the opening quote. Returns the
 * position after the closing quote, or NULL. Processes 8 bytes at a time: the lowest bit that is
 * set in `stop` belongs to the first quote, backslash or control character. The bits above it may
 * be wrong.
 */
static inline const uint8_t *wb__plain_string(const uint8_t *p, const uint8_t *end, wb__str *text)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t highs = UINT64_C(0x8080808080808080);
    const uint8_t *begin = ++p;
    uint64_t beyond_ascii = 0;
    for (; end - p >= 8; p += 8) {
        uint64_t word = wb__load_le64(p);
        uint64_t quote = word ^ ones * '"';
        uint64_t backslash = word ^ ones * '\\';
        uint64_t stop = ((word - ones * 0x20) | (quote - ones) | (backslash - ones)) & highs;
        stop &= ~word; /* non-ASCII bytes do not end the string */
        if (stop == 0) {
            beyond_ascii |= word;
            continue;
        }
        unsigned bytes = (unsigned)__builtin_ctzll(stop) / 8;
        beyond_ascii |= bytes == 0 ? 0 : word << (64 - 8 * bytes);
        p += bytes;
        break;
    }
    while (p < end && *p >= 0x20 && *p != '"' && *p != '\\')
        beyond_ascii |= *p++;
    if (p == end || *p != '"')
        return NULL;
    *text = (wb__str){(const char *)begin, (size_t)(p - begin)};
    if ((beyond_ascii & highs) != 0 && !wb__plain_is_utf8(begin, p))
        return NULL;
    return p + 1;
}

/*
 * Skips the comma before the next member or element, which must start with `first`. Returns NULL if
 * something else follows.
 */
static inline const uint8_t *wb__plain_next(const uint8_t *p, const uint8_t *end, uint8_t first)
{
    p = wb__plain_space(p, end);
    if (p == end || *p != ',')
        return NULL;
    p = wb__plain_space(p + 1, end);
    return p < end && *p == first ? p : NULL;
}

#endif
