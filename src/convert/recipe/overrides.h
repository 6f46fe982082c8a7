/*
 * convert/recipe/overrides.h: what a caller says of single tensors, "regex=TYPE". POSIX extended expressions;
 * of several that match a name the last counts, as with llama.cpp's --tensor-type.
 */
#ifndef WB_CONVERT_RECIPE_OVERRIDES_H
#define WB_CONVERT_RECIPE_OVERRIDES_H

#include "convert/recipe/encoding.h"
#include "weighbridge/convert.h"

typedef struct wb__overrides wb__overrides;

/* Owned, release with wb__overrides_free. ARGUMENT for an expression or a type that is none. */
wb_status wb__overrides_make(wb__context *context, const wb_convert_rule *list, uint64_t count,
                             wb__overrides **rules);
void wb__overrides_free(const wb_allocator *allocator, wb__overrides *rules);

/* The form a rule gives the tensor of that name, NULL if none does. Names end with a NUL. */
const wb__encoding_spec *wb__overrides_find(const wb__overrides *rules, const char *name);

/* Of a rule by its number: whether a name has a match of it; what the caller gave, NULL: there is none. */
bool wb__overrides_match(const wb__overrides *rules, size_t index, const char *name);
const char *wb__overrides_pattern(const wb__overrides *rules, size_t index);

#endif
