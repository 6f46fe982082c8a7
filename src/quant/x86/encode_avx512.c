/* Encoding with AVX-512, with one group of values per lane. */
#include "quant/kernel.h"

#include "cpu/cpu.h"
#include "quant/scalar/fp4.h"
#include "quant/scalar/k.h"
#include "quant/scalar/rounding.h"

#if WB__X86

#include <immintrin.h>
#include <math.h>

#include "quant/x86/lanes_avx512.h"

WB__CONTRACTION_PROBE(KERNEL)

#include "quant/x86/byte_vectors.h"
#include "quant/x86/eights.h"

#include "quant/lanes/encode_search.h"

#include "quant/lanes/encode_k.h"

#include "quant/lanes/encode_blocks.h"

/* Finds the index of the level of IQ4 nearest to x by binary search (see lanes/encode_iq4.h). */
KERNEL static inline __m512i iq4_halving(lanes x)
{
    const __m512 midpoints = _mm512_setr_ps(-115.5f, -93.5f, -74, -57, -42, -28.5f, -16, -4.5f, 7,
                                            19, 31.5f, 45.5f, 61, 79, 101, 0);
    __m512i index = _mm512_setzero_si512();
    for (int step = 8; step > 0; step /= 2) {
        __m512i at = _mm512_add_epi32(index, _mm512_set1_epi32(step - 1));
        __m512 middle = _mm512_permutexvar_ps(at, midpoints);
        __mmask16 above = _mm512_cmp_ps_mask(x, middle, _CMP_NLT_UQ);
        index = _mm512_mask_add_epi32(index, above, index, _mm512_set1_epi32(step));
    }
    return index;
}

KERNEL static inline lanes iq4_level(lanes x)
{
    const __m512 levels =
        _mm512_setr_ps(-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113);
    return _mm512_permutexvar_ps(iq4_halving(x), levels);
}

KERNEL static inline lanes iq4_index(lanes x)
{
    return _mm512_cvtepi32_ps(iq4_halving(x));
}

#include "quant/lanes/encode_iq4.h"
#include "quant/lanes/encode_table.h"

const wb__kernel_set wb__kernels_encode_avx512 = {WB__CPU_AVX512, contracted, kernels,
                                                  WB__KERNEL_COUNT(kernels)};

#else
static bool never(void)
{
    return true;
}
const wb__kernel_set wb__kernels_encode_avx512 = {0, never, NULL, 0};
#endif
