/*
 * quant/mlx: the quantized modes of MLX, which are Ollama's too, and NVFP4 as others store it.
 *
 *     part     affine                         mxfp4     mxfp8     nvfp4
 *     weight   1 2 3 4 5 6 8 bits, packed     4 bits    8 bits    4 bits
 *     scales   F32, F16 or BF16               E8M0      E8M0      E4M3
 *     biases   F32, F16 or BF16               none      none      none
 *     group    32, 64 or 128                  32        32        16
 *
 * A row is a stream of bits, element i in the bits [i * bits, (i + 1) * bits), lowest first; a row is
 * a multiple of the group, and a group fills whole bytes. So a tensor, of whatever shape, is a
 * sequence of groups: everything below counts in groups and knows neither rows nor columns. What
 * splits work or reads a slice addresses the parts by group number.
 *
 * The scalar code (affine.c, fp.c, with number.h) is the definition of right; the kernels of x86/
 * and arm/ give the same bits. Where MLX leaves the result to chance, this is what holds here:
 *   - scale bytes that wrap around in MLX (a greatest magnitude below m * 2^-127) are clamped;
 *   - a NaN decoded is the positive quiet one, whatever it came from;
 *   - NaNs take no part in finding the least, the greatest and the largest magnitude of a group, and
 *     become code 0 of affine and of the 4-bit modes.
 *
 * Specification: MLX 0.32.4 on CPU, mlx/backend/cpu/quantized.cpp; OCP Microscaling Formats 1.0.
 * Buffers need no alignment and are little-endian. Nothing here allocates.
 */
#ifndef WB_QUANT_MLX_MLX_H
#define WB_QUANT_MLX_MLX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/core.h"

typedef enum wb__mlx_mode {
    WB__MLX_AFFINE = 1,
    WB__MLX_MXFP4 = 2,
    WB__MLX_MXFP8 = 3,
    WB__MLX_NVFP4 = 4
} wb__mlx_mode;

typedef struct wb__mlx_type {
    wb__mlx_mode mode;
    uint32_t bits;
    uint32_t group; /* elements */
} wb__mlx_type;

/* What a scale of the whole tensor means. s is the scale of a group, g the global one. */
typedef enum wb__mlx_global {
    WB__MLX_GLOBAL_NONE = 0,
    WB__MLX_GLOBAL_AMAX = 1,   /* MLX: value * (s * (g / 2688)), g the largest magnitude of all */
    WB__MLX_GLOBAL_LAST = 2,   /* Ollama: (value * s) * g */
    WB__MLX_GLOBAL_FACTOR = 3, /* ModelOpt, weight_scale_2: value * (s * g) */
    WB__MLX_GLOBAL_DIVISOR = 4 /* compressed-tensors, weight_global_scale: value * (s / g) */
} wb__mlx_global;

/* How the exponent of an E8M0 scale is found. */
typedef enum wb__mlx_e8m0 {
    WB__MLX_E8M0_UP = 0, /* MLX from 0.32.2: the least power of two that is not smaller */
    WB__MLX_E8M0_NEAREST =
        1 /* MLX to 0.32.1, Ollama: log2 in the input's dtype, rounded to nearest */
} wb__mlx_e8m0;

/* Fills in bits and group where they are 0 and the mode leaves no choice; ARGUMENT for no such type. */
wb_status wb__mlx_type_check(wb__context *context, wb__mlx_type *type);

/* ARGUMENT for a row that is not a whole number of groups. */
wb_status wb__mlx_row_check(wb__context *context, const wb__mlx_type *type, uint64_t cols);

/* Bytes of the packed codes of a group. */
static inline size_t wb__mlx_group_bytes(const wb__mlx_type *type)
{
    return (size_t)type->group * type->bits / 8;
}

/* 1 for the modes that keep a scale in one byte, and have no biases. */
static inline bool wb__mlx_byte_scales(const wb__mlx_type *type)
{
    return type->mode != WB__MLX_AFFINE;
}

/* The parts of a tensor, or of some groups of it. */
typedef struct wb__mlx_parts {
    const void *weight;
    const void *scales;
    const void *biases;   /* affine only */
    int32_t scales_dtype; /* affine only: WB_DTYPE_F32, F16 or BF16 */
    int32_t biases_dtype;
    wb__mlx_global global; /* nvfp4; Ollama's for any byte-scaled mode */
    float global_scale;
} wb__mlx_parts;

/*
 * Decodes `groups` groups from group `first` of the parts on, into dst as `dtype`, which is any that
 * a float converts to. `features`, here and below, are those of cpu/cpu.h that may be used.
 *
 * affine  in float32 q * s, then + b, each rounded once; native: the product rounded to the dtype of
 *         the scales, the sum to the dtype that scales and biases have in common (float32 where they
 *         differ); then converted
 * others  scale and product each rounded to `dtype` where that is F32, F16 or BF16; computed in
 *         float32 for other dtypes and with a global scale; then converted. `native` changes nothing
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
    bool has_global;    /* nvfp4: scales are relative to ... */
    float global_scale; /* ... the largest magnitude of the whole tensor, as in GLOBAL_AMAX */
} wb__mlx_encoding;

/*
 * Encodes `groups` groups of elements of `dtype` (WB_DTYPE_F32, F16 or BF16), from group `first` of
 * the input on, into the same groups of the output.
 */
void wb__mlx_encode(uint32_t features, const wb__mlx_type *type, const wb__mlx_encoding *encoding,
                    int32_t dtype, const void *src, uint64_t first, size_t groups,
                    const wb__mlx_encoded *out);

/* The largest magnitude of n elements, NaNs ignored: the global scale that MLX wants. */
float wb__mlx_amax(uint32_t features, int32_t dtype, const void *src, uint64_t n);

#endif
