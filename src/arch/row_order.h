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

#include "arch/canonical_names.h"
#include "weighbridge/base.h"
#include "weighbridge/config.h"

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

/* Of how many heads the rows of a rule's tensors are, if RoPE turns them; 0: it does not, or nobody says. */
uint64_t wb__row_order_heads(const wb__rule *rule, const wb_config *config);

/* Whether GGUF has 1 added to the values of a rule's tensors. Neither rule nor family need be there. */
bool wb__row_order_moves(const wb__rule *rule, wb__suffix suffix, const wb__family *family);

/* How many of `rows` rows each of `heads` heads has; 0: they are no whole number of even heads. */
static inline uint64_t wb__row_order_head(uint64_t rows, uint64_t heads)
{
    return heads > 0 && rows % heads == 0 && rows / heads % 2 == 0 ? rows / heads : 0;
}

/* The stored row that Hugging Face has as `row`; of heads of head_rows rows, 0: they are in order. */
static inline uint64_t wb__row_order_stored(uint64_t head_rows, uint64_t row)
{
    if (head_rows == 0)
        return row;
    uint64_t within = row % head_rows;
    uint64_t half = head_rows / 2;
    return row - within + (within < half ? 2 * within : 2 * (within - half) + 1);
}

/* The row of Hugging Face's that is stored as `row`. */
static inline uint64_t wb__row_order_plain(uint64_t head_rows, uint64_t row)
{
    if (head_rows == 0)
        return row;
    uint64_t within = row % head_rows;
    return row - within + within / 2 + within % 2 * (head_rows / 2);
}

#endif
