/*
 * provider/provider_messages.h: all messages of this module, grouped by file.
 */
#ifndef WB_PROVIDER_PROVIDER_MESSAGES_H
#define WB_PROVIDER_PROVIDER_MESSAGES_H

/* ---- buffer_cache.c ---- */

#define WB__MSG_PROVIDER_BUDGET                                                                    \
    "the buffer needs %llu bytes and does not fit into the budget of %llu bytes, of which %llu "   \
    "are in use"

/* ---- buffer_layout.c ---- */

#define WB__MSG_PROVIDER_FUSE_DTYPE                                                                \
    "the %s of this tensor have the dtype %s, but those of the other tensors have %s"
#define WB__MSG_PROVIDER_PAD_BITS                                                                  \
    "rows of %s do not end at a byte boundary and cannot be padded with zeros"
#define WB__MSG_PROVIDER_FUSE_PITCH "a row of the fused tensor needs %llu bytes; the limit is %llu"
#define WB__MSG_PROVIDER_FUSE_ENCODING                                                             \
    "this tensor has the encoding %s (%s in the buffer), but the tensor to fuse it with has %s "   \
    "(%s)"
#define WB__MSG_PROVIDER_FUSE_BITS                                                                 \
    "this tensor has %lu bits per value, but the tensor to fuse it with has %lu"
#define WB__MSG_PROVIDER_FUSE_GROUPS                                                               \
    "the groups of this tensor have %lu values, but those of the tensor to fuse it with have %lu"
#define WB__MSG_PROVIDER_FUSE_PARTS                                                                \
    "this tensor and the tensor to fuse it with consist of different parts"
#define WB__MSG_PROVIDER_FUSE_RANK                                                                 \
    "this tensor has %lu dimensions, but the tensor to fuse it with has %lu"
#define WB__MSG_PROVIDER_FUSE_SHAPE                                                                \
    "this tensor has %llu %s, but the tensor to fuse it with has %llu"
#define WB__MSG_PROVIDER_FUSE_DIMENSIONS "tensors with more than three dimensions cannot be fused"
#define WB__MSG_PROVIDER_FUSE_MATRICES "stacks of more than %d matrices cannot be fused"
#define WB__MSG_PROVIDER_FUSE_BLOCK                                                                \
    "the number of rows of this tensor, %llu, is not a multiple of the block size %lu, so this "   \
    "tensor can only be the last of the fused tensors"
#define WB__MSG_PROVIDER_FUSE_SHARD                                                                \
    "the slice of this tensor for this rank differs from the slices of the other tensors"

/* ---- layer_list.c and weights_public.c ---- */

#define WB__MSG_PROVIDER_NO_LAYER "the model has no tensors with canonical names in layer %lu"
#define WB__MSG_PROVIDER_SHARD_EXPERT_BIAS "biases of stacked experts cannot be divided among ranks"
#define WB__MSG_PROVIDER_WEIGHTS_FLAGS "wb_weights_options.flags contains unknown flags"

/* ---- provider_public.c ---- */

#define WB__MSG_PROVIDER_POLICY_PLAIN "wb_policy.plain is not a WB_PLAIN_* value"
#define WB__MSG_PROVIDER_POLICY_DTYPE "wb_policy.dtype must be F32, F16 or BF16"
#define WB__MSG_PROVIDER_POLICY_FLAGS "wb_policy.flags contains unknown flags"
#define WB__MSG_PROVIDER_POLICY_ROPE                                                               \
    "wb_policy.flags contains both WB_POLICY_ROPE_HALF and WB_POLICY_ROPE_INTERLEAVED"
#define WB__MSG_PROVIDER_POLICY_VOCAB                                                              \
    "wb_policy.vocab_multiple is greater than WB_VOCAB_MULTIPLE_MAX"
#define WB__MSG_PROVIDER_POLICY_IO "wb_policy.io must be WB_IO_AUTO, WB_IO_READ or WB_IO_DIRECT"
#define WB__MSG_PROVIDER_DEVICE_ALLOC                                                              \
    "wb_device requires the function free, and one of the functions alloc and claim"
