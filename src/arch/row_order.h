/*
 * arch/row_order.h: how the values of a tensor as it is stored become those Hugging Face has.
 *
 * llama.cpp's converter lets the rows of q and k of the Llama family take turns within each head,
 * so that RoPE turns neighbours, and adds 1 to the norms of Gemma. Whoever compares models across
 * formats undoes that, and whoever converts them does it. Which tensors it concerns is in the rules
 * of the family (WB__RULE_ROPE_Q, WB__RULE_ROPE_K, WB__RULE_NORM).
 *
 *     row of a head of 2 h rows, stored:       0  1  2  3  …  2 h - 1
 *     is in Hugging Face row                   0  h  1  h + 1 … 2 h - 1
 */
#ifndef WB_ARCH_ROW_ORDER_H
#define WB_ARCH_ROW_ORDER_H

#include "arch/names.h"
#include "weighbridge.h"

typedef struct wb__row_order {
    uint64_t head_rows; /* rows of a head that take turns; 0: rows are stored in order */
    uint64_t columns;   /* values in a row; 0 where head_rows is */
    float offset;       /* is to be added to each value: 0 or -1 */
} wb__row_order;

/*
 * What is to be done with a tensor of that entry and kind. `family` is NULL where nobody knows the
 * architecture. Rows that are no whole number of even heads are left as they are.
 */
wb__row_order wb__row_order_of(const wb__name_entry *entry, const wb__kind *kind,
                               const wb_config *config, const wb__family *family);

/* The stored row that Hugging Face has as `row`. */
static inline uint64_t wb__row_order_stored(const wb__row_order *order, uint64_t row)
{
    if (order->head_rows == 0)
        return row;
    uint64_t within = row % order->head_rows;
    uint64_t half = order->head_rows / 2;
    return row - within + (within < half ? 2 * within : 2 * (within - half) + 1);
}

#endif
