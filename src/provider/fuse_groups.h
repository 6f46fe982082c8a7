/*
 * provider/fuse_groups.h: divides tensors into groups that can be fused.
 *
 * Tensors can be fused if they have the same type and row length after the conversions of the
 * policy (wb_policy). So a tensor fits all tensors of a group if it fits one of them. Block FP8 has
 * one more condition, on the number of rows of each tensor but the last.
 */
#ifndef WB_PROVIDER_FUSE_GROUPS_H
#define WB_PROVIDER_FUSE_GROUPS_H

#include "provider/buffer_request.h"

/*
 * Divides n tensors, or the slices of them that a rank gets, into groups. Sets groups[i] to the
 * group of name i, and *count to the number of groups. A name joins the first group whose last name
 * can be fused with it. Fails if a name does not exist or its buffer cannot be made.
 */
wb_status wb__fuse_groups(wb__context *context, const wb_model *model,
                          const wb__target_type *becomes, const wb__rank *rank,
                          const wb__str *names, size_t n, uint32_t *groups, uint32_t *count);

#endif
