/*
 * weighbridge/codec.h: properties of element types (dtypes); encoding and decoding of quantized
 * values in memory.
 */
#ifndef WEIGHBRIDGE_CODEC_H
#define WEIGHBRIDGE_CODEC_H

#include "weighbridge/base.h"
#include "weighbridge/dtypes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- element types ---- */

/* Returns the name of a dtype ("BF16"), or NULL if the number is not a dtype; static. */
WB_API const char *wb_dtype_name(int32_t dtype);

/* Returns the dtype with this name (case-insensitive), or -1. */
WB_API int32_t wb_dtype_find(const char *name, size_t name_len);

/* How an encoder uses an importance matrix. */
typedef enum wb_importance {
    WB_IMPORTANCE_IGNORED = 0,
    WB_IMPORTANCE_OPTIONAL = 1, /* the encoder uses a matrix if the caller passes one */
    WB_IMPORTANCE_REQUIRED = 2  /* the encoder fails without a matrix */
} wb_importance;

typedef struct wb_dtype_info {
    size_t size;         /* sizeof(wb_dtype_info) */
    const char *name;    /* "BF16"; static */
    uint32_t block_size; /* number of elements in a block; 1 for plain types */
    uint32_t block_bits; /* size of a block, in bits */
    uint32_t is_float;   /* 1: floating-point type */
    uint32_t is_complex; /* 1: complex numbers, each a pair of floats */
    uint32_t is_signed;  /* 1: plain type that can represent negative numbers */
    uint32_t decodes;    /* 1: wb_dequantize supports it */
    uint32_t encodes;    /* 1: wb_quantize supports it */
    wb_importance importance;
    const char *description; /* one line of text; static */
} wb_dtype_info;
#define WB_DTYPE_INFO_INIT WB_INIT(wb_dtype_info)

/* Describes a dtype. NOT_FOUND if the number is not a dtype. */
WB_API wb_status wb_dtype_describe(int32_t dtype, wb_dtype_info *info) WB_MUST_CHECK;

/* ---- quantized types of GGML, and plain types ---- */

/*
 * Computes the size of a matrix in a dtype, in bytes. Rows are not padded. ARGUMENT if a row is not
 * a whole number of blocks or of bytes, or if the dtype does not exist.
 */
WB_API wb_status wb_quantized_size(int32_t dtype, uint64_t rows, uint64_t columns, uint64_t *bytes,
                                   wb_error *error) WB_MUST_CHECK;

/*
 * Encodes binary32 values in a dtype. The bytes of GGML's quantized types equal those that
 * ggml_quantize_chunk writes (ggml 0.21, compiled without contraction of floating-point
 * operations). Values of plain types are rounded as by wb_tensor_read.
 *
 * dtype       a wb_dtype with wb_dtype_info.encodes = 1
 * values      rows * columns values, row after row. They should be finite: a block that contains an
 *             infinity or NaN decodes to useless values, and other blocks are not affected
 * columns     a multiple of wb_dtype_info.block_size
 * importance  `columns` non-negative weights for the squared errors of the columns, the same for
 *             every row; NULL: none. See wb_dtype_info.importance
 * blocks      wb_quantized_size bytes, little-endian; may be unaligned
 * size        size of `blocks`, in bytes
 * executor    NULL: all work runs in the calling thread. The result does not depend on the executor
 *
 * ARGUMENT if a row is not a whole number of blocks, if a required importance matrix is missing, or
 * if `size` is too small; UNSUPPORTED if the dtype has no encoder. Thread-safe. Requires the
 * default rounding mode of floating-point operations.
 */
WB_API wb_status wb_quantize(int32_t dtype, const float *values, uint64_t rows, uint64_t columns,
                             const float *importance, void *blocks, uint64_t size,
                             const wb_executor *executor, wb_error *error) WB_MUST_CHECK;

/*
 * Decodes values of a dtype to binary32. The result for GGML's quantized types is bit for bit that
 * of ggml's to_float. Any bytes can be decoded: infinite or NaN scales give infinite or NaN values.
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
 * The quantization modes of MLX. Ollama uses the same modes: its int4 and int8 are affine with 4
 * and 8 bits, and its mxfp4, mxfp8 and nvfp4 have the same names here. ModelOpt and
 * compressed-tensors use nvfp4. A weight consists of packed codes and of a scale for each group of
 * elements in a row. Affine also has a bias for each group: value = code * scale + bias. In the
 * other modes a code is a small float: value = code * scale.
 */
