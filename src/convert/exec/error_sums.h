/* convert/exec/error_sums.h: SIMD sums of squared errors and squared values, and maximum errors.
 * All instruction sets distribute the values to the same lanes, so their results are identical. */
#ifndef WB_CONVERT_EXEC_ERROR_SUMS_H
#define WB_CONVERT_EXEC_ERROR_SUMS_H

#include "core/core.h"

#define WB__SUMS_LANES 16

typedef struct wb__error_lanes {
    float error[WB__SUMS_LANES];                         /* sum of (after - before)² */
    float before[WB__SUMS_LANES], after[WB__SUMS_LANES]; /* sums of before² and of after² */
    /* maximum of |after - before|; undefined if a value is not finite */
    float most[WB__SUMS_LANES];
} wb__error_lanes;

/* Sets the sums of n values. Lane k sums the values with the indices k, k + WB__SUMS_LANES, and
 * so on. n must be a multiple of WB__SUMS_LANES. */
typedef void wb__error_sums(wb__error_lanes *sums, const float *restrict before,
                            const float *restrict after, size_t n);

wb__error_sums wb__error_sums_scalar;
wb__error_sums wb__error_sums_avx2;

#endif
