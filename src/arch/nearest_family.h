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
 * Sets *nearest to the family that has the most names of the model. Among families that have
 * equally many, the order is: a family for which the tensors are complete; the family whose name
 * has the longest common prefix with `architecture`; the family on which the most families are
 * based. *nearest is NULL if no family has any of the names. Sets *known to
 * the number of names that the family has. The only error is WB_ERROR_MEMORY.
 */
wb_status wb__family_nearest(wb__context *context, const wb__name_source *names,
                             wb__str architecture, const wb__family **nearest, size_t *known);

#endif
