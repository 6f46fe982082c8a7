/*
 * provider/staging.h: what bytes pass through on their way into a buffer: memory, and a ring that reads into it.
 * New memory costs as much as a copy does; so each thread that fills a buffer takes a room, and leaves it
 * to the next.
 */
#ifndef WB_PROVIDER_ROOMS_H
#define WB_PROVIDER_ROOMS_H

#include <pthread.h>
#include <stdatomic.h>

#include "io/ring.h"

#define WB__SLOTS 4u
#define WB__SLOT_BYTES ((size_t)2 << 20) /* a huge page; disks are fast from here on */

typedef struct wb__room {
    struct wb__room *next; /* of those that nobody has */
    uint8_t *memory;       /* WB__SLOTS of WB__SLOT_BYTES, of which few are touched */
    wb__ring *ring;        /* NULL: none yet, or none to be had */
    bool ring_tried;
} wb__room;

typedef struct wb__rooms {
    wb_allocator allocator;
    pthread_mutex_t lock;
    wb__room *free;         /* whoever takes the last makes another */
    _Atomic size_t fillers; /* threads that fill buffers, with a room or without */
} wb__rooms;

bool wb__rooms_init(wb__rooms *rooms, const wb_allocator *allocator);

/* Release with wb__rooms_give. NULL: memory is out. Thread-safe. */
wb__room *wb__rooms_take(wb__rooms *rooms);
void wb__rooms_give(wb__rooms *rooms, wb__room *room); /* NULL is ignored */

/* Frees those that nobody has; and the rest of it, when all have been given back. */
void wb__rooms_trim(wb__rooms *rooms);
void wb__rooms_free(wb__rooms *rooms);

/* The ring of a room, if one is to be had. */
wb__ring *wb__room_ring(const wb__rooms *rooms, wb__room *room);

static inline uint8_t *wb__room_slot(const wb__room *room, unsigned i)
{
    return room->memory + i * WB__SLOT_BYTES;
}

#endif
