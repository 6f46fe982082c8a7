/*
 * core/buffer.h: a growable byte buffer with a maximum size.
 *
 * After a failure, all further calls are ignored, so that code that fills a buffer may check for
 * errors once, after its last call. A zero-initialised buffer is empty and valid once `allocator`
 * and `ceiling` are set.
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
    size_t ceiling; /* maximum size in bytes */
    uint8_t *bytes;
    size_t n;
    size_t capacity;
    bool too_large; /* the data would exceed `ceiling` */
    /* memory ran out. If out_of_memory or too_large is set, the contents are incomplete. */
    bool out_of_memory;
} wb__buffer;

/* Appends n uninitialised bytes and returns a pointer to them, or NULL after a failure. */
uint8_t *wb__buffer_extend(wb__buffer *buffer, size_t n);

void wb__buffer_add(wb__buffer *buffer, const void *bytes, size_t n);
void wb__buffer_fill(wb__buffer *buffer, int byte, size_t n);
void wb__buffer_text(wb__buffer *buffer, const char *text);
void wb__buffer_uint(wb__buffer *buffer, uint64_t value); /* appends the value in decimal */
void wb__buffer_free(wb__buffer *buffer);

static inline bool wb__buffer_failed(const wb__buffer *buffer)
{
    return buffer->too_large || buffer->out_of_memory;
}

#endif
