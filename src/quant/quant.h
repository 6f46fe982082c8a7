/*
 * quant: codecs, which decode blocks of quantized values to binary32 and encode them.
 *
 * A codec belongs to a dtype. Its functions, the kernels, come from kernel sets. src/quant/scalar/
 * has one set per family of types in plain C. These sets are the reference; they give the same bits
 * as ggml (weighbridge/codec.h). src/quant/x86/ and src/quant/arm/ have faster sets, mostly
 * generated from shared templates (src/quant/lanes/). codec_table.c lists all sets. wb__codec_get
 * goes through the list; each set that the processor supports replaces the functions of the sets
 * before it. There is no initialisation and no state, and the lookup takes less than a microsecond.
 * WB_CPU_DISABLE disables instruction sets (cpu/cpu.h).
 *
 * All kernels of a dtype give the same bits, regardless of the kernel set, the compiler and the
 * optimisation level. Each floating-point operation is therefore rounded separately, in the order
 * of the scalar code. Kernel files include quant/kernel.h, which disables contraction (the fusing
 * of a multiplication with an addition). If the compiler contracted a set nevertheless, which the
 * probe in kernel.h detects, this set is not used. Only these results may differ:
 *   - the payload of a NaN;
 *   - blocks encoded from values or weights that are not finite, or so large (2^31 or more) that
 *     sums of squares may overflow;
 *   - all results if the application changed the rounding mode or flushes subnormals to zero.
 *
 * Decoders accept any input: every bit pattern is a valid block. No function here allocates memory.
 * Blocks need no alignment.
 */
#ifndef WB_QUANT_QUANT_H
#define WB_QUANT_QUANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/core.h"
#include "dtype/dtype.h"
#include "weighbridge/codec.h"

/* Decodes n blocks. */
typedef void wb__decode(const uint8_t *blocks, float *values, size_t n);

/*
 * Encodes a row of n values, a multiple of the block size. `importance` has n weights, or is NULL.
 * It is never NULL if the codec requires it.
 */
typedef void wb__encode(const float *values, const float *importance, uint8_t *blocks, size_t n);

typedef struct wb__codec {
    const wb__dtype *dtype;
    wb__decode *decode;
    wb__encode *encode; /* NULL if there is no encoder */
    /* whether `encode` ignores, uses or requires the importance matrix */
    wb_importance importance;
} wb__codec;

/*
 * Gets the codec of a dtype for the WB__CPU_* features `features`. Returns false if there is no
 * decoder for the dtype. Some plain (not quantized) dtypes also have a codec, because it is faster
 * than wb__dtype_convert; its `decode` or `encode` may be NULL.
 */
bool wb__codec_get(int32_t dtype, uint32_t features, wb__codec *codec);

/*
 * Returns the encoded size of n values in bytes. Precondition: n is a multiple of the block size.
 */
static inline uint64_t wb__codec_bytes(const wb__codec *codec, uint64_t n)
{
    return n / codec->dtype->block_size * (codec->dtype->block_bits / 8);
}

/*
 * Decodes n NVFP4 blocks whose block scales are first multiplied by the tensor scale `factor`:
 * value · (block scale · factor), with each product rounded. `codec` is the NVFP4 codec. The scales
 * in the blocks are overwritten.
 */
void wb__nvfp4_decode(const wb__codec *codec, uint8_t *blocks, float factor, float *values,
                      size_t n);

/* ---- declarations for kernel files ---- */

typedef struct wb__kernel {
    int32_t dtype;
    wb__decode *decode; /* NULL if the kernel set has no decoder for `dtype` */
    wb__encode *encode; /* NULL if the kernel set has no encoder for `dtype` */
    wb_importance
        importance; /* scalar sets only: whether `encode` ignores, uses or requires the matrix */
} wb__kernel;

typedef struct wb__kernel_set {
    uint32_t features;        /* the WB__CPU_* features that the set requires */
    bool (*contracted)(void); /* returns true if the compiler fused operations (quant/kernel.h) */
    const wb__kernel *kernels;
    size_t count;
} wb__kernel_set;

/* ---- coding many rows ---- */

/*
 * Decodes or encodes rows on the executor of the context, or in the calling thread. The caller has
 * checked the arguments: columns is a multiple of the block size, and src and dst have the required
 * sizes.
 */
void wb__decode_rows(const wb__context *context, const wb__codec *codec, const uint8_t *src,
                     uint64_t rows, uint64_t columns, float *dst);
void wb__encode_rows(const wb__context *context, const wb__codec *codec, const float *src,
                     uint64_t rows, uint64_t columns, const float *importance, uint8_t *dst);

#endif
