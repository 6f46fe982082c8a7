/*
 * convert/exec/error_sums.h: what became of a run of values, added up in lanes side by side. The lanes are the same for every
 * instruction set, and so are their sums.
 */
#ifndef WB_CONVERT_SUM_UP_H
#define WB_CONVERT_SUM_UP_H

#include "core/core.h"

#define WB__SUMS_LANES 16

typedef struct wb__lane_sums {
    float error[WB__SUMS_LANES];                         /* squares of what a value differs by */
    float before[WB__SUMS_LANES], after[WB__SUMS_LANES]; /* squares of values */
    float most[WB__SUMS_LANES]; /* the largest difference; anything, if a value is not finite */
} wb__lane_sums;

/* Lane k has the values k, k + WB__SUMS_LANES and so on of n, a multiple of that. */
typedef void wb__sum_up(wb__lane_sums *sums, const float *restrict before,
                        const float *restrict after, size_t n);

wb__sum_up wb__sum_up_plain;
wb__sum_up wb__sum_up_avx2;

#endif
