/*
 * weighbridge/codec.h: element types, and encoding and decoding quantized values in memory.
 */
#ifndef WEIGHBRIDGE_CODEC_H
#define WEIGHBRIDGE_CODEC_H

#include "weighbridge/base.h"
#include "weighbridge/dtypes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- element types ---- */

/* The name of a dtype ("BF16"), NULL for a number that is none. Static. */
WB_API const char *wb_dtype_name(int32_t dtype);

/* The dtype of that name, in any case, or -1. */
WB_API int32_t wb_dtype_find(const char *name, size_t name_len);

/* What an encoder does with an importance matrix. */
typedef enum wb_importance {
    WB_IMPORTANCE_IGNORED = 0,
    WB_IMPORTANCE_OPTIONAL = 1, /* uses it where there is one, with another result */
    WB_IMPORTANCE_REQUIRED = 2  /* does not work without */
} wb_importance;

typedef struct wb_dtype_info {
    size_t size;         /* sizeof(wb_dtype_info) */
    const char *name;    /* static */
    uint32_t block_size; /* elements in a block; 1 for plain types */
    uint32_t block_bits; /* bits of a block */
    uint32_t is_float;   /* 1: floating point */
    uint32_t is_complex; /* 1: pairs of floats */
    uint32_t is_signed;  /* 1: has negative values */
    uint32_t decodes;    /* 1: wb_dequantize takes it */
    uint32_t encodes;    /* 1: wb_quantize takes it */
    wb_importance importance;
    const char *description; /* a line of text; static */
} wb_dtype_info;
#define WB_DTYPE_INFO_INIT WB_INIT(wb_dtype_info)

WB_API wb_status wb_dtype_describe(int32_t dtype, wb_dtype_info *info) WB_MUST_CHECK;

/* ---- blocks of GGML ---- */

/*
 * The bytes that `rows` rows of `columns` values take in a dtype: rows follow one another without
 * padding. ARGUMENT where a row is no whole number of blocks or bytes, or there is no such dtype.
 */
WB_API wb_status wb_quantized_size(int32_t dtype, uint64_t rows, uint64_t columns, uint64_t *bytes,
                                   wb_error *error) WB_MUST_CHECK;

/*
 * Encodes binary32 values in a dtype: GGML's quantized types, byte for byte as ggml_quantize_chunk
 * (ggml 0.21, compiled without contraction of floating-point operations), and every plain dtype but
 * the complex ones, rounded as wb_tensor_read says.
 *
 * dtype       a wb_dtype for which wb_dtype_info.encodes is 1
 * values      rows * columns of them, row after row; finite (the blocks of others are of no use, but
 *             nothing worse happens)
 * columns     a multiple of wb_dtype_info.block_size
 * importance  `columns` weights of the squared errors, not negative, for every row; NULL: none. See
 *             wb_dtype_info.importance
 * blocks      wb_quantized_size bytes, little-endian; unaligned is fine
 * size        bytes there is room for
 * executor    NULL: in the calling thread. The result does not depend on it
 *
 * ARGUMENT for a row that is no whole number of blocks, a matrix that is missing, too little room;
 * UNSUPPORTED for a dtype without encoder. Thread-safe. Expects the processor's default rounding.
 */
WB_API wb_status wb_quantize(int32_t dtype, const float *values, uint64_t rows, uint64_t columns,
                             const float *importance, void *blocks, uint64_t size,
                             const wb_executor *executor, wb_error *error) WB_MUST_CHECK;

/*
 * Decodes blocks of a dtype into binary32 values, with the bits of ggml's to_float. Any bytes decode:
 * scales that are infinite or NaN give values that are.
 *
 * dtype     a wb_dtype for which wb_dtype_info.decodes is 1
 * blocks    `size` bytes, at least wb_quantized_size; unaligned is fine
 * columns   a multiple of wb_dtype_info.block_size
 * values    room for rows * columns
 * executor  as for wb_quantize
 *
 * ARGUMENT for a row that is no whole number of blocks and for too few bytes; UNSUPPORTED for complex
 * numbers. Thread-safe.
 */
WB_API wb_status wb_dequantize(int32_t dtype, const void *blocks, uint64_t size, uint64_t rows,
                               uint64_t columns, float *values, const wb_executor *executor,
                               wb_error *error) WB_MUST_CHECK;

/* ---- quantized weights of several parts ---- */

/*
 * The quantized modes of MLX, which are Ollama's int4 and int8 (affine of 4 and 8 bits), mxfp4, mxfp8
 * and nvfp4, too, and the NVFP4 of ModelOpt and compressed-tensors. A weight is packed codes, a scale
 * for each group of elements in a row, and for affine a bias: value = code * scale + bias.
 */
