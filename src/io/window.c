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

void wb__window_close(wb__window *window)
{
    wb__free(&window->context->allocator, window->buffer, window->capacity);
    window->buffer = NULL;
}
