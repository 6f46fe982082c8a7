/*
 * Plans the tensors of a model directory in the same way as `ollama create`. The tensors keep their
 * names, whatever the architecture is. The weights of separate experts are stacked into one tensor
 * per projection. Experts are not stacked if the model is already packed, or if the store is
 * written in the older layout of Ollama, that of February 2026.
 */
#include <stdlib.h>

#include "convert/convert.h"
#include "convert/convert_messages.h"

/* Parts of a tensor name such as "model.layers.3.mlp.experts.7.up_proj.weight". */
typedef struct expert {
    wb__str group;   /* for example "model.layers.3.mlp.experts." */
    wb__str rest;    /* for example ".up_proj.weight" */
    uint64_t number; /* index of the expert, for example 7 */
    uint32_t tensor; /* index of the tensor in the model */
} expert;

typedef struct store_plan {
    wb_conversion *conversion;
    wb__context *context;
    wb__list experts;
    const expert **sorted;
    bool stacks;
} store_plan;

/* ---- names ---- */

/* Returns the number of digits with which the text begins, and sets *number to their value. */
static size_t digits_at(wb__str text, uint64_t *number)
{
    size_t n = 0;
    *number = 0;
    for (; n < text.len && n < 9 && text.ptr[n] >= '0' && text.ptr[n] <= '9'; n++)
        *number = *number * 10 + (uint64_t)(text.ptr[n] - '0');
    return n;
}

/* Returns true if the text is a name such as "layers.3", which may have one of the prefixes in
 * `wraps`. Multimodal models have such prefixes. */
static bool is_layer(wb__str text)
{
    static const wb__str wraps[] = {{"model.language_model.backbone.", 30},
                                    {"model.language_model.", 21},
                                    {"language_model.model.", 21},
                                    {"language_model.backbone.", 24},
                                    {"language_model.", 15},
                                    {"model.", 6},
                                    {"backbone.", 9},
                                    {"mtp.", 4},
                                    {"", 0}};
    static const wb__str word = {"layers.", 7};
    for (size_t i = 0; i < sizeof wraps / sizeof wraps[0]; i++) {
        wb__str rest = {text.ptr + wraps[i].len, text.len - wraps[i].len};
        uint64_t number;
        if (!wb__str_starts_with(text, wraps[i]) || !wb__str_starts_with(rest, word))
            continue;
        rest = (wb__str){rest.ptr + word.len, rest.len - word.len};
        return rest.len > 0 && digits_at(rest, &number) == rest.len;
    }
    return false;
}

static bool take_apart(wb__str name, expert *to)
{
    static const wb__str marks[] = {{".mlp.experts.", 13},    {".mlp.shared_experts.", 20},
                                    {".mlp.switch_mlp.", 16}, {".moe.experts.", 13},
                                    {".mixer.experts.", 15},  {".mixer.shared_experts.", 22}};
    if (!wb__str_ends_with(name, WB__STR(".weight")))
        return false;
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        size_t at = wb__str_find(name, marks[i]);
        if (at == SIZE_MAX || !is_layer((wb__str){name.ptr, at}))
            continue;
        at += marks[i].len;
        size_t n = digits_at((wb__str){name.ptr + at, name.len - at}, &to->number);
        to->group = (wb__str){name.ptr, at};
        to->rest = (wb__str){name.ptr + at + n, name.len - at - n};
        return n > 0 && to->rest.len > sizeof ".weight" - 1 && to->rest.ptr[0] == '.';
    }
    return false;
}

/* Returns the name of the stacked tensor, for example
 * "model.layers.3.mlp.experts.up_proj.weight". */
static wb__str stack_name(wb_conversion *conversion, const expert *of)
{
    size_t rest = of->rest.len - 1, n = of->group.len + rest;
    char *text = wb__arena_alloc(&conversion->arena, n + 1);
    if (text != NULL) {
        memcpy(text, of->group.ptr, of->group.len);
        memcpy(text + of->group.len, of->rest.ptr + 1, rest);
        text[n] = '\0';
    }
    return (wb__str){text, n};
}

static int by_stack(const void *left, const void *right)
{
    const expert *a = *(const expert *const *)left, *b = *(const expert *const *)right;
    int order = wb__str_compare(a->group, b->group);
    if (order == 0)
        order = wb__str_compare(a->rest, b->rest);
    return order != 0 ? order : (a->number > b->number) - (a->number < b->number);
}

/* ---- rows ---- */

static void take_rule(const wb_conversion *conversion, wb__str name, wb__planned_tensor *row)
{
    wb__matched matched;
    if (!wb__rule_match(&conversion->semantics->names.rules, name, &matched) ||
        matched.rule->canonical == NULL)
        return;
    row->rule = matched.rule;
    row->layer = matched.layer;
    row->suffix = matched.suffix;
}

/* Returns true if the caller requested an encoding without quantization. */
static bool is_decoded(const wb_conversion *conversion)
{
    return conversion->quant.kind != WB__QUANT_NONE &&
           conversion->quant.spec.scheme == WB__SCHEME_PLAIN;
}

/* Adds a row to the plan. If Ollama supports the packed encoding of the tensor, the encoding is
 * preserved, and a global scale becomes a separate row. */
static wb_status add(const store_plan *store, wb__planned_tensor *row)
{
    wb_conversion *conversion = store->conversion;
    wb__global global;
    bool by_view, stays = conversion->lora_count == 0 && wb__plan_ruled(conversion, row) == NULL &&
                          !is_decoded(conversion);
    wb__encoding_spec spec = wb__plan_form_of(conversion, row->source, &by_view, &global);
    wb_status status = WB_OK;
    if (stays && !by_view && wb__plan_ollama_has(&spec))
        status = wb__global_scales_add(conversion, store->context, row);
    return status == WB_OK ? wb__plan_append(conversion, store->context, row) : status;
}

