/*
 * net/chunk.h: parts of remote files in memory.
 *
 * A chunk is a range of a file that was fetched, or is being fetched, in one request. All chunks of
 * a wb_net share the limit of its cache; those that were not used for the longest time are freed
 * first. Except where stated, the functions need the lock of the wb_net.
 */
#ifndef WB_NET_CHUNK_H
#define WB_NET_CHUNK_H

#include "net/transfer.h"

struct wb__cached_file;

typedef struct wb__chunk {
    struct wb__cached_file *file;
    struct wb__chunk *next;          /* of the file */
    struct wb__chunk *older, *newer; /* of the cache */
    unsigned users;                  /* number of readers; the chunk is freed only if it is 0 */
    wb__transfer transfer;
    uint8_t *bytes;
    size_t size;
} wb__chunk;

/* Creates a chunk of the bytes from `begin` to `end` and adds it to the file, without starting its
 * transfer. May release the lock for a while to free other chunks. Returns NULL if memory runs
 * out. */
wb__chunk *wb__chunk_new(struct wb__cached_file *file, uint64_t begin, uint64_t end);

/* wb__chunk_detach removes a chunk from its file and from the cache. After that, wb__chunk_free can
 * free it even if the lock is not held. */
void wb__chunk_detach(wb__chunk *chunk);
void wb__chunk_free(wb__chunk *chunk);

/* Marks the chunk as the most recently used one. */
void wb__chunk_use(wb__chunk *chunk);

/* Returns the chunk that has the byte at `offset`, or will have it; NULL if there is none. */
wb__chunk *wb__chunk_find(const struct wb__cached_file *file, uint64_t offset);

/* Returns the start of the first existing chunk after `offset`, or `end` if there is none before
 * `end`. */
uint64_t wb__chunk_clip(const struct wb__cached_file *file, uint64_t offset, uint64_t end);

#endif
