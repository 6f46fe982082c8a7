/* Encoding of the codebook types with NEON. */
#include "quant/kernel.h"

#include "cpu/cpu.h"
#include "quant/scalar/iq1_search.h"
#include "quant/scalar/iq_search.h"
#include "quant/scalar/rounding.h"

#if WB__ARM64

#include <arm_neon.h>
#include <math.h>

#include "quant/arm/lanes_neon.h"

WB__CONTRACTION_PROBE(KERNEL)

#include "quant/lanes/encode_iq.h"

#include "quant/lanes/encode_iq1.h"
#include "quant/lanes/encode_iq_table.h"

const wb__kernel_set wb__kernels_encode_iq_neon = {WB__CPU_NEON, contracted, kernels,
                                                   WB__KERNEL_COUNT(kernels)};

#else
static bool never(void)
{
    return true;
}
const wb__kernel_set wb__kernels_encode_iq_neon = {0, never, NULL, 0};
#endif
