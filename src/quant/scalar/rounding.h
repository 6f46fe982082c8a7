/*
 * quant/scalar/rounding.h: floats to integers, as the encoders define it for every float.
 *
 * C leaves the conversion of what does not fit undefined. The reference programs were compiled for
 * x86-64, which gives the least integer for it, NaN included; blocks of subnormal values, whose
 * scale has no finite reciprocal, come out of that. So it is the rule here, on every machine.
 */
#ifndef WB_QUANT_SCALAR_ROUNDING_H
#define WB_QUANT_SCALAR_ROUNDING_H

#include "quant/kernel.h"

/* Towards zero. */
static inline int32_t wb__truncate(float x)
{
    return x >= -0x1p31f && x < 0x1p31f ? (int32_t)x : INT32_MIN;
}

/* To nearest, ties away from zero: adding the float before 0.5 carries at one half, not before. */
static inline int32_t wb__round_away(float x)
{
    return wb__truncate(x + (x < 0 ? -0x1.fffffep-2f : 0x1.fffffep-2f));
}

/*
 * To nearest, ties to even, for |x| < 2^22: adding 1.5 * 2^23 leaves the integer in the low bits of
 * the mantissa. Anything else gives some integer of 23 bits.
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
