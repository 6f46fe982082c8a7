/*
 * model/tensor_table.h: the tensors of a model, as compact as they can be and still be found at once.
 *
 *   names    all names one after another, each followed by a NUL
 *   records  24 bytes a tensor, in the order of the files
 *   kinds    what many tensors share: dtype, shape, number of elements and bytes
 *   slots    a hash table of record numbers, made by wb__table_seal
 *
 * The length of a header bounds how many tensors it can name, and how many bytes their names can
 * take, so that a reader reserves once, before it reads, and then only stores: wb__table_reserve.
 * (Where entries may be shorter than writers write them it reserves again on the way, if there are
 * that many.) The reserve costs address space, not memory, until it is written. Names, records and
 * slots share it:
 *
 *     region                       middle
 *     |            … record 1, record 0 | name 0, name 1, … | slots                        |
 *
 * What is written thus lies in one piece, whatever the number of tensors and the length of their
 * names turn out to be, and takes the fewest pages; for a large header providing these costs as
 * much as parsing it.
 */
#ifndef WB_MODEL_TABLE_H
#define WB_MODEL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/core.h"
#include "dtype/dtype.h"
#include "model/name_hash.h"

typedef enum wb__kind_fault {
    WB__KIND_SOUND = 0,
    WB__KIND_OVERFLOW, /* elements or bits exceed 2^64 - 1 */
    WB__KIND_SUB_BYTE, /* the bits do not fill the last byte */
    WB__KIND_SIZE,     /* the file gives the tensor another number of bytes */
    WB__KIND_BLOCK     /* a row is no whole number of blocks */
} wb__kind_fault;

typedef struct wb__kind {
    const uint64_t *shape;
    uint64_t elements;
    uint64_t bytes; /* where there is a fault: what the file says, modulo 2^64 */
    const wb__dtype *dtype;
    uint32_t rank;
    wb__kind_fault fault;
} wb__kind;

/* Computes elements, bytes and fault from dtype, rank and shape. */
void wb__kind_measure(wb__kind *kind);

typedef struct wb__record {
    uint64_t begin; /* of the bytes, from the beginning of the file's data */
    uint32_t name;  /* offset into names; the next record's, minus the NUL, ends it */
    uint32_t kind;
    uint32_t where; /* of the entry, from the beginning of the file's header */
    uint32_t hash;  /* of the name */
} wb__record;

/* Slots take at most 16 bytes a tensor: two to four of them, of four bytes. */
#define WB__SLOT_BYTES_MAX 16

/* The most tensors of a table: their numbers are 32 bits wide, and they lie in memory with their slots. */
#define WB__RECORDS_IN_MEMORY (SIZE_MAX / 4 / (sizeof(wb__record) + WB__SLOT_BYTES_MAX))
#define WB__RECORDS_MAX                                                                            \
    (WB__RECORDS_IN_MEMORY < UINT32_MAX ? WB__RECORDS_IN_MEMORY : UINT32_MAX - 1)

#define WB__NAMES_SLACK 256 /* vector stores may run this far past a name */
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
    wb__list kinds;                      /* of wb__kind; in the arena of the shapes */
    uint32_t kind_cache[WB__KIND_CACHE]; /* kind number + 1, by hash of dtype and shape */
    wb__arena shapes;
    uint32_t *slots; /* record number + 1; 0: free */
    size_t slot_count;
    bool slots_in_region;
} wb__table;

void wb__table_init(wb__table *table, const wb_allocator *allocator, uint32_t cpu_features);
void wb__table_free(wb__table *table);

static inline wb__record *wb__record_at(const wb__table *table, size_t i)
{
    return table->records_end - 1 - i;
}

/* Makes room for `name_bytes` of names (NULs included) and `tensors` more. False: MEMORY or LIMIT.
 */
wb_status wb__table_reserve(wb__table *table, wb__context *context, uint64_t name_bytes,
                            uint64_t tensors);

/*
 * The number of a kind; it is copied with its shape, unless it is there already. False: memory is
 * out.
 */
bool wb__table_kind(wb__table *table, const wb__kind *kind, uint32_t *number);

/* Appends a tensor. There must be room. The name may stand already where it will be kept. */
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
 * Makes the tensors from number `from` on findable; those before are so already. Of two tensors of
 * one name, the second of which is new, `repeated` is told both numbers. If it returns WB_OK the
 * later one replaces the earlier, which must be new too; any other status ends the work.
 */
wb_status wb__table_seal(wb__table *table, wb__context *context, size_t from,
                         wb_status (*repeated)(void *ctx, size_t first, size_t second), void *ctx);

/* The number of the tensor of that name, or WB__NO_TENSOR. For sealed tables. */
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

#endif
