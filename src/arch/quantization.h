/*
 * arch/quantization.h: quantization parameters in the sidecar files of a model.
 *
 *     config.json            "quantization" (MLX), "quantization_config" (MLX, Transformers),
 *                            each also inside "text_config"
 *     hf_quant_config.json   "quantization" (ModelOpt)
 *     __metadata__           "quantization_config", or "quant_type" and "group_size" (Ollama)
 *
 * Any field of {"group_size": 64, "bits": 4, "mode": "affine"} may be missing or null and then has
 * MLX's default: mode affine, also in an entry for one module, which inherits nothing; bits and
 * group size of the mode. A module that is not quantized has no entry or the value false.
 */
#ifndef WB_ARCH_QUANTIZATION_H
#define WB_ARCH_QUANTIZATION_H

#include "model/packed.h"
#include "json/tree.h"

typedef struct wb__quantization {
    wb_allocator allocator;
    const wb__tree *config; /* NULL if there is none */
    wb__node object;        /* the object with the quantization parameters, or WB__NO_NODE */
    wb__packing_hint all;   /* hint for all modules without an entry */
    wb__hash_key key;
    uint64_t *slots; /* modules with an entry: hash of the name and node of the key; 0: free */
    size_t slot_count;
    uint64_t *sizes; /* possible layer sizes, ascending */
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

/* Returns the hint for a module. */
wb__packing_hint wb__quantization_of(const wb__quantization *quantization, wb__str module);

/* Returns 1 if a layer of the model may have that many inputs. */
int wb__quantization_has_size(const wb__quantization *quantization, uint64_t inputs);

/*
 * Converts Ollama's metadata to a hint: a quant_type and a group size in digits; both may be empty.
 */
wb__packing_hint wb__quantization_ollama(wb__str type, wb__str group);

#endif
