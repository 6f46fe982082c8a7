#include "convert/lora/lora_alphas.h"
#include "convert/convert_messages.h"

#include <stdlib.h>

static wb_status fail(wb__context *context, wb_status status, wb__str key, const char *what)
{
    return wb__fail(context, status, WB__FINDING_CONVERT_LORA, WB_NO_OFFSET, key,
                    WB__MSG_CONVERT_ALPHA_PATTERN, what);
}

static int by_module(const wb__lora_alpha *a, const wb__lora_alpha *b)
{
    return wb__str_compare(a->module, b->module);
}

static int by_module_and_order(const void *left, const void *right)
{
    const wb__lora_alpha *a = left, *b = right;
    int order = by_module(a, b);
    return order != 0 ? order : (a->order > b->order) - (a->order < b->order);
}

/* Converts a key of alpha_pattern to a module name by replacing "\." by ".". Returns false if
 * the key is another regular expression. */
static bool name_of(wb__str key, char *to, size_t *len)
{
    *len = 0;
    for (size_t i = 0; i < key.len; i++) {
        if (key.ptr[i] == '\\' && i + 1 < key.len && key.ptr[i + 1] == '.')
            i++;
        if (memchr("\\^$|?*+()[]{}", key.ptr[i], sizeof "\\^$|?*+()[]{}" - 1) != NULL)
            return false;
        to[(*len)++] = key.ptr[i];
    }
    return true;
}

wb_status wb__lora_alphas_read(wb__context *context, wb__arena *arena, const wb__tree *tree,
                               wb__node patterns, wb__lora_alphas *alphas)
{
    *alphas = (wb__lora_alphas){0};
    if (patterns == WB__NO_NODE || wb__tree_type(tree, patterns) == WB__JSON_NULL)
        return WB_OK;
    if (wb__tree_type(tree, patterns) != WB__JSON_OBJECT)
        return fail(context, WB_ERROR_FORMAT, WB__STR(""), WB__MSG_CONVERT_ALPHA_OBJECT);
    alphas->list =
        wb__arena_alloc(arena, (wb__tree_count(tree, patterns) + 1) * sizeof *alphas->list);
    if (alphas->list == NULL)
        return wb__fail_memory(context);
    for (wb__node key = wb__tree_first_key(tree, patterns); key != WB__NO_NODE;
         key = wb__tree_next(tree, patterns, key + 1)) {
        wb__str typed = wb__tree_string(tree, key);
        wb__lora_alpha *own = &alphas->list[alphas->count];
        char *name = wb__arena_alloc(arena, typed.len + 1);
        if (name == NULL)
            return wb__fail_memory(context);
        *own = (wb__lora_alpha){.order = alphas->count++};
        if (!wb__tree_double(tree, key + 1, &own->alpha))
            return fail(context, WB_ERROR_FORMAT, typed, WB__MSG_CONVERT_ALPHA_NUMBER);
        if (!name_of(typed, name, &own->module.len))
            return fail(context, WB_ERROR_UNSUPPORTED, typed, WB__MSG_CONVERT_ALPHA_REGEX);
        own->module.ptr = name;
    }
    qsort(alphas->list, alphas->count, sizeof *alphas->list, by_module_and_order);
    return WB_OK;
}

/* Returns the first entry whose module has this name, or NULL. */
static const wb__lora_alpha *find(const wb__lora_alphas *alphas, wb__str name)
{
    const wb__lora_alpha wanted = {.module = name};
    size_t low = 0, high = alphas->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_module(&alphas->list[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool has = low < alphas->count && by_module(&alphas->list[low], &wanted) == 0;
    return has ? &alphas->list[low] : NULL;
}

void wb__lora_alphas_find(const wb__lora_alphas *alphas, wb__str module, double *alpha)
{
    uint64_t first = UINT64_MAX;
    for (size_t at = 0; at < module.len; at++) {
        if (at > 0 && module.ptr[at - 1] != '.')
            continue;
        const wb__lora_alpha *own = find(alphas, (wb__str){module.ptr + at, module.len - at});
        if (own != NULL && own->order < first) {
            first = own->order;
            *alpha = own->alpha;
        }
    }
}
