/*
 * quant/mlx: the quantization modes of MLX, which Ollama also uses, and NVFP4 as other programs
 * store it.
 *
 *     part     affine                         mxfp4     mxfp8     nvfp4
 *     weight   1 2 3 4 5 6 8 bits, packed     4 bits    8 bits    4 bits
 *     scales   F32, F16 or BF16               E8M0      E8M0      E4M3
 *     biases   F32, F16 or BF16               none      none      none
 *     group    32, 64 or 128                  32        32        16
 *
 * A row is a bit stream: element i occupies the bits [i * bits, (i + 1) * bits), lowest first. The
 * length of a row is a multiple of the group size, and a group fills whole bytes. A tensor of any
 * shape is therefore a sequence of groups. All functions below count in groups and do not depend on
 * rows and columns. Code that splits work or reads a slice addresses the parts by group number.
 *
 * The scalar code (affine.c, scaled.c and number.h) is the reference; the kernels in x86/ and arm/
 * give the same bits. Where the result in MLX is undefined, the following rules apply:
 *   - A scale byte that would wrap around is clamped. In MLX it wraps around if the largest
 *     magnitude of a group is below m * 2^-127, where m is the largest value of an element (6 or
 *     448).
 *   - Every decoded NaN is the positive quiet NaN.
 *   - NaNs are ignored when the minimum, maximum and largest magnitude of a group are computed, and
 *     become code 0 in affine and in the 4-bit modes.
 *
 * Specification: MLX 0.32.4 on CPU, mlx/backend/cpu/quantized.cpp; OCP Microscaling Formats 1.0.
 * Buffers need no alignment and are little-endian. No function here allocates memory.
 */
#ifndef WB_QUANT_MLX_MLX_H
#define WB_QUANT_MLX_MLX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/core.h"

typedef enum wb__mlx_mode {
    WB__MLX_UNSET = 0, /* wb__mlx_type_check refuses it */
    WB__MLX_AFFINE = 1,
    WB__MLX_MXFP4 = 2,
    WB__MLX_MXFP8 = 3,
    WB__MLX_NVFP4 = 4
} wb__mlx_mode;

typedef struct wb__mlx_type {
    wb__mlx_mode mode;
    uint32_t bits;
    uint32_t group; /* number of elements */
} wb__mlx_type;

/* The meaning of the scale of the whole tensor. s is the scale of a group, g the global scale. */
typedef enum wb__mlx_global {
    WB__MLX_GLOBAL_NONE = 0,
    /* MLX: value * (s * (g / 2688)), where g is the largest magnitude in the tensor */
    WB__MLX_GLOBAL_AMAX = 1,
    WB__MLX_GLOBAL_LAST = 2,   /* Ollama: (value * s) * g */
    WB__MLX_GLOBAL_FACTOR = 3, /* ModelOpt, weight_scale_2: value * (s * g) */
    WB__MLX_GLOBAL_DIVISOR = 4 /* compressed-tensors, weight_global_scale: value * (s / g) */
} wb__mlx_global;

/* How the exponent of an E8M0 scale is rounded. */
typedef enum wb__mlx_e8m0 {
    WB__MLX_E8M0_UP = 0,     /* MLX 0.32.2 and later: up to the next power of two */
    WB__MLX_E8M0_NEAREST = 1 /* MLX up to 0.32.1, Ollama: log2 of the scale, rounded to the
                              * dtype of the input, then to the nearest integer */
} wb__mlx_e8m0;

/*
 * Sets bits and group if they are 0 and the mode allows only one value. Fails with ARGUMENT if the
 * type is not supported.
 */
wb_status wb__mlx_type_check(wb__context *context, wb__mlx_type *type);

/* Fails with ARGUMENT if a row is not a whole number of groups. */
wb_status wb__mlx_row_check(wb__context *context, const wb__mlx_type *type, uint64_t cols);

/* Returns the size of the packed codes of a group, in bytes. */
static inline size_t wb__mlx_group_bytes(const wb__mlx_type *type)
{
    return (size_t)type->group * type->bits / 8;
}

/* Returns true for the modes with one-byte scales and without biases. */
static inline bool wb__mlx_byte_scales(const wb__mlx_type *type)
{
    return type->mode != WB__MLX_AFFINE;
}

/* The parts of a tensor, or of some of its groups. */
typedef struct wb__mlx_parts {
    const void *weight;
    const void *scales;
    const void *biases;   /* only for affine */
    int32_t scales_dtype; /* only for affine: WB_DTYPE_F32, F16 or BF16 */
    int32_t biases_dtype;
    wb__mlx_global global; /* nvfp4: any; mxfp4 and mxfp8: NONE or LAST; affine: NONE */
    float global_scale;
} wb__mlx_parts;

/*
 * Decodes `groups` groups, starting with group `first` of the parts, and stores them in dst as
 * `dtype`, which can be any type that floats convert to. `features`, here and below, are the
 * features of cpu/cpu.h that may be used.
 *
 * affine: computes q * s + b, the code times the scale plus the bias, in float32; the product and
 * the sum are each rounded. With `native`, the product is rounded to the dtype of the scales, and
 * the sum to the common dtype of scales and biases (float32 if they differ). The result is then
 * converted to `dtype`.
 *
 * Other modes: if `dtype` is F32, F16 or BF16 and there is no global scale, the scale and the
 * product are each rounded to `dtype`. Otherwise they are computed in float32, and the result is
 * converted. `native` has no effect.
 */
void wb__mlx_decode(uint32_t features, const wb__mlx_type *type, const wb__mlx_parts *parts,
                    bool native, uint64_t first, size_t groups, int32_t dtype, void *dst);

typedef struct wb__mlx_encoded {
    void *weight;
    void *scales; /* affine: in the dtype of the input */
    void *biases;
} wb__mlx_encoded;

typedef struct wb__mlx_encoding {
    wb__mlx_e8m0 e8m0;
    bool has_global;    /* nvfp4: scales are relative to global_scale */
    float global_scale; /* the g of WB__MLX_GLOBAL_AMAX: largest magnitude of the tensor */
} wb__mlx_encoding;

/*
 * Encodes `groups` groups of elements of `dtype` (WB_DTYPE_F32, F16 or BF16), starting with group
 * `first` of the input, into the same groups of the output.
 */
void wb__mlx_encode(uint32_t features, const wb__mlx_type *type, const wb__mlx_encoding *encoding,
                    int32_t dtype, const void *src, uint64_t first, size_t groups,
                    const wb__mlx_encoded *out);

/* Returns the largest magnitude of n elements, ignoring NaNs: the global scale that MLX uses. */
float wb__mlx_amax(uint32_t features, int32_t dtype, const void *src, uint64_t n);

#endif
