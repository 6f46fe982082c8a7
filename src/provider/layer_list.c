#include <stdio.h>
#include <stdlib.h>

#include "handle/semantics.h"
#include "provider/layer_weights.h"
#include "provider/provider_messages.h"

typedef struct maker {
    wb__weight_list *list;
    wb__context *context;
    const wb_model *model;
    const wb__target_type *becomes;
    const wb_weights_options *options;
} maker;

/* ---- names ---- */

/* Returns the length of the layer prefix, such as "layers.0.", in the canonical name of an entry; 0
 * for a tensor outside the layers; SIZE_MAX if the tensor does not belong to `layer`. */
static size_t prefix_of(const wb__name_entry *entry, uint32_t layer, bool encoder)
{
    static const wb__str decoder_prefix = {"layers.{n}.", 11},
                         encoder_prefix = {"enc.layers.{n}.", 15};
    const char *canonical = entry->rule->canonical;
    wb__str prefix = encoder ? encoder_prefix : decoder_prefix;
    if (layer == WB_WEIGHTS_OUTSIDE)
        return wb__rule_has_layer(entry->rule) ? SIZE_MAX : 0;
    if (entry->layer != layer || strncmp(canonical, prefix.ptr, prefix.len) != 0)
        return SIZE_MAX;
    const char *number = entry->text + prefix.len - 4; /* the layer number, then a dot */
    return (size_t)(strchr(number, '.') - entry->text) + 1;
}

static bool add_item(const maker *m, wb__str text, uint32_t dimensions)
{
    wb__weight_list *list = m->list;
    if (!wb__grow(&list->allocator, (void **)&list->items, &list->capacity, sizeof *list->items,
                  list->count + 1, WB__LISTED_MAX))
        return false;
    wb__str name = {text.ptr + list->prefix, text.len - list->prefix};
    list->items[list->count++] = (wb__listed){.text = text,
                                              .name = name.ptr,
                                              .role = wb__layer_role_of(text),
                                              .order = wb__layer_order(name),
                                              .dimensions = dimensions};
    return true;
}

/* Adds the tensors of the layer that have a canonical name. */
static wb_status add_tensors(const maker *m, const wb__names *names, uint32_t layer)
{
    bool encoder = (m->options->flags & WB_WEIGHTS_ENCODER) != 0;
    for (size_t i = 0; i < names->entries.count; i++) {
        const wb__name_entry *entry = wb__names_at(names, i);
        size_t prefix = prefix_of(entry, layer, encoder);
        if (prefix == SIZE_MAX)
            continue;
        const wb__kind *kind = entry->view != WB__NO_ENTRY ? &names->views[entry->view].kind
                                                           : wb__names_kind(names, entry->first);
        m->list->prefix = prefix;
        if (!add_item(m, (wb__str){entry->text, entry->len}, kind->rank))
            return wb__fail_memory(m->context);
    }
    if (m->list->count != 0)
        return WB_OK;
    return wb__fail(m->context, WB_ERROR_NOT_FOUND, WB__FINDING_NOT_FOUND, WB_NO_OFFSET,
                    WB__STR(""), WB__MSG_PROVIDER_NO_LAYER, (unsigned long)layer);
}

/* Adds the output matrix if it is tied to the embedding. */
static wb_status add_tied(const maker *m, const wb__names *names)
{
    static const wb__str output = {"output.weight", 13};
    uint64_t number;
    if (wb__names_find(names, output) != NULL ||
        wb_tensor_find(m->model, output.ptr, output.len, &number) != WB_OK)
        return WB_OK;
    return add_item(m, output, 2) ? WB_OK : wb__fail_memory(m->context);
}

static int in_order(const void *a, const void *b)
{
    const wb__listed *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return wb__str_compare(x->text, y->text);
}

/* ---- slices ---- */

