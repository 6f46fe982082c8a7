/*
 * provider/buffer_table.h: from what is asked for to its entry.
 *
 * Open addressing over pointers that only ever go from NULL to a value, so that looking up needs no
 * lock: a thread sees an entry or does not see it yet, and then asks again under the lock. A table
 * that has become too small is replaced by one twice as large and kept until the end, since others
 * may still be looking at it.
 */
#ifndef WB_PROVIDER_BUFFER_TABLE_H
#define WB_PROVIDER_BUFFER_TABLE_H

#include <stdatomic.h>

#include "model/name_hash.h"
#include "provider/buffer_request.h"

#define WB__MODEL_KEY_BYTES 32

typedef struct wb__entry wb__entry;

/* A name of an entry. An entry also has one that is the numbers of its tensors: `by_number`. */
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
    size_t count; /* a power of two */
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

/* The entry, or NULL. Any number of threads at any time. */
wb__entry *wb__names_table_find(const wb__table_of_names *table, uint64_t hash, wb__str text,
                                const wb__rank *rank, bool by_number);

/* Adds what is not there yet. One thread at a time. False: memory is out. */
bool wb__names_table_add(wb__table_of_names *table, uint64_t hash, wb__str text,
                         const wb__rank *rank, bool by_number, wb__entry *entry);

#endif
