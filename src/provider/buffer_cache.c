#define _POSIX_C_SOURCE 200809L
#include "provider/buffer_load.h"

/* ---- entries; all under the lock ---- */

static wb__entry *make_entry(wb_provider *provider, const uint64_t *keys, size_t n,
                             const wb__rank *rank)
{
    wb__entry *entry = wb__arena_alloc(&provider->arena, sizeof *entry + n * sizeof entry->keys[0]);
    if (entry == NULL)
        return NULL;
    memset(entry, 0, sizeof *entry);
    atomic_init(&entry->state, 0);
    atomic_init(&entry->last_used, 0);
    atomic_init(&entry->hits, 0);
    entry->rank = *rank;
    entry->operands = n;
    memcpy(entry->keys, keys, n * sizeof *keys);
    wb__entry **listed = wb__list_append(&provider->entries);
    if (listed == NULL)
        return NULL;
    *listed = entry;
    return entry;
}

static wb__entry *entry_of_keys(wb_provider *provider, const uint64_t *keys, size_t n,
                                const wb__rank *rank, bool make)
{
    wb__str text = {(const char *)keys, n * sizeof *keys};
    uint64_t hash = wb__query_hash(&provider->names, text, rank, true);
    wb__entry *entry = wb__names_table_find(&provider->names, hash, text, rank, true);
    if (entry != NULL || !make)
        return entry;
    entry = make_entry(provider, keys, n, rank);
    if (entry != NULL && !wb__names_table_add(&provider->names, hash, text, rank, true, entry))
        entry = NULL; /* out of memory: the entry stays in provider->entries, but cannot be found */
    return entry;
}

wb_status wb__entry_find(wb_provider *provider, wb__context *context, const wb__query *query,
                         wb__entry **found)
{
    uint64_t hash = wb__query_hash(&provider->names, query->text, &query->rank, false);
    wb__operands operands = {.allocator = provider->allocator};
    bool joined = query->rank.axis == WB__JOINED;
    wb__rank rank = query->rank.of == 0 ? (wb__rank){0, 0, 0} : query->rank;
    *found = wb__names_table_find(&provider->names, hash, query->text, &query->rank, false);
    if (*found != NULL)
        return WB_OK;
    wb_status status = wb__operands_add(&operands, context, provider->model, query->text, joined);
    uint64_t *keys = NULL;
    if (status == WB_OK) {
        keys = wb__alloc(&provider->allocator, operands.count * sizeof *keys);
        for (size_t i = 0; keys != NULL && i < operands.count; i++)
            keys[i] = wb__operand_key(&operands.list[i]);
        wb__entry *entry =
            keys == NULL ? NULL : entry_of_keys(provider, keys, operands.count, &rank, true);
        if (entry == NULL ||
            !wb__names_table_add(&provider->names, hash, query->text, &query->rank, false, entry))
            status = wb__fail_memory(context);
        else
            *found = entry;
    }
    wb__free(&provider->allocator, keys, operands.count * sizeof *keys);
    wb__operands_free(&operands);
    return status;
}

/* ---- asking ---- */

wb_status wb__entry_get(wb_provider *provider, wb__context *context, wb__entry *entry)
{
    while (!wb__entry_use(provider, entry)) {
        if (entry->loading) {
            (void)pthread_cond_wait(&provider->loaded, &provider->lock);
            continue;
        }
        entry->loading = true;
        (void)pthread_mutex_unlock(&provider->lock);
        wb_status status = wb__load_alone(provider, context, entry);
        (void)pthread_mutex_lock(&provider->lock);
        return status;
    }
    return WB_OK;
}

static wb_status ask(wb_provider *provider, const wb__query *query, wb_buffer *buffer,
                     wb_error *error)
{
    wb_error spare;
    wb__entry *entry;
    wb__context context = wb__provider_context(provider, wb__error_reset(error, &spare));
    (void)pthread_mutex_lock(&provider->lock);
    wb_status status = wb__entry_find(provider, &context, query, &entry);
    if (status == WB_OK)
        status = wb__entry_get(provider, &context, entry);
    (void)pthread_mutex_unlock(&provider->lock);
    if (status == WB_OK)
        *buffer = entry->buffer;
    return status;
}

wb_status wb__provider_get(wb_provider *provider, const wb__query *query, wb_buffer *buffer,
                           wb_error *error)
{
    uint64_t hash = wb__query_hash(&provider->names, query->text, &query->rank, false);
    wb__entry *entry =
        wb__names_table_find(&provider->names, hash, query->text, &query->rank, false);
    if (entry != NULL && wb__entry_use(provider, entry)) {
        *buffer = entry->buffer;
        return WB_OK;
    }
    return ask(provider, query, buffer, error);
}

void wb__provider_drop_parts(wb_provider *provider, const wb_buffer *buffer)
{
    const wb__entry *whole = buffer->use;
    const wb__rank rank = {0, 0, 0};
    (void)pthread_mutex_lock(&provider->lock);
    for (size_t i = 0; i < whole->operands && whole->operands > 1; i++) {
        wb__entry *part = entry_of_keys(provider, &whole->keys[i], 1, &rank, false);
        if (part != NULL)
            (void)wb__entry_evict(provider, part);
    }
    (void)pthread_mutex_unlock(&provider->lock);
}
