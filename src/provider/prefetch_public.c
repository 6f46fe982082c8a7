#define _POSIX_C_SOURCE 200809L
#include "provider/load_many.h"

#define PAGE ((uint64_t)4096)

/* A call of wb_provider_prefetch, and the entries (buffers) that it loads. */
typedef struct prefetch {
    wb_provider *provider;
    wb__entry **entries;
    size_t count, capacity;
} prefetch;

/* Adds the entry of a name. If `optional` is set, ignores a name that no tensor has, which happens
 * for the canonical name of an incomplete stack of experts. */
static wb_status add_name(prefetch *p, wb__context *context, wb__str name, bool optional)
{
    wb__entry *entry;
    const wb__query query = {name, {0, 0, 0}};
    (void)pthread_mutex_lock(&p->provider->lock);
    wb_status status = wb__entry_find(p->provider, context, &query, &entry);
    (void)pthread_mutex_unlock(&p->provider->lock);
    if (status == WB_OK)
        p->entries[p->count++] = entry;
    return status == WB_ERROR_NOT_FOUND && optional ? WB_OK : status;
}

static wb_status add_all(prefetch *p, wb__context *context)
{
    const char *texts;
    const uint64_t *offsets;
    wb_status status =
        wb_tensor_names(p->provider->model, WB_NAMES_CANONICAL, &texts, &offsets, context->error);
    for (size_t i = 0; i < p->capacity && status == WB_OK; i++) {
        wb__str name = {texts + offsets[i], (size_t)(offsets[i + 1] - offsets[i] - 1)};
        if (name.len != 0)
            status = add_name(p, context, name, true);
    }
    return status;
}

/* Touches each page of a buffer that uses mapped bytes. The bytes stay mapped until the model is
 * closed, even if the buffer is evicted. */
static void touch(void *arg, size_t i)
{
    const prefetch *p = arg;
    const wb__entry *entry = p->entries[i];
    const volatile uint8_t *bytes = NULL;
    uint64_t n = 0;
    (void)pthread_mutex_lock(&p->provider->lock);
    if ((atomic_load(&p->entries[i]->state) & WB__READY) != 0 && entry->buffer.borrowed != 0) {
        bytes = entry->buffer.contents;
        n = entry->buffer.bytes;
    }
    (void)pthread_mutex_unlock(&p->provider->lock);
    for (uint64_t at = 0; at < n; at += PAGE)
        (void)bytes[at];
}

static void touch_all(prefetch *p)
{
    const wb_executor *executor = &p->provider->executor;
    if (executor->parallel_for != NULL)
        executor->parallel_for(executor->ctx, p->count, touch, p);
    for (size_t i = 0; executor->parallel_for == NULL && i < p->count; i++)
        touch(p, i);
}

wb_status wb_provider_prefetch(wb_provider *provider, const char *const *names,
                               const size_t *name_lens, size_t n, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__provider_context(provider, wb__error_reset(error, &spare));
    prefetch p = {.provider = provider,
                  .capacity = names == NULL ? (size_t)wb_tensor_count(provider->model) : n};
    p.entries = wb__alloc(&provider->allocator, p.capacity * sizeof(wb__entry *));
    if (p.entries == NULL && p.capacity != 0)
        return wb__fail_memory(&context);
    wb_status status = names == NULL ? add_all(&p, &context) : WB_OK;
    for (size_t i = 0; names != NULL && i < n && status == WB_OK; i++)
        status =
            add_name(&p, &context,
                     wb__str_from(names[i], name_lens == NULL ? SIZE_MAX : name_lens[i]), false);
    if (status == WB_OK)
        status = wb__load_many(provider, &context, p.entries, p.count, NULL);
    if (status == WB_OK)
        touch_all(&p);
    wb__free(&provider->allocator, p.entries, p.capacity * sizeof(wb__entry *));
    return status;
}
