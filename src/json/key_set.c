#include "json/json.h"

void wb__key_set_start(wb__key_set *set, const wb_allocator *allocator)
{
    *set = (wb__key_set){.allocator = *allocator};
}

void wb__key_set_stop(wb__key_set *set)
{
    wb__free(&set->allocator, set->slots, set->capacity * sizeof *set->slots);
    set->slots = NULL;
    set->capacity = 0;
}

/* Returns the slot that holds `hash`, or the free slot where it is to be inserted. */
static uint64_t *slot_of(uint64_t *slots, size_t capacity, uint64_t hash)
{
    size_t i = (size_t)hash & (capacity - 1);
    while (slots[i] != 0 && slots[i] != hash)
        i = (i + 1) & (capacity - 1);
    return &slots[i];
}

static bool enlarge(wb__key_set *set)
{
    size_t capacity = set->capacity == 0 ? 64 : set->capacity * 2;
    if (capacity > SIZE_MAX / 2 / sizeof *set->slots)
        return false;
    uint64_t *slots = wb__alloc(&set->allocator, capacity * sizeof *slots);
    if (slots == NULL)
        return false;
    memset(slots, 0, capacity * sizeof *slots);
    for (size_t i = 0; i < set->capacity; i++) {
        if (set->slots[i] != 0)
            *slot_of(slots, capacity, set->slots[i]) = set->slots[i];
    }
    wb__free(&set->allocator, set->slots, set->capacity * sizeof *set->slots);
    set->slots = slots;
    set->capacity = capacity;
    return true;
}

bool wb__key_set_add(wb__key_set *set, uint64_t object, wb__str key, bool *repeated)
{
    if (set->capacity == 0)
        set->key = wb__hash_key_draw();
    if (set->count >= set->capacity / 4 * 3 && !enlarge(set))
        return false;
    wb__hash_key own = {
        {set->key.word[0] ^ object * UINT64_C(0x9E3779B97F4A7C15), set->key.word[1]}};
    uint64_t hash = wb__siphash(&own, key.ptr, key.len);
    uint64_t *slot = slot_of(set->slots, set->capacity, hash == 0 ? 1 : hash);
    *repeated = *slot != 0;
    if (!*repeated) {
        *slot = hash == 0 ? 1 : hash;
        set->count++;
    }
    return true;
}
