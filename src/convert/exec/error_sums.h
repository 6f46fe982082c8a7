/* convert/exec/error_sums.h: SIMD accumulation of squared error, norms and maximum error. All
 * instruction sets use the same lanes, so their results are identical. */
#ifndef WB_CONVERT_EXEC_ERROR_SUMS_H
#define WB_CONVERT_EXEC_ERROR_SUMS_H

#include "core/core.h"

#define WB__SUMS_LANES 16

typedef struct wb__error_lanes {
    float error[WB__SUMS_LANES];                         /* sum of squared differences */
    float before[WB__SUMS_LANES], after[WB__SUMS_LANES]; /* sums of squared values */
    float most[WB__SUMS_LANES]; /* maximum absolute difference; undefined if any value is not
                                 * finite */
} wb__error_lanes;

/* Lane k sums the values k, k + WB__SUMS_LANES, and so on. n is a multiple of WB__SUMS_LANES. */
typedef void wb__error_sums(wb__error_lanes *sums, const float *restrict before,
                            const float *restrict after, size_t n);

wb__error_sums wb__error_sums_scalar;
wb__error_sums wb__error_sums_avx2;

#endif
