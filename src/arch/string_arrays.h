/*
 * arch/string_arrays.h: a long list of strings in one block, such as a token list.
 *
 *     8 bytes  the length times 256, little-endian; the lowest byte is 0 and terminates the
 *              previous string
 *     string
 *     ...      and 8 zero bytes after the last string
 *
 * The offset of every WB__STRINGS_STEP-th string is recorded, so that any string is a few steps
 * away. This is the layout of string arrays in metadata (model/metadata.h), which can use the block
 * without conversion.
 */
#ifndef WB_ARCH_STRING_ARRAYS_H
#define WB_ARCH_STRING_ARRAYS_H

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

/*
 * Reserves memory for `count` strings with `bytes` bytes in total, as a hint. Returns false if out
 * of memory.
 */
bool wb__strings_reserve(wb__strings *strings, size_t bytes, size_t count);

/*
 * Appends a string of n bytes and returns a pointer to the bytes, which the caller must fill.
 * Returns NULL if out of memory.
 */
char *wb__strings_append(wb__strings *strings, size_t n);

static inline bool wb__strings_add(wb__strings *strings, wb__str text)
{
    char *to = wb__strings_append(strings, text.len);
    if (to != NULL && text.len != 0)
        memcpy(to, text.ptr, text.len);
    return to != NULL;
}

/* Removes all strings after the first `count`. */
void wb__strings_cut(wb__strings *strings, uint64_t count);

/* Returns the string whose first byte is at `text`, inside a wb__strings list. */
static inline wb__str wb__strings_from(const char *text)
{
    return (wb__str){text, (size_t)(wb__load_le64(text - WB__STRINGS_HEAD) >> 8)};
}

/* Returns the string that follows `text`, which must not be the last string of its list. */
static inline wb__str wb__strings_after(wb__str text)
{
    return wb__strings_from(text.ptr + text.len + WB__STRINGS_HEAD);
}

/* Returns string i; requires i < count. A NUL follows the string. */
wb__str wb__strings_at(const wb__strings *strings, uint64_t i);

void wb__strings_free(wb__strings *strings);

#endif
