/* core/text.h: strings from untrusted files, UTF-8, and escaping for display. */
#ifndef WB_CORE_TEXT_H
#define WB_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A string that may contain NUL bytes and need not end with one. */
typedef struct wb__str {
    const char *ptr;
    size_t len;
} wb__str;

/* A string literal as a wb__str. */
#define WB__STR(literal) ((wb__str){"" literal, sizeof(literal) - 1})

static inline bool wb__str_equal(wb__str a, wb__str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/*
 * Converts a (pointer, length) argument of the public API: SIZE_MAX as length means strlen, NULL as
 * pointer means the empty string.
 */
static inline wb__str wb__str_from(const char *text, size_t len)
{
    if (text == NULL)
        return (wb__str){"", 0};
    return (wb__str){text, len == SIZE_MAX ? strlen(text) : len};
}

/* Returns true if a equals b, ignoring the case of A to Z. Independent of the locale. */
bool wb__str_equal_nocase(wb__str a, wb__str b);

/* Compares byte by byte. A prefix of a string is less than the string. Returns < 0, 0 or > 0. */
int wb__str_compare(wb__str a, wb__str b);

bool wb__str_starts_with(wb__str text, wb__str start);
bool wb__str_ends_with(wb__str text, wb__str end);

/* Returns the offset of the first occurrence of `part`, or SIZE_MAX if there is none. */
size_t wb__str_find(wb__str text, wb__str part);

static inline bool wb__str_has(wb__str text, wb__str part)
{
    return wb__str_find(text, part) != SIZE_MAX;
}

/* Returns true if c is a continuation byte of a UTF-8 sequence. */
static inline bool wb__utf8_is_continuation(unsigned char c)
{
    return (c & 0xC0) == 0x80;
}

/*
 * Returns the length (1 to 4 bytes) of the well-formed UTF-8 sequence at the start of `text`, or 0
 * if there is none within the n bytes. Stray or missing continuation bytes, overlong forms,
 * surrogates and code points above U+10FFFF are malformed (Unicode 15, table 3-7).
 */
unsigned wb__utf8_sequence(const unsigned char *text, size_t n);

/* Returns the number of bytes before the first malformed sequence, or n if there is none. */
size_t wb__utf8_valid_prefix(const unsigned char *text, size_t n);

/* Returns the code point of a well-formed sequence of `length` bytes. */
uint32_t wb__utf8_decode(const unsigned char *text, unsigned length);

/* Encodes a code point up to U+10FFFF as UTF-8. Returns the number of bytes. */
unsigned wb__utf8_encode(uint32_t code_point, unsigned char out[4]);

/* ---- printable.c ---- */

/*
 * Returns false for code points that are not displayed as a character: control characters (C0, C1
 * and DEL), line and paragraph separators, bidirectional controls, and invisible characters such as
 * U+200B or U+FEFF. With these, a name in a file could send commands to the terminal, change the
 * order of the visible text, or look like another name.
 */
bool wb__is_printable(uint32_t code_point);

/*
 * Writes `text` to `out` in a form that is safe to display. Printable characters stay unchanged, a
 * backslash becomes \\, and each byte of other characters and of malformed UTF-8 becomes \xNN. Text
 * that does not fit is truncated and ends with "...". `capacity` includes the terminating NUL and
 * must be at least 8.
 */
void wb__printable(char *out, size_t capacity, wb__str text);

/* As wb__printable, but leaves backslashes and newlines unchanged. For messages, which may contain
 * results of wb__printable. */
void wb__printable_message(char *out, size_t capacity, wb__str text);

/* As the functions above, but returns the length of the complete result without NUL, like snprintf,
 * and truncates without "...". If `capacity` is 0, `out` may be NULL. */
size_t wb__printable_length(wb__str text, bool is_message, char *out, size_t capacity);

#endif
