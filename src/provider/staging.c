#define _POSIX_C_SOURCE 200809L
#include "provider/staging.h"

#define MEMORY_BYTES (WB__SLOTS * WB__SLOT_BYTES)

bool wb__staging_init(wb__staging *rooms, const wb_allocator *allocator)
{
    rooms->allocator = *allocator;
    rooms->free = NULL;
    atomic_init(&rooms->fillers, 0);
    return pthread_mutex_init(&rooms->lock, NULL) == 0;
}

static void free_room(const wb__staging *rooms, wb__staging_buffer *room)
{
    wb__ring_close(room->ring);
    wb__free(&rooms->allocator, room->memory, MEMORY_BYTES);
    wb__free(&rooms->allocator, room, sizeof *room);
}

static wb__staging_buffer *make_room(const wb__staging *rooms)
{
    wb__staging_buffer *room = wb__alloc_zeroed(&rooms->allocator, sizeof *room);
    if (room == NULL)
        return NULL;
    room->memory = wb__alloc(&rooms->allocator, MEMORY_BYTES);
    if (room->memory != NULL)
        return room;
    free_room(rooms, room);
    return NULL;
}

wb__staging_buffer *wb__staging_take(wb__staging *rooms)
{
    (void)pthread_mutex_lock(&rooms->lock);
    wb__staging_buffer *room = rooms->free;
    if (room != NULL)
        rooms->free = room->next;
    (void)pthread_mutex_unlock(&rooms->lock);
    return room != NULL ? room : make_room(rooms);
}

void wb__staging_give(wb__staging *rooms, wb__staging_buffer *room)
{
    if (room == NULL)
        return;
    (void)pthread_mutex_lock(&rooms->lock);
    room->next = rooms->free;
    rooms->free = room;
    (void)pthread_mutex_unlock(&rooms->lock);
}

void wb__staging_trim(wb__staging *rooms)
{
    (void)pthread_mutex_lock(&rooms->lock);
    while (rooms->free != NULL) {
        wb__staging_buffer *room = rooms->free;
        rooms->free = room->next;
        free_room(rooms, room);
    }
    (void)pthread_mutex_unlock(&rooms->lock);
}

void wb__staging_free(wb__staging *rooms)
{
    wb__staging_trim(rooms);
    (void)pthread_mutex_destroy(&rooms->lock);
}

wb__ring *wb__staging_ring(const wb__staging *rooms, wb__staging_buffer *room)
{
    if (!room->ring_tried)
        room->ring = wb__ring_open(&rooms->allocator, WB__SLOTS, false);
    room->ring_tried = true;
    return room->ring;
}
