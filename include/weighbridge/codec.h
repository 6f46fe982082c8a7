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

/* Returns the name of a dtype ("BF16"), or NULL if the number is not a dtype. Static. */
WB_API const char *wb_dtype_name(int32_t dtype);

/* Returns the dtype with this name (case-insensitive), or -1. */
WB_API int32_t wb_dtype_find(const char *name, size_t name_len);

/* How an encoder uses an importance matrix. */
typedef enum wb_importance {
    WB_IMPORTANCE_IGNORED = 0,
    WB_IMPORTANCE_OPTIONAL = 1, /* uses the matrix if there is one, which changes the result */
    WB_IMPORTANCE_REQUIRED = 2  /* fails without a matrix */
} wb_importance;

typedef struct wb_dtype_info {
    size_t size;         /* sizeof(wb_dtype_info) */
    const char *name;    /* static */
    uint32_t block_size; /* elements in a block; 1 for plain types */
    uint32_t block_bits; /* bits of a block */
    uint32_t is_float;   /* 1: floating point */
    uint32_t is_complex; /* 1: pairs of floats */
    uint32_t is_signed;  /* 1: has negative values */
    uint32_t decodes;    /* 1: wb_dequantize supports it */
    uint32_t encodes;    /* 1: wb_quantize supports it */
    wb_importance importance;
    const char *description; /* one line of text; static */
} wb_dtype_info;
#define WB_DTYPE_INFO_INIT WB_INIT(wb_dtype_info)

WB_API wb_status wb_dtype_describe(int32_t dtype, wb_dtype_info *info) WB_MUST_CHECK;

/* ---- blocks of GGML ---- */

/*
 * Computes the size of `rows` rows of `columns` values in a dtype. Rows are not padded. ARGUMENT if
 * a row is not a whole number of blocks or bytes, or if the dtype does not exist.
 */
WB_API wb_status wb_quantized_size(int32_t dtype, uint64_t rows, uint64_t columns, uint64_t *bytes,
                                   wb_error *error) WB_MUST_CHECK;

/*
 * Encodes binary32 values in a dtype: GGML's quantized types, byte for byte as ggml_quantize_chunk
 * (ggml 0.21, compiled without contraction of floating-point operations), and all plain dtypes
 * except complex ones, rounded as by wb_tensor_read.
 *
 * dtype       a wb_dtype with wb_dtype_info.encodes = 1
 * values      rows * columns values, row after row; should be finite (blocks with other values
 *             decode to useless values, without further effects)
 * columns     a multiple of wb_dtype_info.block_size
 * importance  `columns` non-negative weights of the squared errors, used for every row; NULL: none.
 *             See wb_dtype_info.importance
 * blocks      wb_quantized_size bytes, little-endian; may be unaligned
 * size        size of `blocks`, in bytes
 * executor    NULL: in the calling thread. The result does not depend on the executor
 *
 * ARGUMENT if a row is not a whole number of blocks, if a required matrix is missing, or if `size`
 * is too small; UNSUPPORTED if the dtype has no encoder. Thread-safe. Requires the default rounding
 * mode.
 */
WB_API wb_status wb_quantize(int32_t dtype, const float *values, uint64_t rows, uint64_t columns,
                             const float *importance, void *blocks, uint64_t size,
                             const wb_executor *executor, wb_error *error) WB_MUST_CHECK;

/*
 * Decodes blocks of a dtype to binary32 values, bit for bit as ggml's to_float. Any bytes can be
 * decoded: infinite or NaN scales give infinite or NaN values.
 *
 * dtype     a wb_dtype with wb_dtype_info.decodes = 1
 * blocks    `size` bytes, at least wb_quantized_size; may be unaligned
 * columns   a multiple of wb_dtype_info.block_size
 * values    array of rows * columns elements
 * executor  as for wb_quantize
 *
 * ARGUMENT if a row is not a whole number of blocks or if `size` is too small; UNSUPPORTED for
 * complex numbers. Thread-safe.
 */
WB_API wb_status wb_dequantize(int32_t dtype, const void *blocks, uint64_t size, uint64_t rows,
                               uint64_t columns, float *values, const wb_executor *executor,
                               wb_error *error) WB_MUST_CHECK;

/* ---- quantized weights of several parts ---- */

