/* convert/lora/lora_alphas.h: per-module alphas of a PEFT adapter, which override its
 * lora_alpha:
 *
 * "alpha_pattern": {"q_proj": 32, "model.layers.0.mlp.down_proj": 8}
 *
 * A key matches modules with this name or with this name after a dot. If several keys match, the
 * first in the file is used. PEFT treats keys as regular expressions; keys that are more than a
 * name are rejected. */
#ifndef WB_CONVERT_LORA_LORA_ALPHAS_H
#define WB_CONVERT_LORA_LORA_ALPHAS_H

#include "core/core.h"
#include "core/text.h"
#include "json/tree.h"

typedef struct wb__lora_alpha {
    wb__str module;
    uint64_t order; /* position in the file */
    double alpha;
} wb__lora_alpha;

typedef struct wb__lora_alphas {
    wb__lora_alpha *list; /* sorted by module, then by order */
    size_t count;
} wb__lora_alphas;

/* Reads the value of "alpha_pattern", which may be absent (WB__NO_NODE). The list is allocated
 * from the arena. */
wb_status wb__lora_alphas_read(wb__context *context, wb__arena *arena, const wb__tree *tree,
                               wb__node patterns, wb__lora_alphas *alphas);

/* Sets *alpha if the module has its own alpha, and leaves it unchanged otherwise. */
void wb__lora_alphas_find(const wb__lora_alphas *alphas, wb__str module, double *alpha);

#endif
