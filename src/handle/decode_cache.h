/*
 * handle/decode_cache.h: what reading a tensor piece by piece would otherwise make anew for each piece.
 *
 * Unpackers that nobody uses just now wait at the place they have come to, a few of them; and the last
 * WB__CACHED_TENSORS tensors that had to be read whole stay until another has to be, or the model is closed. All belong to
 * an open model and are shared by its threads.
 */
#ifndef WB_HANDLE_DECODE_CACHE_H
#define WB_HANDLE_DECODE_CACHE_H

#include "core/core.h"

struct wb__inflate_stream;

#define WB__CACHED_TENSORS 2 /* where one tensor ends and the next begins, threads are at both */

/* A tensor's bytes, in the order of the file. */
typedef struct wb__cached_tensor {
    size_t tensor;
    size_t bytes;
    unsigned users;
    uint8_t data[];
} wb__cached_tensor;

typedef struct wb__decode_cache wb__decode_cache;

/* NULL: memory is out. Release with wb__decode_cache_free, which takes NULL. */
wb__decode_cache *wb__decode_cache_new(const wb_allocator *allocator);
void wb__decode_cache_free(wb__decode_cache *decode_cache);

/* Lets go of all that nobody uses. */
void wb__decode_cache_clear(wb__decode_cache *decode_cache);

/*
 * The whole of a tensor of n bytes, which `load` reads if it is not held already. Only one is loaded at
 * a time. Owned, release with wb__decode_cache_release_tensor.
 */
wb_status wb__decode_cache_get_tensor(wb__decode_cache *decode_cache, wb__context *context,
                                      size_t tensor, size_t n,
                                      wb_status (*load)(void *ctx, uint8_t *dst), void *ctx,
                                      wb__cached_tensor **cached);
void wb__decode_cache_release_tensor(wb__decode_cache *decode_cache,
                                     wb__cached_tensor *cached); /* NULL is ignored */

/* An unpacker of the tensor that can give the byte at `at`, which is the caller's now; or NULL. */
struct wb__inflate_stream *wb__decode_cache_take_stream(wb__decode_cache *decode_cache,
                                                        size_t tensor, uint64_t at);

/* Takes over an unpacker that can be used again. */
void wb__decode_cache_put_stream(wb__decode_cache *decode_cache, struct wb__inflate_stream *stream);

#endif