typedef enum wb_mlx_mode {
    WB_MLX_AFFINE = 1, /* 1 to 6 or 8 bits, groups of 32, 64 or 128; scales and biases floats */
    WB_MLX_MXFP4 = 2,  /* E2M1, groups of 32, scales E8M0 */
    WB_MLX_MXFP8 = 3,  /* E4M3, groups of 32, scales E8M0 */
    WB_MLX_NVFP4 = 4   /* E2M1, groups of 16, scales E4M3 */
} wb_mlx_mode;

/* How an encoder finds the exponent of an E8M0 scale. */
typedef enum wb_mlx_e8m0 {
    WB_MLX_E8M0_UP = 0,     /* MLX from 0.32.2 on: the least power of two that is not smaller */
    WB_MLX_E8M0_NEAREST = 1 /* MLX to 0.32.1, and Ollama: its logarithm rounded to nearest */
} wb_mlx_e8m0;

/* What a scale g of the whole tensor means beside the scale s of a group. */
typedef enum wb_mlx_global {
    WB_MLX_GLOBAL_NONE = 0,
    WB_MLX_GLOBAL_AMAX = 1,   /* MLX: value * (s * (g / 2688)), g the largest magnitude of all */
    WB_MLX_GLOBAL_LAST = 2,   /* Ollama, global_scale: (value * s) * g */
    WB_MLX_GLOBAL_FACTOR = 3, /* ModelOpt, weight_scale_2; GGUF, NAME.scale: value * (s * g) */
    WB_MLX_GLOBAL_DIVISOR = 4 /* compressed-tensors, weight_global_scale: value * (s / g) */
} wb_mlx_global;

/* Decode affine to F32, too, as MLX does (see wb_mlx_dequantize). */
#define WB_MLX_NATIVE 1u

typedef struct wb_mlx_type {
    size_t size; /* sizeof(wb_mlx_type) */
    wb_mlx_mode mode;
    uint32_t bits;        /* 0: those of the mode, if it has only one choice */
    uint32_t group_size;  /* elements; 0 likewise */
    wb_mlx_e8m0 e8m0;     /* for encoding */
    wb_mlx_global global; /* nvfp4, LAST for all but affine; encoding knows AMAX only */
    float global_scale;   /* for encoding: wb_mlx_amax of the whole tensor */
    uint32_t flags;       /* WB_MLX_* */
} wb_mlx_type;
#define WB_MLX_TYPE_INIT WB_INIT(wb_mlx_type)

typedef struct wb_mlx_sizes {
    size_t size; /* sizeof(wb_mlx_sizes) */
    uint64_t weight_bytes;
    uint64_t scales_bytes;
    uint64_t biases_bytes;   /* 0 for all but affine */
    uint32_t weight_columns; /* elements of U32 in a row of the packed weight */
    uint32_t groups;         /* in a row: columns of scales and biases */
} wb_mlx_sizes;
#define WB_MLX_SIZES_INIT WB_INIT(wb_mlx_sizes)

/*
 * What the parts of `rows` rows of `columns` elements take, with scales and biases of `dtype` for
 * affine (F32, F16 or BF16; the others ignore it). Leading dimensions count as rows. ARGUMENT for a
 * type there is none of and for rows that are no whole number of groups.
 */
WB_API wb_status wb_mlx_measure(const wb_mlx_type *type, int32_t dtype, uint64_t rows,
                                uint64_t columns, wb_mlx_sizes *sizes,
                                wb_error *error) WB_MUST_CHECK;

/* Where wb_mlx_quantize puts the parts; sizes are the room there is. */
typedef struct wb_mlx_buffers {
    size_t size; /* sizeof(wb_mlx_buffers) */
    void *weight;
    void *scales;
    void *biases; /* affine only */
    uint64_t weight_bytes;
    uint64_t scales_bytes;
    uint64_t biases_bytes;
} wb_mlx_buffers;
#define WB_MLX_BUFFERS_INIT WB_INIT(wb_mlx_buffers)

/*
 * Encodes values of `dtype` (F32, F16 or BF16), byte for byte as mlx.core.quantize on CPU (0.32.4);
 * scales and biases of affine come in the same dtype. Scale bytes that would wrap around in MLX are
 * clamped. Values that are not finite make their group useless, and do no other harm.
 *
 * values    rows * columns of them, row after row; unaligned is fine, here and in `parts`
 * executor  NULL: in the calling thread. The result does not depend on it
 *
 * Thread-safe. Expects the processor's default rounding.
 */
WB_API wb_status wb_mlx_quantize(const wb_mlx_type *type, int32_t dtype, const void *values,
                                 uint64_t rows, uint64_t columns, const wb_mlx_buffers *parts,
                                 const wb_executor *executor, wb_error *error) WB_MUST_CHECK;

