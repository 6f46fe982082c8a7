/*
 * convert/lora/lora.h: merges LoRA adapters into the weights during conversion. An adapter contains
 * pairs of matrices A and B. A weight W that has a pair becomes W + scale · B · A. Three formats of
 * adapters are supported:
 *
 *     PEFT   a directory: adapter_config.json (r, lora_alpha, alpha_pattern, use_rslora),
 *            and tensors "base_model.model.NAME.lora_A.weight" [r, inputs],
 *            "….lora_B.weight" [outputs, r]
 *     MLX    a directory: adapter_config.json (lora_parameters.scale, not divided by the rank), and
 *            tensors "NAME.lora_a" [inputs, r], "NAME.lora_b" [r, outputs]; for a stack of E
 *            experts, the shapes are [E, r, inputs] and [E, outputs, r]
 *     GGUF   a file: key adapter.lora.alpha, and tensors "NAME.weight.lora_a" and
 *            "NAME.weight.lora_b" with the same shapes as in PEFT; the rows of B are in GGUF order
 *
 * If the output stacks experts, a pair for one expert is applied to the rows of this expert in the
 * stacked tensor. Each pair of an adapter must match a weight. Other types of adapters are
 * rejected.
 */
#ifndef WB_CONVERT_LORA_LORA_H
#define WB_CONVERT_LORA_LORA_H

#include "convert/convert.h"

struct wb__lora {
    const struct wb__lora *next; /* next pair for the same weight; NULL: none */
    const float *a;              /* matrix A [rank, columns] */
    const float *b;              /* matrix B [rows, rank], with rows in the order of the output */
    uint64_t first, rows;        /* range of rows of the output tensor to which the pair applies */
    uint64_t rank;
    float scale; /* factor of the product B · A */
};

/* Reads an adapter and attaches each of its pairs to a row of the plan. The scale of each pair is
 * multiplied by `scale`. Precondition: the rows of the plan have names and shapes. */
wb_status wb__lora_read(wb_conversion *conversion, wb__context *context, const char *path,
                        double scale);

/* Adds scale · B · A of a pair and of all following pairs (lora->next) to the values of `rows`
 * rows, beginning at row `first`. */
void wb__lora_add(const struct wb__lora *lora, uint64_t first, uint64_t rows, uint64_t columns,
                  float *values);

#endif
