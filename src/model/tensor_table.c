#include "model/tensor_table.h"
#include "model/model_messages.h"

void wb__table_init(wb__table *table, const wb_allocator *allocator, uint32_t cpu_features)
{
    memset(table, 0, sizeof *table);
    table->allocator = allocator;
    table->shapes.allocator = allocator;
    table->kinds = (wb__list){.arena = &table->shapes, .item_size = sizeof(wb__kind)};
    wb__name_hasher_draw(&table->hasher, cpu_features);
}

static void free_slots(wb__table *table)
{
    if (!table->slots_in_region)
        wb__free(table->allocator, table->slots, table->slot_count * sizeof *table->slots);
    table->slots = NULL;
    table->slot_count = 0;
    table->slots_in_region = false;
}

void wb__table_free(wb__table *table)
{
    free_slots(table);
    wb__free(table->allocator, table->region, table->region_bytes);
    wb__list_free(&table->kinds);
    wb__arena_free(&table->shapes);
    table->region = NULL;
}

/* ---- memory ---- */

#define HUGE_PAGE ((size_t)2 << 20)
#define TYPICAL_ENTRY 128 /* typical header bytes per tensor */

/* Maximum total length of all names in bytes. Name offsets have 32 bits. */
#define NAMES_MAX (SIZE_MAX / 4 < UINT32_MAX ? SIZE_MAX / 4 : UINT32_MAX - 1)

/*
 * Returns the offset of the middle of a region, where the records end (see tensor_table.h). If the
 * region is large enough for huge pages, the offset is chosen so that the records of a typical file
 * begin at the start of a huge page.
 */
static size_t middle_of(size_t records, size_t name_bytes)
{
    size_t bytes = records * sizeof(wb__record);
    if (bytes < HUGE_PAGE)
        return bytes;
    size_t typical = name_bytes / TYPICAL_ENTRY * sizeof(wb__record);
    return (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE + typical % HUGE_PAGE;
}

/* Moves the slots out of the region before new names or records overwrite them. */
static bool move_slots_out(wb__table *table)
{
    size_t bytes = table->slot_count * sizeof *table->slots;
    if (!table->slots_in_region)
        return true;
    uint32_t *own = wb__alloc(table->allocator, bytes);
    if (own == NULL)
        return false;
    memcpy(own, table->slots, bytes);
    table->slots = own;
    table->slots_in_region = false;
    return true;
}

static bool enlarge_region(wb__table *table, size_t records, size_t name_bytes)
{
    bool is_first = table->region == NULL;
    /* grow by half of the current size, so that the total copying cost is linear */
    if (!is_first) {
        records += table->count / 2;
        name_bytes += (table->names_used / 2 + 7) & ~(size_t)7;
    }
    size_t middle = middle_of(records, name_bytes);
    size_t bytes = middle + name_bytes + (is_first ? records * WB__SLOT_BYTES_MAX : 0);
    uint8_t *region = wb__alloc(table->allocator, bytes);
    if (region == NULL)
        return false;
    wb__record *records_end = (wb__record *)(void *)(region + middle);
    char *names = (char *)region + middle;
    if (!is_first) {
        memcpy(records_end - table->count, table->records_end - table->count,
               table->count * sizeof(wb__record));
        memcpy(names, table->names, table->names_used);
        wb__free(table->allocator, table->region, table->region_bytes);
    }
    table->region = region;
    table->region_bytes = bytes;
    table->records_end = records_end;
    table->capacity = records;
    table->names = names;
    table->names_capacity = name_bytes;
    return true;
}

wb_status wb__table_reserve(wb__table *table, wb__context *context, uint64_t name_bytes,
                            uint64_t tensors)
{
    uint64_t names = 0, records = 0;
    if (!wb__add(table->names_used, name_bytes, &names) ||
        !wb__add(names, WB__NAMES_SLACK, &names) || names > NAMES_MAX ||
        !wb__add(table->count, tensors, &records) || records > WB__RECORDS_MAX)
        return wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_HEADERS_LIMIT, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_MODEL_HEADERS_SIZE);
    names = (names + 7) & ~UINT64_C(7); /* keeps the following data aligned */
    bool fits = records <= table->capacity && names <= table->names_capacity;
    if (!move_slots_out(table) || (!fits && !enlarge_region(table, (size_t)records, (size_t)names)))
        return wb__fail_memory(context);
    return WB_OK;
}

/* ---- kinds ---- */

