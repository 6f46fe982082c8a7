/*
 * core/cursor.h: bytes read once, in order.
 *
 * A header reader gets a cursor, never a file or a path. The bytes may all lie in memory, or pass
 * through a window that `fill` moves along; the reader sees the difference only in that pointers
 * into the bytes at hand become invalid with wb__cursor_want. Because a window only moves forward,
 * no byte is fetched twice, and a file that changes meanwhile cannot give two answers.
 *
 *       at hand
 *     p ------- end      wb__cursor_at(c) is the offset of p
 *                        `limit` is the offset the cursor must not pass
 *
 * Past the limit reads give zero and `truncated` stays set; a fill that fails sets `failed`, and
 * leaves the reason in the context it was made with. A reader may therefore check once at its end.
 *
 * A cursor may keep what it has read: then `kept` is where the byte at offset 0 lies, everything up
 * to `end` follows, and WB__CURSOR_SLACK bytes more are there to be written. The reader may change
 * those bytes once it has consumed them. A fetch can move them all, so what points into them is an
 * offset.
 *
 * scripts/prove.sh proves the contracts in ACSL: whatever a fill does within its own contract, a
 * cursor stays sound, and no read leaves the bytes at hand.
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
    const uint8_t *end; /* behind the last byte at hand */
    uint64_t end_at;    /* offset of `end` from the start of the source */
    uint64_t limit;     /* offset behind the last byte that may be read */
    /* Keeps the bytes at hand and puts at least one more behind them; false if it cannot. NULL
     * where everything up to `limit` is at hand. */
    bool (*fill)(wb__cursor *cursor);
    void *fill_ctx;
    uint8_t *kept;  /* NULL: bytes that were consumed are gone */
    size_t reach;   /* the most bytes that can be at hand at once */
    bool truncated; /* something wanted bytes past the limit */
    bool failed;    /* a fill failed */
};

#ifdef __FRAMAC__
bool wb__cursor_fill_owes(wb__cursor *c); /* stands for every fill in the proofs */
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

/* A cursor over n bytes in memory. */
static inline wb__cursor wb__cursor_over(const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    return (wb__cursor){
        .p = p, .end = n == 0 ? p : p + n, .end_at = n, .limit = n, .reach = SIZE_MAX};
}

/* A cursor that keeps n bytes, which the caller lends with room for WB__CURSOR_SLACK more. */
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

/* Lowers the limit, which the cursor has not passed; bytes at hand behind it are let go. */
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

/* Fetches until n bytes are at hand. The slow part of wb__cursor_want. */
/*@ requires sound(c) && n > at_hand(c);
    assigns c->p, c->end, c->end_at, c->kept, c->truncated, c->failed;
    ensures sound(c) && at(c) == \old(at(c));
    ensures \result == 1 ==> at_hand(c) >= n;
    ensures n > \old(c->limit - at(c)) ==> \result == 0 && c->truncated == 1; */
bool wb__cursor_fetch(wb__cursor *c, size_t n);

/*
 * True if n bytes are at hand now. False past the limit (then truncated), when a fill failed (then
 * failed) and for n greater than `reach`.
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

/* The next byte without consuming it, or -1 at the limit, which is no fault. */
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
