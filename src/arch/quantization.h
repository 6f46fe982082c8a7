/*
 * arch/quantization.h: quantization parameters in the sidecar files of a model.
 *
 *     config.json            "quantization" (MLX), "quantization_config" (MLX, Transformers),
 *                            each also inside "text_config"
 *     hf_quant_config.json   "quantization" (ModelOpt)
 *     __metadata__           "quantization_config", or "quant_type" and "group_size" (Ollama)
 *
 * An object such as {"group_size": 64, "bits": 4, "mode": "affine"} contains the parameters of all
 * modules and may contain entries for single modules. An entry inherits nothing from the enclosing
 * object. A missing or null field has MLX's default: mode affine, and the bits and group size of
 * the mode. A module that is not quantized has the value false, or it has neither an entry nor
 * scales among the tensors.
 */
#ifndef WB_ARCH_QUANTIZATION_H
#define WB_ARCH_QUANTIZATION_H

#include "model/packed.h"
#include "json/tree.h"

typedef struct wb__quantization {
    wb_allocator allocator;
    const wb__tree *config; /* the JSON file with the parameters; NULL if there is none */
    wb__node object;        /* the object with the quantization parameters, or WB__NO_NODE */
    wb__packing_hint all;   /* hint for all modules without an entry */
    wb__hash_key key;
    uint64_t *slots; /* hash table of module entries (quantization.c, index_modules); 0: free */
    size_t slot_count;
    uint64_t *sizes; /* possible numbers of inputs of a layer, ascending */
    size_t size_count;
    size_t size_capacity;
} wb__quantization;

/*
 * Reads the quantization parameters of a config, which must outlive the result. Returns false if
 * out of memory. Release with wb__quantization_free, also after a failure.
 */
bool wb__quantization_read(wb__quantization *quantization, const wb__tree *config,
                           const wb_allocator *allocator);
void wb__quantization_free(wb__quantization *quantization);

/* Returns true if the config has an entry for single modules. Otherwise the hint is the same for
 * all modules. */
static inline bool wb__quantization_names(const wb__quantization *quantization)
{
    return quantization->slots != NULL;
}

/* Returns the packing hint for a module (the tensor name without ".weight"). */
wb__packing_hint wb__quantization_of(const wb__quantization *quantization, wb__str module);

/* Returns 1 if a layer of the model may have that many inputs, else 0. */
int wb__quantization_has_size(const wb__quantization *quantization, uint64_t inputs);

/*
 * Converts Ollama's metadata to a hint. `type` is the value of quant_type and `group` the group
 * size in decimal digits. Both may be empty.
 */
wb__packing_hint wb__quantization_ollama(wb__str type, wb__str group);

#endif
