/*
 * dtype: the element types, their properties, and conversion between the plain types.
 *
 * A plain type has one number (or a complex pair) per element; block types hold quantized values.
 * Everything here is derived from the table dtypes.def, so that a new plain type needs only a new
 * row there. Conversion is exact if the target type can represent the value; otherwise it rounds
 * once, to nearest, ties to even. It uses integer operations on the bits, so that the result does
 * not depend on the rounding or flush-to-zero mode the application has set.
 *
 * No function here allocates memory. Buffers need no alignment and are little-endian.
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
    WB__CLASS_IEEE, /* WB__CLASS_IEEE and the following classes are floats; dtypes.def describes
                       them */
    WB__CLASS_FN,
    WB__CLASS_FNUZ,
    WB__CLASS_FINITE,
    WB__CLASS_SCALE
} wb__dtype_class;

typedef struct wb__dtype {
    const char *name;
    const char *description;
    int32_t id;
    uint32_t block_size; /* number of elements per block */
    uint32_t block_bits;
    wb__dtype_class kind;
    int exponent_bits;
    int mantissa_bits;
    int bias;
} wb__dtype;

/* Returns the row of dtypes.def for a wb_dtype, or NULL if the number is unknown. */
const wb__dtype *wb__dtype_get(int32_t id);

/* Returns the row with this name (case-sensitive), or NULL. */
const wb__dtype *wb__dtype_named(wb__str name);

/* As wb__dtype_named, but case-insensitive. */
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
 * Returns true if wb__dtype_convert supports the pair of types. A complex type converts only to
 * itself, because a conversion to real numbers would lose the imaginary part. Block types are
 * decoded by src/quant.
 */
static inline bool wb__dtype_converts(const wb__dtype *from, const wb__dtype *to)
{
    return from == to || (from->kind != WB__CLASS_COMPLEX && to->kind != WB__CLASS_COMPLEX &&
                          wb__dtype_is_plain(from) && wb__dtype_is_plain(to));
}

/*
 * Converts n elements, starting with element `first` of src. For types of whole bytes, `first` only
 * advances src; for smaller types it selects the first bit to read. dst begins at a byte boundary.
 * If `to` has fewer than 8 bits per element, the unused bits of the last byte of dst are set to 0.
 */
void wb__dtype_convert(const wb__dtype *from, const void *src, uint64_t first, const wb__dtype *to,
                       void *dst, size_t n);

typedef struct wb__value_counts {
    uint64_t nan;
    uint64_t infinite;
    uint64_t odd_bool; /* number of BOOL elements other than 0 and 1 */
} wb__value_counts;

/* Adds the numbers of NaNs, infinities and invalid booleans among n elements to *counts. */
void wb__dtype_count_odd(const wb__dtype *dtype, const void *src, size_t n,
                         wb__value_counts *counts);

#endif