/* Sets the dimension along which a weight is divided among the ranks. */
static wb_status set_rank(const maker *m, wb__listed *item)
{
    bool is_bias = wb__str_ends_with(item->text, WB__STR(".bias"));
    bool is_vocabulary = wb__str_equal(item->text, WB__STR("token_embedding.weight")) ||
                         wb__str_equal(item->text, WB__STR("output.weight")) ||
                         wb__str_equal(item->text, WB__STR("output.bias"));
    bool by_inputs = wb__leaf_is_inputs(item->role.leaf);
    uint32_t n = item->dimensions;
    if (m->options->of == 0 || n == 0 || (item->role.leaf == WB__LEAF_NONE && !is_vocabulary) ||
        (by_inputs && is_bias))
        return WB_OK;
    if (is_bias && n > 1)
        return wb__fail(m->context, WB_ERROR_UNSUPPORTED, WB__FINDING_SLICE, WB_NO_OFFSET,
                        item->text, WB__MSG_PROVIDER_SHARD_EXPERT_BIAS);
    uint32_t rows = n < 2 ? 0 : n - 2;
    item->rank = (wb__rank){by_inputs ? n - 1 : rows, m->options->rank, m->options->of};
    return WB_OK;
}

/* ---- fused tensors ---- */

/* Returns the item with role `leaf` in the same group as `of`, or NULL. */
static wb__listed *member(const wb__weight_list *list, const wb__listed *of, wb__leaf leaf)
{
    for (size_t i = 0; i < list->count; i++) {
        wb__listed *item = &list->items[i];
        if (item->role.leaf == leaf && wb__str_equal(item->role.group, of->role.group) &&
            wb__str_equal(item->role.suffix, of->role.suffix))
            return item;
    }
    return NULL;
}

#define REMOVED UINT32_MAX /* wb__listed.part_count of an item that was fused into another item */

/* Joins texts with '+'. Returns a copy in the arena, or NULL. */
static const char *join(const maker *m, const char *const *texts, size_t n)
{
    char joined[WB__FUSED_MAX * WB__LAYER_ROLE_BYTES];
    size_t len = 0;
    for (size_t i = 0; i < n; i++)
        len += (size_t)snprintf(joined + len, sizeof joined - len, "%s%s", i == 0 ? "" : "+",
                                texts[i]);
    return len < sizeof joined ? wb__arena_copy(&m->list->arena, joined, len) : NULL;
}

/* Fuses n items into items[0]. `whole` is the name of the result, or NULL to join the names. */
static bool fuse(const maker *m, wb__listed *const *items, size_t n, const char *whole)
{
    const char *texts[WB__FUSED_MAX], *names[WB__FUSED_MAX];
    wb__listed *first = items[0];
    for (size_t i = 0; i < n; i++) {
        texts[i] = items[i]->text.ptr;
        names[i] = first->parts[i] = items[i]->name;
        items[i]->part_count = i == 0 ? (uint32_t)n : REMOVED;
    }
    const char *text = join(m, whole != NULL ? &whole : texts, whole != NULL ? 1 : n);
    const char *name = whole != NULL && text != NULL ? text + m->list->prefix : join(m, names, n);
    if (text == NULL || name == NULL)
        return false;
    first->text = wb__str_from(text, SIZE_MAX);
    first->name = name;
    return true;
}

/* Divides the n items into groups that can be fused, and fuses each group. `whole` is the role of
 * the result if all items are in one group. */
static wb_status fuse_groups(const maker *m, wb__listed *const *items, size_t n, wb__leaf whole)
{
    wb__str names[WB__FUSED_MAX];
    uint32_t groups[WB__FUSED_MAX], count;
    char name[WB__LAYER_ROLE_BYTES];
    size_t len = wb__layer_role_name(&items[0]->role, whole, name);
    for (size_t i = 0; i < n; i++)
        names[i] = items[i]->text;
    wb_status status = wb__fuse_groups(m->context, m->model, m->becomes, &items[0]->rank, names, n,
                                       groups, &count);
    for (uint32_t group = 0; group < count && status == WB_OK && len != 0; group++) {
        wb__listed *members[WB__FUSED_MAX];
        size_t of = 0;
        for (size_t i = 0; i < n; i++) {
            if (groups[i] == group)
                members[of++] = items[i];
        }
        if (of > 1 && !fuse(m, members, of, of == n ? name : NULL))
            status = wb__fail_memory(m->context);
    }
    return status;
}