typedef enum wb_mlx_mode {
    WB_MLX_AFFINE = 1, /* 1 to 6 or 8 bits, groups of 32, 64 or 128; scales and biases are floats */
    WB_MLX_MXFP4 = 2,  /* codes E2M1, groups of 32, scales E8M0 */
    WB_MLX_MXFP8 = 3,  /* codes E4M3, groups of 32, scales E8M0 */
    WB_MLX_NVFP4 = 4   /* codes E2M1, groups of 16, scales E4M3 */
} wb_mlx_mode;

/* How an encoder rounds an E8M0 scale to a power of two. */
typedef enum wb_mlx_e8m0 {
    WB_MLX_E8M0_UP = 0,     /* MLX from 0.32.2 on: up to the next power of two */
    WB_MLX_E8M0_NEAREST = 1 /* MLX up to 0.32.1, and Ollama: log2 rounded to the nearest integer */
} wb_mlx_e8m0;

/*
 * How a value is computed from its code c, the scale s of its group and the global scale g, which
 * belongs to the whole tensor.
 */
typedef enum wb_mlx_global {
    WB_MLX_GLOBAL_NONE = 0, /* c * s: there is no global scale */
    /* c * (s * (g / 2688)), as in MLX; g is the largest magnitude in the tensor */
    WB_MLX_GLOBAL_AMAX = 1,
    WB_MLX_GLOBAL_LAST = 2,   /* (c * s) * g, as in Ollama (global_scale) */
    WB_MLX_GLOBAL_FACTOR = 3, /* c * (s * g), as in ModelOpt (weight_scale_2), GGUF (NAME.scale) */
    WB_MLX_GLOBAL_DIVISOR = 4 /* c * (s / g), as in compressed-tensors (weight_global_scale) */
} wb_mlx_global;

/* A flag of wb_mlx_type: decode affine weights to F32 with the rounding of mlx.core.dequantize. */
#define WB_MLX_NATIVE 1u

typedef struct wb_mlx_type {
    size_t size; /* sizeof(wb_mlx_type) */
    wb_mlx_mode mode;
    uint32_t bits;       /* bits of a code; 0: as defined by the mode (not for affine) */
    uint32_t group_size; /* elements in a group; 0: as defined by the mode (not for affine) */
    wb_mlx_e8m0 e8m0;    /* used by the encoder for mxfp4 and mxfp8 */
    /*
     * allowed values: NONE for affine; NONE and LAST for mxfp4 and mxfp8; all for nvfp4. The
     * encoder supports only NONE and AMAX
     */
    wb_mlx_global global;
    /*
     * the global scale; ignored if `global` is NONE; for AMAX, the result of wb_mlx_amax for the
     * whole tensor
     */
    float global_scale;
    uint32_t flags; /* WB_MLX_* */
} wb_mlx_type;
#define WB_MLX_TYPE_INIT WB_INIT(wb_mlx_type)

typedef struct wb_mlx_sizes {
    size_t size; /* sizeof(wb_mlx_sizes) */
    uint64_t weight_bytes;
    uint64_t scales_bytes;
    uint64_t biases_bytes;   /* 0 except for affine */
    uint32_t weight_columns; /* 32-bit words in a row of the packed weight */
    uint32_t groups;         /* groups in a row, which is the number of columns of the scales */
} wb_mlx_sizes;
#define WB_MLX_SIZES_INIT WB_INIT(wb_mlx_sizes)

/*
 * Computes the sizes of the parts (weight, scales, biases) of a quantized matrix. For affine,
 * scales and biases have the type `dtype` (F32, F16 or BF16); other modes ignore `dtype`. For a
 * tensor of more than two dimensions, `rows` is the product of all dimensions but the last.
 * ARGUMENT if the type is invalid or a row is not a whole number of groups.
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
 * Encodes values of `dtype` (F32, F16 or BF16). The bytes equal those of mlx.core.quantize of MLX
 * 0.32.4 on the CPU, except that a scale byte that would wrap around in MLX is clamped. The scales
 * and biases of affine have the dtype of the values. A group that contains an infinity or NaN
 * decodes to useless values; other groups are not affected.
 *
 * values    rows * columns values, row after row; may be unaligned
 * parts     may be unaligned
 * executor  NULL: all work runs in the calling thread. The result does not depend on the executor
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
    int32_t scales_dtype; /* affine only: F32, F16 or BF16 */
    int32_t biases_dtype; /* affine only: F32, F16 or BF16 */
} wb_mlx_parts;
#define WB_MLX_PARTS_INIT WB_INIT(wb_mlx_parts)

