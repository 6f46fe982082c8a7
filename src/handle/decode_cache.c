#include "handle/decode_cache.h"

#include <pthread.h>

#include "handle/inflate_stream.h"

#define IDLE 8

struct wb__decode_cache {
    wb_allocator allocator;
    pthread_mutex_t lock;
    wb__cached_tensor
        *cached[WB__CACHED_TENSORS]; /* most recently used first; callers may hold some of them */
    wb__inflate_stream *idle[IDLE];
    size_t next; /* index in `idle` of the stream that is replaced next, once `idle` is full */
};

wb__decode_cache *wb__decode_cache_new(const wb_allocator *allocator)
{
    wb__decode_cache *decode_cache = wb__alloc_zeroed(allocator, sizeof *decode_cache);
    if (decode_cache == NULL)
        return NULL;
    decode_cache->allocator = *allocator;
    if (pthread_mutex_init(&decode_cache->lock, NULL) != 0) {
        wb__free(allocator, decode_cache, sizeof *decode_cache);
        return NULL;
    }
    return decode_cache;
}

static void free_held(wb__decode_cache *decode_cache, wb__cached_tensor *cached)
{
    if (cached != NULL)
        wb__free(&decode_cache->allocator, cached, sizeof *cached + cached->bytes);
}

/* Moves the tensor at index `place` to the front. */
static void put_first(wb__decode_cache *decode_cache, size_t place)
{
    wb__cached_tensor *cached = decode_cache->cached[place];
    for (; place > 0; place--)
        decode_cache->cached[place] = decode_cache->cached[place - 1];
    decode_cache->cached[0] = cached;
}

void wb__decode_cache_clear(wb__decode_cache *decode_cache)
{
    for (size_t i = 0; i < IDLE; i++) {
        wb__inflate_stream_free(decode_cache->idle[i]);
        decode_cache->idle[i] = NULL;
    }
    for (size_t i = 0; i < WB__CACHED_TENSORS; i++) {
        free_held(decode_cache, decode_cache->cached[i]);
        decode_cache->cached[i] = NULL;
    }
}

void wb__decode_cache_free(wb__decode_cache *decode_cache)
{
    if (decode_cache == NULL)
        return;
    wb__decode_cache_clear(decode_cache);
    (void)pthread_mutex_destroy(&decode_cache->lock);
    wb_allocator allocator = decode_cache->allocator;
    wb__free(&allocator, decode_cache, sizeof *decode_cache);
}

/* ---- whole tensors ---- */

/* Loads a tensor into the last entry of the cache, in place of the least recently used tensor. */
static wb_status load_held(wb__decode_cache *decode_cache, wb__context *context, size_t tensor,
                           size_t n, wb_status (*load)(void *ctx, uint8_t *dst), void *ctx)
{
    wb__cached_tensor **place = &decode_cache->cached[WB__CACHED_TENSORS - 1];
    if (*place != NULL && (*place)->users == 0)
        free_held(decode_cache, *place);
    *place = NULL; /* if the tensor has users, the last one frees it */
    wb__cached_tensor *cached =
        n > SIZE_MAX / 2 ? NULL : wb__alloc(&decode_cache->allocator, sizeof *cached + n);
    if (cached == NULL)
        return wb__fail_memory(context);
    *cached = (wb__cached_tensor){.tensor = tensor, .bytes = n};
    wb_status status = load(ctx, cached->data);
    if (status != WB_OK) {
        free_held(decode_cache, cached);
        return status;
    }
    *place = cached;
    return WB_OK;
}

wb_status wb__decode_cache_get_tensor(wb__decode_cache *decode_cache, wb__context *context,
                                      size_t tensor, size_t n,
                                      wb_status (*load)(void *ctx, uint8_t *dst), void *ctx,
                                      wb__cached_tensor **cached)
{
    wb_status status = WB_OK;
    size_t place = 0;
    (void)pthread_mutex_lock(&decode_cache->lock);
    while (place < WB__CACHED_TENSORS &&
           (decode_cache->cached[place] == NULL || decode_cache->cached[place]->tensor != tensor))
        place++;
    if (place == WB__CACHED_TENSORS)
        status = load_held(decode_cache, context, tensor, n, load, ctx);
    if (status == WB_OK) {
        put_first(decode_cache, place == WB__CACHED_TENSORS ? WB__CACHED_TENSORS - 1 : place);
        *cached = decode_cache->cached[0];
        (*cached)->users++;
    }
    (void)pthread_mutex_unlock(&decode_cache->lock);
    return status;
}

static bool is_held(const wb__decode_cache *decode_cache, const wb__cached_tensor *cached)
{
    bool is = false;
    for (size_t i = 0; i < WB__CACHED_TENSORS && !is; i++)
        is = decode_cache->cached[i] == cached;
    return is;
}

void wb__decode_cache_release_tensor(wb__decode_cache *decode_cache, wb__cached_tensor *cached)
{
    if (cached == NULL)
        return;
    (void)pthread_mutex_lock(&decode_cache->lock);
    if (--cached->users == 0 && !is_held(decode_cache, cached))
        free_held(decode_cache, cached);
    (void)pthread_mutex_unlock(&decode_cache->lock);
}

/* ---- streams ---- */

wb__inflate_stream *wb__decode_cache_take_stream(wb__decode_cache *decode_cache, size_t tensor,
                                                 uint64_t at)
{
    wb__inflate_stream *found = NULL;
    size_t place = 0;
    (void)pthread_mutex_lock(&decode_cache->lock);
    for (size_t i = 0; i < IDLE; i++) { /* find the stream that has decompressed the most bytes */
        wb__inflate_stream *stream = decode_cache->idle[i];
        if (stream != NULL && wb__inflate_stream_tensor(stream) == tensor &&
            wb__inflate_stream_reaches(stream, at) &&
            (found == NULL || wb__inflate_stream_done(stream) > wb__inflate_stream_done(found))) {
            found = stream;
            place = i;
        }
    }
    if (found != NULL)
        decode_cache->idle[place] = NULL;
    (void)pthread_mutex_unlock(&decode_cache->lock);
    return found;
}

void wb__decode_cache_put_stream(wb__decode_cache *decode_cache, wb__inflate_stream *stream)
{
    (void)pthread_mutex_lock(&decode_cache->lock);
    size_t place = 0;
    while (place < IDLE && decode_cache->idle[place] != NULL)
        place++;
    if (place == IDLE) {
        place = decode_cache->next;
        decode_cache->next = (decode_cache->next + 1) % IDLE;
    }
    wb__inflate_stream *old = decode_cache->idle[place];
    decode_cache->idle[place] = stream;
    (void)pthread_mutex_unlock(&decode_cache->lock);
    wb__inflate_stream_free(old);
}
