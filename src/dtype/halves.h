/*
 * dtype/halves.h: conversions between floats of 16 and 32 bits with the instructions that some processors
 * have for them. The loops of convert.c say what is right.
 */
#ifndef WB_DTYPE_HALVES_H
#define WB_DTYPE_HALVES_H

#include <stddef.h>
#include <stdint.h>

#include "cpu/cpu.h"

/*
 * Converts elements from the front on, in groups of WB__HALVES_GROUP, up to the first group that it
 * leaves to others, or the last whole one; returns how many elements were converted.
 */
typedef size_t wb__halves(const uint8_t *src, uint8_t *dst, size_t n);

#define WB__HALVES_GROUP ((size_t)16)

#if WB__X86
/* With AVX2 and F16C. */
wb__halves wb__bf16_f16_avx2, wb__f32_f16_avx2, wb__f16_f32_avx2;
#endif

#endif
