/*
 * convert/lora/lora.h: merges LoRA adapters into the weights during conversion:
 * W + scale · B · A.
 *
 *     PEFT   a directory: adapter_config.json (r, lora_alpha, alpha_pattern, use_rslora),
 *            and tensors "base_model.model.NAME.lora_A.weight" [r, inputs],
 *            "….lora_B.weight" [outputs, r]
 *     MLX    a directory: adapter_config.json (lora_parameters.scale, not divided by the rank), and
 *            tensors "NAME.lora_a" [inputs, r], "NAME.lora_b" [r, outputs]; for stacked experts
 *            [E, r, inputs] and [E, outputs, r]
 *     GGUF   adapter.lora.alpha, and tensors "NAME.weight.lora_a", "NAME.weight.lora_b" with the
 *            same shapes as in PEFT and rows in GGUF order
 *
 * A pair for one expert is attached to the stacked tensor if the output stacks experts. Every pair
 * of an adapter must match a weight. Other types of adapters are rejected. */
#ifndef WB_CONVERT_LORA_LORA_H
#define WB_CONVERT_LORA_LORA_H

#include "convert/convert.h"

struct wb__lora {
    const struct wb__lora *next; /* next adapter for the same weight; NULL: none */
    const float *a;              /* [rank, columns] */
    const float *b;              /* [rows, rank], in output row order */
    uint64_t first, rows;        /* rows of the output tensor to which the pair applies */
    uint64_t rank;
    float scale;
};

/* Reads an adapter and attaches its pairs to the rows of the plan. The names and shapes of the
 * rows must be set. */
wb_status wb__lora_read(wb_conversion *conversion, wb__context *context, const char *path,
                        double scale);

/* Adds the adapters to the values of `rows` rows, starting at row `first`. */
void wb__lora_add(const struct wb__lora *lora, uint64_t first, uint64_t rows, uint64_t columns,
                  float *values);

#endif
