#include "diff/diff.h"

#include <stdlib.h>

static int class_of(const wb__pair *pair)
{
    if (pair->differs & WB_DIFF_NAMES)
        return 0;
    if (pair->differs & WB_DIFF_SHAPES)
        return 1;
    if (pair->sums.not_finite > 0)
        return 2;
    return pair->differs & WB_DIFF_VALUES ? 3 : pair->differs != 0 ? 4 : 5;
}

static int worst_first(const void *a, const void *b)
{
    const wb__pair *x = a, *y = b;
    int order = class_of(x) - class_of(y);
    if (order != 0)
        return order;
    if (x->nmse != y->nmse)
        return x->nmse > y->nmse ? -1 : 1;
    order = wb__str_compare(x->name, y->name);
    if (order != 0)
        return order;
    /* Two pairs have the same name only if a model has several tensors with this name. Sort such
     * pairs by the tensor number in model a. */
    uint64_t i = x->a == NULL ? UINT64_MAX : x->a->number;
    uint64_t j = y->a == NULL ? UINT64_MAX : y->a->number;
    return i < j ? -1 : i > j;
}

wb_status wb__diff_all(wb_diff *diff, wb__context *context, const wb_progress *progress)
{
    wb_status status = wb__diff_facts(diff, context);
    if (status == WB_OK)
        status = wb__diff_match(diff, context);
    if (status == WB_OK && diff->kinds & WB_DIFF_VALUES)
        status = wb__diff_values(diff, context, progress);
    if (status != WB_OK)
        return status;
    for (size_t i = 0; i < diff->pair_count; i++)
        diff->differs |= diff->pairs[i].differs;
    qsort(diff->pairs, diff->pair_count, sizeof *diff->pairs, worst_first);
    const wb_model *models[] = {diff->a, diff->b};
    for (size_t m = 0; m < 2; m++) {
        for (size_t i = 0; i < models[m]->source_count && status == WB_OK; i++)
            status = wb__source_check(models[m]->sources[i], context);
    }
    return status;
}
