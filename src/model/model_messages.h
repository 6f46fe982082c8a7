/*
 * model/model_messages.h: all messages of this module, grouped by file.
 */
#ifndef WB_MODEL_MODEL_MESSAGES_H
#define WB_MODEL_MODEL_MESSAGES_H

/* ---- catalog.c ---- */

#define WB__MSG_MODEL_TOO_MANY_FILES "the model has more than %llu files"
#define WB__MSG_MODEL_TENSOR_IN_OTHER_FILE "the tensor is also in another file of the model, %s"

/* ---- metadata.c ---- */

#define WB__MSG_MODEL_META_CONFLICT "the value differs from that in %s"
#define WB__MSG_MODEL_META_COUNT "the metadata has more than 2^32 entries"
#define WB__MSG_MODEL_META_SIZE "the metadata entry is larger than 4 GiB"

/* ---- packed.c ---- */

#define WB__MSG_MODEL_PARTS_SHARED                                                                 \
    "its scales or other companion tensors also belong to another tensor"

/* ---- packing.c ---- */

#define WB__MSG_MODEL_PACKING_WRONG_SIZE                                                           \
    "the model-wide quantization parameters give this tensor a size that the model does "          \
    "not have; parameters that give a valid size are used instead"
#define WB__MSG_MODEL_PACKING_AMBIGUOUS                                                            \
    "the number of bits per value is not specified; the usual group size is assumed"
#define WB__MSG_MODEL_PACKING_SCALES                                                               \
    "the shape or type of the scales does not match the packed values"
#define WB__MSG_MODEL_PACKING_BIASES                                                               \
    "the biases are missing, or their shape or type does not match the packed values"
#define WB__MSG_MODEL_PACKING_BLOCKS                                                               \
    "the scales do not match the block size in the config; they match blocks of 128 by "           \
    "128, which are used instead"
#define WB__MSG_MODEL_PACKING_PARTS                                                                \
    "the shapes or types of the companion tensors do not match the packed values"

/* ---- tensor_table.c ---- */

#define WB__MSG_MODEL_HEADERS_SIZE "the headers of the model exceed 4 GiB"

#endif
