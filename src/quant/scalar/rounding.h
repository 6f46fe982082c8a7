/*
 * quant/scalar/rounding.h: conversion of floats to integers, defined for every float.
 *
 * In C, converting a value that does not fit is undefined. The results to reproduce are those of
 * ggml on x86-64, where such a conversion, also of NaN, gives INT32_MIN. Blocks of subnormal
 * values, whose scale has no finite reciprocal, depend on this result. The functions below
 * therefore use this rule on all machines.
 */
#ifndef WB_QUANT_SCALAR_ROUNDING_H
#define WB_QUANT_SCALAR_ROUNDING_H

#include "quant/kernel.h"

/* Rounds towards zero. */
static inline int32_t wb__truncate(float x)
{
    return x >= -0x1p31f && x < 0x1p31f ? (int32_t)x : INT32_MIN;
}

/*
 * Rounds to nearest, ties away from zero. Adds the largest float below 0.5 instead of 0.5, so that
 * values just below one half are not rounded up.
 */
static inline int32_t wb__round_away(float x)
{
    return wb__truncate(x + (x < 0 ? -0x1.fffffep-2f : 0x1.fffffep-2f));
}

/*
 * Rounds to nearest, ties to even, for |x| < 2^22: adding 1.5 * 2^23 leaves the integer in the low
 * bits of the mantissa. Any other x gives an arbitrary 23-bit integer.
 */
static inline int32_t wb__round_even(float x)
{
    return (int32_t)(wb__bits_of_float(x + 12582912.0f) & 0x7FFFFF) - 0x400000;
}

static inline int32_t wb__clamp(int32_t v, int32_t low, int32_t high)
{
    return v < low ? low : v > high ? high : v;
}

#endif
