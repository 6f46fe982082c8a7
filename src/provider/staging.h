/*
 * provider/staging.h: staging buffers, into which an io_uring reads bytes before they are copied or
 * converted into a buffer of the provider.
 *
 * The page faults of new memory take as much time as a copy, so staging buffers are reused. Each
 * thread that fills a buffer takes a staging buffer and returns it afterwards.
 */
#ifndef WB_PROVIDER_STAGING_H
#define WB_PROVIDER_STAGING_H

#include <pthread.h>
#include <stdatomic.h>

#include "io/ring.h"

#define WB__SLOTS 4u
#define WB__SLOT_BYTES ((size_t)2 << 20) /* one huge page; direct I/O is fast from this size on */

typedef struct wb__staging_buffer {
    struct wb__staging_buffer *next; /* next free staging buffer */
    uint8_t *memory; /* WB__SLOTS slots of WB__SLOT_BYTES bytes each; pages are allocated when a
                        slot is first used */
    wb__ring *ring;  /* NULL: not created yet, or not available */
    bool ring_tried;
} wb__staging_buffer;

typedef struct wb__staging {
    wb_allocator allocator;
    pthread_mutex_t lock;
    wb__staging_buffer *free; /* free staging buffers; a thread that finds none creates one */
    _Atomic size_t fillers;   /* number of threads that fill buffers */
} wb__staging;

bool wb__staging_init(wb__staging *rooms, const wb_allocator *allocator);

/* Returns a staging buffer, or NULL if out of memory. Return it with wb__staging_give, which
 * ignores NULL. Both functions are thread-safe. */
wb__staging_buffer *wb__staging_take(wb__staging *rooms);
void wb__staging_give(wb__staging *rooms, wb__staging_buffer *room);

/* Frees the staging buffers that no thread uses. */
void wb__staging_trim(wb__staging *rooms);

/* Frees the pool. Precondition: all staging buffers have been returned. */
void wb__staging_free(wb__staging *rooms);

/* Returns the io_uring of a staging buffer, or NULL if it is not available. */
wb__ring *wb__staging_ring(const wb__staging *rooms, wb__staging_buffer *room);

static inline uint8_t *wb__staging_slot(const wb__staging_buffer *room, unsigned i)
{
    return room->memory + i * WB__SLOT_BYTES;
}

#endif
