#include "provider/buffer_table.h"

#define FIRST_SLOTS 256

static wb__alias_slots *make_slots(const wb_allocator *allocator, size_t count)
{
    wb__alias_slots *slots =
        wb__alloc_zeroed(allocator, sizeof *slots + count * sizeof slots->slot[0]);
    if (slots != NULL)
        slots->count = count;
    return slots;
}

bool wb__names_table_init(wb__table_of_names *table, const wb_allocator *allocator)
{
    wb__alias_slots *slots = make_slots(allocator, FIRST_SLOTS);
    table->arena = (wb__arena){.allocator = allocator};
    table->used = 0;
    wb__name_hasher_draw(&table->hasher, wb__cpu_features());
    atomic_init(&table->slots, slots);
    return slots != NULL;
}

void wb__names_table_free(wb__table_of_names *table)
{
    wb__alias_slots *slots = atomic_load(&table->slots);
    while (slots != NULL) {
        wb__alias_slots *older = slots->older;
        wb__free(table->arena.allocator, slots,
                 sizeof *slots + slots->count * sizeof slots->slot[0]);
        slots = older;
    }
    if (table->arena.allocator != NULL)
        wb__arena_free(&table->arena);
}

static uint64_t mix(uint64_t hash, uint64_t more)
{
    hash = (hash ^ more) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

uint64_t wb__query_hash(const wb__table_of_names *table, wb__str text, const wb__rank *rank,
                        bool by_number)
{
    uint64_t hash = table->hasher.hash(&table->hasher, text.ptr, text.len);
    if (rank->of == 0 && !by_number)
        return hash;
    hash = mix(hash, (uint64_t)rank->axis << 32 | by_number);
    return mix(hash, (uint64_t)rank->rank << 32 | rank->of);
}

static bool is_same(const wb__alias *alias, uint64_t hash, wb__str text, const wb__rank *rank,
                    bool by_number)
{
    return alias->hash == hash && alias->len == text.len && alias->by_number == by_number &&
           alias->rank.axis == rank->axis && alias->rank.rank == rank->rank &&
           alias->rank.of == rank->of && memcmp(alias->text, text.ptr, text.len) == 0;
}

wb__entry *wb__names_table_find(const wb__table_of_names *table, uint64_t hash, wb__str text,
                                const wb__rank *rank, bool by_number)
{
    const wb__alias_slots *slots = atomic_load_explicit(
        &((wb__table_of_names *)(uintptr_t)table)->slots, memory_order_acquire);
    size_t mask = slots->count - 1;
    for (size_t i = (size_t)hash & mask;; i = (i + 1) & mask) {
        wb__alias *alias = atomic_load_explicit(&((wb__alias_slots *)(uintptr_t)slots)->slot[i],
                                                memory_order_acquire);
        if (alias == NULL)
            return NULL;
        if (is_same(alias, hash, text, rank, by_number))
            return alias->entry;
    }
}

static void put(wb__alias_slots *slots, wb__alias *alias)
{
    size_t mask = slots->count - 1;
    size_t i = (size_t)alias->hash & mask;
    while (atomic_load_explicit(&slots->slot[i], memory_order_relaxed) != NULL)
        i = (i + 1) & mask;
    atomic_store_explicit(&slots->slot[i], alias, memory_order_release);
}

static bool grow(wb__table_of_names *table)
{
    wb__alias_slots *old = atomic_load(&table->slots);
    if (table->used < old->count / 2)
        return true;
    wb__alias_slots *slots = make_slots(table->arena.allocator, old->count * 2);
    if (slots == NULL)
        return false;
    for (size_t i = 0; i < old->count; i++) {
        wb__alias *alias = atomic_load(&old->slot[i]);
        if (alias != NULL)
            put(slots, alias);
    }
    slots->older = old;
    atomic_store_explicit(&table->slots, slots, memory_order_release);
    return true;
}

bool wb__names_table_add(wb__table_of_names *table, uint64_t hash, wb__str text,
                         const wb__rank *rank, bool by_number, wb__entry *entry)
{
    wb__alias *alias =
        grow(table) ? wb__arena_alloc(&table->arena, sizeof *alias + text.len) : NULL;
    if (alias == NULL)
        return false;
    *alias = (wb__alias){
        .hash = hash, .entry = entry, .rank = *rank, .by_number = by_number, .len = text.len};
    memcpy(alias->text, text.ptr, text.len);
    put(atomic_load(&table->slots), alias);
    table->used++;
    return true;
}
