/* convert/recipe/overrides.h: the caller's rules "regex=TYPE", which set the encoding of single
 * tensors. The regular expressions are POSIX extended regular expressions. If several rules
 * match a name, the last one is used, as with --tensor-type of llama.cpp. */
#ifndef WB_CONVERT_RECIPE_OVERRIDES_H
#define WB_CONVERT_RECIPE_OVERRIDES_H

#include "convert/recipe/encoding.h"
#include "weighbridge/convert.h"

typedef struct wb__overrides wb__overrides;

/* Parses the caller's rules. The caller frees *rules with wb__overrides_free. Returns
 * WB_ERROR_ARGUMENT if an expression or a type is invalid. */
wb_status wb__overrides_make(wb__context *context, const wb_convert_rule *list, uint64_t count,
                             wb__overrides **rules);
void wb__overrides_free(const wb_allocator *allocator, wb__overrides *rules);

/* Returns the encoding that the rules specify for the tensor name, or NULL if no rule matches.
 * The name must be NUL-terminated. */
const wb__encoding_spec *wb__overrides_find(const wb__overrides *rules, const char *name);

/* wb__overrides_match returns true if rule number `index` matches the name.
 * wb__overrides_pattern returns the caller's pattern of this rule, or NULL if the index is not
 * less than the number of rules. */
bool wb__overrides_match(const wb__overrides *rules, size_t index, const char *name);
const char *wb__overrides_pattern(const wb__overrides *rules, size_t index);

#endif
