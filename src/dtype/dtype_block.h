/*
 * dtype/dtype_block.h: the internal layout of elements and blocks, as needed to swap their byte
 * order and to find invalid scales. src/quant decodes the values.
 */
#ifndef WB_DTYPE_DTYPE_BLOCK_H
#define WB_DTYPE_DTYPE_BLOCK_H

#include "dtype/dtype.h"

/*
 * Returns the smallest number of elements that occupies whole bytes: one block for block types, 2
 * or 4 elements for types smaller than a byte.
 */
static inline uint32_t wb__dtype_unit(const wb__dtype *dtype)
{
    if (dtype->block_size > 1 || dtype->block_bits % 8 == 0)
        return dtype->block_size;
    return dtype->block_bits % 4 == 0 ? 2 : 4; /* 2 elements of 4 bits or 4 elements of 6 bits */
}

static inline size_t wb__dtype_unit_bytes(const wb__dtype *dtype)
{
    return (size_t)wb__dtype_unit(dtype) / dtype->block_size * dtype->block_bits / 8;
}

/*
 * Returns the size in bytes of `elements` elements. Precondition: `elements` is a multiple of
 * wb__dtype_unit, and not more than the elements of a valid tensor, so that the product does not
 * overflow.
 */
static inline uint64_t wb__dtype_bytes(const wb__dtype *dtype, uint64_t elements)
{
    return elements / wb__dtype_unit(dtype) * wb__dtype_unit_bytes(dtype);
}

/*
 * Returns the number of elements in `bytes` bytes. Precondition: `bytes` is a multiple of
 * wb__dtype_unit_bytes.
 */
static inline uint64_t wb__dtype_elements(const wb__dtype *dtype, uint64_t bytes)
{
    return bytes / wb__dtype_unit_bytes(dtype) * wb__dtype_unit(dtype);
}

/*
 * Reverses the byte order of every number in n units (see wb__dtype_unit). The numbers of a plain
 * type are its elements; those of a block type are its scales and all other fields wider than a
 * byte. This turns the data a big-endian machine wrote into the data a little-endian machine would
 * have written.
 */
void wb__dtype_swap(const wb__dtype *dtype, void *units, size_t n);

/*
 * Examines n blocks. Adds to counts->nan the number of blocks with a NaN scale, and to
 * counts->infinite the number of blocks with an infinite scale but no NaN scale.
 */
void wb__block_count_odd(const wb__dtype *dtype, const void *blocks, size_t n,
                         wb__value_counts *counts);

#endif
