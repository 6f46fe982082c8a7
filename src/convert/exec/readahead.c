#include "convert/exec/readahead.h"

#include "io/ring.h"

#define SLOTS 4u
#define SLOT_BYTES (WB__READAHEAD_BYTES / SLOTS)
#define PIECE_BYTES (SLOT_BYTES - WB__DIRECT_ROOM(0))
/* Maximum number of announced pieces. This is sufficient for two spans (scheduler.c) of 64 tiles
 * whose data are not adjacent in the file, so that each tile is a separate piece. */
#define PIECES 128u

typedef enum piece_state {
    PIECE_EXPECTED, /* announced, and the read has not started */
    PIECE_LEFT,     /* the piece is not read ahead, and wb__readahead_take returns NULL for it */
    PIECE_READING,
    PIECE_READ
} piece_state;

/* A contiguous byte range of a file that is read with one request. */
typedef struct piece {
    wb__byte_range place;
    piece_state state;
    unsigned slot;  /* number of the slot (buffer in wb__readahead.memory) for the data */
    int64_t result; /* result of the read by io_uring: number of bytes, or a negated errno */
} piece;

struct wb__readahead {
    wb_allocator allocator;
    atomic_size_t *left; /* remaining memory budget in bytes, shared by all workers */
    uint8_t *memory;     /* SLOTS buffers with SLOT_BYTES bytes each; NULL: not allocated */
    wb__ring *ring;
    /* read-ahead is impossible, because memory or io_uring is not available */
    bool refused;
    unsigned busy;            /* bit mask of the slots that contain a piece */
    const wb__source *source; /* file that `direct` has open for direct I/O; NULL: none */
    wb__direct direct;
    /* Index of the first announced piece in the ring buffer `pieces`, and number of announced
     * pieces. The pieces are in the order in which the worker will take them. */
    unsigned first, count;
    piece pieces[PIECES];
};

bool wb__memory_take(atomic_size_t *left, size_t bytes)
{
    size_t there = atomic_load(left);
    do {
        if (there < bytes)
            return false;
    } while (!atomic_compare_exchange_weak(left, &there, there - bytes));
    return true;
}

wb__readahead *wb__readahead_open(const wb_allocator *allocator, atomic_size_t *left)
{
    wb__readahead *ahead = wb__alloc_zeroed(allocator, sizeof *ahead);
    if (ahead == NULL)
        return NULL;
    ahead->allocator = *allocator;
    ahead->left = left;
    ahead->direct.fd = -1;
    return ahead;
}

static piece *piece_at(wb__readahead *ahead, unsigned i)
{
    return &ahead->pieces[(ahead->first + i) % PIECES];
}

/* ---- reads in progress ---- */

static void take_some(wb__readahead *ahead)
{
    wb__ring_done done[SLOTS];
    size_t n = wb__ring_take(ahead->ring, done, SLOTS);
    for (size_t i = 0; i < n; i++) {
        ahead->pieces[done[i].tag].state = PIECE_READ;
        ahead->pieces[done[i].tag].result = done[i].result;
    }
}

static void drop_first(wb__readahead *ahead)
{
    piece *p = piece_at(ahead, 0);
    while (p->state == PIECE_READING)
        take_some(ahead);
    if (p->state == PIECE_READ)
        ahead->busy &= ~(1u << p->slot);
    ahead->first = (ahead->first + 1) % PIECES;
    ahead->count--;
}

void wb__readahead_close(wb__readahead *ahead)
{
    if (ahead == NULL)
        return;
    while (ahead->count > 0)
        drop_first(ahead);
    wb__direct_close(&ahead->direct);
    wb__ring_close(ahead->ring);
    wb__free(&ahead->allocator, ahead->memory, WB__READAHEAD_BYTES);
    wb__free(&ahead->allocator, ahead, sizeof *ahead);
}

/* ---- starting reads ---- */

static bool is_equipped(wb__readahead *ahead)
{
    if (ahead->ring == NULL && !ahead->refused) {
        ahead->ring = wb__ring_open(&ahead->allocator, SLOTS, false);
        if (ahead->ring != NULL && wb__memory_take(ahead->left, WB__READAHEAD_BYTES))
            ahead->memory = wb__alloc(&ahead->allocator, WB__READAHEAD_BYTES);
        ahead->refused = ahead->memory == NULL;
    }
    return !ahead->refused;
}

/* Closes the current file and opens `source` for direct I/O. Returns false if slots still contain
 * pieces of the current file. */
static bool turn_to(wb__readahead *ahead, const wb__source *source)
{
    if (ahead->source == source)
        return true;
    if (ahead->busy != 0)
        return false;
    wb__direct_close(&ahead->direct);
    if (wb__source_medium(source) == WB__MEDIUM_DISK)
        wb__direct_open(source, &ahead->direct);
    ahead->source = source;
    return true;
}

