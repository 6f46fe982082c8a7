/*
 * provider/layer_weights.h: the weights of a layer, as a list of requests in the order of use.
 *
 *   layer_list.c     the list: names, fused tensors, slices
 *   layer_order.c    the order of use
 *   weights_public.c loads the list
 */
#ifndef WB_PROVIDER_LAYER_WEIGHTS_H
#define WB_PROVIDER_LAYER_WEIGHTS_H

#include "provider/fuse_groups.h"
#include "provider/provider.h"
#include "weighbridge/weights.h"

/* A weight, and the request for its buffer. */
typedef struct wb__listed {
    wb__str text;     /* canonical name, or names joined with '+' */
    const char *name; /* `text` without the layer prefix ("layers.0.") of each name */
    wb__rank rank;    /* rank whose slice is listed; rank.of is 0: the complete weight */
    wb__layer_role role;
    uint32_t order;      /* position in the order of use */
    uint32_t dimensions; /* number of dimensions of the tensor */
    uint32_t part_count; /* number of `parts`, the names of the tensors in a fused weight; or 0 */
    const char *parts[WB__FUSED_MAX];
} wb__listed;

#define WB__LISTED_MAX 4096 /* maximum length of a list; no family has so many names in a layer */

typedef struct wb__weight_list {
    wb_allocator allocator;
    wb__arena arena; /* names */
    wb__listed *items;
    size_t count, capacity;
    size_t prefix; /* length of the prefix of the layer in all names */
} wb__weight_list;

/* Makes the list of the weights of a layer. The caller must call wb__weight_list_free, also after a
 * failure. */
wb_status wb__weight_list_make(wb__weight_list *list, wb__context *context, const wb_model *model,
                               const wb__target_type *becomes, uint32_t layer,
                               const wb_weights_options *options);
void wb__weight_list_free(wb__weight_list *list);

/* Returns the position of a weight in the order of use, given its name without the prefix. */
uint32_t wb__layer_order(wb__str name);

#endif