static wb_status add_tensor(store_plan *store, uint32_t i)
{
    wb__planned_tensor row;
    expert apart;
    wb_status status = wb__plan_row(store->conversion, store->context, i, &row);
    if (status != WB_OK)
        return status;
    row.name = wb__plan_own_name(store->conversion, row.source_name);
    if (row.name.ptr == NULL)
        return wb__fail_memory(store->context);
    if (store->stacks && take_apart(row.name, &apart)) {
        expert *kept = wb__list_append(&store->experts);
        if (kept == NULL)
            return wb__fail_memory(store->context);
        *kept = apart;
        kept->tensor = i;
        return WB_OK;
    }
    take_rule(store->conversion, row.source_name, &row);
    return add(store, &row);
}

/* ---- stacked experts ---- */

static bool is_alike(const wb_conversion *conversion, uint32_t a, uint32_t b)
{
    const wb__kind *x = wb__names_kind(&conversion->semantics->names, a);
    const wb__kind *y = wb__names_kind(&conversion->semantics->names, b);
    bool view_x, view_y;
    wb__global global_x, global_y;
    wb__encoding_spec form_x = wb__plan_form_of(conversion, a, &view_x, &global_x);
    wb__encoding_spec form_y = wb__plan_form_of(conversion, b, &view_y, &global_y);
    return x->rank == y->rank && memcmp(x->shape, y->shape, x->rank * sizeof *x->shape) == 0 &&
           wb__encoding_spec_equal(&form_x, &form_y) && view_x == view_y && global_x == global_y;
}

static wb_status fail_stack(const store_plan *store, wb__str name)
{
    return wb__fail(store->context, WB_ERROR_UNSUPPORTED, WB__FINDING_EXPERTS_INCOMPLETE,
                    WB_NO_OFFSET, name, WB__MSG_CONVERT_EXPERTS_OLLAMA);
}

static wb_status stack(const store_plan *store, const expert *const *list, size_t count)
{
    wb_conversion *conversion = store->conversion;
    wb__planned_tensor row;
    wb_status status = wb__plan_row(conversion, store->context, list[0]->tensor, &row);
    if (status != WB_OK)
        return status;
    uint64_t *shape = wb__arena_alloc(&conversion->arena, (row.rank + (size_t)1) * sizeof *shape);
    uint32_t *pieces = wb__arena_alloc(&conversion->arena, count * sizeof *pieces);
    wb__str name = stack_name(conversion, list[0]);
    if (shape == NULL || pieces == NULL || name.ptr == NULL)
        return wb__fail_memory(store->context);
    for (size_t i = 0; i < count; i++) {
        pieces[i] = list[i]->tensor;
        if (list[i]->number != i || !is_alike(conversion, list[i]->tensor, pieces[0]))
            return fail_stack(store, name);
    }
    uint64_t rows = row.rank < 2 ? 1 : row.rows; /* number of rows of one expert */
    if (row.rank == 0 || !wb__mul(rows, count, &row.rows))
        return fail_stack(store, name);
    shape[0] = count;
    memcpy(shape + 1, row.shape, row.rank * sizeof *shape);
    take_rule(conversion, row.source_name, &row);
    row.name = name;
    row.shape = shape;
    row.rank++;
    row.pieces = pieces;
    row.piece_count = count;
    row.piece_rows = rows;
    return wb__plan_append(conversion, store->context, &row);
}

static wb_status stack_all(store_plan *store)
{
    size_t n = store->experts.count;
    wb_status status = WB_OK;
    if (n == 0)
        return WB_OK;
    store->sorted = wb__arena_alloc(&store->conversion->arena, n * sizeof(*store->sorted));
    if (store->sorted == NULL)
        return wb__fail_memory(store->context);
    for (size_t i = 0; i < n; i++)
        store->sorted[i] = wb__list_at(&store->experts, i);
    qsort(store->sorted, n, sizeof(*store->sorted), by_stack);
    for (size_t first = 0, end; first < n && status == WB_OK; first = end) {
        const expert *of = store->sorted[first];
        for (end = first + 1; end < n && wb__str_equal(store->sorted[end]->group, of->group) &&
                              wb__str_equal(store->sorted[end]->rest, of->rest);)
            end++;
        status = stack(store, store->sorted + first, end - first);
    }
    return status;
}

/* Returns true if the model has tensors with a packed encoding that Ollama supports. */
static bool is_packed(const wb_conversion *conversion)
{
    for (size_t i = 0; i < conversion->model->tensors.packed_count; i++) {
        const wb__packed *packed = &conversion->model->tensors.packed[i];
        bool by_view;
        wb__global global;
        wb__encoding_spec spec = wb__plan_form_of(
            conversion,
            wb__tensors_number(&conversion->model->tensors, packed->parts[WB__PART_VALUES]),
            &by_view, &global);
        if (!by_view && wb__plan_ollama_has(&spec))
            return true;
    }
    return false;
}

wb_status wb__plan_store(wb_conversion *conversion, wb__context *context)
{
    store_plan store = {.conversion = conversion, .context = context};
    wb_status status = WB_OK;
    store.experts = (wb__list){.arena = &conversion->arena, .item_size = sizeof(expert)};
    store.stacks = !conversion->feb2026 && (is_decoded(conversion) || !is_packed(conversion));
    for (size_t i = 0; i < conversion->model->tensors.count && status == WB_OK; i++)
        status = add_tensor(&store, (uint32_t)i);
    if (status == WB_OK)
        status = stack_all(&store);
    wb__list_free(&store.experts);
    return status;
}
