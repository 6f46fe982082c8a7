/* text.h: growing strings, and safe display of strings from files.
 *
 * Out of memory ends the command with exit code 5. Output files appear only when they are complete,
 * so no cleanup is needed.
 */
#ifndef WB_CLI_TEXT_H
#define WB_CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct text {
    char *ptr; /* NUL-terminated after the first addition; may be NULL before */
    size_t len;
    size_t capacity;
} text;

/* Resizes or allocates memory like realloc, but never returns NULL. */
void *need_memory(void *old, size_t count, size_t size);

void text_clear(text *t); /* keeps the allocation */
void text_free(text *t);
void text_add(text *t, const char *bytes, size_t n);
void text_adds(text *t, const char *string);
void text_addf(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds `bytes` in a form that is safe to print on a terminal. Invalid UTF-8, control characters,
 * bidirectional controls and invisible characters become \xNN, and a backslash becomes \\.
 */
void text_add_shown(text *t, const char *bytes, size_t n);

/* Same as text_add_shown for a message, but keeps backslashes and newlines: parts of the message
 * may already be escaped.
 */
void text_add_message(text *t, const char *string);

/* Returns true if the bytes are well-formed UTF-8. */
bool text_is_utf8(const char *bytes, size_t n);

void text_add_count(text *t, uint64_t value);                     /* such as 1,234,567 */
void text_add_size(text *t, uint64_t bytes);                      /* such as 1.2 MiB */
void text_add_shape(text *t, const uint64_t *shape, size_t rank); /* such as [2, 3] */

/* Returns the display width in columns: the number of code points. */
size_t text_width(const char *bytes, size_t n);

/* Returns the number of bytes of the first `width` code points, or n if there are fewer. */
size_t text_prefix(const char *bytes, size_t n, size_t width);

/* Returns true if the string ends with `end`, and is longer than `end`. */
bool text_ends_with(const char *string, const char *end);

/* Returns the last occurrence of `part` in the string, or NULL. */
const char *text_last(const char *string, const char *part);

/* Returns true if the text matches a glob pattern. Supported: *, ?, [abc], [a-z], [!a-z] and \x. */
bool glob_matches(const char *pattern, const char *bytes, size_t n);

/* Returns the number of insertions, deletions, substitutions and swaps of adjacent characters that
 * change b into a. Returns limit + 1 if the distance exceeds `limit`.
 */
size_t edit_distance(const char *a, size_t a_len, const char *b, size_t b_len, size_t limit);

#endif
