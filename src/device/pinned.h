/*
 * device/pinned.h: blocks of memory that are costly to get (pinning takes a millisecond a few MiB), kept
 * when they are given back, up to a limit. Thread-safe.
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
    void *ctx; /* of the two below, which are called one at a time */
    void *(*get)(void *ctx, size_t bytes);
    void (*give_back)(void *ctx, void *memory);
    pthread_mutex_t lock;
    wb__pinned_block *blocks;
    uint64_t most; /* bytes at once */
    uint64_t bytes;
} wb__pinned;

/* False where there is no lock to be had. The members above `lock` and `most` have been set. */
bool wb__pinned_open(wb__pinned *pinned);
void wb__pinned_close(wb__pinned *pinned);

/* At least `bytes`, or NULL. */
void *wb__pinned_take(wb__pinned *pinned, uint64_t bytes);
void wb__pinned_return(wb__pinned *pinned, const void *memory);

#endif
