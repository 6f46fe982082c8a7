/* model/file_order.h: the tensors of a file sorted by the position of their data. */
#ifndef WB_MODEL_FILE_ORDER_H
#define WB_MODEL_FILE_ORDER_H

#include "model/catalog.h"

typedef struct wb__order {
    const wb_allocator *allocator;
    struct wb__sort_entry *memory; /* NULL if not allocated */
    struct wb__sort_entry *places; /* the sorted half of `memory` */
    size_t count;
} wb__order;

/*
 * Sorts the tensors of a file by start offset, then by end offset, then by header order. Uses a
 * radix sort, so that a hostile order of tensors cannot slow it down. Fails only with
 * WB_ERROR_MEMORY. Release with wb__order_free, also after a failure.
 */
wb_status wb__order_make(wb__order *order, wb__context *context, const wb__table *table,
                         const wb__catalog_file *file);
void wb__order_free(wb__order *order);

/* Returns the index of the i-th tensor in this order. */
size_t wb__order_at(const wb__order *order, size_t i);

/* Return the start and end of a tensor's data relative to the file's data section, modulo 2^64. */
static inline uint64_t wb__tensor_begin(const wb__table *table, size_t tensor)
{
    return wb__record_at(table, tensor)->begin;
}

static inline uint64_t wb__tensor_end(const wb__table *table, size_t tensor)
{
    return wb__record_at(table, tensor)->begin + wb__table_kind_of(table, tensor)->bytes;
}

#endif
