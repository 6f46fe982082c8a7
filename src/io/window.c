#include "io/io.h"

static bool fill(wb__cursor *cursor)
{
    wb__window *window = cursor->fill_ctx;
    size_t kept = wb__cursor_at_hand(cursor);
    uint64_t left = cursor->limit - cursor->end_at;
    size_t room = window->capacity - kept;
    size_t n = left < room ? (size_t)left : room;
    if (n == 0)
        return false;
    memmove(window->buffer, cursor->p, kept);
    cursor->p = window->buffer;
    cursor->end = window->buffer + kept;
    if (wb__source_read(window->source, window->context, cursor->end_at, window->buffer + kept, n) !=
        WB_OK)
        return false;
    cursor->end += n;
    cursor->end_at += n;
    return true;
}

wb_status wb__window_open(wb__window *window, wb__context *context, wb__source *source,
                          size_t capacity, size_t head, wb__cursor *cursor)
{
    uint64_t bytes = wb__source_bytes(source);
    const void *memory = wb__source_memory(source);
    *window = (wb__window){source, context, NULL, 0};
    if (memory != NULL) {
        *cursor = wb__cursor_over(memory, (size_t)bytes);
        return WB_OK;
    }
    window->buffer = wb__alloc(&context->allocator, capacity);
    if (window->buffer == NULL)
        return wb__fail_memory(context);
    window->capacity = capacity;
    *cursor = (wb__cursor){.p = window->buffer,
                           .end = window->buffer,
                           .limit = bytes,
                           .fill = fill,
                           .fill_ctx = window,
                           .reach = capacity};
    size_t n = bytes < head ? (size_t)bytes : head;
    wb_status status = wb__source_read(source, context, 0, window->buffer, n);
    cursor->end += n;
    cursor->end_at = n;
    return status;
}

/* ---- keeping ---- */

/*
 * How long a header is shows only at its end. Most are below KEEP_FIRST or below KEEP_SECOND; what
 * is not touched of a large block costs address space alone. Chunks are read that stay in the
 * second level cache until they are parsed.
 */
#define KEEP_FIRST ((size_t)64 << 10)
#define KEEP_SECOND ((size_t)32 << 20)
#define KEEP_CHUNK ((size_t)256 << 10)

static size_t next_capacity(size_t capacity, uint64_t limit)
{
    size_t wanted = capacity < KEEP_FIRST      ? KEEP_FIRST
                    : capacity < KEEP_SECOND   ? KEEP_SECOND
                    : capacity <= SIZE_MAX / 8 ? capacity * 4
                                               : SIZE_MAX / 2;
    return limit < wanted - WB__CURSOR_SLACK ? (size_t)limit + WB__CURSOR_SLACK : wanted;
}

/* Moves what was kept into a larger block. False if there is none larger. */
static bool enlarge(wb__window *window, wb__cursor *cursor)
{
    size_t capacity = next_capacity(window->capacity, cursor->limit);
    size_t kept = (size_t)cursor->end_at, at = (size_t)wb__cursor_at(cursor);
    uint8_t *bytes =
        capacity <= window->capacity ? NULL : wb__alloc(&window->context->allocator, capacity);
    if (bytes == NULL) {
        (void)wb__fail_memory(window->context);
        return false;
    }
    memcpy(bytes, cursor->kept, kept);
    wb__free(&window->context->allocator, window->buffer, window->capacity);
    window->buffer = cursor->kept = bytes;
    window->capacity = capacity;
    cursor->p = bytes + at;
    cursor->end = bytes + kept;
    return true;
}

static bool fill_kept(wb__cursor *cursor)
{
    wb__window *window = cursor->fill_ctx;
    uint64_t left = cursor->limit - cursor->end_at;
    size_t room = window->capacity - WB__CURSOR_SLACK - (size_t)cursor->end_at;
    if (room == 0) {
        if (!enlarge(window, cursor))
            return false;
        room = window->capacity - WB__CURSOR_SLACK - (size_t)cursor->end_at;
    }
    size_t n = room < KEEP_CHUNK ? room : KEEP_CHUNK;
    if (n > left)
        n = (size_t)left;
    uint8_t *to = cursor->kept + (size_t)cursor->end_at;
    if (wb__source_read(window->source, window->context, cursor->end_at, to, n) != WB_OK)
        return false;
    cursor->end += n;
    cursor->end_at += n;
    return true;
}

wb_status wb__window_keep(wb__window *window, wb__cursor *cursor, uint64_t limit)
{
    if (cursor->limit > limit)
        cursor->limit = limit;
    size_t at_hand = 0;
    if (window->buffer == NULL) { /* memory that is not ours to change */
        window->capacity = next_capacity(0, cursor->limit);
        window->buffer = wb__alloc(&window->context->allocator, window->capacity);
        if (window->buffer == NULL)
            return wb__fail_memory(window->context);
    } else {
        at_hand = wb__cursor_at_hand(cursor);
        if (at_hand > cursor->limit)
            at_hand = (size_t)cursor->limit;
    }
    *cursor = (wb__cursor){.p = window->buffer,
                           .end = window->buffer + at_hand,
                           .end_at = at_hand,
                           .limit = cursor->limit,
                           .fill = fill_kept,
                           .fill_ctx = window,
                           .kept = window->buffer,
                           .reach = SIZE_MAX};
    return WB_OK;
}

void wb__window_take(wb__window *window, uint64_t used, uint8_t **bytes, size_t *capacity)
{
    const wb_allocator *a = &window->context->allocator;
    *bytes = window->buffer;
    *capacity = window->capacity;
    window->buffer = NULL;
    if (*capacity > KEEP_FIRST || used + WB__CURSOR_SLACK > *capacity / 2)
        return;
    /* A model can have many thousand files with headers of a few hundred bytes. */
    uint8_t *trimmed = wb__alloc(a, (size_t)used + WB__CURSOR_SLACK);
    if (trimmed == NULL)
        return;
    memcpy(trimmed, *bytes, (size_t)used + 1); /* with the NUL that may end the last text */
    wb__free(a, *bytes, *capacity);
    *bytes = trimmed;
    *capacity = (size_t)used + WB__CURSOR_SLACK;
}

/* ---- closing ---- */

void wb__window_close(wb__window *window)
{
    wb__free(&window->context->allocator, window->buffer, window->capacity);
    window->buffer = NULL;
}