/*
 * Decodes a quantized matrix to values of `dtype`, which can be any plain type that floats can be
 * converted to. The rounding depends on the mode and on `dtype`:
 *
 *   - affine to F32 without WB_MLX_NATIVE: the product code * scale and its sum with the bias are
 *     each rounded to binary32
 *   - affine in all other cases: as by mlx.core.dequantize, which rounds the product to the dtype
 *     of the scales, and the sum to the common dtype of scales and biases. The sum is then
 *     converted to `dtype`
 *   - other modes to F32, F16 or BF16 without a global scale: as by mlx.core.dequantize, which
 *     rounds the scale and the product to `dtype`
 *   - other modes in all other cases: scale and product are computed in binary32, and the product
 *     is converted to `dtype`
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

/* A matrix of FP8 values with one scale per block: weight and weight_scale_inv of DeepSeek-V3. */
typedef struct wb_fp8_block {
    size_t size; /* sizeof(wb_fp8_block) */
    const void *weight;
    /*
     * one scale for each block, in row-major order of the blocks; blocks at the right and lower
     * edge of the matrix may be smaller than the others
     */
    const void *scales;
    uint64_t weight_bytes;
    uint64_t scales_bytes;
    int32_t weight_dtype; /* F8_E4M3, F8_E5M2 or their FNUZ variants */
    int32_t scales_dtype; /* a floating-point dtype of at least 8 bits */
    uint64_t rows;
    uint64_t columns;
    uint32_t block_rows;    /* rows of a block; 0: 128 */
    uint32_t block_columns; /* columns of a block; 0: 128 */
} wb_fp8_block;
#define WB_FP8_BLOCK_INIT WB_INIT(wb_fp8_block)

/*
 * Decodes `tensor` to rows * columns binary32 values: weight * scale, rounded once. `size` is the
 * size of `values`, in bytes. Thread-safe.
 */
WB_API wb_status wb_fp8_dequantize(const wb_fp8_block *tensor, float *values, uint64_t size,
                                   const wb_executor *executor, wb_error *error) WB_MUST_CHECK;

/* How 8 codes of 4 bits are packed in a 32-bit word. */
typedef enum wb_int4_packing {
    WB_INT4_AWQ = 1, /* qweight has the shape [in, out / 8] */
    WB_INT4_GPTQ = 2 /* qweight has the shape [in / 8, out]; zero-points are stored minus 1 */
} wb_int4_packing;

/* A 4-bit weight of AutoAWQ or AutoGPTQ. All parts are stored transposed: inputs first. */
typedef struct wb_int4_tensor {
    size_t size; /* sizeof(wb_int4_tensor) */
    wb_int4_packing packing;
    const void *qweight;
    const void *qzeros; /* zero-points [groups, out / 8] */
    const void *scales; /* [groups, out] */
    /*
     * GPTQ only: the group number of each input, I32 [in]; NULL: input i is in group i /
     * group_size. If the tensor is a slice along the inputs, scales and qzeros may contain all
     * groups of the complete tensor, because the numbers in g_idx refer to those groups.
     */
    const void *g_idx;
    uint64_t qweight_bytes;
    uint64_t qzeros_bytes;
    uint64_t scales_bytes;
    uint64_t g_idx_bytes;
    int32_t scales_dtype; /* a floating-point dtype of at least 8 bits */
    uint64_t out;         /* rows of the result; a multiple of 8 */
    uint64_t in;          /* columns of the result; for GPTQ a multiple of 8 */
    uint64_t group_size;  /* inputs that share a scale; 0: all of them */
    /* 1: zero-points are stored unchanged (GPTQ with checkpoint_format gptq_v2) */
    uint32_t plain_zeros;
} wb_int4_tensor;
#define WB_INT4_TENSOR_INIT WB_INIT(wb_int4_tensor)

/*
 * Decodes `tensor` to binary32 values, `out` rows of `in` values each. A value is (code -
 * zero-point) * scale; it is exact if the scales are F16 or BF16. `size` is the size of `values`,
 * in bytes. FORMAT if g_idx contains a group that does not exist. Thread-safe.
 */
WB_API wb_status wb_int4_dequantize(const wb_int4_tensor *tensor, float *values, uint64_t size,
                                    const wb_executor *executor, wb_error *error) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
