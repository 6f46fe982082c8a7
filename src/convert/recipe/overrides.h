/*
 * convert/recipe/overrides.h: what a caller says of single tensors, "regex=TYPE". POSIX extended expressions;
 * of several that match a name the last counts, as with llama.cpp's --tensor-type.
 */
#ifndef WB_CONVERT_RULES_H
#define WB_CONVERT_RULES_H

#include "convert/recipe/encoding.h"

typedef struct wb__rules wb__rules;

/* Owned, release with wb__rules_free. ARGUMENT for an expression or a type that is none. */
wb_status wb__rules_make(wb__context *context, const wb_convert_rule *list, uint64_t count,
                         wb__rules **rules);
void wb__rules_free(const wb_allocator *allocator, wb__rules *rules);

/* The form a rule gives the tensor of that name, NULL if none does. Names end with a NUL. */
const wb__form *wb__rules_find(const wb__rules *rules, const char *name);

/* Of a rule by its number: whether a name has a match of it; what the caller gave, NULL: there is none. */
bool wb__rules_match(const wb__rules *rules, size_t index, const char *name);
const char *wb__rules_pattern(const wb__rules *rules, size_t index);

#endif
