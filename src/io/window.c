#include "io/io.h"

/*
 * Each byte is at the same offset within a cache line (64 bytes) in the buffer as in the page
 * cache. Otherwise, when the kernel copies to the buffer, the destination may have a slightly
 * larger offset within its page than the source. For such a copy, REP MOVSB is seven times slower
 * on some processors (Zen 3 and 4), which assume that each written byte is about to be read.
 */
#define LINE 64

/* Returns the address in the buffer for the byte at `offset` of the source. */
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

/* Reads more bytes, up to the capacity. Not called for a small header, because the first read in
 * wb__window_open already reads all of it. */
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
    if (wb__source_read_some(window->source, window->context, cursor->end_at, begin + kept, n,
                             &n) != WB_OK)
        return false;
    cursor->end += n;
    cursor->end_at += n;
    return true;
}

static bool read_at(void *ctx, uint64_t offset, void *dst, size_t n)
{
    const wb__window *window = ctx;
    /* The error is discarded: after a failure the caller reads the same bytes again in order,
     * through fill(), which reports the error. */
    wb_error ignored;
    wb__context context = *window->context;
    context.error = &ignored;
    context.findings = NULL;
    return wb__source_read(window->source, &context, offset, dst, n) == WB_OK;
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
                           .read_at = read_at,
                           .fill_ctx = window,
                           .reach = capacity};
    size_t n = bytes < head ? (size_t)bytes : head;
    wb_status status = wb__source_read(source, context, 0, begin, n);
    cursor->end += n;
    cursor->end_at = n;
    return status;
}

/* ---- retaining the header ---- */

/*
 * Sizes of the buffer of a retained header. The length of a header is known only at its end, so the
 * buffer has KEEP_FIRST bytes at first, then KEEP_SECOND, and then grows by a factor of 4. Most
 * headers fit into one of the first two sizes. Untouched pages of a buffer use only address space.
 * Each read gets at most KEEP_CHUNK bytes, which stay in the second-level cache until they are
 * parsed.
 */
#define KEEP_FIRST ((size_t)64 << 10)
#define KEEP_SECOND ((size_t)32 << 20)
#define KEEP_CHUNK ((size_t)256 << 10)

/* Returns the size of the buffer to use next if the current buffer is full with `held` bytes. The
 * size includes WB__CURSOR_SLACK. */
static size_t next_size(size_t held, uint64_t limit)
{
    size_t wanted = held < KEEP_FIRST      ? KEEP_FIRST
                    : held < KEEP_SECOND   ? KEEP_SECOND
                    : held <= SIZE_MAX / 8 ? held * 4
                                           : SIZE_MAX / 2;
    return limit < wanted - WB__CURSOR_SLACK ? (size_t)limit + WB__CURSOR_SLACK : wanted;
}

/* Moves the bytes up to the cursor's end into a new block of `size` bytes. */
static bool move_kept(wb__window *window, wb__cursor *cursor, const uint8_t *from, size_t size)
{
    wb__window old = *window;
    size_t n = (size_t)cursor->end_at, at = (size_t)wb__cursor_at(cursor);
    if (!make_buffer(window, size)) {
        (void)wb__fail_memory(window->context);
        return false;
    }
    cursor->kept = place_for(window, 0);
    if (n > 0)
        memcpy(cursor->kept, from, n);
    wb__window_close(&old);
    cursor->p = cursor->kept + at;
    cursor->end = cursor->kept + n;
    return true;
}

static bool fill_kept(wb__cursor *cursor)
{
    wb__window *window = cursor->fill_ctx;
    size_t held = (size_t)cursor->end_at;
    uint64_t left = cursor->limit - cursor->end_at;
    if (window->bytes - WB__CURSOR_SLACK == held &&
        !move_kept(window, cursor, cursor->kept, next_size(window->bytes, cursor->limit)))
        return false;
    size_t n = window->bytes - WB__CURSOR_SLACK - held;
    if (n > KEEP_CHUNK)
        n = KEEP_CHUNK;
    if (n > left)
        n = (size_t)left;
    if (wb__source_read_some(window->source, window->context, cursor->end_at, cursor->kept + held,
                             n, &n) != WB_OK)
        return false;
    cursor->end += n;
    cursor->end_at += n;
    return true;
}

wb_status wb__window_keep(wb__window *window, wb__cursor *cursor, uint64_t limit)
{
    const uint8_t *begin = cursor->p;
    size_t at_hand = window->buffer == NULL ? 0 : wb__cursor_at_hand(cursor);
    if (cursor->limit > limit)
        cursor->limit = limit;
    if (at_hand > cursor->limit)
        at_hand = (size_t)cursor->limit;
    *cursor = (wb__cursor){.end_at = at_hand,
                           .p = begin,
                           .end = begin + at_hand,
                           .limit = cursor->limit,
                           .fill = fill_kept,
                           .fill_ctx = window,
                           .reach = SIZE_MAX};
    if (!move_kept(window, cursor, begin, next_size(0, cursor->limit)))
        return WB_ERROR_MEMORY;
    return WB_OK;
}

wb__header_bytes wb__window_take(wb__window *window, wb__cursor *cursor)
{
    size_t used = (size_t)wb__cursor_at(cursor);
    if (window->bytes <= KEEP_FIRST && used < window->bytes / 2) {
        /*
         * Move a short header to a block of its size, because a model can have many thousands of
         * files with headers of a few hundred bytes. If this block cannot be allocated, keep the
         * large block.
         */
        wb_error ignored = *window->context->error;
        cursor->p = cursor->end = cursor->kept + used;
        cursor->end_at = used;
        if (!move_kept(window, cursor, cursor->kept, used + WB__CURSOR_SLACK))
            *window->context->error = ignored;
        else
            cursor->kept[used] = 0;
    }
    wb__header_bytes kept = {cursor->kept, window->buffer, window->bytes + LINE - 1};
    window->buffer = NULL;
    return kept;
}

/* ---- closing ---- */

void wb__window_close(wb__window *window)
{
    wb__free(&window->context->allocator, window->buffer, window->bytes + LINE - 1);
    window->buffer = NULL;
}
