#include "write/write.h"

void wb__name_map_start(wb__name_map *map, const wb_allocator *allocator, wb__list *items)
{
    *map = (wb__name_map){.allocator = allocator, .key = wb__hash_key_draw(), .items = items};
}

void wb__name_map_stop(wb__name_map *map)
{
    wb__free(map->allocator, map->slots, map->slot_count * sizeof *map->slots);
    map->slots = NULL;
}

static wb__str name_of(const wb__name_map *map, size_t item)
{
    return *(const wb__str *)wb__list_at(map->items, item);
}

/* Returns the slot that contains the name, or else the free slot where the name is to be
 * inserted. Precondition: at least one slot is free. */
static size_t slot_of(const wb__name_map *map, wb__str name)
{
    size_t slot = (size_t)wb__siphash(&map->key, name.ptr, name.len) & (map->slot_count - 1);
    while (map->slots[slot] != 0 && !wb__str_equal(name_of(map, map->slots[slot] - 1), name))
        slot = (slot + 1) & (map->slot_count - 1);
    return slot;
}

uint32_t wb__name_map_find(const wb__name_map *map, wb__str name)
{
    return map->slot_count == 0 ? UINT32_MAX : map->slots[slot_of(map, name)] - 1;
}

static bool enlarge(wb__name_map *map)
{
    wb__name_map larger = *map;
    if (map->slot_count > SIZE_MAX / sizeof *map->slots / 2)
        return false;
    larger.slot_count = map->slot_count == 0 ? 64 : 2 * map->slot_count;
    larger.slots = wb__alloc_zeroed(map->allocator, larger.slot_count * sizeof *larger.slots);
    if (larger.slots == NULL)
        return false;
    for (size_t i = 0; i < map->slot_count; i++) {
        if (map->slots[i] != 0)
            larger.slots[slot_of(&larger, name_of(map, map->slots[i] - 1))] = map->slots[i];
    }
    wb__name_map_stop(map);
    *map = larger;
    return true;
}

bool wb__name_map_add(wb__name_map *map)
{
    size_t count = map->items->count;
    if (count >= UINT32_MAX || (count > map->slot_count / 2 && !enlarge(map)))
        return false;
    map->slots[slot_of(map, name_of(map, count - 1))] = (uint32_t)count;
    return true;
}