static size_t before(const wb__byte_range *place)
{
    return (size_t)(place->offset % WB__DIRECT_ALIGNMENT);
}

/*
 * Returns the first aligned address in the slot of the piece. A read begins with the aligned
 * file block that contains the start of the piece, and stores this block at the returned
 * address.
 */
static uint8_t *page_of(const wb__readahead *ahead, const piece *p)
{
    uint8_t *slot = ahead->memory + p->slot * SLOT_BYTES;
    return slot + (0 - (uintptr_t)slot) % WB__DIRECT_ALIGNMENT;
}

static unsigned free_slot(const wb__readahead *ahead)
{
    unsigned slot = 0;
    while ((ahead->busy >> slot & 1u) != 0)
        slot++;
    return slot;
}

/* Starts to read a piece, extended to aligned blocks, through io_uring. Returns false if that is
 * impossible or if the piece is in the page cache. */
static bool begin(wb__readahead *ahead, piece *p)
{
    if (ahead->direct.fd < 0 ||
        !wb__source_is_cold(p->place.source, p->place.offset, p->place.bytes) ||
        !is_equipped(ahead))
        return false;
    size_t n = before(&p->place) + p->place.bytes;
    p->slot = free_slot(ahead);
    return wb__ring_begin(ahead->ring, &ahead->direct, p->place.offset - before(&p->place),
                          page_of(ahead, p), n + (0 - n) % WB__DIRECT_ALIGNMENT,
                          (unsigned)(p - ahead->pieces));
}

/* Starts to read announced pieces while slots are free. */
static void begin_some(wb__readahead *ahead)
{
    for (unsigned i = 0; i < ahead->count && ahead->busy != (1u << SLOTS) - 1; i++) {
        piece *p = piece_at(ahead, i);
        if (p->state != PIECE_EXPECTED)
            continue;
        if (!turn_to(ahead, p->place.source))
            return;
        bool begun = begin(ahead, p);
        p->state = begun ? PIECE_READING : PIECE_LEFT;
        ahead->busy |= begun ? 1u << p->slot : 0;
    }
}

bool wb__readahead_begin(wb__readahead *ahead)
{
    begin_some(ahead);
    return ahead->busy != 0;
}

/* ---- announcing and taking ranges ---- */

/* Returns true if the range continues a piece whose read has not started, so that the range can
 * be added to the piece. */
static bool joins(const piece *p, const wb__byte_range *place)
{
    return p->state == PIECE_EXPECTED && p->place.source == place->source &&
           p->place.offset + p->place.bytes == place->offset &&
           p->place.bytes + place->bytes <= PIECE_BYTES;
}

void wb__readahead_expect(wb__readahead *ahead, const wb__byte_range *place)
{
    piece *last = ahead->count == 0 ? NULL : piece_at(ahead, ahead->count - 1);
    if (ahead->refused || place->bytes > PIECE_BYTES)
        return;
    if (last != NULL && joins(last, place))
        last->place.bytes += place->bytes;
    else if (ahead->count < PIECES)
        *piece_at(ahead, ahead->count++) = (piece){.place = *place};
}

static bool has(const piece *p, const wb__byte_range *place)
{
    return p->place.source == place->source && p->place.offset <= place->offset &&
           wb__in_range(place->offset - p->place.offset, place->bytes, p->place.bytes);
}

/* Waits until a piece is read. If the read through io_uring failed, reads the piece again without
 * io_uring. If the second read fails too, returns its error. */
static wb_status finish(wb__readahead *ahead, wb__context *context, piece *p)
{
    size_t n = before(&p->place) + p->place.bytes;
    while (p->state == PIECE_READING)
        take_some(ahead);
    if (p->result >= (int64_t)n)
        return WB_OK;
    wb_status status = wb__direct_read(p->place.source, &ahead->direct, context,
                                       p->place.offset - before(&p->place), page_of(ahead, p), n);
    p->result = status == WB_OK ? (int64_t)n : -1;
    return status;
}

wb_status wb__readahead_take(wb__readahead *ahead, wb__context *context,
                             const wb__byte_range *place, uint8_t **bytes)
{
    unsigned at = 0;
    *bytes = NULL;
    while (at < ahead->count && !has(piece_at(ahead, at), place))
        at++;
    if (at == ahead->count)
        return WB_OK;
    for (; at > 0; at--)
        drop_first(ahead);
    begin_some(ahead);
    piece *p = piece_at(ahead, 0);
    if (p->state == PIECE_LEFT)
        return WB_OK;
    wb_status status = finish(ahead, context, p);
    if (status == WB_OK)
        *bytes = page_of(ahead, p) + (place->offset - (p->place.offset - before(&p->place)));
    return status;
}
