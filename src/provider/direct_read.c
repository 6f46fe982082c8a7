#include "provider/direct_read.h"

#include "dtype/dtype_block.h"

/* Byte ranges shorter than this are not read with direct I/O: a request takes 40 µs, in which 400
 * KiB could be copied from the page cache. */
#define LEAST_BYTES ((uint64_t)1 << 20)

void wb__direct_pieces_open(wb__direct_pieces *s, wb__context *context, const wb__files *files)
{
    *s = (wb__direct_pieces){.files = files, .context = context, .direct = {-1}};
    atomic_fetch_add(&files->rooms->fillers, 1);
}

/* ---- reads in progress ---- */

static void take_some(wb__direct_pieces *s)
{
    wb__ring_done done[WB__SLOTS];
    size_t n = wb__ring_take(s->room->ring, done, WB__SLOTS);
    for (size_t i = 0; i < n; i++) {
        s->windows[done[i].tag].is_reading = false;
        s->windows[done[i].tag].result = done[i].result;
    }
}

/* Waits for reads in progress, and discards the windows. */
static void drop_windows(wb__direct_pieces *s)
{
    for (unsigned i = 0; i < WB__SLOTS; i++) {
        while (s->windows[i].is_reading)
            take_some(s);
    }
    s->first = s->count = 0;
    s->given = false;
}

static void leave_file(wb__direct_pieces *s)
{
    drop_windows(s);
    wb__direct_close(&s->direct);
    s->source = NULL;
}

void wb__direct_pieces_close(wb__direct_pieces *s)
{
    leave_file(s);
    wb__staging_give(s->files->rooms, s->room);
    atomic_fetch_sub(&s->files->rooms->fillers, 1);
}

uint8_t *wb__direct_pieces_room(wb__direct_pieces *s)
{
    drop_windows(s);
    if (s->room == NULL)
        s->room = wb__staging_take(s->files->rooms);
    return s->room == NULL ? NULL : wb__staging_slot(s->room, 0);
}

/* ---- runs ---- */

static void turn_to_file(wb__direct_pieces *s, const wb__source *source)
{
    if (s->source == source)
        return;
    leave_file(s);
    s->source = source;
    if (s->files->io == WB_IO_DIRECT || wb__source_medium(source) == WB__MEDIUM_DISK)
        wb__direct_open(source, &s->direct);
}

/*
 * Returns true if direct I/O is worthwhile. If only one thread reads, reading through the page
 * cache is as fast or faster, because the kernel's read-ahead continues from one tensor into the
 * next. Several threads disturb this read-ahead (docs/provider.md).
 */
static bool is_wanted(const wb__files *files)
{
    return files->io == WB_IO_DIRECT ||
           (files->io == WB_IO_AUTO && atomic_load(&files->rooms->fillers) > 1);
}

bool wb__direct_pieces_turn(wb__direct_pieces *s, const wb_model *model, const wb__run *run)
{
    wb_error ignored;
    wb_tensor part = {.size = sizeof part};
    if (!is_wanted(s->files) || run->is_decoded || run->range.bytes < LEAST_BYTES ||
        run->range.file >= s->files->count ||
        wb_tensor_at(model, run->part, &part, &ignored) != WB_OK || part.storing != 0)
        return false;
    turn_to_file(s, s->files->sources[run->range.file]);
    s->run = run;
    return s->direct.fd >= 0;
}

/* Returns the file offset of byte `at` of the run. Sets *follow to the number of contiguous bytes
 * from there. */
static uint64_t place_of(const wb__direct_pieces *s, uint64_t at, uint64_t *follow)
{
    const wb_plan_range *range = &s->run->range;
    uint64_t within = at % range->bytes;
    *follow = range->bytes - within;
    return range->offset + at / range->bytes * range->stride + within;
}

static bool goes_past(const wb__direct_pieces *s, uint64_t offset, size_t n)
{
    return s->files->io == WB_IO_DIRECT || wb__source_is_cold(s->source, offset, n);
}

/* Returns a context whose errors name the file. */
static wb__context context_of(const wb__direct_pieces *s)
{
    wb__context context = *s->context;
    context.file = wb__source_label(s->source);
    return context;
}

/* ---- windows ---- */

