/*
 * arch/nearest_family.h: finds the known family that is most similar to an unknown architecture.
 */
#ifndef WB_ARCH_NEAREST_FAMILY_H
#define WB_ARCH_NEAREST_FAMILY_H

#include "arch/family.h"

/* The tensor names of a model. */
typedef struct wb__name_source {
    wb__str (*name)(const void *model, size_t i);
    const void *model;
    size_t count;
} wb__name_source;

/*
 * Sets *nearest to the family of the set, which may be NULL, or of the compiled ones, whose rules know the most tensor names of the model. If several
 * families know equally many, these criteria decide, in this order: the model has all tensors that
 * the family requires; the name of the family has the longest common prefix with `architecture`;
 * the most other families are based on the family. *nearest is NULL if no family knows any of the
 * names. Sets *known to the number of names that the family knows. The only error is
 * WB_ERROR_MEMORY.
 */
wb_status wb__family_nearest(wb__context *context, const wb__family_set *set,
                             const wb__name_source *names, wb__str architecture,
                             const wb__family **nearest, size_t *known);

#endif
