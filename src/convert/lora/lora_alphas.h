/*
 * convert/lora/lora_alphas.h: the alphas of single modules, in which an adapter of PEFT may differ from its lora_alpha:
 *
 *     "alpha_pattern": {"q_proj": 32, "model.layers.0.mlp.down_proj": 8}
 *
 * A key stands for modules whose name it is, or the end of it behind a dot; of several the first counts. PEFT
 * takes keys for regular expressions: those that are more than a name are refused.
 */
#ifndef WB_CONVERT_LORA_LORA_ALPHAS_H
#define WB_CONVERT_LORA_LORA_ALPHAS_H

#include "core/core.h"
#include "core/text.h"
#include "json/tree.h"

typedef struct wb__lora_alpha {
    wb__str module;
    uint64_t order; /* in the file */
    double alpha;
} wb__lora_alpha;

typedef struct wb__lora_alphas {
    wb__lora_alpha *list; /* by module, and by order among equal ones */
    size_t count;
} wb__lora_alphas;

/* Reads them from the value of "alpha_pattern", which may be absent, into memory of the arena. */
wb_status wb__lora_alphas_read(wb__context *context, wb__arena *arena, const wb__tree *tree,
                               wb__node patterns, wb__lora_alphas *alphas);

/* Leaves *alpha alone where there is none of the module's own. */
void wb__lora_alphas_find(const wb__lora_alphas *alphas, wb__str module, double *alpha);

#endif
