/*
 * The hash table of names, with linear probing. Slots contain record indices. A look-up compares
 * hashes first, and names only if the hashes are equal.
 */
#include "model/tensor_table.h"

#define DROPPED UINT32_MAX /* wb__record.kind of a record that a later record replaces */

/* Removes dropped records from index `from` on, and their names. */
static void compact(wb__table *table, size_t from)
{
    size_t kept = from;
    size_t names = wb__record_at(table, from)->name;
    for (size_t i = from; i < table->count; i++) {
        wb__record record = *wb__record_at(table, i);
        if (record.kind == DROPPED)
            continue;
        wb__str name = wb__table_name(table, i);
        memmove(table->names + names, name.ptr, name.len + 1);
        record.name = (uint32_t)names;
        names += name.len + 1;
        *wb__record_at(table, kept++) = record;
    }
    table->count = kept;
    table->names_used = names;
}

/*
 * Allocates `count` slots, without clearing them. The slots of the first file are placed in the
 * region after the names, if they fit there. The reservation for the first file includes space for
 * these slots.
 */
static bool place_slots(wb__table *table, size_t count, bool is_first)
{
    size_t bytes = count * sizeof *table->slots;
    size_t at = (size_t)((uint8_t *)table->names - table->region) +
                ((table->names_used + WB__NAMES_SLACK + 63) & ~(size_t)63);
    wb__table_free_slots(table);
    if (is_first && at <= table->region_bytes && bytes <= table->region_bytes - at) {
        table->slots = (uint32_t *)(void *)(table->region + at);
        table->slots_in_region = true;
    } else {
        table->slots = wb__alloc(table->allocator, bytes);
    }
    table->slot_count = table->slots == NULL ? 0 : count;
    return table->slots != NULL;
}

/* Returns a number of slots that is at least two per record. Probe chains are then short, and
 * clearing the slots costs less than the comparisons in a fuller table. */
static size_t slots_wanted(const wb__table *table)
{
    size_t wanted = table->slot_count == 0 ? 8 : table->slot_count;
    while (wanted < table->count * 2)
        wanted *= 2;
    return wanted;
}

/* Makes the hash table, and inserts the first `sealed` records, whose names are known to be
 * unique. */
static bool make_slots(wb__table *table, size_t sealed, bool is_first)
{
    size_t wanted = slots_wanted(table);
    if (!place_slots(table, wanted, is_first))
        return false;
    memset(table->slots, 0, wanted * sizeof *table->slots);
    for (size_t i = 0; i < sealed; i++) {
        size_t slot = wb__record_at(table, i)->hash & (wanted - 1);
        while (table->slots[slot] != 0)
            slot = (slot + 1) & (wanted - 1);
        table->slots[slot] = (uint32_t)i + 1;
    }
    return true;
}

/* Slot accesses are random; a prefetch distance of this many records hides most of the latency. */
#define AHEAD 16

static inline void prefetch(const void *address)
{
#if defined(__GNUC__)
    __builtin_prefetch(address, 1);
#else
    (void)address;
#endif
}

/* If the table is large and needs more slots, and there is an executor, builds the hash table of
 * the tensor table in parallel. Returns false if the hash table was not built, for example because
 * a name is repeated. */
static bool index_at_once(wb__table *table, const wb__context *context, size_t from)
{
    if (context->executor.parallel_for == NULL || table->count < WB__INDEX_AT_ONCE ||
        table->slot_count >= table->count * 2)
        return false;
    if (place_slots(table, slots_wanted(table), from == 0) &&
        wb__table_fill_slots(table, &context->executor))
        return true;
    wb__table_free_slots(table);
    return false;
}

wb_status wb__table_seal(wb__table *table, wb__context *context, size_t from,
                         wb_status (*repeated)(void *ctx, size_t first, size_t second), void *ctx)
{
    bool dropped = false;
    if (index_at_once(table, context, from))
        return WB_OK;
    if (table->slot_count < table->count * 2 && !make_slots(table, from, from == 0))
        return wb__fail_memory(context);
    for (size_t i = from; i < table->count; i++) {
        if (table->count - i > AHEAD)
            prefetch(
                &table->slots[wb__record_at(table, i + AHEAD)->hash & (table->slot_count - 1)]);
        size_t slot = wb__table_slot_for(table, i);
        if (table->slots[slot] != 0) {
            size_t other = table->slots[slot] - 1;
            wb_status status = repeated(ctx, other, i);
            if (status != WB_OK)
                return status;
            wb__record_at(table, other)->kind = DROPPED;
            dropped = true;
        }
        table->slots[slot] = (uint32_t)i + 1;
    }
    if (dropped) {
        compact(table, from);
        if (!make_slots(table, table->count, false))
            return wb__fail_memory(context);
    }
    return WB_OK;
}

uint32_t wb__table_find(const wb__table *table, wb__str name)
{
    if (table->count == 0)
        return WB__NO_TENSOR;
    uint32_t hash = table->hasher.hash(&table->hasher, name.ptr, name.len);
    size_t mask = table->slot_count - 1;
    for (size_t slot = hash & mask; table->slots[slot] != 0; slot = (slot + 1) & mask) {
        size_t i = table->slots[slot] - 1;
        if (wb__record_at(table, i)->hash == hash && wb__str_equal(wb__table_name(table, i), name))
            return (uint32_t)i;
    }
    return WB__NO_TENSOR;
}
