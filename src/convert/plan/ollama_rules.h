/* convert/plan/ollama_rules.h: the type that Ollama gives a tensor.
 *
 * A rule receives one output tensor and the requested type, and returns the tensor's type. All
 * names are Hugging Face names. wb__ollama_default is the rule for all architectures.
 * ollama_rules.c contains rules for single architectures, most of which differ from the default
 * rule for a few tensors. */
#ifndef WB_CONVERT_PLAN_OLLAMA_RULES_H
#define WB_CONVERT_PLAN_OLLAMA_RULES_H

#include "convert/convert.h"

typedef enum wb__ollama_type {
    WB__OLLAMA_KEEP, /* same encoding as in the source */
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
    wb__ollama_type type; /* requested type */
} wb__ollama_ask;

typedef wb__ollama_type wb__ollama_rule(const wb__ollama_ask *ask);

/* Returns the rule for the model's architecture. */
wb__ollama_rule *wb__ollama_rule_of(const wb_conversion *conversion);

wb__ollama_rule wb__ollama_default;

/* Returns the 8-bit type of the same family. */
wb__ollama_type wb__ollama_eight(wb__ollama_type type);

/* Returns `type`, or `otherwise` if the row length is not a multiple of the type's group size. */
wb__ollama_type wb__ollama_if_fits(const wb__ollama_ask *ask, wb__ollama_type type,
                                   wb__ollama_type otherwise);

/* Return true if the tensor's name contains, or ends with, a string or any string of a
 * NULL-terminated list. */
bool wb__ollama_has(const wb__ollama_ask *ask, const char *part);
bool wb__ollama_has_any(const wb__ollama_ask *ask, const char *const *parts);
bool wb__ollama_ends(const wb__ollama_ask *ask, const char *end);
bool wb__ollama_ends_any(const wb__ollama_ask *ask, const char *const *ends);

/* Packed encoding of each type. */
typedef struct wb__ollama_packing {
    wb__scheme scheme;
    uint32_t bits, group;
} wb__ollama_packing;

#define WB__OLLAMA_TYPES (WB__OLLAMA_MXFP8 + 1)
extern const wb__ollama_packing wb__ollama_packings[WB__OLLAMA_TYPES];

/* Returns the group size of a type. With Ollama's format of February 2026, int4 has groups of
 * 32. */
uint32_t wb__ollama_group(const wb_conversion *conversion, wb__ollama_type type);

#endif
