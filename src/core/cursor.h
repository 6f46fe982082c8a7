/*
 * core/cursor.h: sequential reading of bytes.
 *
 * A header reader gets a cursor instead of a file or a path. The bytes may all be in memory, or
 * only a part of them, the window, which the `fill` function moves forward. The reader sees only
 * one difference: a call of wb__cursor_want may invalidate pointers into the bytes. Because a
 * window never moves back, no byte is fetched twice, and a file that changes meanwhile cannot give
 * two different answers. A reader that calls read_at must discard what it parsed from bytes that it
 * reads again.
 *
 *       at hand
 *     p ------- end      wb__cursor_at(c) is the offset of p
 *                        `limit` is the offset that the cursor must not pass
 *
 * The bytes "at hand" are those between p and end, which can be read without another fetch. A read
 * past the limit returns zero and sets `truncated`. A failed fill sets `failed`; the `fill`
 * function itself reports the error. A reader may therefore check for errors once, after its last
 * call.
 *
 * A cursor may keep all bytes that it has read. `kept` then points to a buffer that holds the bytes
 * from offset 0 to `end`, followed by WB__CURSOR_SLACK more writable bytes. The reader may
 * overwrite kept bytes that it has consumed. A fetch can move the buffer, so references into it
 * must be offsets.
 *
 * scripts/prove.sh proves the ACSL contracts: if fill fulfils its contract, a cursor stays valid
 * (the predicate `sound`), and no read accesses bytes outside p to end.
 */
#ifndef WB_CORE_CURSOR_H
#define WB_CORE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/endian.h"

#define WB__CURSOR_SLACK 16

typedef struct wb__cursor wb__cursor;

struct wb__cursor {
    const uint8_t *p;   /* the next byte */
    const uint8_t *end; /* one past the last byte at hand */
    uint64_t end_at;    /* offset of `end` from the start of the source */
    uint64_t limit;     /* offset one past the last byte that may be read */
    /* Appends at least one byte to the bytes at hand, and may move them in memory. Returns false if
     * it cannot append a byte. `fill` is NULL if all bytes up to `limit` are at hand. */
    bool (*fill)(wb__cursor *cursor);
    /* Reads n bytes at any offset below `limit`; several threads may call it at the same time.
     * Returns false on failure, but reports no error. NULL: bytes can only be read in order. */
    bool (*read_at)(void *fill_ctx, uint64_t offset, void *dst, size_t n);
    void *fill_ctx;
    uint8_t *kept;  /* start of the kept bytes; NULL if consumed bytes are discarded */
    size_t reach;   /* maximum number of bytes that can be at hand at once */
    bool truncated; /* a read past the limit was attempted */
    bool failed;    /* a fill failed */
};

#ifdef __FRAMAC__
bool wb__cursor_fill_owes(wb__cursor *c); /* represents all fill functions in the proofs */
#endif

/*@ predicate sound(wb__cursor *c) =
      \valid(c) && \base_addr(c->p) == \base_addr(c->end) && 0 <= c->end - c->p <= c->end_at &&
      c->end - c->p <= SIZE_MAX && c->end_at <= c->limit &&
      \valid_read(c->p + (0 .. c->end - c->p - 1)) &&
      \separated(c, c->p + (0 .. c->end - c->p - 1)) &&
      (c->fill == \null || c->fill == wb__cursor_fill_owes);
    logic integer at_hand(wb__cursor *c) = c->end - c->p;
    logic integer at(wb__cursor *c) = c->end_at - (c->end - c->p); */

#ifdef __FRAMAC__
/*@ requires sound(c) && c->end_at < c->limit;
    assigns c->p, c->end, c->end_at, c->kept;
    ensures sound(c) && at(c) == \old(at(c));
    ensures \result == 1 ==> at_hand(c) > \old(at_hand(c)); */
bool wb__cursor_fill_owes(wb__cursor *c);
#endif

/* Returns a cursor over n bytes in memory. */
static inline wb__cursor wb__cursor_over(const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    return (wb__cursor){
        .p = p, .end = n == 0 ? p : p + n, .end_at = n, .limit = n, .reach = SIZE_MAX};
}

/*
 * Returns a cursor over n bytes in memory, with `kept` set. The caller's buffer must have
 * WB__CURSOR_SLACK more writable bytes.
 */
static inline wb__cursor wb__cursor_over_kept(uint8_t *bytes, size_t n)
{
    wb__cursor cursor = wb__cursor_over(bytes, n);
    cursor.kept = bytes;
    return cursor;
}

