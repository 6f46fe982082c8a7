#include "cpu/cpu.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if WB__X86
#include <cpuid.h>

__attribute__((target("xsave"))) static uint64_t enabled_state(void)
{
    return __builtin_ia32_xgetbv(0);
}

/* Bits of the register XCR0. A set bit means that the operating system saves the named registers
 * when it switches tasks. */
#define XCR0_AVX 0x6u     /* XMM and YMM */
#define XCR0_AVX512 0xE0u /* opmask, the upper halves of ZMM0 to ZMM15, and ZMM16 to ZMM31 */

static bool has(uint32_t value, uint32_t bits)
{
    return (value & bits) == bits;
}

static uint32_t detect(void)
{
    uint32_t a, b, c, d;
    uint32_t features = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d))
        return 0;
    bool avx_saved = has(c, bit_OSXSAVE | bit_AVX) && has((uint32_t)enabled_state(), XCR0_AVX);
    bool avx512_saved = avx_saved && has((uint32_t)enabled_state(), XCR0_AVX512);
    bool popcnt_f16c = has(c, bit_POPCNT | bit_F16C);
    bool ssse3_sse41 = has(c, bit_SSSE3 | bit_SSE4_1);
    if (has(c, bit_AES | bit_SSE4_1))
        features |= WB__CPU_AES;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return features;
    if (ssse3_sse41 && has(b, bit_SHA))
        features |= WB__CPU_SHA;
    if (avx_saved && popcnt_f16c && has(b, bit_AVX2 | bit_BMI | bit_BMI2)) {
        features |= WB__CPU_AVX2;
        if (avx512_saved && has(c, bit_AVX512VBMI) &&
            has(b, bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL)) {
            features |= WB__CPU_AVX512;
            if (has(c, bit_VAES))
                features |= WB__CPU_VAES;
        }
    }
    return features;
}
#else
static uint32_t detect(void)
{
    return WB__ARM64 ? WB__CPU_NEON : 0;
}
#endif

static bool listed(const char *list, const char *name)
{
    size_t len = strlen(name);
    for (const char *item = list; item != NULL; item = strchr(item, ',')) {
        item += *item == ',';
        if (strncmp(item, name, len) == 0 && (item[len] == ',' || item[len] == '\0'))
            return true;
    }
    return false;
}

static uint32_t without_disabled(uint32_t features)
{
    const char *list = getenv("WB_CPU_DISABLE");
    if (list == NULL)
        return features;
    if (listed(list, "avx2"))
        features &= ~(WB__CPU_AVX2 | WB__CPU_AVX512 | WB__CPU_VAES);
    if (listed(list, "avx512"))
        features &= ~(WB__CPU_AVX512 | WB__CPU_VAES);
    if (listed(list, "vaes"))
        features &= ~WB__CPU_VAES;
    if (listed(list, "aes"))
        features &= ~(WB__CPU_AES | WB__CPU_VAES);
    if (listed(list, "sha"))
        features &= ~WB__CPU_SHA;
    if (listed(list, "neon"))
        features &= ~WB__CPU_NEON;
    return features;
}

#define KNOWN (1u << 31)

static _Atomic uint32_t cached;

uint32_t wb__cpu_features(void)
{
    uint32_t features = atomic_load_explicit(&cached, memory_order_relaxed);
    if (!(features & KNOWN)) {
        features = without_disabled(detect()) | KNOWN;
        atomic_store_explicit(&cached, features, memory_order_relaxed);
    }
    return features & ~KNOWN;
}
