/*
 * model/companions.h: finds the companions of packed values by name.
 *
 * A companion is named like its values with another ending: the scales of x.weight are x.scales.
 * Each naming convention has a part that is required (usually the scales) and parts that may be
 * absent. Most tensors of most models have no companions, and to look up a name that does not exist
 * costs as much as to parse an entry of a header. Therefore the search goes through the required
 * companions and looks for their values, which usually exist.
 *
 * A search for a name first tries the tensor at the same distance (difference of tensor indices) as
 * in the previous group: writers sort tensors by name, or by dtype and then by name.
 */
#ifndef WB_MODEL_COMPANIONS_H
#define WB_MODEL_COMPANIONS_H

#include "model/packed.h"

#define WB__NAMINGS 7 /* number of naming conventions */

/* A group: the tensor with the packed values, and its companions. */
typedef struct wb__group {
    uint32_t parts[WB__PARTS];
    unsigned naming;
    wb__global global;
    wb__str module; /* name of the tensor with the values, without its ending */
} wb__group;

typedef struct wb__companions {
    const wb_allocator *allocator;
    const wb__table *table;
    /* For each naming convention: `exists` is a bit set of the optional parts for which a tensor
     * was found. `distance` is the tensor index of each part minus the tensor index of the values,
     * in the previous group. `reported` is true if a group was reported. */
    unsigned exists[WB__NAMINGS];
    int64_t distance[WB__NAMINGS][WB__PARTS];
    bool reported[WB__NAMINGS];
    bool failed; /* memory ran out */
} wb__companions;

typedef enum wb__search { WB__SEARCH_DONE, WB__SEARCH_AGAIN, WB__SEARCH_NO_MEMORY } wb__search;

/* Returns true if a tensor of the table has the dtype that a naming convention requires for packed
 * values. If `hinted`, considers only conventions whose packing depends on config files. */
bool wb__companions_possible(const wb__table *table, bool hinted);

void wb__companions_start(wb__companions *companions, const wb__table *table,
                          const wb_allocator *allocator);

/*
 * Calls `take` for all groups, in the order of their required companions. `take` returns false if
 * memory runs out. Returns WB__SEARCH_AGAIN, at most once, if parts of reported groups were missed:
 * then the caller must discard the groups and repeat the call.
 */
wb__search wb__companions_search(wb__companions *companions,
                                 bool (*take)(void *ctx, const wb__group *group), void *ctx);

#endif