/*
 * The quantization modes of MLX. Ollama's int4 and int8 (affine with 4 and 8 bits), mxfp4, mxfp8
 * and nvfp4 are the same, and the NVFP4 of ModelOpt and compressed-tensors is nvfp4. A weight
 * consists of packed codes, a scale for each group of elements in a row and, for affine, a bias for
 * each group: value = code * scale + bias.
 */
typedef enum wb_mlx_mode {
    WB_MLX_AFFINE = 1, /* 1 to 6 or 8 bits, groups of 32, 64 or 128; scales and biases are floats */
    WB_MLX_MXFP4 = 2,  /* E2M1, groups of 32, scales E8M0 */
    WB_MLX_MXFP8 = 3,  /* E4M3, groups of 32, scales E8M0 */
    WB_MLX_NVFP4 = 4   /* E2M1, groups of 16, scales E4M3 */
} wb_mlx_mode;

/* How an encoder rounds an E8M0 scale to a power of two. */
typedef enum wb_mlx_e8m0 {
    WB_MLX_E8M0_UP = 0,     /* MLX from 0.32.2 on: to the next larger power of two */
    WB_MLX_E8M0_NEAREST = 1 /* MLX up to 0.32.1, and Ollama: to the nearest logarithm */
} wb_mlx_e8m0;

/* How the scale g of the whole tensor is applied together with the scale s of a group. */
typedef enum wb_mlx_global {
    WB_MLX_GLOBAL_NONE = 0,
    /* MLX: value * (s * (g / 2688)), g is the largest magnitude of the tensor */
    WB_MLX_GLOBAL_AMAX = 1,
    WB_MLX_GLOBAL_LAST = 2,   /* Ollama, global_scale: (value * s) * g */
    WB_MLX_GLOBAL_FACTOR = 3, /* ModelOpt, weight_scale_2; GGUF, NAME.scale: value * (s * g) */
    WB_MLX_GLOBAL_DIVISOR = 4 /* compressed-tensors, weight_global_scale: value * (s / g) */
} wb_mlx_global;

/* Decode affine to F32 with the rounding of MLX as well (see wb_mlx_dequantize). */
#define WB_MLX_NATIVE 1u

typedef struct wb_mlx_type {
    size_t size; /* sizeof(wb_mlx_type) */
    wb_mlx_mode mode;
    uint32_t bits;        /* 0: the default, for modes with one choice */
    uint32_t group_size;  /* elements; 0 as for `bits` */
    wb_mlx_e8m0 e8m0;     /* encoder only */
    wb_mlx_global global; /* any for nvfp4, LAST for mxfp4 and mxfp8; encoders support AMAX only */
    float global_scale;   /* encoder only: wb_mlx_amax of the whole tensor */
    uint32_t flags;       /* WB_MLX_* */
} wb_mlx_type;
#define WB_MLX_TYPE_INIT WB_INIT(wb_mlx_type)

typedef struct wb_mlx_sizes {
    size_t size; /* sizeof(wb_mlx_sizes) */
    uint64_t weight_bytes;
    uint64_t scales_bytes;
    uint64_t biases_bytes;   /* 0 except for affine */
    uint32_t weight_columns; /* U32 elements in a row of the packed weight */
    uint32_t groups;         /* groups in a row: columns of scales and biases */
} wb_mlx_sizes;
#define WB_MLX_SIZES_INIT WB_INIT(wb_mlx_sizes)

/*
 * Computes the sizes of the parts of `rows` rows of `columns` elements. For affine, scales and
 * biases have the type `dtype` (F32, F16 or BF16); other modes ignore it. Leading dimensions count
 * as rows. ARGUMENT if the type is invalid or a row is not a whole number of groups.
 */
WB_API wb_status wb_mlx_measure(const wb_mlx_type *type, int32_t dtype, uint64_t rows,
                                uint64_t columns, wb_mlx_sizes *sizes,
                                wb_error *error) WB_MUST_CHECK;

/* The output buffers of wb_mlx_quantize, with their sizes. */
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
 * Encodes values of `dtype` (F32, F16 or BF16), byte for byte as mlx.core.quantize on CPU (0.32.4).
 * Scales and biases of affine have the same dtype. Scale bytes that wrap around in MLX are clamped.
 * Values that are not finite make their group useless, without further effects.
 *
 * values    rows * columns values, row after row; these and `parts` may be unaligned
 * executor  NULL: in the calling thread. The result does not depend on the executor
 *
 * Thread-safe. Requires the default rounding mode.
 */