/* The largest magnitude of n values of `dtype` (F32, F16 or BF16), NaNs ignored. */
WB_API wb_status wb_mlx_amax(int32_t dtype, const void *values, uint64_t n, float *amax,
                             wb_error *error) WB_MUST_CHECK;

/* The parts of a quantized weight; sizes are those there are. */
typedef struct wb_mlx_parts {
    size_t size; /* sizeof(wb_mlx_parts) */
    const void *weight;
    const void *scales;
    const void *biases; /* affine only */
    uint64_t weight_bytes;
    uint64_t scales_bytes;
    uint64_t biases_bytes;
    int32_t scales_dtype; /* affine: F32, F16 or BF16 */
    int32_t biases_dtype;
} wb_mlx_parts;
#define WB_MLX_PARTS_INIT WB_INIT(wb_mlx_parts)

/*
 * Decodes to values of `dtype`, any that floats convert to.
 *
 * affine  F32: code * scale in binary32, + bias, each rounded once. Other dtypes, and F32 with
 *         WB_MLX_NATIVE: as mlx.core.dequantize, which rounds the product to the dtype of the scales
 *         and the sum to that which scales and biases have in common; then converted
 * others  F32, F16, BF16: as mlx.core.dequantize with this dtype, scale and product each rounded to
 *         it. Other dtypes, and with a global scale all: in binary32, then converted
 *
 * Any bytes decode. NaNs come out as the positive quiet one.
 *
 * values  `size` bytes, at least rows * columns of `dtype`; unaligned is fine
 *
 * Thread-safe. Expects the processor's default rounding.
 */
WB_API wb_status wb_mlx_dequantize(const wb_mlx_type *type, const wb_mlx_parts *parts,
                                   uint64_t rows, uint64_t columns, int32_t dtype, void *values,
                                   uint64_t size, const wb_executor *executor,
                                   wb_error *error) WB_MUST_CHECK;

/* FP8 with a scale for each block, as DeepSeek-V3's weight and weight_scale_inv. */
typedef struct wb_fp8_block {
    size_t size; /* sizeof(wb_fp8_block) */
    const void *weight;
    const void *scales; /* factors, row after row; the last of a row or column may be for less */
    uint64_t weight_bytes;
    uint64_t scales_bytes;
    int32_t weight_dtype; /* F8_E4M3, F8_E5M2 or their FNUZ forms */
    int32_t scales_dtype; /* a float */
    uint64_t rows;
    uint64_t columns;
    uint32_t block_rows;    /* 0: 128 */
    uint32_t block_columns; /* 0: 128 */
} wb_fp8_block;
#define WB_FP8_BLOCK_INIT WB_INIT(wb_fp8_block)

/* Decodes to rows * columns binary32 values: weight * scale, rounded once. Thread-safe. */
WB_API wb_status wb_fp8_dequantize(const wb_fp8_block *tensor, float *values, uint64_t size,
                                   const wb_executor *executor, wb_error *error) WB_MUST_CHECK;

typedef enum wb_int4_packing {
    WB_INT4_AWQ = 1, /* qweight [in, out / 8] */
    WB_INT4_GPTQ = 2 /* qweight [in / 8, out], zero-points stored less one */
} wb_int4_packing;

/* Four bits as AutoAWQ and AutoGPTQ pack them: qweight, qzeros and scales, all stored transposed. */
typedef struct wb_int4_tensor {
    size_t size; /* sizeof(wb_int4_tensor) */
    wb_int4_packing packing;
    const void *qweight;
    const void *qzeros; /* [groups, out / 8] */
    const void *scales; /* [groups, out] */
    /* GPTQ: the group of each input, I32 [in]; NULL: in order. Scales and qzeros may then have more groups than the
     * inputs are of: of a part of the inputs those of the whole. */
    const void *g_idx;
    uint64_t qweight_bytes;
    uint64_t qzeros_bytes;
    uint64_t scales_bytes;
    uint64_t g_idx_bytes;
    int32_t scales_dtype; /* a float */
    uint64_t out;         /* rows of the result, a multiple of 8 */
    uint64_t in;          /* columns, for GPTQ a multiple of 8 */
    uint64_t group_size;  /* inputs; 0: all of them */
    uint32_t plain_zeros; /* 1: zero-points as they are, GPTQ's checkpoint_format gptq_v2 */
} wb_int4_tensor;
#define WB_INT4_TENSOR_INIT WB_INIT(wb_int4_tensor)

/*
 * Decodes to binary32 [out, in]: (code - zero) * scale, which is exact for scales of F16 and BF16.
 * FORMAT for a g_idx that names a group there is none of. Thread-safe.
 */
WB_API wb_status wb_int4_dequantize(const wb_int4_tensor *tensor, float *values, uint64_t size,
                                    const wb_executor *executor, wb_error *error) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
