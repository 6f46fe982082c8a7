/*
 * provider/buffer_table.h: hash table from requests to entries (wb__entry: a buffer that was
 * requested), with lock-free lookup.
 *
 * The table uses open addressing. Its slots change only from NULL to a pointer, so a lookup needs
 * no lock. A thread that does not find an entry searches again under the lock. A full table is
 * replaced by one of twice the size. The old table is freed with the provider, because other
 * threads may still read it.
 */
#ifndef WB_PROVIDER_BUFFER_TABLE_H
#define WB_PROVIDER_BUFFER_TABLE_H

#include <stdatomic.h>

#include "model/name_hash.h"
#include "provider/buffer_request.h"

#define WB__MODEL_KEY_BYTES 32

typedef struct wb__entry wb__entry;

/* A key by which a request finds an entry. It consists of the rank for which a slice is requested
 * (wb__rank), and of a name or, if `by_number` is set, a list of tensor indices. */
typedef struct wb__alias {
    uint64_t hash;
    wb__entry *entry;
    wb__rank rank;
    bool by_number;
    size_t len;
    char text[];
} wb__alias;

typedef struct wb__alias_slots {
    struct wb__alias_slots *older;
    size_t count; /* number of slots, a power of two */
    _Atomic(wb__alias *) slot[];
} wb__alias_slots;

typedef struct wb__table_of_names {
    _Atomic(wb__alias_slots *) slots;
    size_t used;
    wb__name_hasher hasher;
    wb__arena arena;
} wb__table_of_names;

bool wb__names_table_init(wb__table_of_names *table, const wb_allocator *allocator);
void wb__names_table_free(wb__table_of_names *table);

uint64_t wb__query_hash(const wb__table_of_names *table, wb__str text, const wb__rank *rank,
                        bool by_number);

/* Returns the entry, or NULL. Thread-safe without a lock. */
wb__entry *wb__names_table_find(const wb__table_of_names *table, uint64_t hash, wb__str text,
                                const wb__rank *rank, bool by_number);

/* Adds a key that is not in the table. The caller holds the lock. Returns false if out of
 * memory. */
bool wb__names_table_add(wb__table_of_names *table, uint64_t hash, wb__str text,
                         const wb__rank *rank, bool by_number, wb__entry *entry);

#endif
