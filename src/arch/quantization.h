/*
 * arch/quantization.h: what the files beside the weights say of how they are packed.
 *
 *     config.json            "quantization" (MLX), "quantization_config" (MLX, Transformers),
 * either also within "text_config" hf_quant_config.json   "quantization" (ModelOpt)
 *     __metadata__           "quantization_config", or "quant_type" and "group_size" (Ollama)
 *
 * Of an entry {"group_size": 64, "bits": 4, "mode": "affine"} everything may be missing or null,
 * and then has the value MLX takes for it: mode affine, also within an entry for one module, which
 * inherits nothing; bits and group size those of the mode. A module that is not packed is not
 * mentioned, or false.
 */
#ifndef WB_ARCH_QUANTIZATION_H
#define WB_ARCH_QUANTIZATION_H

#include "model/packed.h"
#include "json/tree.h"

typedef struct wb__quantization {
    wb_allocator allocator;
    const wb__tree *config; /* NULL: there is none */
    wb__node object;        /* the object that speaks of packing, WB__NO_NODE */
    wb__packing_hint all;   /* what it says of all modules */
    wb__hash_key key;
    uint64_t *slots; /* the modules it names: hash of the name and node of the key; 0: free */
    size_t slot_count;
    uint64_t *sizes; /* the sizes a layer may have, ascending */
    size_t size_count;
    size_t size_capacity;
} wb__quantization;

/*
 * Looks through a config, which must outlive the result. False when memory is out. Release with
 * wb__quantization_free, also after a failure.
 */
bool wb__quantization_read(wb__quantization *quantization, const wb__tree *config,
                           const wb_allocator *allocator);
void wb__quantization_free(wb__quantization *quantization);

/* What it says of a module. */
wb__packing_hint wb__quantization_of(const wb__quantization *quantization, wb__str module);

/* 1 if a layer of the model may have that many inputs. */
int wb__quantization_has_size(const wb__quantization *quantization, uint64_t inputs);

/* A hint from the names Ollama uses: a quant_type, and a group size in digits, or empty for
 * neither. */
wb__packing_hint wb__quantization_ollama(wb__str type, wb__str group);

#endif
