/*
 * read/decoder.h: the values of a tensor that is not stored as values.
 *
 * A decoder gives elements in units: the block of a ggml type, the group of an MLX one, a row where
 * rows share scales. It reads what a run of units needs from the files, wherever the parts lie, and
 * decodes it. AWQ and GPTQ store a weight transposed, and so are read whole (handle/decode_cache.h).
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
    const wb__packed *packed; /* NULL, or of a scheme that is PLAIN: blocks of a ggml type */
    uint32_t stored;
    const wb__dtype
        *to;        /* what `run` gives: F32, or what was asked where that makes a difference */
    uint64_t unit;  /* elements */
    uint64_t units; /* in all */
    size_t batch;   /* units that `run` takes at most */
    wb_status (*run)(wb__decoder *decoder, uint64_t first, size_t units, uint8_t *dst);
    /* for the functions of decoder.c */
    wb__codec codec;
    wb__mlx_type type;
    uint32_t features;
    bool native;
    const float *globals; /* one, or one for each expert */
    uint64_t units_per_global;
    wb__cached_tensor *cached;       /* what is read whole */
    const uint8_t *parts[WB__PARTS]; /* of it */
    wb__raw_bytes files[WB__PARTS];  /* the bytes of each part there is */
    uint8_t *memory;
    size_t memory_bytes;
};

/* The dtype that a decoder gives where `to` is asked. */
const wb__dtype *wb__decoder_gives(const wb__packed *packed, const wb__dtype *to);

/* Bytes of a tensor that stay in memory, since it is read whole; 0: none. */
uint64_t wb__decoder_holds(const wb__packed *packed);

/* Release with wb__decoder_close, also after a failure. */
wb_status wb__decoder_open(wb__decoder *decoder, const wb_model *model, wb__context *context,
                           size_t stored, const wb__packed *packed, const wb__dtype *to);
void wb__decoder_close(wb__decoder *decoder);

#endif
