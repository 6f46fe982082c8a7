/*
 * cpu: which instruction sets may be used, and on how many processors.
 *
 * Asked for once per process, of the processor and of the operating system (which must save the
 * registers), then read from an atomic. WB_CPU_DISABLE in the environment, a list such as
 * "avx512,avx2", takes sets away, so that tests on one machine can walk every path.
 */
#ifndef WB_CPU_CPU_H
#define WB_CPU_CPU_H

#include <stdint.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define WB__X86 1
#else
#define WB__X86 0
#endif

/* NEON as every AArch64 has it. */
#if defined(__aarch64__) && defined(__GNUC__) && !defined(__AARCH64EB__)
#define WB__ARM64 1
#else
#define WB__ARM64 0
#endif

#define WB__CPU_AVX2 1u   /* with BMI1, BMI2, POPCNT, F16C */
#define WB__CPU_AES 2u    /* AES-NI */
#define WB__CPU_AVX512 4u /* F, BW, DQ, VL, VBMI, with AVX2 */
#define WB__CPU_VAES 8u   /* AES on 512-bit registers, with AVX512 */
#define WB__CPU_SHA 16u   /* SHA extensions, with SSSE3 and SSE4.1 */
#define WB__CPU_NEON 32u

uint32_t wb__cpu_features(void);

/* How many processors there are, 1 where the system does not tell. */
unsigned wb__cpu_count(void);

#endif