void wb__kind_measure(wb__kind *kind)
{
    uint64_t bits;
    kind->elements = 1;
    kind->bytes = 0;
    kind->fault = WB__KIND_SOUND;
    for (uint32_t i = 0; i < kind->rank; i++) {
        if (!wb__mul(kind->elements, kind->shape[i], &kind->elements)) {
            kind->fault = WB__KIND_OVERFLOW;
            return;
        }
    }
    uint32_t block = kind->dtype->block_size;
    if (block > 1 && (kind->rank == 0 || kind->shape[kind->rank - 1] % block != 0))
        kind->fault = WB__KIND_BLOCK;
    else if (!wb__mul(kind->elements / block, kind->dtype->block_bits, &bits))
        kind->fault = WB__KIND_OVERFLOW;
    else if (bits % 8 != 0)
        kind->fault = WB__KIND_SUB_BYTE;
    else
        kind->bytes = bits / 8;
}

static bool same_kind(const wb__kind *a, const wb__kind *b)
{
    return a->dtype == b->dtype && a->rank == b->rank && a->bytes == b->bytes &&
           a->fault == b->fault &&
           (a->rank == 0 || memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0);
}

bool wb__table_kind(wb__table *table, const wb__kind *kind, uint32_t *number)
{
    uint64_t hash = (uint64_t)kind->dtype->id + kind->rank;
    for (uint32_t i = 0; i < kind->rank; i++)
        hash = (hash ^ kind->shape[i]) * UINT64_C(0x9E3779B97F4A7C15);
    uint32_t *cached = &table->kind_cache[hash >> 32 & (WB__KIND_CACHE - 1)];
    if (*cached != 0 && same_kind(wb__list_at(&table->kinds, *cached - 1), kind)) {
        *number = *cached - 1;
        return true;
    }
    uint64_t *shape = wb__arena_alloc(&table->shapes, kind->rank * sizeof *shape);
    wb__kind *copy = shape == NULL ? NULL : wb__list_append(&table->kinds);
    if (copy == NULL)
        return false;
    if (kind->rank != 0)
        memcpy(shape, kind->shape, kind->rank * sizeof *shape);
    *copy = *kind;
    copy->shape = shape;
    *number = (uint32_t)(table->kinds.count - 1);
    *cached = *number + 1;
    return true;
}

/* ---- names ---- */

static bool same_name(const wb__table *table, size_t i, wb__str name)
{
    return wb__str_equal(wb__table_name(table, i), name);
}

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

/* Returns the slot of the record with the same name as record i, or the free slot for i. */
static size_t slot_for(const wb__table *table, size_t i)
{
    size_t mask = table->slot_count - 1;
    uint32_t hash = wb__record_at(table, i)->hash;
    size_t slot = hash & mask;
    for (; table->slots[slot] != 0; slot = (slot + 1) & mask) {
        size_t other = table->slots[slot] - 1;
        if (wb__record_at(table, other)->hash == hash &&
            same_name(table, other, wb__table_name(table, i)))
            break;
    }
    return slot;
}

/* Allocates `count` cleared slots. The slots of the first file are placed in the region after the
 * names, if they fit there. The reservation for the first file includes space for them. */
static bool place_slots(wb__table *table, size_t count, bool is_first)
{
    size_t bytes = count * sizeof *table->slots;
    size_t at = (size_t)((uint8_t *)table->names - table->region) +
                ((table->names_used + WB__NAMES_SLACK + 63) & ~(size_t)63);
    free_slots(table);
    if (is_first && at <= table->region_bytes && bytes <= table->region_bytes - at) {
        table->slots = (uint32_t *)(void *)(table->region + at);
        table->slots_in_region = true;
        memset(table->slots, 0, bytes);
    } else {
        table->slots = wb__alloc_zeroed(table->allocator, bytes);
    }
    table->slot_count = table->slots == NULL ? 0 : count;
    return table->slots != NULL;
}

/*
 * Builds the hash table with at least two slots per record. Probe chains are then short, and
 * clearing the slots costs less than the comparisons in a fuller table. Inserts the first `sealed`
 * records, whose names are known to be unique.
 */
static bool make_slots(wb__table *table, size_t sealed, bool is_first)
{
    size_t wanted = table->slot_count == 0 ? 8 : table->slot_count;
    while (wanted < table->count * 2)
        wanted *= 2;
    if (!place_slots(table, wanted, is_first))
        return false;
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

wb_status wb__table_seal(wb__table *table, wb__context *context, size_t from,
                         wb_status (*repeated)(void *ctx, size_t first, size_t second), void *ctx)
{
    bool dropped = false;
    if (table->slot_count < table->count * 2 && !make_slots(table, from, from == 0))
        return wb__fail_memory(context);
    for (size_t i = from; i < table->count; i++) {
        if (table->count - i > AHEAD)
            prefetch(
                &table->slots[wb__record_at(table, i + AHEAD)->hash & (table->slot_count - 1)]);
        size_t slot = slot_for(table, i);
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
        if (wb__record_at(table, i)->hash == hash && same_name(table, i, name))
            return (uint32_t)i;
    }
    return WB__NO_TENSOR;
}
