/*
 * core/text.h: strings out of files, which may hold anything, and what may be shown of them.
 */
#ifndef WB_CORE_TEXT_H
#define WB_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A string that need not end with NUL and may contain it. */
typedef struct wb__str {
    const char *ptr;
    size_t len;
} wb__str;

/* A literal as a wb__str. */
#define WB__STR(literal) ((wb__str){"" literal, sizeof(literal) - 1})

static inline bool wb__str_equal(wb__str a, wb__str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* A caller's (pointer, length) argument, in which SIZE_MAX means strlen and NULL the empty string. */
static inline wb__str wb__str_from(const char *text, size_t len)
{
    if (text == NULL)
        return (wb__str){"", 0};
    return (wb__str){text, len == SIZE_MAX ? strlen(text) : len};
}

/* A equals b, letters A to Z taken as a to z. No locale. */
bool wb__str_equal_nocase(wb__str a, wb__str b);

/* By bytes, and of two of which one begins the other the shorter first: < 0, 0 or > 0. */
int wb__str_compare(wb__str a, wb__str b);

bool wb__str_starts_with(wb__str text, wb__str start);
bool wb__str_ends_with(wb__str text, wb__str end);

/* Where `part` lies first in a text, SIZE_MAX if nowhere. */
size_t wb__str_find(wb__str text, wb__str part);

static inline bool wb__str_has(wb__str text, wb__str part)
{
    return wb__str_find(text, part) != SIZE_MAX;
}

/* A byte that a UTF-8 sequence of two to four bytes continues with. */
static inline bool wb__utf8_is_continuation(unsigned char c)
{
    return (c & 0xC0) == 0x80;
}

/*
 * The length in bytes of the well-formed UTF-8 sequence that begins at text (1 to 4), or 0 if there
 * is none within the n bytes: stray or missing continuations, overlong forms, surrogates and code
 * points past U+10FFFF are malformed (Unicode 15, table 3-7).
 */
unsigned wb__utf8_sequence(const unsigned char *text, size_t n);

/* The number of bytes up to the first malformed sequence, n if there is none. */
size_t wb__utf8_valid_prefix(const unsigned char *text, size_t n);

/* The UTF-8 form of a code point up to U+10FFFF; returns its length. */
unsigned wb__utf8_encode(uint32_t code_point, unsigned char out[4]);

/*
 * Writes text so that it can be shown: printable ASCII and well-formed UTF-8 as they are, every
 * other byte as \xNN (a backslash as \\). Cut with "..." where it does not fit. `capacity` counts
 * the closing NUL and is at least 8.
 */
void wb__printable(char *out, size_t capacity, wb__str text);

#endif
