/*
 * dtype/halves.h: conversions between 16-bit and 32-bit floats with the dedicated instructions of
 * some processors. The loops of dtype_convert.c are the reference for the results.
 */
#ifndef WB_DTYPE_HALVES_H
#define WB_DTYPE_HALVES_H

#include <stddef.h>
#include <stdint.h>

#include "cpu/cpu.h"

/*
 * Converts elements from the front, in groups of WB__HALVES_GROUP. Stops at the first group it does
 * not support (one that contains a NaN), or when fewer than WB__HALVES_GROUP elements remain.
 * Returns the number of elements converted.
 */
typedef size_t wb__halves(const uint8_t *src, uint8_t *dst, size_t n);

#define WB__HALVES_GROUP ((size_t)16)

#if WB__X86
/* kernels that require AVX2 and F16C */
wb__halves wb__bf16_f16_avx2, wb__f32_f16_avx2, wb__f16_f32_avx2;
#endif

#endif
