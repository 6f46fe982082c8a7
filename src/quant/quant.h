/*
 * quant: the codecs, which turn blocks of quantized values into binary32 numbers and back.
 *
 * A codec belongs to a dtype. Its functions come from kernel sets: src/quant/scalar/ has one set a
 * family, in plain C, which is the definition of right; src/quant/x86/ and arm/ have sets that do the
 * same faster, mostly out of templates that they share (src/quant/lanes/). table.c lists them all.
 * wb__codec_get goes through that list and lets each set that the processor can run replace what the
 * sets before it gave, so that there is nothing to initialise and no state; it costs less than a
 * microsecond. WB_CPU_DISABLE takes sets away (cpu/cpu.h).
 *
 * Every kernel of a dtype gives the same bits, whatever the set, the compiler and its optimisation.
 * Each operation on floats is therefore rounded by itself, in the order of the scalar code: kernel
 * files include quant/kernel.h, which switches contraction off, and a set that was contracted
 * nevertheless (the probe of kernel.h tells) is not used. Three things are left open: which NaN is
 * a NaN; what a block holds that was encoded from values, or with weights, that are not finite or so
 * large (2^31 and more) that sums of squares may overflow; and all of it where the application
 * rounds otherwise than to nearest or flushes subnormals.
 *
 * Decoding assumes nothing of the blocks: any bits have a value. Nothing here allocates. Blocks
 * need no alignment.
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
 * Encodes a row of n values, a multiple of the block size. `importance` has n weights, or is NULL;
 * where the codec requires it, it is not.
 */
typedef void wb__encode(const float *values, const float *importance, uint8_t *blocks, size_t n);

typedef struct wb__codec {
    const wb__dtype *dtype;
    wb__decode *decode;
    wb__encode *encode;       /* NULL: there is none */
    wb_importance importance; /* what `encode` does with it */
} wb__codec;

/*
 * The codec of a dtype for a processor with these features; false where none decodes. Of the plain
 * dtypes some have one, because it is faster than wb__dtype_convert; its `decode` or `encode` may
 * be NULL.
 */
bool wb__codec_get(int32_t dtype, uint32_t features, wb__codec *codec);

/* Bytes of n values, a multiple of the block size. */
static inline uint64_t wb__codec_bytes(const wb__codec *codec, uint64_t n)
{
    return n / codec->dtype->block_size * (codec->dtype->block_bits / 8);
}

/*
 * Decodes n blocks of NVFP4 whose scales are to be multiplied with a factor first: value · (scale · factor), either
 * product rounded. The codec is that of NVFP4; the blocks' scales are lost.
 */
void wb__nvfp4_decode(const wb__codec *codec, uint8_t *blocks, float factor, float *values,
                      size_t n);

/* ---- for those who write kernels ---- */

typedef struct wb__kernel {
    int32_t dtype;
    wb__decode *decode;       /* NULL: this set has none */
    wb__encode *encode;       /* likewise */
    wb_importance importance; /* counts in scalar sets */
} wb__kernel;

typedef struct wb__kernel_set {
    uint32_t features;        /* WB__CPU_*, all of which it needs */
    bool (*contracted)(void); /* of quant/kernel.h */
    const wb__kernel *kernels;
    size_t count;
} wb__kernel_set;

/* ---- many rows ---- */

/*
 * Rows on the executor of the context, or in the calling thread. The arguments have been checked:
 * columns are a multiple of the block size, src and dst are as large as they must be.
 */
void wb__decode_rows(const wb__context *context, const wb__codec *codec, const uint8_t *src,
                     uint64_t rows, uint64_t columns, float *dst);
void wb__encode_rows(const wb__context *context, const wb__codec *codec, const float *src,
                     uint64_t rows, uint64_t columns, const float *importance, uint8_t *dst);

#endif
