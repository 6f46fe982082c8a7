/*
 * handle/decode_cache.h: decompression state and tensors, kept for later reads of the same tensor.
 *
 * The cache holds a few idle inflate streams at their current positions, and the last
 * WB__CACHED_TENSORS tensors that had to be read whole. A tensor stays until another one replaces
 * it or the model is closed. Each open model has one cache, which all threads share.
 */
#ifndef WB_HANDLE_DECODE_CACHE_H
#define WB_HANDLE_DECODE_CACHE_H

#include "core/core.h"

struct wb__inflate_stream;

/* Number of cached tensors. It is 2, because one thread may read the end of a tensor while another
 * reads the start of the next. */
#define WB__CACHED_TENSORS 2

/* A cached tensor. `data` has the elements of the tensor in the order of the file. `users` is the
 * number of callers that have not released the tensor. */
typedef struct wb__cached_tensor {
    size_t tensor;
    size_t bytes;
    unsigned users;
    uint8_t data[];
} wb__cached_tensor;

typedef struct wb__decode_cache wb__decode_cache;

/* Returns NULL if memory runs out. Release the cache with wb__decode_cache_free, which accepts
 * NULL. */
wb__decode_cache *wb__decode_cache_new(const wb_allocator *allocator);
void wb__decode_cache_free(wb__decode_cache *decode_cache);

/* Frees all streams and tensors in the cache. No tensor may have a user. */
void wb__decode_cache_clear(wb__decode_cache *decode_cache);

/* Sets *cached to all n bytes of a tensor. `load` reads them if they are not cached. Only one
 * thread loads a tensor at a time. Release *cached with wb__decode_cache_release_tensor. */
wb_status wb__decode_cache_get_tensor(wb__decode_cache *decode_cache, wb__context *context,
                                      size_t tensor, size_t n,
                                      wb_status (*load)(void *ctx, uint8_t *dst), void *ctx,
                                      wb__cached_tensor **cached);
void wb__decode_cache_release_tensor(wb__decode_cache *decode_cache,
                                     wb__cached_tensor *cached); /* NULL is ignored */

/* Returns an idle stream of the tensor that can read the decompressed byte at offset `at` without a
 * restart, or NULL. The caller owns the stream. */
struct wb__inflate_stream *wb__decode_cache_take_stream(wb__decode_cache *decode_cache,
                                                        size_t tensor, uint64_t at);

/* Adds an idle stream to the cache, which takes ownership of it. */
void wb__decode_cache_put_stream(wb__decode_cache *decode_cache, struct wb__inflate_stream *stream);

#endif
