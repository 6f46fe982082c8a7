/* convert/recipe/overrides.h: the caller's rules for single tensors, "regex=TYPE". The regular
 * expressions are POSIX extended. If several match a name, the last one is used, like with
 * llama.cpp's --tensor-type. */
#ifndef WB_CONVERT_RECIPE_OVERRIDES_H
#define WB_CONVERT_RECIPE_OVERRIDES_H

#include "convert/recipe/encoding.h"
#include "weighbridge/convert.h"

typedef struct wb__overrides wb__overrides;

/* Parses the rules. The caller frees them with wb__overrides_free. Returns WB_ERROR_ARGUMENT for
 * an invalid expression or type. */
wb_status wb__overrides_make(wb__context *context, const wb_convert_rule *list, uint64_t count,
                             wb__overrides **rules);
void wb__overrides_free(const wb_allocator *allocator, wb__overrides *rules);

/* Returns the encoding that the rules give a tensor, or NULL. The name must be NUL-terminated. */
const wb__encoding_spec *wb__overrides_find(const wb__overrides *rules, const char *name);

/* wb__overrides_match returns true if the rule at an index matches the name. wb__overrides_pattern
 * returns the caller's pattern of this rule, or NULL if the index is past the last rule. */
bool wb__overrides_match(const wb__overrides *rules, size_t index, const char *name);
const char *wb__overrides_pattern(const wb__overrides *rules, size_t index);

#endif
