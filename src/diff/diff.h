/*
 * diff: in what two models differ.
 *
 *   match.c     which tensors belong together; their shapes and encodings
 *   distance.c  sums over values, in an order that threads cannot change
 *   values.c    the values of matched tensors, spread over an executor
 *   facts.c     config and metadata
 *   diff.c      all of it
 */
#ifndef WB_DIFF_DIFF_H
#define WB_DIFF_DIFF_H

#include "read/comparable.h"
#include "weighbridge/diff.h"

#define WB__DIFF_ALL 63u

/* Sums over pairs of values. Doubles hold the product of two floats exactly. */
typedef struct wb__sums {
    uint64_t values, different, not_finite;
    double aa, bb, ab, dd, maximum;
} wb__sums;

/* Adds n pairs. The order of additions depends on n alone. */
void wb__sums_add(wb__sums *sums, const float *a, const float *b, size_t n);

/* Adds what was summed up elsewhere. */
void wb__sums_join(wb__sums *sums, const wb__sums *more);

wb_distance wb__sums_distance(const wb__sums *sums);

typedef struct wb__pair {
    wb__str name;
    const wb__comparable *a, *b; /* NULL: the model does not have it */
    uint32_t differs;
    bool compared;
    wb__sums sums;
    double nmse;
    size_t first_segment;
} wb__pair;

typedef struct wb__meta_pair {
    uint64_t a, b;
} wb__meta_pair;

struct wb_diff {
    wb_allocator allocator;
    const wb_model *a, *b;
    uint32_t kinds; /* to be compared */
    uint32_t differs;
    wb__comparables a_subjects, b_subjects;
    wb__pair *pairs;
    size_t pair_count, pair_capacity;
    uint64_t fields; /* of the config */
    wb__meta_pair *metas;
    size_t meta_count, meta_capacity;
    wb__sums total;
};

bool wb__same_shape(const wb__kind *a, const wb__kind *b);

/* Fills a diff whose models and kinds are set. */
wb_status wb__diff_all(wb_diff *diff, wb__context *context, const wb_progress *progress);

/* Fills pairs, and says of them what needs no values. */
wb_status wb__diff_match(wb_diff *diff, wb__context *context);

/* Compares the values of pairs that have as many. */
wb_status wb__diff_values(wb_diff *diff, wb__context *context, const wb_progress *progress);

/* Compares config and metadata. */
wb_status wb__diff_facts(wb_diff *diff, wb__context *context);

#endif
