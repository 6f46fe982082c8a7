/*
 * dtype: the element types, what a file needs to know of them, and conversion between the plain
 * ones.
 *
 * dtypes.def is the table; everything here is derived from its columns, so that a new plain type is
 * a new row and nothing else. Conversion is exact wherever the target can hold the value, and
 * otherwise rounds once, to nearest, ties to even. It uses integer operations on the bits, and so
 * gives the same result whatever rounding or flush-to-zero mode the application has set.
 *
 * Nothing here allocates. Buffers need no alignment and are little-endian.
 */
#ifndef WB_DTYPE_DTYPE_H
#define WB_DTYPE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/core.h"
#include "weighbridge/dtypes.h"

typedef enum wb__dtype_class {
    WB__CLASS_UINT = 1,
    WB__CLASS_INT,
    WB__CLASS_BOOL,
    WB__CLASS_COMPLEX,
    WB__CLASS_BLOCK,
    WB__CLASS_IEEE, /* this and those below are floats, in the words of dtypes.def */
    WB__CLASS_FN,
    WB__CLASS_FNUZ,
    WB__CLASS_FINITE,
    WB__CLASS_SCALE
} wb__dtype_class;

typedef struct wb__dtype {
    const char *name;
    const char *description;
    int32_t id;
    uint32_t block_size; /* elements */
    uint32_t block_bits;
    wb__dtype_class kind;
    int exponent_bits;
    int mantissa_bits;
    int bias;
} wb__dtype;

/* The row of a wb_dtype, or NULL. */
const wb__dtype *wb__dtype_get(int32_t id);

/* The row of that name, to the letter, or NULL. */
const wb__dtype *wb__dtype_named(wb__str name);

/* The same, in any case. */
const wb__dtype *wb__dtype_named_nocase(wb__str name);

static inline bool wb__dtype_is_float(const wb__dtype *dtype)
{
    return dtype->kind >= WB__CLASS_IEEE;
}

static inline bool wb__dtype_is_plain(const wb__dtype *dtype)
{
    return dtype->kind != WB__CLASS_BLOCK;
}

/*
 * Whether wb__dtype_convert can do it. Complex numbers convert to nothing but themselves: which part
 * to keep is not ours to guess. Blocks of quantized values are decoded by src/quant.
 */
static inline bool wb__dtype_converts(const wb__dtype *from, const wb__dtype *to)
{
    return from == to || (from->kind != WB__CLASS_COMPLEX && to->kind != WB__CLASS_COMPLEX &&
                          wb__dtype_is_plain(from) && wb__dtype_is_plain(to));
}

/*
 * Converts n elements, the first of which is element `first` of src. For types of whole bytes
 * `first` merely moves src; for smaller ones it says at which bit to begin. dst begins on a byte; if
 * it is of less than eight bits per element, the unused bits of its last byte become 0.
 */
void wb__dtype_convert(const wb__dtype *from, const void *src, uint64_t first, const wb__dtype *to,
                       void *dst, size_t n);

typedef struct wb__value_counts {
    uint64_t nan;
    uint64_t infinite;
    uint64_t odd_bool; /* booleans other than 0 and 1 */
} wb__value_counts;

/* Adds to *counts what n elements hold that is worth a finding. */
void wb__dtype_count_odd(const wb__dtype *dtype, const void *src, size_t n,
                         wb__value_counts *counts);

#endif
