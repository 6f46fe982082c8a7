/*
 * convert/lora/lora_alphas.h: alphas of single modules of a PEFT adapter, which override
 * lora_alpha. adapter_config.json contains, for example:
 *
 * "alpha_pattern": {"q_proj": 32, "model.layers.0.mlp.down_proj": 8}
 *
 * A key matches each module whose name is the key or ends with a dot and the key. If several keys
 * match, the first key in the file is used. PEFT treats keys as regular expressions. Keys that are
 * not plain names are rejected.
 */
#ifndef WB_CONVERT_LORA_LORA_ALPHAS_H
#define WB_CONVERT_LORA_LORA_ALPHAS_H

#include "core/core.h"
#include "core/text.h"
#include "json/tree.h"

typedef struct wb__lora_alpha {
    wb__str module;
    uint64_t order; /* position of the key in the file */
    double alpha;
} wb__lora_alpha;

typedef struct wb__lora_alphas {
    wb__lora_alpha *list; /* sorted by module name, then by position in the file */
    size_t count;
} wb__lora_alphas;

/* Reads the value of "alpha_pattern". `patterns` is WB__NO_NODE if the file does not contain
 * this member. alphas->list is allocated from the arena. */
wb_status wb__lora_alphas_read(wb__context *context, wb__arena *arena, const wb__tree *tree,
                               wb__node patterns, wb__lora_alphas *alphas);

/* Sets *alpha to the alpha of the module, or leaves *alpha unchanged if no key matches the
 * module. */
void wb__lora_alphas_find(const wb__lora_alphas *alphas, wb__str module, double *alpha);

#endif
