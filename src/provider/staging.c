#define _POSIX_C_SOURCE 200809L
#include "provider/staging.h"

#define MEMORY_BYTES (WB__SLOTS * WB__SLOT_BYTES)

bool wb__rooms_init(wb__rooms *rooms, const wb_allocator *allocator)
{
    rooms->allocator = *allocator;
    rooms->free = NULL;
    atomic_init(&rooms->fillers, 0);
    return pthread_mutex_init(&rooms->lock, NULL) == 0;
}

static void free_room(const wb__rooms *rooms, wb__room *room)
{
    wb__ring_close(room->ring);
    wb__free(&rooms->allocator, room->memory, MEMORY_BYTES);
    wb__free(&rooms->allocator, room, sizeof *room);
}

static wb__room *make_room(const wb__rooms *rooms)
{
    wb__room *room = wb__alloc_zeroed(&rooms->allocator, sizeof *room);
    if (room == NULL)
        return NULL;
    room->memory = wb__alloc(&rooms->allocator, MEMORY_BYTES);
    if (room->memory != NULL)
        return room;
    free_room(rooms, room);
    return NULL;
}

wb__room *wb__rooms_take(wb__rooms *rooms)
{
    (void)pthread_mutex_lock(&rooms->lock);
    wb__room *room = rooms->free;
    if (room != NULL)
        rooms->free = room->next;
    (void)pthread_mutex_unlock(&rooms->lock);
    return room != NULL ? room : make_room(rooms);
}

void wb__rooms_give(wb__rooms *rooms, wb__room *room)
{
    if (room == NULL)
        return;
    (void)pthread_mutex_lock(&rooms->lock);
    room->next = rooms->free;
    rooms->free = room;
    (void)pthread_mutex_unlock(&rooms->lock);
}

void wb__rooms_trim(wb__rooms *rooms)
{
    (void)pthread_mutex_lock(&rooms->lock);
    while (rooms->free != NULL) {
        wb__room *room = rooms->free;
        rooms->free = room->next;
        free_room(rooms, room);
    }
    (void)pthread_mutex_unlock(&rooms->lock);
}

void wb__rooms_free(wb__rooms *rooms)
{
    wb__rooms_trim(rooms);
    (void)pthread_mutex_destroy(&rooms->lock);
}

wb__ring *wb__room_ring(const wb__rooms *rooms, wb__room *room)
{
    if (!room->ring_tried)
        room->ring = wb__ring_open(&rooms->allocator, WB__SLOTS, false);
    room->ring_tried = true;
    return room->ring;
}
