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

void wb__table_free_slots(wb__table *table)
{
    if (!table->slots_in_region)
        wb__free(table->allocator, table->slots, table->slot_count * sizeof *table->slots);
    table->slots = NULL;
    table->slot_count = 0;
    table->slots_in_region = false;
}

void wb__table_free(wb__table *table)
{
    wb__table_free_slots(table);
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
