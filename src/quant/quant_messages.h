/*
 * Messages of this module, grouped by the file that reports them.
 */
#ifndef WB_QUANT_QUANT_MESSAGES_H
#define WB_QUANT_QUANT_MESSAGES_H

/* ---- quant_public.c ---- */

#define WB__MSG_DTYPE_NUMBER "dtype %ld is not a valid wb_dtype"
#define WB__MSG_QUANT_ROW_BLOCKS                                                                   \
    "a row of %llu values is not a whole number of %s blocks of %lu values"
#define WB__MSG_QUANT_SIZE_OVERFLOW "the size of the result overflows 64 bits"
#define WB__MSG_QUANT_ROW_BYTE "a row of %llu values of type %s does not fill its last byte"
#define WB__MSG_QUANT_CONTRACTED                                                                   \
    "the library was compiled with fused floating-point operations, which would change values of " \
    "type %s"
#define WB__MSG_QUANT_NOT_FROM_REAL "real numbers cannot be converted to %s"
#define WB__MSG_QUANT_NO_ENCODER "there is no encoder for type %s"
#define WB__MSG_QUANT_NEEDS_IMPORTANCE "type %s requires an importance matrix"
#define WB__MSG_QUANT_OUTPUT_SMALL                                                                 \
    "the blocks take %llu bytes, but the output buffer has only %llu bytes"
#define WB__MSG_QUANT_NOT_TO_F32 "type %s cannot be converted to F32"
#define WB__MSG_QUANT_INPUT_SMALL                                                                  \
    "the blocks of the values take %llu bytes, but the input has only %llu bytes"

/* ---- mlx/mlx_public.c ---- */

#define WB__MSG_MLX_GLOBAL "wb_mlx_type.global is not one of WB_MLX_GLOBAL_*"
#define WB__MSG_MLX_GLOBAL_MODE "this kind of global scale is only supported for nvfp4"
#define WB__MSG_MLX_TYPE_SIZE "wb_mlx_type.size must be sizeof(wb_mlx_type)"
#define WB__MSG_MLX_TYPE_FLAGS "wb_mlx_type.flags contains unknown flags"
#define WB__MSG_MLX_SCALES_DTYPE "the dtype of the scales must be F32, F16 or BF16"
#define WB__MSG_MLX_SIZE_OVERFLOW "the tensor has too many elements"
#define WB__MSG_MLX_SIZES_SIZE "wb_mlx_sizes.size must be sizeof(wb_mlx_sizes)"
#define WB__MSG_MLX_VALUES_DTYPE "the dtype of the values must be F32, F16 or BF16"
#define WB__MSG_MLX_ENCODE_GLOBAL "encoding supports only the global scale WB_MLX_GLOBAL_AMAX"
#define WB__MSG_MLX_E8M0 "wb_mlx_type.e8m0 is not one of WB_MLX_E8M0_*"
#define WB__MSG_MLX_BUFFERS_SIZE "wb_mlx_buffers.size must be sizeof(wb_mlx_buffers)"
#define WB__MSG_MLX_BUFFERS_SMALL "an output buffer is smaller than wb_mlx_measure requires"
#define WB__MSG_MLX_PARTS_SIZE "wb_mlx_parts.size must be sizeof(wb_mlx_parts)"
#define WB__MSG_MLX_RESULT_DTYPE "floats cannot be converted to the requested dtype"
#define WB__MSG_MLX_PARTS_SHORT "the parts have fewer bytes than the rows and columns require"
#define WB__MSG_QUANT_VALUES_SMALL "the output buffer is smaller than the decoded values"

/* ---- mlx/mlx_type.c ---- */

#define WB__MSG_MLX_BITS "the MLX mode %s does not support %lu bits"
#define WB__MSG_MLX_GROUP "the MLX mode %s does not support groups of %lu elements"
#define WB__MSG_MLX_MODE "%d is not a valid MLX mode number"
#define WB__MSG_MLX_ROW "a row of %llu elements is not a whole number of groups of %lu elements"

/* ---- hub/hub_public.c ---- */

#define WB__MSG_FP8_SIZE "wb_fp8_block.size must be sizeof(wb_fp8_block)"
#define WB__MSG_FP8_DTYPES "the weight must have an FP8 dtype and the scales a float dtype"
#define WB__MSG_FP8_PARTS_SHORT                                                                    \
    "the weight or the scales have fewer bytes than the rows and columns require"
#define WB__MSG_INT4_GIDX "g_idx assigns input %llu to a group that has no scales"
#define WB__MSG_INT4_SIZE "wb_int4_tensor.size must be sizeof(wb_int4_tensor)"
#define WB__MSG_INT4_PACKING "wb_int4_tensor.packing is not one of WB_INT4_*"
#define WB__MSG_INT4_AWQ_GIDX "g_idx is not supported for AWQ"
#define WB__MSG_INT4_MULTIPLE_8                                                                    \
    "`out` (for GPTQ also `in`) must be a multiple of 8, because a word contains eight 4-bit "     \
    "codes"
#define WB__MSG_INT4_SCALES "the scales must have a float dtype"
#define WB__MSG_INT4_PARTS_SHORT "the parts have fewer bytes than `out` and `in` require"

#endif