/* Fuses q, k and v wherever the list has all three, and gate and up wherever it has both. */
static wb_status fuse_all(const maker *m)
{
    static const wb__leaf wholes[] = {WB__LEAF_QKV, WB__LEAF_GATE_UP};
    for (size_t w = 0; w < sizeof wholes / sizeof wholes[0]; w++) {
        wb__leaf leaves[WB__FUSED_MAX];
        size_t n = wb__leaf_parts(wholes[w], leaves);
        for (size_t i = 0; i < m->list->count; i++) {
            wb__listed *items[WB__FUSED_MAX] = {&m->list->items[i]};
            if (items[0]->role.leaf != leaves[0] || items[0]->part_count != 0)
                continue;
            bool complete = true;
            for (size_t k = 1; k < n; k++) {
                items[k] = member(m->list, items[0], leaves[k]);
                complete &= items[k] != NULL;
            }
            wb_status status = complete ? fuse_groups(m, items, n, wholes[w]) : WB_OK;
            if (status != WB_OK)
                return status;
        }
    }
    return WB_OK;
}

/* Removes the items that were fused into other items. */
static void remove_fused(wb__weight_list *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].part_count != REMOVED)
            list->items[kept++] = list->items[i];
    }
    list->count = kept;
}

/* ---- all of it ---- */

/* Sets the names of the parts of a tensor that the model stores fused: of q, k and v, or of gate
 * and up. */
static wb_status name_parts(const maker *m, wb__listed *item)
{
    wb__leaf leaves[WB__FUSED_MAX];
    size_t n = wb__leaf_parts(item->role.leaf, leaves);
    for (size_t i = 0; i < n; i++) {
        char name[WB__LAYER_ROLE_BYTES];
        size_t len = wb__layer_role_name(&item->role, leaves[i], name);
        const char *text = len == 0 ? NULL : wb__arena_copy(&m->list->arena, name, len);
        if (text == NULL)
            return wb__fail_memory(m->context);
        item->parts[item->part_count++] = text + m->list->prefix;
    }
    return WB_OK;
}

wb_status wb__weight_list_make(wb__weight_list *list, wb__context *context, const wb_model *model,
                               const wb__target_type *becomes, uint32_t layer,
                               const wb_weights_options *options)
{
    const wb__semantics *semantics;
    const maker m = {list, context, model, becomes, options};
    *list = (wb__weight_list){.allocator = context->allocator};
    list->arena.allocator = &list->allocator;
    wb_status status = wb__semantics_of(model, context, &semantics);
    if (status == WB_OK)
        status = add_tensors(&m, &semantics->names, layer);
    if (status == WB_OK && layer == WB_WEIGHTS_OUTSIDE)
        status = add_tied(&m, &semantics->names);
    for (size_t i = 0; i < list->count && status == WB_OK; i++)
        status = set_rank(&m, &list->items[i]);
    if (status == WB_OK && (options->flags & WB_WEIGHTS_FUSE) != 0)
        status = fuse_all(&m);
    if (status != WB_OK)
        return status;
    remove_fused(list);
    for (size_t i = 0; i < list->count && status == WB_OK; i++)
        status = list->items[i].part_count == 0 ? name_parts(&m, &list->items[i]) : WB_OK;
    if (list->count != 0)
        qsort(list->items, list->count, sizeof *list->items, in_order);
    return status;
}

void wb__weight_list_free(wb__weight_list *list)
{
    wb__free(&list->allocator, list->items, list->capacity * sizeof *list->items);
    if (list->arena.allocator != NULL)
        wb__arena_free(&list->arena);
    list->items = NULL;
    list->count = list->capacity = 0;
}
