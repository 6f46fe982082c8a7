/*
 * read/read_messages.h: texts of the errors and findings of this module, grouped by source file.
 */
#ifndef WB_READ_READ_MESSAGES_H
#define WB_READ_READ_MESSAGES_H

/* ---- decoder.c ---- */

#define WB__MSG_READ_DECODE                                                                        \
    "weights of type %s with %lu bits and groups of %lu values cannot be decoded"

/* ---- expert_view.c ---- */

#define WB__MSG_READ_SLICE "invalid slice: %s"
#define WB__MSG_READ_SLICE_RANK                                                                    \
    "the number of axes differs from the number of dimensions of the tensor"
#define WB__MSG_READ_SLICE_OUTSIDE "an axis extends past the end of the tensor"
#define WB__MSG_READ_SLICE_FIRST "wb_slice.first skips more elements than the slice selects"

/* ---- rope_public.c ---- */

#define WB__MSG_READ_ROPE_SCALING                                                                  \
    "the RoPE frequencies cannot be computed: the scaling is unknown, or its parameters are "      \
    "missing or invalid"
#define WB__MSG_READ_ROPE_CAPACITY "the array is too short for %llu frequencies"

/* ---- slice.c ---- */

#define WB__MSG_READ_SLICE_INDEX "expected an index, start:stop:step or '...'"
#define WB__MSG_READ_SLICE_LONG "the dimension is too long to be sliced"
#define WB__MSG_READ_SLICE_MINUS "'-' without a number"
#define WB__MSG_READ_SLICE_BOUNDS "slice: index %lld is out of range for a dimension of %lld"
#define WB__MSG_READ_SLICE_STEP "the step is 0"
#define WB__MSG_READ_SLICE_COMMA "expected ',' between indices"
#define WB__MSG_READ_SLICE_NULL "shape or axes is NULL"
#define WB__MSG_READ_SLICE_INDICES "slice: %lu indices for a tensor of %lu dimensions"
#define WB__MSG_READ_SLICE_BLOCK                                                                   \
    "the slice does not begin and end at block boundaries: %s has blocks of %lu elements"
#define WB__MSG_READ_SLICE_BYTE                                                                    \
    "the slice does not begin and end at byte boundaries: %s packs elements of %lu bits "          \
    "without padding"
#define WB__MSG_READ_RESULT_BITS "the size of the result in bits overflows 64 bits"
#define WB__MSG_READ_RESULT_BYTES "%llu elements of %s do not fill the last byte"
#define WB__MSG_READ_DTYPE "%ld is not a WB_DTYPE_* value"
#define WB__MSG_READ_DTYPE_PARTS                                                                   \
    "a tensor of several parts has no single dtype: specify the dtype to decode it to, or "        \
    "read its parts"
#define WB__MSG_READ_CONVERT "%s cannot be converted to %s%s"
#define WB__MSG_READ_CONVERT_COMPLEX ": complex numbers cannot be converted"

/* ---- tensor_public.c ---- */

#define WB__MSG_READ_DATA_EXPERTS                                                                  \
    "the experts are stored as separate tensors: call wb_tensor_data for each part "               \
    "(wb_tensor_part), or use wb_tensor_read"
#define WB__MSG_READ_DATA_PARTS                                                                    \
    "the tensor has several parts, which are not contiguous: call wb_tensor_data for each part "   \
    "(wb_tensor_part)"
#define WB__MSG_READ_DATA_COMPRESSED                                                               \
    "the tensor is compressed: use wb_tensor_read, which decompresses it"
#define WB__MSG_READ_DATA_COLUMNS                                                                  \
    "the tensor is stored in column-major order: use wb_tensor_read, which returns row-major "     \
    "order"
#define WB__MSG_READ_DATA_ENDIAN                                                                   \
    "the tensor is stored in big-endian byte order: use wb_tensor_read, which swaps the bytes"
#define WB__MSG_READ_DATA_READ_MODE "with WB_ACCESS_READ files are not mapped: use wb_tensor_read"
#define WB__MSG_READ_RESULT_SPACE "the result needs %llu bytes, but the buffer has only %llu"

#endif
