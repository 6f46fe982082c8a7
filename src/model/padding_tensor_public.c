/*
 * Public function that tests whether a tensor is a padding tensor.
 */
#include "model/padding_tensor.h"
#include "weighbridge/experimental.h"

int wb_tensor_is_padding(const wb_tensor *tensor)
{
    return tensor->dtype == WB_DTYPE_U8 &&
           wb__is_padding_tensor((wb__str){tensor->name, tensor->name_len});
}
