/*
 * arch/layers.h: properties that differ between the layers of a model.
 *
 * Files specify them as lists with one element per layer: GGUF as arrays under the key that other
 * models use for one number, config.json as lists of words ("layer_types") or numbers.
 * wb__layers_read copies the lists. wb__layer_make combines the copies with the config.
 */
#ifndef WB_ARCH_LAYERS_H
#define WB_ARCH_LAYERS_H

#include "arch/canonical_names.h"
#include "arch/model_facts.h"
#include "weighbridge/config.h"

typedef enum wb__layer_list {
    WB__LAYER_KINDS, /* a wb_layer_kind; plus WB__LAYER_SLIDES for a sliding window */
    WB__LAYER_HEADS,
    WB__LAYER_KV_HEADS,
    WB__LAYER_FFN,
    WB__LAYER_SLIDING,   /* 1: sliding window */
    WB__LAYER_RECURRENT, /* 1: recurrent */
    WB__LAYER_ROPE,      /* 1: with RoPE */
    WB__LAYER_SECTIONS,  /* sections of multimodal RoPE; not per layer */
    WB__LAYER_LISTS
} wb__layer_list;

#define WB__LAYER_SLIDES 256u

typedef struct wb__layers {
    const uint32_t *list[WB__LAYER_LISTS];
    uint32_t count[WB__LAYER_LISTS]; /* number of elements; 0: the files have no such list */
} wb__layers;

/* Copies the lists to the arena. Returns false if out of memory. */
bool wb__layers_read(wb__layers *layers, const wb__facts *facts, wb__str prefix, wb__arena *arena);

/* Fills all members of *layer, except `size`, with the properties of layer `index`, which must
 * be less than n_layers. `names` determines which layers have experts. */
void wb__layer_make(const wb__layers *layers, const wb_config *config, const wb__names *names,
                    uint64_t index, wb_layer *layer);

#endif
