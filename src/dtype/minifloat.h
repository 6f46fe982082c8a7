/*
 * dtype/minifloat.h: conversion between any float type of up to 64 bits and double, based on the
 * columns of dtypes.def.
 *
 * A double represents every value of every float type exactly, so that decoding never rounds and
 * encoding rounds once.
 */
#ifndef WB_DTYPE_MINIFLOAT_H
#define WB_DTYPE_MINIFLOAT_H

#include <stdint.h>

#include "dtype/dtype.h"

/*
 * Returns the bits of the double with the value of `bits`. A NaN becomes the quiet NaN with the
 * same sign.
 */
uint64_t wb__minifloat_decode(const wb__dtype *dtype, uint64_t bits);

/*
 * Returns the encoding nearest to the double with these bits, ties to even.
 *
 * A value that is too large becomes infinity, or NaN if the type has no infinity, or the largest
 * value if the type has neither. A NaN becomes NaN, or negative zero if the type has no NaN. SCALE
 * types have no sign and no zero: in these types, zero and negative values become NaN, and positive
 * values below the smallest representable value become that value. These are the rules of
 * ml_dtypes, with which the tests compare the results.
 */
uint64_t wb__minifloat_encode(const wb__dtype *dtype, uint64_t double_bits);

#endif
