/* Decoding of the codebook types with NEON. */
#include "quant/kernel.h"

#include "cpu/cpu.h"
#include "quant/scalar/codebooks.h"

#if WB__ARM64

#include <arm_neon.h>

#include "quant/arm/lanes_neon.h"

WB__CONTRACTION_PROBE(KERNEL)

#include "quant/arm/bytes_neon.h"
#include "quant/arm/put_neon.h"

typedef lanes codes_table;

static inline codes_table codes_table_of(const float *values, float scale)
{
    return f_mul(f_set(scale), f_load(values));
}

/*
 * Decodes four of the eight values of a word, starting with value `first`. The word contains eight
 * coordinates of `bits` bits each, which are indices into the table, and then eight sign bits.
 */
static inline float32x4_t four_of(uint32_t word, int first, int bits, bool with_signs, lanes table)
{
    static const int32_t counting[4] = {0, 1, 2, 3};
    const int32x4_t at = vaddq_s32(vld1q_s32(counting), vdupq_n_s32(first));
    uint32x4_t w = vdupq_n_u32(word);
    float32x4_t v = pick_4(vshlq_u32(w, vmulq_n_s32(at, -bits)), table);
    if (!with_signs)
        return v;
    uint32x4_t sign = vshlq_u32(w, vsubq_s32(vdupq_n_s32(31 - 8 * bits), at));
    sign = vandq_u32(sign, vdupq_n_u32(0x80000000));
    return vreinterpretq_f32_u32(veorq_u32(vreinterpretq_u32_f32(v), sign));
}

static inline void put_iq2(float *out, uint32_t word, codes_table table)
{
    f_store(out, (lanes){four_of(word, 0, 2, true, table), four_of(word, 4, 2, true, table)});
}

static inline void put_iq3(float *out, uint32_t word, codes_table table)
{
    f_store(out, (lanes){four_of(word, 0, 3, true, table), four_of(word, 4, 3, true, table)});
}

static inline void put_codes(float *out, uint32_t word, codes_table table)
{
    f_store(out, (lanes){four_of(word, 0, 2, false, table), four_of(word, 4, 2, false, table)});
}

#include "quant/lanes/decode_iq.h"

const wb__kernel_set wb__kernels_decode_iq_neon = {WB__CPU_NEON, contracted, kernels,
                                                   WB__KERNEL_COUNT(kernels)};

#else
static bool never(void)
{
    return true;
}
const wb__kernel_set wb__kernels_decode_iq_neon = {0, never, NULL, 0};
#endif
