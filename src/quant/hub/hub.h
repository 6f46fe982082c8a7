/*
 * quant/hub: encodings of Hugging Face models that store a weight in several tensors. Decoding
 * only. A weight has `out` rows (outputs) of `in` columns (inputs); `group` is the number of inputs
 * that share a scale.
 *
 *     fp8_block   weight FP8 [out, in], weight_scale_inv [out / 128, in / 128] rounded up
 *     awq         qweight I32 [in, out / 8], qzeros I32 [in / group, out / 8],
 *                 scales [in / group, out]
 *     gptq        qweight I32 [in / 8, out], qzeros I32 [in / group, out / 8],
 *                 scales [in / group, out], g_idx I32 [in]
 *
 * (NVFP4 of compressed-tensors and ModelOpt has the layout of MLX: see quant/mlx.) All decoders
 * return the weight as binary32 [out, in]; awq and gptq store it transposed. For awq and gptq, the
 * product of a 5-bit integer (code - zero-point) and a binary16 or bfloat16 scale is exact.
 * Rounding it to the dtype of the scales gives the values that AutoAWQ and AutoGPTQ compute. For
 * fp8_block, the product of the FP8 value and its scale is rounded once.
 *
 * Buffers need no alignment and are little-endian. No function here allocates memory.
 */
#ifndef WB_QUANT_HUB_HUB_H
#define WB_QUANT_HUB_HUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/core.h"

typedef struct wb__fp8_block {
    const void *weight;
    /*
     * the values are multiplied by the scales (not divided, although files name them
     * weight_scale_inv)
     */
    const void *scales;
    int32_t weight_dtype; /* an 8-bit float type */
    int32_t scales_dtype; /* a float type */
    uint64_t out, in;
    uint32_t block_rows, block_columns; /* size of a block, usually 128 each */
} wb__fp8_block;

/*
 * Decodes `rows` rows, starting with row `first`. `features` are the WB__CPU_* features that may be
 * used.
 */
void wb__fp8_block_decode(uint32_t features, const wb__fp8_block *tensor, uint64_t first,
                          uint64_t rows, float *values);

typedef struct wb__int4 {
    const void *qweight;
    const void *qzeros;
    const void *scales;
    const void *g_idx;    /* gptq: group of each input; NULL: input i is in group i / `group` */
    int32_t scales_dtype; /* a float type */
    uint64_t out, in;
    uint64_t group; /* number of inputs that share a scale; `in` for a single group */
    /* number of groups; greater than `in` / group if the tensor has only some of the inputs of
     * the original weight, and g_idx refers to groups of the original weight */
    uint64_t groups;
    uint32_t
        /* gptq: number to add to the stored zero-points: 1, or 0 for checkpoint_format gptq_v2 */
        zero_offset;
} wb__int4;

/*
 * Decodes `rows` of the `out` rows, starting with row `first`. `rows` and `first` must be multiples
 * of 8. `features` are the WB__CPU_* features that may be used.
 */
void wb__awq_decode(uint32_t features, const wb__int4 *tensor, uint64_t first, uint64_t rows,
                    float *values);

/* As wb__awq_decode. If g_idx contains a group that does not exist, the last group is used. */
void wb__gptq_decode(uint32_t features, const wb__int4 *tensor, uint64_t first, uint64_t rows,
                     float *values);

#endif
