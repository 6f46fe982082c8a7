/* Computes the sums of convert/exec/error_sums.h with AVX2 intrinsics. Compilers translate the
 * plain C version to code that keeps the sums in memory, where each addition waits for the store
 * of the previous addition. */
#include "convert/exec/error_sums.h"

#include "cpu/cpu.h"

#if WB__X86

#include <immintrin.h>

#define KERNEL __attribute__((target("avx2")))

typedef struct eight_sums {
    __m256 error, before, after, most;
} eight_sums;

KERNEL static inline eight_sums add(eight_sums sums, const float *before, const float *after)
{
    __m256 x = _mm256_loadu_ps(before), y = _mm256_loadu_ps(after);
    __m256 error = _mm256_sub_ps(y, x);
    __m256 size = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), error);
    sums.error = _mm256_add_ps(sums.error, _mm256_mul_ps(error, error));
    sums.before = _mm256_add_ps(sums.before, _mm256_mul_ps(x, x));
    sums.after = _mm256_add_ps(sums.after, _mm256_mul_ps(y, y));
    sums.most = _mm256_max_ps(size, sums.most);
    return sums;
}

KERNEL static inline void store(const eight_sums *eight, size_t lane, wb__error_lanes *sums)
{
    _mm256_storeu_ps(sums->error + lane, eight->error);
    _mm256_storeu_ps(sums->before + lane, eight->before);
    _mm256_storeu_ps(sums->after + lane, eight->after);
    _mm256_storeu_ps(sums->most + lane, eight->most);
}

KERNEL void wb__error_sums_avx2(wb__error_lanes *sums, const float *restrict before,
                                const float *restrict after, size_t n)
{
    eight_sums low = {0}, high = {0};
    for (size_t i = 0; i < n; i += WB__SUMS_LANES) {
        low = add(low, before + i, after + i);
        high = add(high, before + i + 8, after + i + 8);
    }
    store(&low, 0, sums);
    store(&high, 8, sums);
}

#endif
