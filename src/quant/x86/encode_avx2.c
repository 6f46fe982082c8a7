/* Encoding with AVX2: a group of values in every lane. */
#include "quant/kernel.h"

#include "cpu/cpu.h"
#include "quant/scalar/k.h"

#if WB__X86

#include <immintrin.h>

#include "quant/x86/lanes_avx2.h"

WB__CONTRACTION_PROBE(KERNEL)

#include "quant/x86/encode_search.h"

#include "quant/x86/encode_k.h"

static const wb__kernel kernels[] = {
    {.dtype = WB_DTYPE_Q2_K, .encode = encode_q2_k}, {.dtype = WB_DTYPE_Q3_K, .encode = encode_q3_k},
    {.dtype = WB_DTYPE_Q4_K, .encode = encode_q4_k}, {.dtype = WB_DTYPE_Q5_K, .encode = encode_q5_k},
    {.dtype = WB_DTYPE_Q6_K, .encode = encode_q6_k},
};

const wb__kernel_set wb__kernels_encode_avx2 = {WB__CPU_AVX2, contracted, kernels,
                                                WB__KERNEL_COUNT(kernels)};

#else
static bool never(void)
{
    return true;
}
const wb__kernel_set wb__kernels_encode_avx2 = {0, never, NULL, 0};
#endif
