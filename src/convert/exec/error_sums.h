/*
 * convert/exec/error_sums.h: what became of a run of values, added up in lanes side by side. The lanes are the same for every
 * instruction set, and so are their sums.
 */
#ifndef WB_CONVERT_EXEC_ERROR_SUMS_H
#define WB_CONVERT_EXEC_ERROR_SUMS_H

#include "core/core.h"

#define WB__SUMS_LANES 16

typedef struct wb__error_lanes {
    float error[WB__SUMS_LANES];                         /* squares of what a value differs by */
    float before[WB__SUMS_LANES], after[WB__SUMS_LANES]; /* squares of values */
    float most[WB__SUMS_LANES]; /* the largest difference; anything, if a value is not finite */
} wb__error_lanes;

/* Lane k has the values k, k + WB__SUMS_LANES and so on of n, a multiple of that. */
typedef void wb__error_sums(wb__error_lanes *sums, const float *restrict before,
                            const float *restrict after, size_t n);

wb__error_sums wb__error_sums_scalar;
wb__error_sums wb__error_sums_avx2;

#endif
