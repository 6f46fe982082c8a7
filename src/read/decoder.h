/*
 * read/decoder.h: decodes quantized tensors.
 *
 * A decoder returns elements in units: a block of a ggml type, a group of an MLX type, or a row if
 * rows share scales. For consecutive units, it reads the necessary bytes of all parts from the
 * files and decodes them. AWQ and GPTQ weights are stored transposed and are therefore read whole
 * (handle/decode_cache.h).
 */
#ifndef WB_READ_DECODER_H
#define WB_READ_DECODER_H

#include "handle/decode_cache.h"
#include "quant/hub/hub.h"
#include "quant/mlx/mlx.h"
#include "quant/quant.h"
#include "read/raw_bytes.h"

typedef struct wb__decoder wb__decoder;

struct wb__decoder {
    const wb_model *model;
    wb__context *context;
    const wb__packed *packed; /* NULL or scheme PLAIN: blocks of a ggml type */
    uint32_t stored;
    const wb__dtype *to; /* dtype of the output of `run`, see wb__decoder_gives */
    uint64_t unit;       /* number of elements in a unit */
    uint64_t units;      /* number of units in the tensor */
    size_t batch;        /* largest number of units per call of `run` */
    wb_status (*run)(wb__decoder *decoder, uint64_t first, size_t units, uint8_t *dst);
    /* The following members are private to decoder.c. */
    wb__codec codec;
    wb__mlx_type type;
    uint32_t features;
    bool native;
    const float *globals; /* global scales: one, or one per expert */
    uint64_t units_per_global;
    wb__cached_tensor *cached;       /* block with all parts, if it is cached */
    const uint8_t *parts[WB__PARTS]; /* the parts, if they are read whole */
    wb__raw_bytes files[WB__PARTS];  /* sources of the existing parts */
    uint8_t *memory;
    size_t memory_bytes;
};

/* Returns the dtype of the decoder's output if the caller requests `to`: `to` itself if it is F16
 * or BF16 and the tensor is mxfp4, mxfp8 or nvfp4 (whose decoders round to it), otherwise F32. */
const wb__dtype *wb__decoder_gives(const wb__packed *packed, const wb__dtype *to);

/* If a decoder must read the whole tensor into memory, returns the size of this copy in bytes;
 * otherwise returns 0. */
uint64_t wb__decoder_holds(const wb__packed *packed);

/* Opens a decoder. The caller must call wb__decoder_close, also after a failure. */
wb_status wb__decoder_open(wb__decoder *decoder, const wb_model *model, wb__context *context,
                           size_t stored, const wb__packed *packed, const wb__dtype *to);
void wb__decoder_close(wb__decoder *decoder);

#endif