/*@ requires sound(c);
    assigns \nothing;
    ensures \result == at_hand(c); */
static inline size_t wb__cursor_at_hand(const wb__cursor *c)
{
    return (size_t)(c->end - c->p);
}

/*@ requires sound(c);
    assigns \nothing;
    ensures \result == at(c); */
static inline uint64_t wb__cursor_at(const wb__cursor *c)
{
    return c->end_at - wb__cursor_at_hand(c);
}

/*@ requires sound(c);
    assigns \nothing;
    ensures \result == c->limit - at(c); */
static inline uint64_t wb__cursor_left(const wb__cursor *c)
{
    return c->limit - wb__cursor_at(c);
}

/* Lowers the limit. The new limit must not be below the current offset. Drops the bytes at hand
 * past the new limit. */
/*@ requires sound(c) && at(c) <= limit;
    assigns c->end, c->end_at, c->limit;
    ensures sound(c) && c->limit == limit && at(c) == \old(at(c)); */
static inline void wb__cursor_set_limit(wb__cursor *c, uint64_t limit)
{
    if (c->end_at > limit) {
        c->end -= (size_t)(c->end_at - limit);
        c->end_at = limit;
    }
    c->limit = limit;
}

/* Moves forward to an offset that is not above the limit. The cursor must not be one that keeps all
 * bytes that it has read (`kept` must be NULL). */
/*@ requires sound(c) && at(c) <= offset <= c->limit;
    requires c->fill == \null ==> offset <= c->end_at;
    assigns c->p, c->end_at;
    ensures sound(c) && at(c) == offset; */
static inline void wb__cursor_skip_to(wb__cursor *c, uint64_t offset)
{
    if (offset > c->end_at) {
        c->p = c->end;
        c->end_at = offset;
    } else {
        c->p = c->end - (size_t)(c->end_at - offset);
    }
}

/* Fetches until n bytes are at hand. This is the slow path of wb__cursor_want. */
/*@ requires sound(c) && n > at_hand(c);
    assigns c->p, c->end, c->end_at, c->kept, c->truncated, c->failed;
    ensures sound(c) && at(c) == \old(at(c));
    ensures \result == 1 ==> at_hand(c) >= n;
    ensures n > \old(c->limit - at(c)) ==> \result == 0 && c->truncated == 1; */
bool wb__cursor_fetch(wb__cursor *c, size_t n);

/*
 * Fetches bytes until n bytes are at hand, and returns true. Returns false if n bytes would extend
 * past the limit (and sets `truncated`), if a fill failed (and sets `failed`), or if n exceeds
 * `reach`.
 */
/*@ requires sound(c);
    assigns c->p, c->end, c->end_at, c->kept, c->truncated, c->failed;
    ensures sound(c) && at(c) == \old(at(c));
    ensures \result == 1 ==> at_hand(c) >= n;
    ensures n > \old(c->limit - at(c)) ==> \result == 0; */
static inline bool wb__cursor_want(wb__cursor *c, size_t n)
{
    return n <= wb__cursor_at_hand(c) || wb__cursor_fetch(c, n);
}

/* Returns the next byte without consuming it. Returns -1 at the limit (not an error), or if a fill
 * fails. */
/*@ requires sound(c) && at_hand(c) == 0;
    assigns c->p, c->end, c->end_at, c->kept, c->truncated, c->failed;
    ensures sound(c) && at(c) == \old(at(c));
    ensures -1 <= \result <= 255 && (\result >= 0 ==> at_hand(c) > 0); */
int wb__cursor_peek_slow(wb__cursor *c);

/*@ requires sound(c);
    assigns c->p, c->end, c->end_at, c->kept, c->truncated, c->failed;
    ensures sound(c) && at(c) == \old(at(c));
    ensures -1 <= \result <= 255 && (\result >= 0 ==> at_hand(c) > 0); */
static inline int wb__cursor_peek(wb__cursor *c)
{
    return c->p != c->end ? *c->p : wb__cursor_peek_slow(c);
}

/*@ requires sound(c);
    assigns c->p, c->end, c->end_at, c->kept, c->truncated, c->failed;
    ensures sound(c);
    ensures at(c) == \old(at(c)) + 8 || (at(c) == \old(at(c)) && \result == 0); */
static inline uint64_t wb__cursor_le64(wb__cursor *c)
{
    if (!wb__cursor_want(c, 8))
        return 0;
    uint64_t v = wb__load_le64(c->p);
    c->p += 8;
    return v;
}

#endif