bool wb__direct_pieces_begin(wb__direct_pieces *s, uint64_t at, uint64_t n, uint64_t step,
                             uint8_t *dst)
{
    if (wb__direct_pieces_room(s) == NULL)
        return false;
    s->begin = s->next = at;
    s->end = at + n;
    s->step = step < WB__DIRECT_BYTES ? step : WB__DIRECT_BYTES;
    s->dst = dst;
    return true;
}

static bool is_aligned(const wb__window_of_run *window)
{
    return (window->offset | (uintptr_t)window->dst | window->n) % WB__DIRECT_ALIGNMENT == 0;
}

/* Returns the number of bytes from the preceding aligned file offset to the start of the window. */
static size_t before(const wb__window_of_run *window)
{
    return (size_t)(window->offset % WB__DIRECT_ALIGNMENT);
}

static wb__window_of_run make_window(const wb__direct_pieces *s, uint64_t at, uint8_t *slot)
{
    uint64_t follow;
    wb__window_of_run window = {.offset = place_of(s, at, &follow), .result = -1};
    window.n = (size_t)(follow < s->step ? follow : s->step);
    window.dst = s->dst == NULL ? NULL : s->dst + (at - s->begin);
    window.past = goes_past(s, window.offset, window.n);
    if (window.dst != NULL && (!window.past || is_aligned(&window)))
        window.bytes = window.dst;
    else if (!window.past)
        window.bytes = slot;
    else
        window.bytes = slot + (0 - (uintptr_t)slot) % WB__DIRECT_ALIGNMENT + before(&window);
    return window;
}

/* Submits the read of a window, extended to aligned file offsets, to io_uring. Returns false if
 * io_uring is not used, not available, or does not accept the read. */
static bool begin_reading(wb__direct_pieces *s, const wb__window_of_run *window, unsigned slot)
{
    size_t n = before(window) + window->n;
    wb__ring *ring =
        s->end - s->begin <= s->step ? NULL : wb__staging_ring(s->files->rooms, s->room);
    return ring != NULL &&
           wb__ring_begin(ring, &s->direct, window->offset - before(window),
                          window->bytes - before(window), n + (0 - n) % WB__DIRECT_ALIGNMENT, slot);
}

/* Creates windows and submits their reads to io_uring, until each slot of the staging buffer has a
 * window or a read cannot be submitted. If there is no window yet, creates at least one. */
static void look_ahead(wb__direct_pieces *s)
{
    bool ahead = true;
    while (s->next < s->end && s->count < WB__SLOTS && (s->count == 0 || ahead)) {
        unsigned slot = (s->first + s->count) % WB__SLOTS;
        wb__window_of_run *window = &s->windows[slot];
        *window = make_window(s, s->next, wb__staging_slot(s->room, slot));
        ahead = window->past && begin_reading(s, window, slot);
        window->is_reading = ahead;
        s->next += window->n;
        s->count++;
    }
}

/* Reads a window. A window that io_uring failed to read is read again, so that errors are reported
 * in one place. */
static wb_status read_window(wb__direct_pieces *s, wb__window_of_run *window)
{
    wb__context context = context_of(s);
    size_t n = before(window) + window->n;
    while (window->is_reading)
        take_some(s);
    if (!window->past)
        return wb__source_read(s->source, &context, window->offset, window->bytes, window->n);
    if (window->result >= (int64_t)n)
        return WB_OK;
    return wb__direct_read(s->source, &s->direct, &context, window->offset - before(window),
                           window->bytes - before(window), n);
}

wb_status wb__direct_pieces_next(wb__direct_pieces *s, uint8_t **bytes, size_t *n)
{
    if (s->given) {
        s->first = (s->first + 1) % WB__SLOTS;
        s->count--;
    }
    look_ahead(s);
    s->given = true;
    *bytes = s->windows[s->first].bytes;
    *n = s->windows[s->first].n;
    return read_window(s, &s->windows[s->first]);
}

wb_status wb__direct_pieces_read(const wb__direct_pieces *s, uint64_t at, uint8_t *room, size_t n,
                                 uint8_t **bytes)
{
    wb__context context = context_of(s);
    uint64_t follow;
    uint64_t offset = place_of(s, at, &follow);
    *bytes = NULL;
    if (n > follow)
        return WB_OK;
    if (goes_past(s, offset, n))
        return wb__direct_read_into(s->source, &s->direct, &context, offset, room, n, bytes);
    *bytes = room;
    return wb__source_read(s->source, &context, offset, room, n);
}
