#define _POSIX_C_SOURCE 200809L
#include "provider/provider.h"
#include "provider/provider_messages.h"

/* ---- uses ---- */

void wb__provider_release(wb_provider *provider, const wb_buffer *buffer)
{
    wb__entry *entry = (wb__entry *)(uintptr_t)buffer->use;
    (void)provider;
    size_t state = atomic_load_explicit(&entry->state, memory_order_relaxed);
    while ((state & ~WB__READY) != 0 && (state & ~WB__READY) != WB__FOR_GOOD &&
           !atomic_compare_exchange_weak_explicit(&entry->state, &state, state - 1,
                                                  memory_order_release, memory_order_relaxed))
        ;
}

/* ---- eviction; the lock is held ---- */

uint64_t wb__device_bytes(const wb_buffer *buffer)
{
    return buffer->bytes == 0 ? 1 : buffer->bytes;
}

void wb__handle_free(const wb_provider *provider, const wb_buffer *buffer)
{
    const wb_device *device = &provider->device;
    if (buffer->borrowed == 0)
        device->free(device->ctx, buffer->handle, wb__device_bytes(buffer));
    else if (device->unborrow != NULL)
        device->unborrow(device->ctx, buffer->handle);
}

bool wb__entry_evict(wb_provider *provider, wb__entry *entry)
{
    size_t state = WB__READY;
    if (!atomic_compare_exchange_strong(&entry->state, &state, 0))
        return false;
    wb__handle_free(provider, &entry->buffer);
    provider->stats.bytes -= entry->charged;
    provider->stats.buffers--;
    provider->stats.borrowed -= entry->buffer.borrowed;
    provider->stats.evictions++;
    entry->charged = 0;
    return true;
}

static wb__entry *entry_at(const wb_provider *provider, size_t i)
{
    return *(wb__entry **)wb__list_at(&provider->entries, i);
}

static bool evict_oldest(wb_provider *provider)
{
    wb__entry *oldest = NULL;
    size_t then = SIZE_MAX;
    for (size_t i = 0; i < provider->entries.count; i++) {
        wb__entry *entry = entry_at(provider, i);
        size_t used = atomic_load_explicit(&entry->last_used, memory_order_relaxed);
        if (entry->charged != 0 && used <= then && atomic_load(&entry->state) == WB__READY) {
            oldest = entry;
            then = used;
        }
    }
    return oldest != NULL && wb__entry_evict(provider, oldest);
}

wb_status wb__reserve(wb_provider *provider, wb__context *context, uint64_t bytes)
{
    wb_cache_stats *stats = &provider->stats;
    uint64_t most = provider->budget != 0 ? provider->budget : UINT64_MAX;
    while (bytes > most || stats->bytes > most - bytes) {
        if (bytes > most || !evict_oldest(provider))
            return wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_BUDGET, WB_NO_OFFSET, WB__STR(""),
                            WB__MSG_PROVIDER_BUDGET, (unsigned long long)bytes,
                            (unsigned long long)most, (unsigned long long)stats->bytes);
    }
    stats->bytes += bytes;
    if (stats->bytes > stats->peak_bytes)
        stats->peak_bytes = stats->bytes;
    return WB_OK;
}

void wb__provider_trim(wb_provider *provider)
{
    (void)pthread_mutex_lock(&provider->lock);
    for (size_t i = 0; i < provider->entries.count; i++)
        (void)wb__entry_evict(provider, entry_at(provider, i));
    (void)pthread_mutex_unlock(&provider->lock);
    wb__staging_trim(&provider->rooms);
}

void wb__provider_count(const wb_provider *provider, wb_cache_stats *stats)
{
    wb_provider *p = (wb_provider *)(uintptr_t)provider; /* cast const away to lock the mutex */
    (void)pthread_mutex_lock(&p->lock);
    *stats = p->stats;
    stats->size = sizeof *stats;
    stats->budget = p->budget;
    stats->hits = stats->in_use = 0;
    for (size_t i = 0; i < p->entries.count; i++) {
        wb__entry *entry = entry_at(p, i);
        stats->hits += atomic_load_explicit(&entry->hits, memory_order_relaxed);
        stats->in_use += (atomic_load(&entry->state) & ~WB__READY) != 0;
    }
    (void)pthread_mutex_unlock(&p->lock);
}

void wb__provider_free_buffers(wb_provider *provider)
{
    for (size_t i = 0; i < provider->entries.count; i++) {
        wb__entry *entry = entry_at(provider, i);
        if ((atomic_load(&entry->state) & WB__READY) != 0)
            wb__handle_free(provider, &entry->buffer);
    }
}
