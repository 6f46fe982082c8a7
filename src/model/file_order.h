/*
 * model/file_order.h: the tensors of a file in the order of their bytes.
 */
#ifndef WB_MODEL_ORDER_H
#define WB_MODEL_ORDER_H

#include "model/catalog.h"

typedef struct wb__order {
    const wb_allocator *allocator;
    struct wb__sort_entry *memory; /* NULL: none */
    struct wb__sort_entry *places; /* part of it */
    size_t count;
} wb__order;

/*
 * Sorts the tensors of a file by where they begin, those that begin together by where they end, in
 * the order of the header where both are equal; by radix, so that no order a stranger picks costs
 * more than another. MEMORY is the only failure. Release with wb__order_free, also after a failure.
 */
wb_status wb__order_make(wb__order *order, wb__context *context, const wb__table *table,
                         const wb__catalog_file *file);
void wb__order_free(wb__order *order);

/* The number of the tensor that is i-th. */
size_t wb__order_at(const wb__order *order, size_t i);

/* Where a tensor's bytes begin and end, from the beginning of the file's data, modulo 2^64. */
static inline uint64_t wb__tensor_begin(const wb__table *table, size_t tensor)
{
    return wb__record_at(table, tensor)->begin;
}

static inline uint64_t wb__tensor_end(const wb__table *table, size_t tensor)
{
    return wb__record_at(table, tensor)->begin + wb__table_kind_of(table, tensor)->bytes;
}

#endif
