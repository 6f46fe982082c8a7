/*
 * convert/lora/lora.h: adapters, merged into the weights on their way: W + scale · B · A.
 *
 *     PEFT   a folder: adapter_config.json (r, lora_alpha, alpha_pattern, use_rslora), and tensors
 *            "base_model.model.NAME.lora_A.weight" [r, inputs], "….lora_B.weight" [outputs, r]
 *     MLX    a folder: adapter_config.json (lora_parameters.scale, which is not divided by the rank), and tensors
 *            "NAME.lora_a" [inputs, r], "NAME.lora_b" [r, outputs], of stacked experts [E, r, inputs] and
 *            [E, outputs, r]
 *     GGUF   adapter.lora.alpha, and tensors "NAME.weight.lora_a", "NAME.weight.lora_b" likewise, rows in the
 *            order of GGUF
 *
 * A pair for one expert is hung on the tensor that holds all of them, where the result has such. An adapter
 * has to find a weight for each of its pairs; kinds of adapters other than this are refused.
 */
#ifndef WB_CONVERT_LORA_LORA_H
#define WB_CONVERT_LORA_LORA_H

#include "convert/convert.h"

struct wb__lora {
    const struct wb__lora *next; /* of another adapter, for the same weight */
    const float *a;              /* [rank, columns] */
    const float *b;              /* [rows, rank], in the order of the result */
    uint64_t first, rows;        /* of the tensor, that it is for */
    uint64_t rank;
    float scale;
};

/* Reads an adapter and hangs its pairs on the rows of the plan, whose names and shapes are known. */
wb_status wb__lora_read(wb_conversion *conversion, wb__context *context, const char *path,
                        double scale);

/* Adds to the values of `rows` rows from `first` on. */
void wb__lora_add(const struct wb__lora *lora, uint64_t first, uint64_t rows, uint64_t columns,
                  float *values);

#endif
