/*
 * diff: the differences between two models.
 *
 *   diff_match.c   pairs the tensors of both models by name, compares shapes and encodings
 *   distance.c     sums over pairs of values, in the same order for any number of threads
 *   diff_values.c  compares the values of paired tensors, using the threads of an executor
 *   diff_facts.c   compares config and metadata
 *   diff_models.c  runs all steps
 */
#ifndef WB_DIFF_DIFF_H
#define WB_DIFF_DIFF_H

#include "read/comparable.h"
#include "weighbridge/diff.h"

#define WB__DIFF_ALL 63u

/*
 * Sums over pairs of values (a, b). The values are floats. The sums are doubles, because a double
 * represents the product of two floats exactly.
 *
 *     values      number of pairs
 *     different   number of pairs in which a and b differ
 *     not_finite  number of different pairs that contain an infinity or a NaN
 *     aa, bb, ab  sums of a², of b² and of a b
 *     dd          sum of (b - a)²
 *     maximum     maximum of |b - a|
 *
 * Pairs that contain an infinity or a NaN are not included in the sums and the maximum.
 */
typedef struct wb__sums {
    uint64_t values, different, not_finite;
    double aa, bb, ab, dd, maximum;
} wb__sums;

/* Adds n pairs of values. The order of additions depends only on n. */
void wb__sums_add(wb__sums *sums, const float *a, const float *b, size_t n);

/* Adds the partial sums `more` to `sums`. */
void wb__sums_join(wb__sums *sums, const wb__sums *more);

wb_distance wb__sums_distance(const wb__sums *sums);

typedef struct wb__pair {
    wb__str name;
    const wb__comparable *a, *b; /* NULL: the model does not contain the tensor */
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
    uint32_t kinds; /* kinds of differences to look for (WB_DIFF_*) */
    uint32_t differs;
    wb__comparables a_subjects, b_subjects;
    wb__pair *pairs;
    size_t pair_count, pair_capacity;
    bool fields[WB_CONFIG_FIELDS]; /* the config fields that differ */
    wb__meta_pair *metas;
    size_t meta_count, meta_capacity;
    wb__sums total;
};

bool wb__same_shape(const wb__kind *a, const wb__kind *b);

/* Compares the models diff->a and diff->b and stores the differences in *diff. Precondition: the
 * members `a`, `b` and `kinds` are set. */
wb_status wb__diff_all(wb_diff *diff, wb__context *context, const wb_progress *progress);

/* Fills `pairs` and records all differences that can be found without reading values. */
wb_status wb__diff_match(wb_diff *diff, wb__context *context);

/* Compares the values of all pairs whose tensors have the same shape and the same number of float32
 * values (a complex element has two). */
wb_status wb__diff_values(wb_diff *diff, wb__context *context, const wb_progress *progress);

/* Compares the configs and the metadata of both models. */
wb_status wb__diff_facts(wb_diff *diff, wb__context *context);

#endif
