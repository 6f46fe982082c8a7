/*
 * quant/kernel.h: every kernel file includes this header first.
 *
 * Results are defined bit by bit as IEEE 754 operations on binary32, each rounded once. A compiler
 * that fuses a multiplication with an addition (contraction) changes them. The build uses
 * -ffp-contract=off, but a build with plain `cc` may not. clang obeys only the first pragma below,
 * the standard one; gcc (as of version 12) obeys only the second one, also for intrinsics. The
 * contraction probe detects a build that ignores both. Intermediate results must not be wider than
 * binary32 either, as they are on the x87.
 */
#ifndef WB_QUANT_KERNEL_H
#define WB_QUANT_KERNEL_H

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("-ffp-contract=off")
#endif

#include <float.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/endian.h"
#include "dtype/half.h"
#include "quant/quant.h"

_Static_assert(FLT_EVAL_METHOD == 0, "binary32 arithmetic must be done in binary32; on 32-bit x86 "
                                     "compile with -msse2 -mfpmath=sse");

#if defined(__FAST_MATH__)
#error "the kernels need IEEE 754 arithmetic: compile without -ffast-math"
#endif

/*
 * Defines contracted(), which returns true if the compiler fuses operations in functions of this
 * file with these attributes. It computes a * a + b with a = 1 + 2^-12 and b = -(1 + 2^-11). This
 * is 0 if the product is rounded to binary32, and 2^-24 if the operations are fused.
 */
#define WB__CONTRACTION_PROBE(attributes)                                                          \
    attributes static bool contracted(void)                                                        \
    {                                                                                              \
        const volatile float factor = 0x1.001p0f, minus_square = -0x1.002p0f;                      \
        float a = factor, b = minus_square;                                                        \
        return a * a + b != 0.0f;                                                                  \
    }

#define WB__KERNEL_COUNT(kernels) (sizeof(kernels) / sizeof(kernels)[0])

static inline float wb__float_of_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static inline uint32_t wb__bits_of_float(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static inline float wb__load_f16(const uint8_t *bytes)
{
    return wb__float_of_bits(wb__f16_to_f32(wb__load_le16(bytes)));
}

static inline void wb__store_f16(uint8_t *bytes, float f)
{
    wb__store_le16(bytes, wb__f32_to_f16(wb__bits_of_float(f)));
}

#endif
