/* Decoding with NEON. */
#include "quant/kernel.h"

#include "cpu/cpu.h"

#if WB__ARM64

#include <arm_neon.h>

#include "quant/arm/lanes_neon.h"

WB__CONTRACTION_PROBE(KERNEL)

#include "quant/arm/bytes_neon.h"
#include "quant/arm/put_neon.h"

#include "quant/lanes/decode.h"

const wb__kernel_set wb__kernels_decode_neon = {WB__CPU_NEON, contracted, kernels,
                                                WB__KERNEL_COUNT(kernels)};

#else
static bool never(void)
{
    return true;
}
const wb__kernel_set wb__kernels_decode_neon = {0, never, NULL, 0};
#endif
