#define _POSIX_C_SOURCE 200809L
#include "core/call_options.h"
#include "io/direct.h"
#include "provider/layer_weights.h"
#include "provider/load_many.h"
#include "provider/provider_messages.h"

#define FLAGS (WB_WEIGHTS_FUSE | WB_WEIGHTS_AHEAD | WB_WEIGHTS_FREE_BEHIND | WB_WEIGHTS_ENCODER)

struct wb_weights {
    wb_provider *provider;
    uint32_t flags;
    wb__weight_list list;
    wb__entry **entries; /* one for each item of the list */
    wb_buffer *buffers;
    bool is_loaded; /* all buffers are loaded; each has a use, which must be released */
};

/* ---- loading ---- */

static wb_status find_entries(wb_weights *w, wb__context *context)
{
    wb_status status = WB_OK;
    for (size_t i = 0; i < w->list.count && status == WB_OK; i++) {
        const wb__listed *item = &w->list.items[i];
        const wb__query query = {item->text, item->rank};
        (void)pthread_mutex_lock(&w->provider->lock);
        status = wb__entry_find(w->provider, context, &query, &w->entries[i]);
        (void)pthread_mutex_unlock(&w->provider->lock);
    }
    return status;
}

static wb_status load(wb_weights *w, wb__context *context)
{
    const wb_allocator *allocator = &w->provider->allocator;
    w->entries = wb__alloc(allocator, w->list.count * sizeof(wb__entry *));
    w->buffers = wb__alloc(allocator, w->list.count * sizeof *w->buffers);
    if (w->entries == NULL || w->buffers == NULL)
        return wb__fail_memory(context);
    wb_status status = find_entries(w, context);
    if (status == WB_OK)
        status = wb__load_many(w->provider, context, w->entries, w->list.count, w->buffers);
    w->is_loaded = status == WB_OK;
    return status;
}

/* ---- the next layer ---- */

static void read_ahead(const wb_provider *provider, const wb__layout *layout)
{
    for (size_t i = 0; i < layout->runs.count; i++) {
        const wb__run *run = wb__list_at(&layout->runs, i);
        const wb_plan_range *range = &run->range;
        uint64_t n = range->count == 0 ? 0 : (range->count - 1) * range->stride + range->bytes;
        if (run->part != WB__NO_PART && range->file < provider->files.count)
            wb__source_read_ahead(provider->files.sources[range->file], range->offset, n);
    }
}

/* Starts reading the weights of a layer into the page cache. Ignores all errors: a later request
 * for this layer reports them. */
static void look_ahead(wb_provider *provider, uint32_t layer, const wb_weights_options *options)
{
    wb__weight_list list;
    wb_error ignored;
    wb_weights_options plain = *options;
    wb__context context = wb__provider_context(provider, wb__error_reset(NULL, &ignored));
    plain.flags &= ~WB_WEIGHTS_FUSE; /* fusing does not change the bytes to read */
    wb_status status =
        wb__weight_list_make(&list, &context, provider->model, &provider->becomes, layer, &plain);
    for (size_t i = 0; i < list.count && status == WB_OK; i++) {
        wb__operands operands = {.allocator = provider->allocator};
        wb__layout layout = {.bytes = 0};
        if (wb__operands_add(&operands, &context, provider->model, list.items[i].text, false) ==
                WB_OK &&
            wb__layout_make(&layout, &context, provider->model, &operands, &list.items[i].rank,
                            &provider->becomes) == WB_OK)
            read_ahead(provider, &layout);
        wb__layout_free(&layout);
        wb__operands_free(&operands);
    }
    wb__weight_list_free(&list);
}

/* ---- public functions ---- */

static wb_status check_options(wb__context *context, const wb_weights_options *options)
{
    if (options->flags & ~FLAGS)
        return wb__fail_argument(context, WB__MSG_PROVIDER_WEIGHTS_FLAGS);
    if (options->of != 0 && options->rank >= options->of)
        return wb__fail_argument(context, WB__MSG_PROVIDER_SHARD_RANK);
    return WB_OK;
}

