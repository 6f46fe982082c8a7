/*
 * weighbridge/weights.h: all weights of a layer at once, in the order in which a forward pass uses
 * them.
 */
#ifndef WEIGHBRIDGE_WEIGHTS_H
#define WEIGHBRIDGE_WEIGHTS_H

#include "weighbridge/provider.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The weights of a layer, each in a buffer of a provider. */
typedef struct wb_weights wb_weights;

/*
 * A value of the parameter `layer` that selects the weights outside the layers, such as the
 * embedding, the last norm and the output matrix.
 */
#define WB_WEIGHTS_OUTSIDE UINT32_MAX

/*
 * Fuse q, k and v, gate and up, and their biases, as far as their types permit
 * (wb_provider_fuse_groups).
 */
#define WB_WEIGHTS_FUSE 1u
/*
 * Let the system read the files for the next layer in the background, into the page cache. Has no
 * effect with WB_IO_DIRECT.
 */
#define WB_WEIGHTS_AHEAD 2u
/* wb_weights_free also frees the buffers, unless they are in use elsewhere. */
#define WB_WEIGHTS_FREE_BEHIND 4u
/* The parameter `layer` is a layer of the encoder (Whisper), not of the decoder. */
#define WB_WEIGHTS_ENCODER 8u

typedef struct wb_weights_options {
    size_t size;       /* sizeof(wb_weights_options) */
    uint32_t flags;    /* WB_WEIGHTS_* */
    uint32_t rank, of; /* slices for rank number `rank` of `of` ranks; of = 0: complete weights */
    uint32_t reserved;
} wb_weights_options;
#define WB_WEIGHTS_OPTIONS_INIT WB_INIT(wb_weights_options)

/*
 * Loads all weights of layer number `layer`, and adds a use of each buffer. If the model has an
 * encoder and a decoder, it is a layer of the decoder, unless WB_WEIGHTS_ENCODER is set. Tensors
 * without a canonical name are omitted.
 *
 * The files are read once, from front to back, on the threads of wb_policy.executor. With the flags
 * AHEAD and FREE_BEHIND, a program that goes from layer to layer needs memory for one layer, while
 * the next layer is read in the background.
 *
 * For a rank, q, k, v, gate and up are divided along their rows, down and the output of attention
 * along their inputs, the embedding and the output matrix along the vocabulary
 * (wb_provider_slice). A rank gets all of the other weights: norms, routers, and the biases of down
 * and of the output of attention, which only one rank must add.
 *
 * options  NULL: defaults
 * weights  owned, release with wb_weights_free before wb_provider_destroy
 *
 * NOT_FOUND if the model has no weights of this layer; otherwise fails as wb_provider_get and
 * wb_provider_slice do. Thread-safe.
 */
WB_API wb_status wb_provider_weights(wb_provider *provider, uint32_t layer,
                                     const wb_weights_options *options, wb_weights **weights,
                                     wb_error *error) WB_MUST_CHECK;

/* Ends the uses of all buffers and frees the list. NULL is ignored. */
WB_API void wb_weights_free(wb_weights *weights);

typedef struct wb_weight {
    size_t size; /* sizeof(wb_weight) */
    /*
     * canonical name without "layers.{n}.", for example "attention.qkv.weight"; for fused tensors
     * without a common name, such as q and k, the names joined with '+'. Borrowed until
     * wb_weights_free
     */
    const char *name;
    const wb_buffer *buffer; /* borrowed until wb_weights_free */
    /*
     * The rows of the buffer that belong to the weight: all rows, or only the rows of one fused
     * tensor if wb_weights_find was called with the name of that tensor. For stacked experts, these
     * are rows of each matrix; for a vector, they are elements.
     */
    uint64_t first_row;
    uint64_t rows;
    int32_t axis; /* dimension along which the weight is divided among ranks; -1: it is complete */
    uint32_t reserved;
} wb_weight;
#define WB_WEIGHT_INIT WB_INIT(wb_weight)

/* Returns the number of weights. */
WB_API uint32_t wb_weights_count(const wb_weights *weights);

/* Describes the weight at `index`. NOT_FOUND if index is past the last one. */
WB_API wb_status wb_weights_at(const wb_weights *weights, uint32_t index,
                               wb_weight *weight) WB_MUST_CHECK;

/*
 * Finds a weight by its name without "layers.{n}.". A name such as "attention.v.weight" also finds
 * the rows of v in a buffer in which v is fused. NOT_FOUND if the layer does not have the weight,
 * or if it is not fused as the name specifies.
 */
WB_API wb_status wb_weights_find(const wb_weights *weights, const char *name, size_t name_len,
                                 wb_weight *weight) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
