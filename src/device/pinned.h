/*
 * device/pinned.h: a thread-safe pool of pinned memory. Pinning is slow (one millisecond for a few
 * MiB), so returned blocks are kept for reuse, up to a limit.
 */
#ifndef WB_DEVICE_PINNED_H
#define WB_DEVICE_PINNED_H

#include <pthread.h>

#include "core/core.h"

typedef struct wb__pinned_block {
    struct wb__pinned_block *next;
    void *memory;
    size_t bytes;
    bool in_use;
} wb__pinned_block;

typedef struct wb__pinned {
    wb_allocator allocator;
    void *ctx; /* passed to the two functions below, which are never called concurrently */
    void *(*get)(void *ctx, size_t bytes);
    void (*give_back)(void *ctx, void *memory);
    pthread_mutex_t lock;
    wb__pinned_block *blocks;
    uint64_t most; /* maximum total size of all blocks, in bytes */
    uint64_t bytes;
} wb__pinned;

/*
 * Initialises the pool. Precondition: the members above `lock`, and `most`, are set. Returns false
 * if the mutex cannot be created.
 */
bool wb__pinned_open(wb__pinned *pinned);
void wb__pinned_close(wb__pinned *pinned);

/* Returns a block of at least `bytes` bytes, or NULL. */
void *wb__pinned_take(wb__pinned *pinned, uint64_t bytes);
void wb__pinned_return(wb__pinned *pinned, const void *memory);

#endif
