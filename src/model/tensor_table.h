/*
 * model/tensor_table.h: a compact table of a model's tensors with fast lookup by name.
 *
 *   names    all names one after another, each followed by a NUL
 *   records  24 bytes per tensor, in file order
 *   kinds    shared properties: dtype, shape, number of elements and bytes
 *   slots    hash table of record indices, built by wb__table_seal
 *
 * The length of a header bounds the number of tensors and the total length of their names. A reader
 * therefore reserves enough memory once, before it parses (wb__table_reserve). Only if entries may
 * be shorter than usual, the reader reserves more memory when necessary. Reserved memory costs only
 * address space until it is written. Names, records and slots share one region:
 *
 *     region                       middle
 *     |            … record 1, record 0 | name 0, name 1, … | slots                        |
 *
 * The written part is thus contiguous for any number of tensors and any name lengths, and touches
 * the fewest pages. For a large header, page faults cost as much as parsing.
 */
#ifndef WB_MODEL_TENSOR_TABLE_H
#define WB_MODEL_TENSOR_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/core.h"
#include "dtype/dtype.h"
#include "model/name_hash.h"

typedef enum wb__kind_fault {
    WB__KIND_SOUND = 0,
    WB__KIND_OVERFLOW, /* number of elements or bits exceeds 2^64 - 1 */
    WB__KIND_SUB_BYTE, /* the total number of bits is not a multiple of 8 */
    WB__KIND_SIZE,     /* the file declares a different number of bytes for the tensor */
    WB__KIND_BLOCK     /* the row length is not a multiple of the block size */
} wb__kind_fault;

typedef struct wb__kind {
    const uint64_t *shape;
    uint64_t elements;
    uint64_t bytes; /* with a fault: the number that the file declares, modulo 2^64 */
    const wb__dtype *dtype;
    uint32_t rank;
    wb__kind_fault fault;
} wb__kind;

/* Computes elements, bytes and fault from dtype, rank and shape. */
void wb__kind_measure(wb__kind *kind);

typedef struct wb__record {
    uint64_t begin; /* offset of the tensor's data from the start of the file's data section */
    uint32_t name;  /* offset into names; the next record's name follows after the NUL */
    uint32_t kind;
    uint32_t where; /* offset of the tensor's entry from the start of the file's header */
    uint32_t hash;  /* hash of the name */
} wb__record;

/* Maximum size of the slots per tensor, in bytes: two to four slots of four bytes each. */
#define WB__SLOT_BYTES_MAX 16

/* Maximum number of tensors: indices have 32 bits, and records and slots must fit in memory. */
#define WB__RECORDS_IN_MEMORY (SIZE_MAX / 4 / (sizeof(wb__record) + WB__SLOT_BYTES_MAX))
#define WB__RECORDS_MAX                                                                            \
    (WB__RECORDS_IN_MEMORY < UINT32_MAX ? WB__RECORDS_IN_MEMORY : UINT32_MAX - 1)

#define WB__NAMES_SLACK 256 /* vector stores may write this many bytes past a name */
#define WB__NO_TENSOR UINT32_MAX
#define WB__KIND_CACHE 64

typedef struct wb__table {
    const wb_allocator *allocator;
    wb__name_hasher hasher;
    uint8_t *region;
    size_t region_bytes;
    wb__record *records_end; /* record i is records_end[-1 - i]: see wb__record_at */
    size_t count;
    size_t capacity;
    char *names;
    size_t names_used;
    size_t names_capacity;
    wb__list kinds;                      /* list of wb__kind, allocated in `shapes` */
    uint32_t kind_cache[WB__KIND_CACHE]; /* kind index + 1, by hash of dtype and shape */
    wb__arena shapes;
    uint32_t *slots; /* record index + 1; 0: free */
    size_t slot_count;
    bool slots_in_region;
} wb__table;

void wb__table_init(wb__table *table, const wb_allocator *allocator, uint32_t cpu_features);
void wb__table_free(wb__table *table);
void wb__table_free_slots(wb__table *table);

static inline wb__record *wb__record_at(const wb__table *table, size_t i)
{
    return table->records_end - 1 - i;
}

/*
 * Reserves memory for `name_bytes` more bytes of names (including NULs) and `tensors` more tensors.
 * Fails with WB_ERROR_MEMORY or WB_ERROR_LIMIT.
 */
wb_status wb__table_reserve(wb__table *table, wb__context *context, uint64_t name_bytes,
                            uint64_t tensors);

/*
 * Sets *number to the index of a kind. Copies the kind and its shape unless an equal kind is
 * cached. Returns false if out of memory.
 */
bool wb__table_kind(wb__table *table, const wb__kind *kind, uint32_t *number);

/*
 * Appends a tensor. Space must be reserved. `name` may already be at its final position in `names`.
 */
static inline void wb__table_add(wb__table *table, wb__str name, uint32_t kind, uint64_t begin,
                                 uint32_t where)
{
    char *to = table->names + table->names_used;
    if (name.ptr != to)
        memcpy(to, name.ptr, name.len);
    to[name.len] = '\0';
    *wb__record_at(table, table->count++) =
        (wb__record){begin, (uint32_t)table->names_used, kind, where,
                     table->hasher.hash(&table->hasher, name.ptr, name.len)};
    table->names_used += name.len + 1;
}

/*
 * Adds the tensors from index `from` on to the hash table; earlier tensors are already in it. If a
 * new tensor has the name of another tensor, calls `repeated` with both indices. If `repeated`
 * returns WB_OK, the later tensor replaces the earlier one, which must be new as well; any other
 * status is returned.
 */
wb_status wb__table_seal(wb__table *table, wb__context *context, size_t from,
                         wb_status (*repeated)(void *ctx, size_t first, size_t second), void *ctx);

/* If there are at least this many tensors, and an executor, wb__table_fill_slots builds the hash
 * table. */
#define WB__INDEX_AT_ONCE 32768

/*
 * Enters all tensors into the slots, on the threads of the executor. Preconditions: `slots` is
 * allocated, slot_count is set, and executor->parallel_for is not NULL. Returns false if a name is
 * repeated, memory runs out, or the hashes are distributed badly; the contents of the slots are
 * then undefined.
 */
bool wb__table_fill_slots(wb__table *table, const wb_executor *executor);

/* Returns the index of the tensor with the name, or WB__NO_TENSOR. The table must be sealed. */
uint32_t wb__table_find(const wb__table *table, wb__str name);

static inline wb__str wb__table_name(const wb__table *table, size_t i)
{
    size_t begin = wb__record_at(table, i)->name;
    size_t next = i + 1 < table->count ? wb__record_at(table, i + 1)->name : table->names_used;
    return (wb__str){table->names + begin, next - begin - 1};
}

static inline const wb__kind *wb__table_kind_of(const wb__table *table, size_t i)
{
    return wb__list_at(&table->kinds, wb__record_at(table, i)->kind);
}

/* Returns the slot of the record with the same name as record i, or the free slot for i. */
static inline size_t wb__table_slot_for(const wb__table *table, size_t i)
{
    size_t mask = table->slot_count - 1;
    uint32_t hash = wb__record_at(table, i)->hash;
    size_t slot = hash & mask;
    for (; table->slots[slot] != 0; slot = (slot + 1) & mask) {
        size_t other = table->slots[slot] - 1;
        if (wb__record_at(table, other)->hash == hash &&
            wb__str_equal(wb__table_name(table, other), wb__table_name(table, i)))
            break;
    }
    return slot;
}

#endif
