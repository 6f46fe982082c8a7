/*
 * dtype/minifloat.h: any float of up to 64 bits to and from a double, from the columns of
 * dtypes.def.
 *
 * A double holds every value of every float type exactly, so that decoding never rounds and encoding
 * rounds once.
 */
#ifndef WB_DTYPE_MINIFLOAT_H
#define WB_DTYPE_MINIFLOAT_H

#include <stdint.h>

#include "dtype/dtype.h"

/* The bits of a double that has the value of `bits`. NaNs become the quiet NaN of their sign. */
uint64_t wb__minifloat_decode(const wb__dtype *dtype, uint64_t bits);

/*
 * The bits nearest to the double with these bits, ties to even. What is too large becomes infinity,
 * where there is none NaN, and where there is neither the largest value. A NaN becomes NaN, or where
 * there is none negative zero. SCALE, which has no sign and no zero, makes NaN of zero and of what
 * is negative, and its smallest value of what is smaller. (The rules of ml_dtypes, which tests
 * compare with.)
 */
uint64_t wb__minifloat_encode(const wb__dtype *dtype, uint64_t double_bits);

#endif
