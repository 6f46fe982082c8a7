/*
 * dtype/half.h: conversion between binary16 or bfloat16 and the bits of a binary32.
 *
 * Rounds to nearest, ties to even. NaNs become quiet and keep their sign. Uses integer operations
 * only, so that the result does not depend on any processor mode.
 */
#ifndef WB_DTYPE_HALF_H
#define WB_DTYPE_HALF_H

#include <stdint.h>

static inline uint32_t wb__f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16;
    uint32_t exponent = h >> 10 & 0x1F;
    uint32_t mantissa = h & 0x3FF;
    if (exponent == 0x1F)
        return sign | 0x7F800000 | mantissa << 13 | (mantissa != 0 ? UINT32_C(0x400000) : 0);
    if (exponent != 0)
        return sign | (exponent + 112) << 23 | mantissa << 13;
    if (mantissa == 0)
        return sign;
    /* Subnormal: normalize the mantissa. */
    exponent = 113;
    while (!(mantissa & 0x400)) {
        mantissa <<= 1;
        exponent--;
    }
    return sign | exponent << 23 | (mantissa & 0x3FF) << 13;
}

static inline uint16_t wb__f32_to_f16(uint32_t f)
{
    uint32_t sign = f >> 16 & 0x8000;
    uint32_t magnitude = f & 0x7FFFFFFF;
    if (magnitude > 0x7F800000)
        return (uint16_t)(sign | 0x7E00);
    if (magnitude >= 0x477FF000) /* 65520 and above round to infinity */
        return (uint16_t)(sign | 0x7C00);
    /* normal: adjust the exponent bias and round off the low 13 bits */
    if (magnitude >= 0x38800000) {
        uint32_t rounded = magnitude - (UINT32_C(112) << 23) + 0xFFF + (magnitude >> 13 & 1);
        return (uint16_t)(sign | rounded >> 13);
    }
    if (magnitude < 0x33000000) /* below half of the smallest subnormal */
        return (uint16_t)sign;
    uint32_t mantissa = (magnitude & 0x7FFFFF) | 0x800000;
    uint32_t shift = 126 - (magnitude >> 23);
    uint32_t rest = mantissa & ((UINT32_C(1) << shift) - 1);
    uint32_t half = UINT32_C(1) << (shift - 1);
    uint32_t units = mantissa >> shift;
    units += rest > half || (rest == half && (units & 1));
    return (uint16_t)(sign | units);
}

static inline uint16_t wb__f32_to_bf16(uint32_t f)
{
    if ((f & 0x7FFFFFFF) > 0x7F800000)
        return (uint16_t)(f >> 16 | 0x40);
    return (uint16_t)((f + 0x7FFF + (f >> 16 & 1)) >> 16);
}

#endif
