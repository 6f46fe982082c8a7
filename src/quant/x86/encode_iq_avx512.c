/* Encoding of the codebook types with AVX-512. */
#include "quant/kernel.h"

#include "cpu/cpu.h"
#include "quant/scalar/iq1_search.h"
#include "quant/scalar/iq_search.h"
#include "quant/scalar/rounding.h"

#if WB__X86

#include <immintrin.h>
#include <math.h>

#include "quant/x86/lanes_avx512.h"

WB__CONTRACTION_PROBE(KERNEL)

#include "quant/lanes/encode_iq.h"

#include "quant/lanes/encode_iq1.h"
#include "quant/lanes/encode_iq_table.h"

const wb__kernel_set wb__kernels_encode_iq_avx512 = {WB__CPU_AVX512, contracted, kernels,
                                                     WB__KERNEL_COUNT(kernels)};

#else
static bool never(void)
{
    return true;
}
const wb__kernel_set wb__kernels_encode_iq_avx512 = {0, never, NULL, 0};
#endif
