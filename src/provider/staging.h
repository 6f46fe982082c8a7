/*
 * provider/staging.h: what bytes pass through on their way into a buffer: memory, and a ring that reads into it.
 * New memory costs as much as a copy does; so each thread that fills a buffer takes a room, and leaves it
 * to the next.
 */
#ifndef WB_PROVIDER_STAGING_H
#define WB_PROVIDER_STAGING_H

#include <pthread.h>
#include <stdatomic.h>

#include "io/ring.h"

#define WB__SLOTS 4u
#define WB__SLOT_BYTES ((size_t)2 << 20) /* a huge page; disks are fast from here on */

typedef struct wb__staging_buffer {
    struct wb__staging_buffer *next; /* of those that nobody has */
    uint8_t *memory;                 /* WB__SLOTS of WB__SLOT_BYTES, of which few are touched */
    wb__ring *ring;                  /* NULL: none yet, or none to be had */
    bool ring_tried;
} wb__staging_buffer;

typedef struct wb__staging {
    wb_allocator allocator;
    pthread_mutex_t lock;
    wb__staging_buffer *free; /* whoever takes the last makes another */
    _Atomic size_t fillers;   /* threads that fill buffers, with a room or without */
} wb__staging;

bool wb__staging_init(wb__staging *rooms, const wb_allocator *allocator);

/* Release with wb__staging_give. NULL: memory is out. Thread-safe. */
wb__staging_buffer *wb__staging_take(wb__staging *rooms);
void wb__staging_give(wb__staging *rooms, wb__staging_buffer *room); /* NULL is ignored */

/* Frees those that nobody has; and the rest of it, when all have been given back. */
void wb__staging_trim(wb__staging *rooms);
void wb__staging_free(wb__staging *rooms);

/* The ring of a room, if one is to be had. */
wb__ring *wb__staging_ring(const wb__staging *rooms, wb__staging_buffer *room);

static inline uint8_t *wb__staging_slot(const wb__staging_buffer *room, unsigned i)
{
    return room->memory + i * WB__SLOT_BYTES;
}

#endif