wb_status wb_provider_weights(wb_provider *provider, uint32_t layer,
                              const wb_weights_options *caller, wb_weights **weights,
                              wb_error *error)
{
    wb_error spare;
    wb_weights_options options = {.size = sizeof options};
    wb__context context = wb__provider_context(provider, wb__error_reset(error, &spare));
    *weights = NULL;
    if (!WB__TAKE(wb_weights_options, caller, &options))
        return WB__FAIL_SIZE(&context, wb_weights_options, caller);
    wb_status status = check_options(&context, &options);
    if (status != WB_OK)
        return status;
    wb_weights *w = wb__alloc_zeroed(&provider->allocator, sizeof *w);
    if (w == NULL)
        return wb__fail_memory(&context);
    w->provider = provider;
    w->flags = options.flags;
    status = wb__weight_list_make(&w->list, &context, provider->model, &provider->becomes, layer,
                                  &options);
    if (status == WB_OK)
        status = load(w, &context);
    if (status != WB_OK) {
        wb_weights_free(w);
        return status;
    }
    if ((options.flags & WB_WEIGHTS_AHEAD) != 0 && layer != WB_WEIGHTS_OUTSIDE &&
        provider->files.io != WB_IO_DIRECT)
        look_ahead(provider, layer + 1, &options);
    *weights = w;
    return WB_OK;
}

static void free_buffers(wb_weights *w)
{
    wb_provider *provider = w->provider;
    for (size_t i = 0; i < w->list.count; i++)
        wb__provider_release(provider, &w->buffers[i]);
    if ((w->flags & WB_WEIGHTS_FREE_BEHIND) == 0)
        return;
    (void)pthread_mutex_lock(&provider->lock);
    for (size_t i = 0; i < w->list.count; i++)
        (void)wb__entry_evict(provider, w->entries[i]);
    (void)pthread_mutex_unlock(&provider->lock);
}

void wb_weights_free(wb_weights *w)
{
    if (w == NULL)
        return;
    const wb_allocator allocator = w->provider->allocator;
    size_t count = w->list.count;
    if (w->is_loaded)
        free_buffers(w);
    wb__free(&allocator, w->entries, count * sizeof(wb__entry *));
    wb__free(&allocator, w->buffers, count * sizeof *w->buffers);
    wb__weight_list_free(&w->list);
    wb__free(&allocator, w, sizeof *w);
}

uint32_t wb_weights_count(const wb_weights *weights)
{
    return (uint32_t)weights->list.count;
}

static uint64_t all_rows(const wb_buffer *buffer)
{
    uint64_t rows = 0;
    for (uint32_t i = 0; i < buffer->parts; i++)
        rows += buffer->part_rows[i];
    return rows;
}

static wb_weight describe(const wb_weights *weights, size_t index)
{
    const wb__listed *item = &weights->list.items[index];
    const wb_buffer *buffer = &weights->buffers[index];
    return (wb_weight){.size = sizeof(wb_weight),
                       .name = item->name,
                       .buffer = buffer,
                       .rows = all_rows(buffer),
                       .axis = item->rank.of == 0 ? -1 : (int32_t)item->rank.axis};
}

wb_status wb_weights_at(const wb_weights *weights, uint32_t index, wb_weight *caller)
{
    wb_weight own, *out = WB__OUT(wb_weight, caller, &own);
    if (out == NULL)
        return WB_ERROR_ARGUMENT;
    if (index >= weights->list.count)
        return WB_ERROR_NOT_FOUND;
    *out = describe(weights, index);
    WB__GIVE(wb_weight, caller, out);
    return WB_OK;
}

/* Finds the tensor `name` among the parts of a fused weight, and describes its rows in *weight. */
static bool find_part(const wb_weights *weights, size_t index, wb__str name, wb_weight *weight)
{
    const wb__listed *item = &weights->list.items[index];
    const wb_buffer *buffer = &weights->buffers[index];
    uint64_t first = 0;
    for (uint32_t i = 0; i < item->part_count && item->part_count == buffer->parts; i++) {
        if (wb__str_equal(wb__str_from(item->parts[i], SIZE_MAX), name)) {
            *weight = describe(weights, index);
            weight->first_row = first;
            weight->rows = buffer->part_rows[i];
            return true;
        }
        first += buffer->part_rows[i];
    }
    return false;
}

wb_status wb_weights_find(const wb_weights *weights, const char *name, size_t name_len,
                          wb_weight *caller)
{
    wb_weight own, *out = WB__OUT(wb_weight, caller, &own);
    wb__str wanted = wb__str_from(name, name_len);
    bool found = false;
    if (out == NULL)
        return WB_ERROR_ARGUMENT;
    for (size_t i = 0; i < weights->list.count && !found; i++) {
        found = wb__str_equal(wb__str_from(weights->list.items[i].name, SIZE_MAX), wanted);
        if (found)
            *out = describe(weights, i);
        else
            found = find_part(weights, i, wanted, out);
    }
    if (!found)
        return WB_ERROR_NOT_FOUND;
    WB__GIVE(wb_weight, caller, out);
    return WB_OK;
}
