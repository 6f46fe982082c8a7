/*
 * core/buffer.h: bytes that are put together one behind another, up to a ceiling.
 *
 * A failure is remembered, and everything after it ignored, so that a writer may look once at its
 * end. Zeroed is empty and valid once `allocator` and `ceiling` are set.
 */
#ifndef WB_CORE_BUFFER_H
#define WB_CORE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/memory.h"
#include "core/text.h"

typedef struct wb__buffer {
    const wb_allocator *allocator;
    size_t ceiling; /* bytes it may hold at most */
    uint8_t *bytes;
    size_t n;
    size_t capacity;
    bool too_large;     /* the ceiling was reached */
    bool out_of_memory; /* either of them: the bytes are incomplete */
} wb__buffer;

/* Room for n more bytes, which then count as appended; NULL after a failure. */
uint8_t *wb__buffer_extend(wb__buffer *buffer, size_t n);

void wb__buffer_add(wb__buffer *buffer, const void *bytes, size_t n);
void wb__buffer_fill(wb__buffer *buffer, int byte, size_t n);
void wb__buffer_text(wb__buffer *buffer, const char *text);
void wb__buffer_uint(wb__buffer *buffer, uint64_t value); /* in decimal */
void wb__buffer_free(wb__buffer *buffer);

static inline bool wb__buffer_failed(const wb__buffer *buffer)
{
    return buffer->too_large || buffer->out_of_memory;
}

#endif
