/*
 * model/model_messages.h: texts of the errors and findings of this module, grouped by source file.
 */
#ifndef WB_MODEL_MODEL_MESSAGES_H
#define WB_MODEL_MODEL_MESSAGES_H

/* ---- catalog.c ---- */

#define WB__MSG_MODEL_TOO_MANY_FILES "the model has more than %llu files"
#define WB__MSG_MODEL_TENSOR_IN_OTHER_FILE "the tensor is also in another file of the model, %s"

/* ---- metadata.c ---- */

#define WB__MSG_MODEL_META_CONFLICT "the value of this key differs from its value in %s"
#define WB__MSG_MODEL_META_COUNT "the metadata has more than 2^32 entries"
#define WB__MSG_MODEL_META_SIZE "the metadata entry is larger than 4 GiB"

/* ---- packed.c ---- */

#define WB__MSG_MODEL_PARTS_SHARED                                                                 \
    "the scales or other parts of this tensor also belong to another tensor"

/* ---- packing.c ---- */

#define WB__MSG_MODEL_PACKING_WRONG_SIZE                                                           \
    "bits and group_size from config.json give this tensor a row length that matches no "          \
    "dimension in config.json; the only other pair with a row length that matches is used"
#define WB__MSG_MODEL_PACKING_AMBIGUOUS                                                            \
    "config.json gives no bits and group_size that match this tensor, and several pairs match "    \
    "its shape; the first of the group sizes 64, 32 and 128 that matches is assumed"
#define WB__MSG_MODEL_PACKING_SCALES                                                               \
    "the shape or type of the scales does not match the packed values"
#define WB__MSG_MODEL_PACKING_BIASES                                                               \
    "the biases are missing, or their shape or type does not match the packed values"
#define WB__MSG_MODEL_PACKING_BLOCKS                                                               \
    "the scales do not match the block size in the config, so blocks of 128 by 128, which "        \
    "match, are used"
#define WB__MSG_MODEL_PACKING_PARTS                                                                \
    "the shapes or types of the scales and other parts do not match the packed values"

/* ---- tensor_table.c ---- */

#define WB__MSG_MODEL_HEADERS_SIZE "the headers of the model exceed 4 GiB"

#endif
