/*
 * cpu: detects the instruction sets the library may use and the number of processors.
 *
 * The instruction sets are detected once per process. A set counts only if the processor supports
 * it and the operating system saves the registers of the set. The result is cached in an atomic.
 * The environment variable WB_CPU_DISABLE, a list such as "avx512,avx2", disables sets, so that
 * tests on one machine can cover every code path.
 */
#ifndef WB_CPU_CPU_H
#define WB_CPU_CPU_H

#include <stdint.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define WB__X86 1
#else
#define WB__X86 0
#endif

/* Every AArch64 processor has NEON. */
#if defined(__aarch64__) && defined(__GNUC__) && !defined(__AARCH64EB__)
#define WB__ARM64 1
#else
#define WB__ARM64 0
#endif

#define WB__CPU_AVX2 1u   /* also implies BMI1, BMI2, POPCNT and F16C */
#define WB__CPU_AES 2u    /* AES-NI */
#define WB__CPU_AVX512 4u /* AVX-512 F, BW, DQ, VL and VBMI; also implies AVX2 */
#define WB__CPU_VAES 8u   /* AES on 512-bit registers; also implies AVX512 */
#define WB__CPU_SHA 16u   /* SHA extensions; also implies SSSE3 and SSE4.1 */
#define WB__CPU_NEON 32u

uint32_t wb__cpu_features(void);

/* Returns the number of processors this process may use, or 1 if the system does not report it. */
unsigned wb__cpu_count(void);

#endif