WB_API wb_status wb_mlx_quantize(const wb_mlx_type *type, int32_t dtype, const void *values,
                                 uint64_t rows, uint64_t columns, const wb_mlx_buffers *parts,
                                 const wb_executor *executor, wb_error *error) WB_MUST_CHECK;

/* Computes the largest magnitude of n values of `dtype` (F32, F16 or BF16), ignoring NaNs. */
WB_API wb_status wb_mlx_amax(int32_t dtype, const void *values, uint64_t n, float *amax,
                             wb_error *error) WB_MUST_CHECK;

/* The parts of a quantized weight, with their sizes. */
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
 * Decodes to values of `dtype`, any type that floats can be converted to.
 *
 * affine  F32: code * scale in binary32, + bias, each rounded once. Other dtypes, and F32 with
 *         WB_MLX_NATIVE: as mlx.core.dequantize, which rounds the product to the dtype of the
 *         scales and the sum to the common dtype of scales and biases; then converted
 * others  F32, F16, BF16: as mlx.core.dequantize with this dtype, scale and product each rounded to
 *         it. Other dtypes, and all dtypes with a global scale: in binary32, then converted
 *
 * Any bytes can be decoded. All NaNs become the positive quiet NaN.
 *
 * values  `size` bytes, at least rows * columns of `dtype`; may be unaligned
 *
 * Thread-safe. Requires the default rounding mode.
 */
WB_API wb_status wb_mlx_dequantize(const wb_mlx_type *type, const wb_mlx_parts *parts,
                                   uint64_t rows, uint64_t columns, int32_t dtype, void *values,
                                   uint64_t size, const wb_executor *executor,
                                   wb_error *error) WB_MUST_CHECK;

/* FP8 with a scale for each block, as weight and weight_scale_inv of DeepSeek-V3. */
typedef struct wb_fp8_block {
    size_t size; /* sizeof(wb_fp8_block) */
    const void *weight;
    /*
     * one factor for each block, row after row; blocks at the right and lower edge may be smaller
     */
    const void *scales;
    uint64_t weight_bytes;
    uint64_t scales_bytes;
    int32_t weight_dtype; /* F8_E4M3, F8_E5M2 or their FNUZ variants */
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
    WB_INT4_GPTQ = 2 /* qweight [in / 8, out], zero-points stored minus 1 */
} wb_int4_packing;

/* 4-bit weights of AutoAWQ and AutoGPTQ: qweight, qzeros and scales, all stored transposed. */
typedef struct wb_int4_tensor {
    size_t size; /* sizeof(wb_int4_tensor) */
    wb_int4_packing packing;
    const void *qweight;
    const void *qzeros; /* [groups, out / 8] */
    const void *scales; /* [groups, out] */
    /*
     * GPTQ: the group of each input, I32 [in]; NULL: in order. With g_idx, scales and qzeros may
     * have more groups than `in` needs: those of all inputs when this is a slice of the inputs.
     */
    const void *g_idx;
    uint64_t qweight_bytes;
    uint64_t qzeros_bytes;
    uint64_t scales_bytes;
    uint64_t g_idx_bytes;
    int32_t scales_dtype; /* a float */
    uint64_t out;         /* rows of the result; a multiple of 8 */
    uint64_t in;          /* columns of the result; for GPTQ a multiple of 8 */
    uint64_t group_size;  /* inputs that share a scale; 0: all of them */
    /* 1: zero-points are stored unchanged (GPTQ with checkpoint_format gptq_v2) */
    uint32_t plain_zeros;
} wb_int4_tensor;
#define WB_INT4_TENSOR_INIT WB_INIT(wb_int4_tensor)

/*
 * Decodes to binary32 [out, in]: (code - zero) * scale, which is exact for scales of F16 and BF16.
 * FORMAT if g_idx contains a group that does not exist. Thread-safe.
 */
WB_API wb_status wb_int4_dequantize(const wb_int4_tensor *tensor, float *values, uint64_t size,
                                    const wb_executor *executor, wb_error *error) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
