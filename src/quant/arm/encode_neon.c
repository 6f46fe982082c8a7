/* Encoding with NEON, with one group of values per lane. */
#include "quant/kernel.h"

#include "cpu/cpu.h"
#include "quant/scalar/fp4.h"
#include "quant/scalar/k.h"
#include "quant/scalar/rounding.h"

#if WB__ARM64

#include <arm_neon.h>
#include <math.h>

#include "quant/arm/lanes_neon.h"

WB__CONTRACTION_PROBE(KERNEL)

#include "quant/arm/bytes_neon.h"
#include "quant/arm/eights_neon.h"

#include "quant/lanes/encode_search.h"

#include "quant/lanes/encode_k.h"

#include "quant/lanes/encode_blocks.h"

/* Returns lanes with all bits set where x >= `than` or x is NaN, and with no bits set elsewhere. */
static inline uint32x4_t not_less(float32x4_t x, float32x4_t than)
{
    return vmvnq_u32(vcltq_f32(x, than));
}

/*
 * Finds the level of IQ4 nearest to x by binary search (see lanes/encode_iq4.h). Returns the upper
 * three of the four bits of the level's index. A lane of the mask *last is set if the lowest bit of
 * the index is 1.
 */
static inline uint32x4_t iq4_halving(float32x4_t x, uint32x4_t *last)
{
    static const float quarters[8] = {-93.5f, -28.5f, 19, 79, 0, 0, 0, 0};
    static const float eighths[8] = {-115.5f, -74, -42, -16, 7, 31.5f, 61, 101};
    uint32x4_t above = not_less(x, vdupq_n_f32(-4.5f));
    uint32x4_t index = vshrq_n_u32(above, 31);
    above = not_less(x, vbslq_f32(above, vdupq_n_f32(45.5f), vdupq_n_f32(-57)));
    index = vsubq_u32(vaddq_u32(index, index), above);
    above = not_less(x, pick_4(index, f_table(quarters)));
    index = vsubq_u32(vaddq_u32(index, index), above);
    *last = not_less(x, pick_4(index, f_table(eighths)));
    return index;
}

static inline float32x4_t level_4(float32x4_t x)
{
    static const float even[8] = {-127, -83, -49, -22, 1, 25, 53, 89};
    static const float odd[8] = {-104, -65, -35, -10, 13, 38, 69, 113};
    uint32x4_t last;
    uint32x4_t index = iq4_halving(x, &last);
    return vbslq_f32(last, pick_4(index, f_table(odd)), pick_4(index, f_table(even)));
}

static inline lanes iq4_level(lanes x)
{
    return (lanes){level_4(x.a), level_4(x.b)};
}

static inline float32x4_t index_4(float32x4_t x)
{
    uint32x4_t last;
    uint32x4_t index = iq4_halving(x, &last);
    return vcvtq_f32_u32(vsubq_u32(vaddq_u32(index, index), last));
}

static inline lanes iq4_index(lanes x)
{
    return (lanes){index_4(x.a), index_4(x.b)};
}

#include "quant/lanes/encode_iq4.h"
#include "quant/lanes/encode_table.h"

const wb__kernel_set wb__kernels_encode_neon = {WB__CPU_NEON, contracted, kernels,
                                                WB__KERNEL_COUNT(kernels)};

#else
static bool never(void)
{
    return true;
}
const wb__kernel_set wb__kernels_encode_neon = {0, never, NULL, 0};
#endif
