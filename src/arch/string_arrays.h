/*
 * arch/string_arrays.h: a long list of texts in one block, as token lists are.
 *
 *     8 bytes  the length times 256, little-endian     the lowest byte, 0, ends the text before
 *     text
 *     ...      and 8 zeros behind the last text
 *
 * Every WB__STRINGS_STEP-th text has its offset noted, so that any is a few steps away: it is the form
 * that strings of an array have (model/metadata.h), and they become one as they are.
 */
#ifndef WB_ARCH_STRINGS_H
#define WB_ARCH_STRINGS_H

#include "core/core.h"
#include "model/metadata.h"

#define WB__STRINGS_STEP WB__STRING_STEP
#define WB__STRINGS_HEAD WB__STRING_HEAD

typedef struct wb__strings {
    wb_allocator allocator;
    char *bytes;
    size_t used;
    size_t capacity;
    uint32_t *marks;
    size_t mark_capacity;
    uint64_t count;
} wb__strings;

/* Room for `count` texts of `bytes` in all, so that they need not be moved; a hint. False: memory.
 */
bool wb__strings_reserve(wb__strings *strings, size_t bytes, size_t count);

/* Room for a text of n bytes at the end, to be filled by the caller; NULL when memory is out. */
char *wb__strings_append(wb__strings *strings, size_t n);

static inline bool wb__strings_add(wb__strings *strings, wb__str text)
{
    char *to = wb__strings_append(strings, text.len);
    if (to != NULL && text.len != 0)
        memcpy(to, text.ptr, text.len);
    return to != NULL;
}

/* Leaves the first `count` texts, of as many or more. */
void wb__strings_cut(wb__strings *strings, uint64_t count);

/* The text that begins at `text`, of a list. */
static inline wb__str wb__strings_from(const char *text)
{
    return (wb__str){text, (size_t)(wb__load_le64(text - WB__STRINGS_HEAD) >> 8)};
}

/* The text behind one that is not the last. */
static inline wb__str wb__strings_after(wb__str text)
{
    return wb__strings_from(text.ptr + text.len + WB__STRINGS_HEAD);
}

/* Text i < count; a NUL follows it. */
wb__str wb__strings_at(const wb__strings *strings, uint64_t i);

void wb__strings_free(wb__strings *strings);

#endif
