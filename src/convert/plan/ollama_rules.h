/*
 * convert/plan/ollama_rules.h: chooses the type that Ollama would give a tensor.
 *
 * A rule is a function that receives an output tensor and the requested type, and returns the type
 * of the tensor. All names are Hugging Face names. wb__ollama_default is the rule for architectures
 * without a rule of their own. ollama_rules.c contains the rules for single architectures. Most of
 * these rules differ from the default rule only for a few tensors.
 */
#ifndef WB_CONVERT_PLAN_OLLAMA_RULES_H
#define WB_CONVERT_PLAN_OLLAMA_RULES_H

#include "convert/convert.h"

typedef enum wb__ollama_type {
    WB__OLLAMA_KEEP, /* the tensor keeps the encoding of the source */
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
    wb__ollama_type type; /* type that the caller requested for the model */
} wb__ollama_ask;

typedef wb__ollama_type wb__ollama_rule(const wb__ollama_ask *ask);

/* Returns the rule for the architecture of the model. */
wb__ollama_rule *wb__ollama_rule_of(const wb_conversion *conversion);

wb__ollama_rule wb__ollama_default;

/* Returns the 8-bit type of the same family, for example int8 for int4. */
wb__ollama_type wb__ollama_eight(wb__ollama_type type);

/* Returns `type` if the row length is a multiple of its group size, and `otherwise` if it is
 * not. */
wb__ollama_type wb__ollama_if_fits(const wb__ollama_ask *ask, wb__ollama_type type,
                                   wb__ollama_type otherwise);

/* Return true if the tensor name contains, or ends with, a string. The functions with the suffix
 * _any accept a list of strings that ends with NULL, one of which must match. */
bool wb__ollama_has(const wb__ollama_ask *ask, const char *part);
bool wb__ollama_has_any(const wb__ollama_ask *ask, const char *const *parts);
bool wb__ollama_ends(const wb__ollama_ask *ask, const char *end);
bool wb__ollama_ends_any(const wb__ollama_ask *ask, const char *const *ends);

/* The packed encoding of an Ollama type. */
typedef struct wb__ollama_packing {
    wb__scheme scheme;
    uint32_t bits, group;
} wb__ollama_packing;

#define WB__OLLAMA_TYPES (WB__OLLAMA_MXFP8 + 1)
extern const wb__ollama_packing wb__ollama_packings[WB__OLLAMA_TYPES];

/* Returns the group size of a type. In Ollama's format of February 2026, the group size of int4
 * is 32. */
uint32_t wb__ollama_group(const wb_conversion *conversion, wb__ollama_type type);

#endif
