/*
 * quant/hub: encodings of Hugging Face models that keep a weight in several tensors, decoded only.
 *
 *     fp8_block   weight FP8 [out, in], weight_scale_inv [out / 128, in / 128] rounded up
 *     awq         qweight I32 [in, out / 8], qzeros I32 [in / group, out / 8], scales [in / group, out]
 *     gptq        qweight I32 [in / 8, out], qzeros I32 [in / group, out / 8], scales [in / group, out],
 *                 g_idx I32 [in]
 *
 * (NVFP4 of compressed-tensors and ModelOpt has the layout of MLX's: quant/mlx.) All give binary32
 * values of the weight as [out, in], the way it multiplies: the last two are stored transposed. The
 * product of a 5-bit integer and a binary16 or bfloat16 scale is exact, and so is FP8 times a scale
 * rounded once; rounding the result to the dtype of the scales gives what AutoAWQ and AutoGPTQ compute.
 *
 * Buffers need no alignment and are little-endian. Nothing here allocates.
 */
#ifndef WB_QUANT_HUB_HUB_H
#define WB_QUANT_HUB_HUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/core.h"

typedef struct wb__fp8_block {
    const void *weight;
    const void *scales;   /* what a value is multiplied with, in spite of the name in files */
    int32_t weight_dtype; /* a float of 8 bits */
    int32_t scales_dtype; /* a float */
    uint64_t out, in;
    uint32_t block_rows, block_columns; /* 128 each, as a rule */
} wb__fp8_block;

/* Decodes `rows` rows from `first` on. `features`: WB__CPU_* that may be used. */
void wb__fp8_block_decode(uint32_t features, const wb__fp8_block *tensor, uint64_t first,
                          uint64_t rows, float *values);

typedef struct wb__int4 {
    const void *qweight;
    const void *qzeros;
    const void *scales;
    const void *g_idx;    /* gptq: the group of each input; NULL: input / group */
    int32_t scales_dtype; /* a float */
    uint64_t out, in;
    uint64_t group;  /* inputs that share a scale; `in` for one group */
    uint64_t groups; /* there are; of a part of the inputs with g_idx more than `in` / group */
    uint32_t
        zero_offset; /* gptq: added to stored zero-points, 1; 0 for checkpoint_format gptq_v2 */
} wb__int4;

/* Decodes `rows` of the `out` rows from `first` on; both are multiples of 8. `features` as above. */
void wb__awq_decode(uint32_t features, const wb__int4 *tensor, uint64_t first, uint64_t rows,
                    float *values);

/* The same. A group that g_idx names and there is none of counts as the last. */
void wb__gptq_decode(uint32_t features, const wb__int4 *tensor, uint64_t first, uint64_t rows,
                     float *values);

#endif
