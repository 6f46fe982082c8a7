/*
 * convert/plan/ollama_rules.h: which type Ollama gives a tensor.
 *
 * A rule is asked about one tensor of the result and the type that was asked for, and answers with the type
 * the tensor gets. All names are those of Hugging Face. The rule that holds for all architectures is
 * wb__ollama_default; those of some, which mostly go by it and say otherwise of a few tensors, are in
 * ollama_rules.c.
 */
#ifndef WB_CONVERT_PLAN_OLLAMA_RULES_H
#define WB_CONVERT_PLAN_OLLAMA_RULES_H

#include "convert/convert.h"

typedef enum wb__ollama_type {
    WB__OLLAMA_KEEP, /* as it is in the model */
    WB__OLLAMA_INT4,
    WB__OLLAMA_INT8,
    WB__OLLAMA_NVFP4,
    WB__OLLAMA_MXFP4,
    WB__OLLAMA_MXFP8
} wb__ollama_type;

typedef struct wb__ollama_ask {
    const wb_conversion *conversion;
    const wb__planned_tensor *row;
    wb__str name;
    wb__ollama_type type; /* asked for */
} wb__ollama_ask;

typedef wb__ollama_type wb__ollama_rule(const wb__ollama_ask *ask);

/* The rule for the model's architecture. */
wb__ollama_rule *wb__ollama_rule_of(const wb_conversion *conversion);

wb__ollama_rule wb__ollama_default;

/* Eight bits of the same family. */
wb__ollama_type wb__ollama_eight(wb__ollama_type type);

/* A type, or another where the tensor's rows are no whole number of its groups. */
wb__ollama_type wb__ollama_if_fits(const wb__ollama_ask *ask, wb__ollama_type type,
                                   wb__ollama_type otherwise);

/* Of the tensor's name: whether a text is in it, or its end; or one of several, the last of which is NULL. */
bool wb__ollama_has(const wb__ollama_ask *ask, const char *part);
bool wb__ollama_has_any(const wb__ollama_ask *ask, const char *const *parts);
bool wb__ollama_ends(const wb__ollama_ask *ask, const char *end);
bool wb__ollama_ends_any(const wb__ollama_ask *ask, const char *const *ends);

/* How each type is packed. */
typedef struct wb__ollama_packing {
    wb__scheme scheme;
    uint32_t bits, group;
} wb__ollama_packing;

#define WB__OLLAMA_TYPES (WB__OLLAMA_MXFP8 + 1)
extern const wb__ollama_packing wb__ollama_packings[WB__OLLAMA_TYPES];

/* Returns the group size of a type: int4 had groups of 32 in February 2026. */
uint32_t wb__ollama_group(const wb_conversion *conversion, wb__ollama_type type);

#endif
