/* Encoding the types with codebooks, with AVX2. */
#include "quant/kernel.h"

#include "cpu/cpu.h"
#include "quant/scalar/iq1_search.h"
#include "quant/scalar/iq_search.h"
#include "quant/scalar/rounding.h"

#if WB__X86

#include <immintrin.h>

#include "quant/x86/lanes_avx2.h"

WB__CONTRACTION_PROBE(KERNEL)

#include "quant/x86/encode_iq.h"

#include "quant/x86/encode_iq1.h"

static const wb__kernel kernels[] = {
    {.dtype = WB_DTYPE_IQ2_XXS, .encode = encode_iq2_xxs},
    {.dtype = WB_DTYPE_IQ2_XS, .encode = encode_iq2_xs},
    {.dtype = WB_DTYPE_IQ2_S, .encode = encode_iq2_s},
    {.dtype = WB_DTYPE_IQ3_XXS, .encode = encode_iq3_xxs},
    {.dtype = WB_DTYPE_IQ3_S, .encode = encode_iq3_s},
    {.dtype = WB_DTYPE_IQ1_S, .encode = encode_iq1_s},
    {.dtype = WB_DTYPE_IQ1_M, .encode = encode_iq1_m},
};

const wb__kernel_set wb__kernels_encode_iq_avx2 = {WB__CPU_AVX2, contracted, kernels,
                                                   WB__KERNEL_COUNT(kernels)};

#else
static bool never(void)
{
    return true;
}
const wb__kernel_set wb__kernels_encode_iq_avx2 = {0, never, NULL, 0};
#endif
