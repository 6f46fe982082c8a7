/*
 * handle/decode_cache.h: what reading a tensor piece by piece would otherwise make anew for each piece.
 *
 * Unpackers that nobody uses just now wait at the place they have come to, a few of them; and the last
 * WB__HELD tensors that had to be read whole stay until another has to be, or the model is closed. All belong to
 * an open model and are shared by its threads.
 */
#ifndef WB_OPEN_HOLDER_H
#define WB_OPEN_HOLDER_H

#include "core/core.h"

struct wb__unpacker;

#define WB__HELD 2 /* where one tensor ends and the next begins, threads are at both */

/* A tensor's bytes, in the order of the file. */
typedef struct wb__held {
    size_t tensor;
    size_t bytes;
    unsigned users;
    uint8_t data[];
} wb__held;

typedef struct wb__holder wb__holder;

/* NULL: memory is out. Release with wb__holder_free, which takes NULL. */
wb__holder *wb__holder_new(const wb_allocator *allocator);
void wb__holder_free(wb__holder *holder);

/* Lets go of all that nobody uses. */
void wb__holder_clear(wb__holder *holder);

/*
 * The whole of a tensor of n bytes, which `load` reads if it is not held already. Only one is loaded at
 * a time. Owned, release with wb__holder_release.
 */
wb_status wb__holder_hold(wb__holder *holder, wb__context *context, size_t tensor, size_t n,
                          wb_status (*load)(void *ctx, uint8_t *dst), void *ctx, wb__held **held);
void wb__holder_release(wb__holder *holder, wb__held *held); /* NULL is ignored */

/* An unpacker of the tensor that can give the byte at `at`, which is the caller's now; or NULL. */
struct wb__unpacker *wb__holder_take(wb__holder *holder, size_t tensor, uint64_t at);

/* Takes over an unpacker that can be used again. */
void wb__holder_give(wb__holder *holder, struct wb__unpacker *unpacker);

#endif
