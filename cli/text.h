/*
 * text.h: strings that grow, and what may be shown of strings that come out of files.
 *
 * Running out of memory ends the command with exit code 5: what it writes, it writes whole or not
 * at all, so there is nothing to save.
 */
#ifndef WB_CLI_TEXT_H
#define WB_CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct text {
    char *ptr; /* ends with a NUL once something was added; may be NULL before */
    size_t len;
    size_t capacity;
} text;

/* malloc and realloc that do not return NULL. */
void *need_memory(void *old, size_t count, size_t size);

void text_clear(text *t); /* keeps the memory */
void text_free(text *t);
void text_add(text *t, const char *bytes, size_t n);
void text_adds(text *t, const char *string);
void text_addf(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Adds `bytes` so that a terminal shows them and does nothing else: what is not UTF-8, control
 * characters and those that turn the direction of writing become \xNN, a backslash becomes \\.
 */
void text_add_shown(text *t, const char *bytes, size_t n);

/* Whether all of it is well-formed UTF-8. */
bool text_is_utf8(const char *bytes, size_t n);

void text_add_count(text *t, uint64_t value);                     /* 1,234,567 */
void text_add_size(text *t, uint64_t bytes);                      /* 1.2 MiB */
void text_add_shape(text *t, const uint64_t *shape, size_t rank); /* [2, 3] */

/* Columns that the text takes: its code points. */
size_t text_width(const char *bytes, size_t n);

/* Whether the text matches a pattern of *, ?, [abc], [a-z], [!a-z] and \x. */
bool glob_matches(const char *pattern, const char *bytes, size_t n);

/* How many letters have to be added, dropped, exchanged or swapped with a neighbour to make a from
 * b; anything above `limit` is limit + 1. */
size_t edit_distance(const char *a, size_t a_len, const char *b, size_t b_len, size_t limit);

#endif
