/*
 * model/padding_tensor.h: tensors that are nothing but room.
 *
 * safetensors allows no gaps between tensors. Where they are to be aligned, the writer puts tensors of
 * bytes between them, "__padding__.N". No index names them, and no architecture has them.
 */
#ifndef WB_MODEL_FILLER_H
#define WB_MODEL_FILLER_H

#include "core/core.h"

#define WB__FILLER "__padding__."

/* Whether a tensor's name is that of a filler. */
bool wb__is_padding_tensor(wb__str name);

/* The least number that is greater than those in the names of fillers seen so far and in this one. */
uint64_t wb__padding_tensor_past(wb__str name, uint64_t past);

#endif