#define WB__MSG_PROVIDER_DEVICE_MAP "wb_device requires either map, or both upload and download"
#define WB__MSG_PROVIDER_DEVICE_CLAIM "wb_device requires both claim and publish, or neither"
#define WB__MSG_PROVIDER_DEVICE_STAGE "wb_device requires both stage and unstage, or neither"
#define WB__MSG_PROVIDER_MODEL_NULL "the model is NULL"
#define WB__MSG_PROVIDER_NO_RANKS "the number of ranks must not be 0"
#define WB__MSG_PROVIDER_NO_NAMES "no tensor names are given"
#define WB__MSG_PROVIDER_NAMES_MANY "too many tensor names are given"
#define WB__MSG_PROVIDER_FLAGS "the argument `flags` contains unknown flags"
#define WB__MSG_PROVIDER_SHAPE_SPACE                                                               \
    "the tensor has %lu dimensions, but the caller's array has only %lu elements"
#define WB__MSG_PROVIDER_RANGE "the byte range is not within the buffer"

/* ---- resolve.c ---- */

#define WB__MSG_PROVIDER_OPERANDS "more than %d tensors cannot be fused"
#define WB__MSG_PROVIDER_NO_TENSOR "the model contains no tensor with this native or canonical name"

/* ---- row_change.c ---- */

#define WB__MSG_PROVIDER_LAYOUT                                                                    \
    "the file stores this tensor transposed, or with the rows of q, k and v in another order; "    \
    "convert the model to GGUF first"
#define WB__MSG_PROVIDER_ROPE_UNKNOWN                                                              \
    "the architecture is unknown, so the order of the rows of q and k is unknown too"
#define WB__MSG_PROVIDER_ROPE_HEADS                                                                \
    "the rows of this tensor cannot be divided into the attention heads of the config"
#define WB__MSG_PROVIDER_ROPE_BLOCK                                                                \
    "%lu rows share a scale, but are not a whole number of attention heads"
#define WB__MSG_PROVIDER_ROPE_BITS "rows of %s do not end at a byte boundary and cannot be permuted"
#define WB__MSG_PROVIDER_NORM_DTYPE                                                                \
    "WB_POLICY_NORM_PLAIN adds 1 to these norm weights, which is not possible for the type %s"
#define WB__MSG_PROVIDER_NORM_UNKNOWN                                                              \
    "the architecture is unknown, so it is unknown whether the file stores the norm weights "      \
    "minus 1"

/* ---- shard.c and virtual_names.c ---- */

#define WB__MSG_PROVIDER_SHARD_AXIS                                                                \
    "the %llu indices of axis %lu can be divided only at multiples of %llu, so they cannot be "    \
    "divided among %lu ranks"
#define WB__MSG_PROVIDER_SHARD_GATE_UP                                                             \
    "the %llu rows cannot be divided into gate and up of equal size"
#define WB__MSG_PROVIDER_SHARD_KV_HEADS                                                            \
    "because of the quantization blocks, key-value heads can be divided only in groups of %llu; "  \
    "%llu heads cannot be divided among %lu ranks"
#define WB__MSG_PROVIDER_SHARD_QUERY_HEADS                                                         \
    "the %llu query heads of a key-value head can be divided only at multiples of %llu, so they "  \
    "cannot be divided among %llu ranks"
#define WB__MSG_PROVIDER_SHARD_HEAD_ROWS                                                           \
    "the rows of this tensor can be divided only at multiples of %llu, but a head has %llu rows"
#define WB__MSG_PROVIDER_SHARD_QKV_BLOCK                                                           \
    "a quantization block extends from one of the matrices q, k and v into the next"
#define WB__MSG_PROVIDER_SHARD_PART                                                                \
    "the rows of this part of a stored tensor do not begin and end at block boundaries"
#define WB__MSG_PROVIDER_SHARD_PART_INPUTS                                                         \
    "the tensor can be divided only along its rows, because it is a part of a stored tensor, "     \
    "or joins q, k and v with permuted rows"
#define WB__MSG_PROVIDER_SHARD_NO_AXIS "the tensor does not have this axis"
#define WB__MSG_PROVIDER_SHARD_RANK "the rank must be less than the number of ranks"
#define WB__MSG_PROVIDER_PAD_ROWS                                                                  \
    "%llu rows cannot be padded to a multiple of %llu, because the result exceeds 2^64 - 1"
#define WB__MSG_PROVIDER_SHARD_QKV                                                                 \
    "q, k and v are one tensor, and the config does not specify how its %llu rows are divided"

#endif
