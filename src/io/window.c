#include "io/io.h"

/*
 * Bytes lie in the window as they lie in the cache lines of the file, which is to say of the
 * kernel's copy of it. Where a page of the one is but a few bytes ahead of a page of the other, the
 * copying instruction of some processors (REP MOVSB; Zen 3 and 4) takes each byte written for one
 * about to be read, and becomes seven times slower.
 */
#define LINE 64

/* Where the window's first byte goes if it is the one at `offset` of the source. */
static uint8_t *place_for(const wb__window *window, uint64_t offset)
{
    return window->buffer + ((offset - (uintptr_t)window->buffer) & (LINE - 1));
}

static bool make_buffer(wb__window *window, size_t bytes)
{
    uint8_t *buffer = wb__alloc(&window->context->allocator, bytes + LINE - 1);
    if (buffer == NULL)
        return false;
    window->buffer = buffer;
    window->bytes = bytes;
    return true;
}

/* The first bytes of a file are enough for a small header; a large one gets what is allowed. */
static bool fill(wb__cursor *cursor)
{
    wb__window *window = cursor->fill_ctx;
    wb__window old = *window;
    size_t kept = wb__cursor_at_hand(cursor);
    uint64_t left = cursor->limit - cursor->end_at;
    size_t room = window->capacity - kept;
    size_t n = left < room ? (size_t)left : room;
    if (n == 0)
        return false;
    if (kept + n > window->bytes && !make_buffer(window, kept + n)) {
        (void)wb__fail_memory(window->context);
        return false;
    }
    uint8_t *begin = place_for(window, cursor->end_at - kept);
    memmove(begin, cursor->p, kept);
    if (window->buffer != old.buffer)
        wb__window_close(&old);
    cursor->p = begin;
    cursor->end = begin + kept;
    if (wb__source_read(window->source, window->context, cursor->end_at, begin + kept, n) != WB_OK)
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
    *window = (wb__window){.source = source, .context = context, .capacity = capacity};
    if (memory != NULL) {
        *cursor = wb__cursor_over(memory, (size_t)bytes);
        return WB_OK;
    }
    if (!make_buffer(window, head))
        return wb__fail_memory(context);
    uint8_t *begin = place_for(window, 0);
    *cursor = (wb__cursor){.p = begin,
                           .end = begin,
                           .limit = bytes,
                           .fill = fill,
                           .fill_ctx = window,
                           .reach = capacity};
    size_t n = bytes < head ? (size_t)bytes : head;
    wb_status status = wb__source_read(source, context, 0, begin, n);
    cursor->end += n;
    cursor->end_at = n;
    return status;
}

void wb__window_close(wb__window *window)
{
    wb__free(&window->context->allocator, window->buffer, window->bytes + LINE - 1);
    window->buffer = NULL;
}
