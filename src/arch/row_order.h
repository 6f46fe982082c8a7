/*
 * arch/row_order.h: conversion between stored tensor values and Hugging Face's values.
 *
 * llama.cpp's converter permutes the rows of q and k of the Llama family within each head, so that
 * RoPE rotates adjacent rows, and adds 1 to Gemma's norm weights. Comparison across formats must
 * undo this, and conversion must apply it. The rules of the family mark the affected tensors
 * (WB__RULE_ROPE_Q, WB__RULE_ROPE_K, WB__RULE_NORM).
 *
 *     stored row of a head of 2 h rows:      0  1  2  3  …  2 h - 1
 *     corresponding Hugging Face row:        0  h  1  h + 1 … 2 h - 1
 */
#ifndef WB_ARCH_ROW_ORDER_H
#define WB_ARCH_ROW_ORDER_H

#include "arch/canonical_names.h"
#include "weighbridge/base.h"
#include "weighbridge/config.h"

typedef struct wb__row_order {
    uint64_t head_rows; /* number of rows per head; 0: the rows are not permuted */
    uint64_t columns;   /* number of values per row; 0 if head_rows is 0 */
    float offset;       /* number to add to each value: 0 or -1 */
} wb__row_order;

/*
 * Returns the conversion to the row order and values of Hugging Face for a tensor with this name
 * entry and kind. `family` is NULL if the architecture is unknown. Rows that cannot be divided into
 * heads with an even number of rows are left unchanged.
 */
wb__row_order wb__row_order_of(const wb__name_entry *entry, const wb__kind *kind,
                               const wb_config *config, const wb__family *family);

/*
 * Returns the number of heads of a RoPE tensor; 0 if RoPE does not apply or the number is unknown.
 */
uint64_t wb__row_order_heads(const wb__rule *rule, const wb_config *config);

/* Returns true if GGUF stores w + 1 where Hugging Face stores w (the norm weights of Gemma). `rule`
 * and `family` may be NULL. */
bool wb__row_order_moves(const wb__rule *rule, wb__suffix suffix, const wb__family *family);

/* Returns the number of rows per head; 0 if `rows` cannot be divided into heads of even size. */
static inline uint64_t wb__row_order_head(uint64_t rows, uint64_t heads)
{
    return heads > 0 && rows % heads == 0 && rows / heads % 2 == 0 ? rows / heads : 0;
}

/* Returns the stored row for Hugging Face row `row`; head_rows 0 means unpermuted. */
static inline uint64_t wb__row_order_stored(uint64_t head_rows, uint64_t row)
{
    if (head_rows == 0)
        return row;
    uint64_t within = row % head_rows;
    uint64_t half = head_rows / 2;
    return row - within + (within < half ? 2 * within : 2 * (within - half) + 1);
}

/* Returns the index, in the order of Hugging Face, of the row that is stored at index `row`.
 * head_rows 0: the rows are not permuted. */
static inline uint64_t wb__row_order_plain(uint64_t head_rows, uint64_t row)
{
    if (head_rows == 0)
        return row;
    uint64_t within = row % head_rows;
    return row - within + within / 2 + within % 2 * (head_rows / 2);
}

#endif
