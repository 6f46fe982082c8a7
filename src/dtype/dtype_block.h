/*
 * dtype/dtype_block.h: what an element or a block is made of, as far as the order of bytes and the
 * soundness of its scales are concerned. Values are decoded by src/quant.
 */
#ifndef WB_DTYPE_BLOCK_H
#define WB_DTYPE_BLOCK_H

#include "dtype/dtype.h"

/* The fewest elements that take whole bytes: a block, or what packs into bytes. */
static inline uint32_t wb__dtype_unit(const wb__dtype *dtype)
{
    if (dtype->block_size > 1 || dtype->block_bits % 8 == 0)
        return dtype->block_size;
    return dtype->block_bits % 4 == 0 ? 2 : 4; /* 4 and 6 bits */
}

static inline size_t wb__dtype_unit_bytes(const wb__dtype *dtype)
{
    return (size_t)wb__dtype_unit(dtype) / dtype->block_size * dtype->block_bits / 8;
}

/* The bytes of a number of elements that is a multiple of the unit, and that a tensor can have. */
static inline uint64_t wb__dtype_bytes(const wb__dtype *dtype, uint64_t elements)
{
    return elements / wb__dtype_unit(dtype) * wb__dtype_unit_bytes(dtype);
}

/* The elements in a number of bytes that is a multiple of wb__dtype_unit_bytes. */
static inline uint64_t wb__dtype_elements(const wb__dtype *dtype, uint64_t bytes)
{
    return bytes / wb__dtype_unit_bytes(dtype) * wb__dtype_unit(dtype);
}

/*
 * Reverses the bytes of every number in n units: elements of plain types, and within blocks the
 * scales and whatever else is more than a byte wide. What a big-endian machine writes thus becomes
 * what a little-endian one would have written.
 */
void wb__dtype_swap(const wb__dtype *dtype, void *units, size_t n);

/* Adds to *counts the blocks, of n, that have a scale that is NaN or infinite. */
void wb__block_count_odd(const wb__dtype *dtype, const void *blocks, size_t n,
                         wb__value_counts *counts);

#endif
