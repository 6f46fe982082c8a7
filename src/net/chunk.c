#include "net/chunk.h"

#include "net/cached_file.h"

static bool put_chunk(void *owner, uint64_t offset, const uint8_t *bytes, size_t n)
{
    wb__chunk *chunk = owner;
    memcpy(chunk->bytes + (size_t)(offset - chunk->transfer.begin), bytes, n);
    return true;
}

static void link_newest(wb__chunk_cache *cache, wb__chunk *chunk)
{
    chunk->newer = NULL;
    chunk->older = cache->newest;
    if (cache->newest != NULL)
        cache->newest->newer = chunk;
    else
        cache->oldest = chunk;
    cache->newest = chunk;
}

static void unlink_chunk(wb__chunk_cache *cache, wb__chunk *chunk)
{
    if (chunk->older != NULL)
        chunk->older->newer = chunk->newer;
    else
        cache->oldest = chunk->newer;
    if (chunk->newer != NULL)
        chunk->newer->older = chunk->older;
    else
        cache->newest = chunk->older;
}

void wb__chunk_detach(wb__chunk *chunk)
{
    wb__chunk **link = &chunk->file->chunks;
    while (*link != chunk)
        link = &(*link)->next;
    *link = chunk->next;
    unlink_chunk(&chunk->file->remote.net->cache, chunk);
    chunk->file->remote.net->cache.bytes -= chunk->size;
}

void wb__chunk_free(wb__chunk *chunk)
{
    wb_allocator allocator = chunk->file->remote.net->allocator;
    wb__transfer_free(&chunk->transfer);
    wb__free(&allocator, chunk->bytes, chunk->size);
    wb__free(&allocator, chunk, sizeof *chunk);
}

void wb__chunk_use(wb__chunk *chunk)
{
    wb__chunk_cache *cache = &chunk->file->remote.net->cache;
    unlink_chunk(cache, chunk);
    link_newest(cache, chunk);
}

static bool is_evictable(const wb__chunk *chunk)
{
    wb__transfer_state state = chunk->transfer.state;
    return chunk->users == 0 && state != WB__TRANSFER_RUNNING && state != WB__TRANSFER_JUDGING;
}

/* Takes the oldest chunks out of the cache until `need` more bytes fit. Returns their list, linked
 * by `next`, which the caller frees without the lock. */
static wb__chunk *evict(wb__chunk_cache *cache, uint64_t limit, uint64_t need)
{
    wb__chunk *list = NULL;
    for (wb__chunk *chunk = cache->oldest, *newer; chunk != NULL; chunk = newer) {
        newer = chunk->newer;
        if (cache->bytes + need <= limit)
            break;
        if (!is_evictable(chunk))
            continue;
        wb__chunk_detach(chunk);
        chunk->next = list;
        list = chunk;
    }
    return list;
}

static void free_list(wb__chunk *list)
{
    while (list != NULL) {
        wb__chunk *next = list->next;
        wb__chunk_free(list);
        list = next;
    }
}

wb__chunk *wb__chunk_new(wb__cached_file *file, uint64_t begin, uint64_t end)
{
    wb_net *net = file->remote.net;
    size_t size;
    if (!wb__to_size(end - begin, &size))
        return NULL;
    wb__chunk *evicted = evict(&net->cache, net->options.cache_bytes, size);
    if (evicted != NULL) {
        wb__net_unlock(net);
        free_list(evicted);
        wb__net_lock(net);
    }
    wb__chunk *chunk = wb__alloc_zeroed(&net->allocator, sizeof *chunk);
    uint8_t *bytes = wb__alloc(&net->allocator, size);
    if (chunk == NULL || bytes == NULL) {
        wb__free(&net->allocator, chunk, sizeof *chunk);
        wb__free(&net->allocator, bytes, size);
        return NULL;
    }
    chunk->file = file;
    chunk->bytes = bytes;
    chunk->size = size;
    wb__transfer_init(&chunk->transfer, &file->remote, begin, end);
    chunk->transfer.put = put_chunk;
    chunk->transfer.owner = chunk;
    chunk->next = file->chunks;
    file->chunks = chunk;
    link_newest(&net->cache, chunk);
    net->cache.bytes += size;
    return chunk;
}

wb__chunk *wb__chunk_find(const wb__cached_file *file, uint64_t offset)
{
    wb__chunk *chunk = file->chunks;
    while (chunk != NULL && !(chunk->transfer.begin <= offset && offset < chunk->transfer.end))
        chunk = chunk->next;
    return chunk;
}

uint64_t wb__chunk_clip(const wb__cached_file *file, uint64_t offset, uint64_t end)
{
    for (const wb__chunk *chunk = file->chunks; chunk != NULL; chunk = chunk->next) {
        if (chunk->transfer.begin > offset && chunk->transfer.begin < end)
            end = chunk->transfer.begin;
    }
    return end;
}
