/*
 * model/padding_tensor.h: padding tensors.
 *
 * safetensors does not permit gaps between tensors. To align tensors, the writer inserts byte
 * tensors named "__padding__.N". Indexes and architectures do not list padding tensors.
 */
#ifndef WB_MODEL_PADDING_TENSOR_H
#define WB_MODEL_PADDING_TENSOR_H

#include "core/core.h"

#define WB__FILLER "__padding__."

/* Returns true if the name is that of a padding tensor. */
bool wb__is_padding_tensor(wb__str name);

/* Returns the maximum of `past` and, if `name` is a padding tensor, its number plus one. */
uint64_t wb__padding_tensor_past(wb__str name, uint64_t past);

#endif
