/* Characters of UTF-8 text, and the classes by which tokenizers split text. */
#ifndef LLAMA_UNICODE_H
#define LLAMA_UNICODE_H

#include <stddef.h>
#include <stdint.h>

/* Classes of characters. A set of classes is the sum of their values. */
enum {
    OTHER = 1 << 0,  /* control characters, and code points without a character */
    UPPER = 1 << 1,  /* letters: upper case and title case */
    LOWER = 1 << 2,  /* letters: lower case */
    LETTER = 1 << 3, /* letters without case */
    MARK = 1 << 4,   /* marks other than accents */
    NUMBER = 1 << 5,
    PUNCTUATION = 1 << 6,
    SYMBOL = 1 << 7,
    SPACE = 1 << 8,
    ACCENT = 1 << 9, /* marks without a width of their own (category Mn) */
    LETTERS = UPPER | LOWER | LETTER,
    MARKS = MARK | ACCENT,
    ALL_CLASSES = (1 << 10) - 1
};

/* Decodes the character at `p`, which must be before `end`. Returns the position after it. An
 * invalid byte is decoded as U+FFFD.
 */
const char *next_char(const char *p, const char *end, uint32_t *character);

/* Encodes a character at `out`, which has room for 4 bytes. Returns the number of bytes. */
size_t put_char(uint32_t character, char *out);

unsigned class_of(uint32_t character);

/* Returns the lower-case letter without accents. Some characters with accents do not change: those
 * that would become several characters, and the compatibility ideographs of CJK.
 */
uint32_t fold(uint32_t character);

/* ---- generated tables (unicode_tables.c) ---- */

/* Runs of characters of the same class, in ascending order. A number is the first character of a
 * run, times 16, plus the bit number of the class; 10 is a run in which upper-case and lower-case
 * letters alternate.
 */
extern const uint32_t unicode_classes[];
extern const size_t unicode_class_count;

/* Runs of characters that fold() changes: {first character * 256 + count - 1, result for the first
 * one * 16 + step}. Both characters and results grow by the step.
 */
extern const uint32_t unicode_folds[][2];
extern const size_t unicode_fold_count;

#endif
