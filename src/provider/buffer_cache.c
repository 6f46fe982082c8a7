#define _POSIX_C_SOURCE 200809L
#include "provider/provider.h"
#include "provider/provider_messages.h"
#include "weighbridge/codec.h"

/* ---- uses ---- */

/* Maximum use count. An entry that reaches it keeps it and is never evicted. With 32 bits, an
 * engine that never releases a buffer can reach it. */
#define FOR_GOOD (~WB__READY)

/* Adds a use if the entry is ready. Returns false if it is not. */
static bool try_use(wb_provider *provider, wb__entry *entry)
{
    size_t state = atomic_load_explicit(&entry->state, memory_order_relaxed);
    size_t more;
    do {
        if ((state & WB__READY) == 0)
            return false;
        more = state + ((state & ~WB__READY) != FOR_GOOD);
    } while (!atomic_compare_exchange_weak_explicit(&entry->state, &state, more,
                                                    memory_order_acquire, memory_order_relaxed));
    if (provider->budget != 0)
        atomic_store_explicit(&entry->last_used,
                              atomic_fetch_add_explicit(&provider->clock, 1, memory_order_relaxed),
                              memory_order_relaxed);
    atomic_fetch_add_explicit(&entry->hits, 1, memory_order_relaxed);
    return true;
}

void wb__provider_release(wb_provider *provider, const wb_buffer *buffer)
{
    wb__entry *entry = (wb__entry *)(uintptr_t)buffer->use;
    (void)provider;
    size_t state = atomic_load_explicit(&entry->state, memory_order_relaxed);
    while ((state & ~WB__READY) != 0 && (state & ~WB__READY) != FOR_GOOD &&
           !atomic_compare_exchange_weak_explicit(&entry->state, &state, state - 1,
                                                  memory_order_release, memory_order_relaxed))
        ;
}

/* ---- eviction; the lock is held ---- */

/* Returns the size to request from a device. It is at least 1, because some devices cannot allocate
 * empty buffers. */
static uint64_t device_bytes(const wb_buffer *buffer)
{
    return buffer->bytes == 0 ? 1 : buffer->bytes;
}

static void free_handle(const wb_provider *provider, const wb_buffer *buffer)
{
    const wb_device *device = &provider->device;
    if (buffer->borrowed == 0)
        device->free(device->ctx, buffer->handle, device_bytes(buffer));
    else if (device->unborrow != NULL)
        device->unborrow(device->ctx, buffer->handle);
}

/* Frees the buffer of an entry. Returns false if the buffer is in use or not loaded. */
static bool evict(wb_provider *provider, wb__entry *entry)
{
    size_t state = WB__READY;
    if (!atomic_compare_exchange_strong(&entry->state, &state, 0))
        return false;
    free_handle(provider, &entry->buffer);
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
    return oldest != NULL && evict(provider, oldest);
}

static wb_status reserve(wb_provider *provider, wb__context *context, uint64_t bytes)
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
        (void)evict(provider, entry_at(provider, i));
    (void)pthread_mutex_unlock(&provider->lock);
    wb__staging_trim(&provider->rooms);
}

/* ---- loading ---- */

/* Computes the key of the buffer in a segment that several processes share. */
static void key_of(const wb_provider *provider, const wb__entry *entry,
                   uint64_t key[WB__MODEL_KEY_BYTES / 8])
{
    const uint64_t becomes =
        (uint64_t)provider->becomes.vocab_multiple << 40 | (uint64_t)provider->becomes.rope << 60 |
        (uint64_t)provider->becomes.adds_offset << 62 |
        (uint64_t)(uint32_t)provider->becomes.plain << 2 |
        (uint64_t)provider->becomes.decodes << 1 | provider->becomes.converts_scales;
    const uint64_t rank[2] = {(uint64_t)entry->rank.axis << 32 | entry->rank.rank, entry->rank.of};
    for (uint64_t i = 0; i < WB__MODEL_KEY_BYTES / 8; i++) {
        wb__hash_key lane = {{i, becomes}};
        lane.word[0] ^= wb__siphash(&lane, provider->model_key, sizeof provider->model_key);
        lane.word[1] ^= wb__siphash(&lane, rank, sizeof rank);
        key[i] = wb__siphash(&lane, entry->keys, entry->operands * sizeof *entry->keys);
    }
}

static wb_status fill_buffer(const wb_provider *provider, wb__context *context,
                             const wb__layout *layout, wb_buffer *buffer)
{
    wb__lost lost = {0, 0};
    wb__filler filler;
    wb__filler_open(&filler, context, provider->model, &provider->files, &provider->device);
    wb_status status = wb__filler_select(&filler, layout, buffer->handle, &lost);
    if (status == WB_OK)
        status = wb__fill_all(&filler);
    wb__filler_close(&filler);
    buffer->overflowed = lost.overflowed;
    buffer->underflowed = lost.underflowed;
    return status;
}

/* Allocates a buffer on the device and fills it. */
static wb_status alloc_buffer(const wb_provider *provider, wb__context *context,
                              const wb__layout *layout, wb_buffer *buffer)
{
    const wb_device *device = &provider->device;
    wb_status status = device->alloc(device->ctx, device_bytes(buffer), &buffer->handle);
    if (status != WB_OK || buffer->handle == NULL)
        return wb__fail_device(context, status, "give", buffer->bytes);
    status = fill_buffer(provider, context, layout, buffer);
    if (status != WB_OK)
        free_handle(provider, buffer);
    return status;
}

/* Claims a buffer that several processes share, and fills it if no other process did. Only the
 * process that fills the buffer knows how many values were lost in the conversion. */
static wb_status claim_buffer(const wb_provider *provider, wb__context *context,
                              const wb__entry *entry, const wb__layout *layout, wb_buffer *buffer,
                              bool *shared)
{
    const wb_device *device = &provider->device;
    uint64_t key[WB__MODEL_KEY_BYTES / 8];
    int filled = 0;
    key_of(provider, entry, key);
    wb_status status =
        device->claim(device->ctx, key, device_bytes(buffer), &buffer->handle, &filled);
    if (status != WB_OK || buffer->handle == NULL)
        return wb__fail_device(context, status, "share", buffer->bytes);
    *shared = filled != 0;
    if (*shared)
        return WB_OK;
    status = fill_buffer(provider, context, layout, buffer);
    device->publish(device->ctx, buffer->handle, status);
    if (status != WB_OK)
        free_handle(provider, buffer);
    return status;
}

static bool borrow_buffer(const wb_provider *provider, const wb__layout *layout, wb_buffer *buffer)
{
    const wb_device *device = &provider->device;
    const void *bytes = device->borrow == NULL ? NULL : wb__bytes_in_place(provider->model, layout);
    if (bytes == NULL ||
        device->borrow(device->ctx, bytes, layout->bytes, &buffer->handle) != WB_OK ||
        buffer->handle == NULL)
        return false;
    buffer->contents = bytes;
    buffer->borrowed = 1;
    return true;
}

static wb_buffer describe(const wb__layout *layout, const wb__operand *first)
{
    wb_buffer buffer = {.size = sizeof buffer,
                        .bytes = layout->bytes,
                        .dtype = layout->dtype,
                        .bits = first->encoding.bits,
                        .group_size = first->encoding.group_size,
                        .global = first->encoding.global,
                        .rank = layout->rank,
                        .sections = layout->section_count,
                        .parts = layout->parts};
    memcpy(buffer.section, layout->sections, sizeof buffer.section);
    if (first->encoding.parts == 1 &&
        first->encoding.group_size == 0) { /* plain, possibly converted */
        wb_dtype_info info = {.size = sizeof info};
        if (wb_dtype_describe(layout->dtype, &info) == WB_OK)
            buffer.bits = info.block_bits;
    }
    return buffer;
}

/* Copies the shape and the part rows into the entry, because the layout frees its own. The lock is
 * held. */
static bool keep_shape(wb_provider *provider, wb__entry *entry, const wb__layout *layout)
{
    size_t shape = layout->rank * sizeof *layout->shape;
    size_t rows = layout->parts * sizeof *layout->part_rows;
    if (entry->described)
        return true;
    entry->shape = wb__arena_alloc(&provider->arena, shape + 1);
    entry->part_rows = wb__arena_alloc(&provider->arena, rows + 1);
    if (entry->shape == NULL || entry->part_rows == NULL)
        return false;
    memcpy(entry->shape, layout->shape, shape);
    memcpy(entry->part_rows, layout->part_rows, rows);
    entry->described = true;
    return true;
}

/* Creates and fills the buffer of a layout. Takes the lock to update the statistics. */
static wb_status load_layout(wb_provider *provider, wb__context *context, wb__entry *entry,
                             const wb__layout *layout, wb_buffer *buffer)
{
    wb_cache_stats *stats = &provider->stats;
    bool shared = false;
    bool borrowed = borrow_buffer(provider, layout, buffer);
    uint64_t charge = borrowed ? 0 : device_bytes(buffer);
    (void)pthread_mutex_lock(&provider->lock);
    wb_status status = keep_shape(provider, entry, layout) ? WB_OK : wb__fail_memory(context);
    if (status == WB_OK)
        status = reserve(provider, context, charge);
    (void)pthread_mutex_unlock(&provider->lock);
    if (status != WB_OK) {
        if (borrowed)
            free_handle(provider, buffer);
        return status;
    }
    if (!borrowed)
        status = provider->device.claim != NULL
                     ? claim_buffer(provider, context, entry, layout, buffer, &shared)
                     : alloc_buffer(provider, context, layout, buffer);
    if (status == WB_OK && !borrowed && provider->device.map != NULL)
        buffer->contents = provider->device.map(provider->device.ctx, buffer->handle);
    (void)pthread_mutex_lock(&provider->lock);
    if (status != WB_OK) {
        stats->bytes -= charge;
    } else {
        entry->charged = charge;
        stats->buffers++;
        stats->borrowed += borrowed;
        stats->shared += shared;
        stats->loads += !shared;
        stats->loaded_bytes += borrowed || shared ? 0 : layout->bytes;
        stats->overflowed += buffer->overflowed;
        stats->underflowed += buffer->underflowed;
    }
    (void)pthread_mutex_unlock(&provider->lock);
    return status;
}

/* Loads an entry that is marked as loading. The lock is not held. */
static wb_status load(wb_provider *provider, wb__context *context, wb__entry *entry,
                      wb_buffer *buffer)
{
    wb__operands operands = {.allocator = provider->allocator,
                             .decodes = provider->becomes.decodes,
                             .becomes = &provider->becomes};
    wb__layout layout = {.arena = {.allocator = NULL}};
    wb_status status = WB_OK;
    for (size_t i = 0; i < entry->operands && status == WB_OK; i++)
        status = wb__operands_add_key(&operands, context, provider->model, entry->keys[i]);
    if (status == WB_OK)
        status = wb__layout_make(&layout, context, provider->model, &operands, &entry->rank,
                                 &provider->becomes);
    if (status == WB_OK && operands.list != NULL) { /* never NULL: there is at least one operand */
        *buffer = describe(&layout, &operands.list[0]);
        status = load_layout(provider, context, entry, &layout, buffer);
    }
    if (status == WB_OK) {
        buffer->shape = entry->shape;
        buffer->part_rows = entry->part_rows;
        buffer->use = entry;
    }
    wb__layout_free(&layout);
    wb__operands_free(&operands);
    return status;
}

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
        entry = NULL; /* the new entry stays in the list, but no request finds it */
    return entry;
}

/* Returns the entry of a query. Creates it if there is none. */
static wb_status find_entry(wb_provider *provider, wb__context *context, const wb__query *query,
                            uint64_t hash, wb__entry **found)
{
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

/* Waits until the entry is ready, or loads it. The lock is held, and released while waiting or
 * loading. */
static wb_status use_or_load(wb_provider *provider, wb__context *context, wb__entry *entry)
{
    while (!try_use(provider, entry)) {
        if (entry->loading) {
            (void)pthread_cond_wait(&provider->loaded, &provider->lock);
            continue;
        }
        wb_buffer buffer;
        entry->loading = true;
        (void)pthread_mutex_unlock(&provider->lock);
        wb_status status = load(provider, context, entry, &buffer);
        (void)pthread_mutex_lock(&provider->lock);
        entry->loading = false;
        if (status == WB_OK) {
            entry->buffer = buffer;
            atomic_store(&entry->last_used, atomic_fetch_add(&provider->clock, 1));
            atomic_store_explicit(&entry->state, WB__READY | 1, memory_order_release);
        }
        (void)pthread_cond_broadcast(&provider->loaded);
        return status;
    }
    return WB_OK;
}

static wb_status ask(wb_provider *provider, const wb__query *query, uint64_t hash,
                     wb_buffer *buffer, wb_error *error)
{
    wb_error spare;
    wb__entry *entry;
    wb__context context = wb__provider_context(provider, wb__error_reset(error, &spare));
    (void)pthread_mutex_lock(&provider->lock);
    wb_status status = find_entry(provider, &context, query, hash, &entry);
    if (status == WB_OK)
        status = use_or_load(provider, &context, entry);
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
    if (entry != NULL && try_use(provider, entry)) {
        *buffer = entry->buffer;
        return WB_OK;
    }
    return ask(provider, query, hash, buffer, error);
}

void wb__provider_drop_parts(wb_provider *provider, const wb_buffer *buffer)
{
    const wb__entry *whole = buffer->use;
    const wb__rank rank = {0, 0, 0};
    (void)pthread_mutex_lock(&provider->lock);
    for (size_t i = 0; i < whole->operands && whole->operands > 1; i++) {
        wb__entry *part = entry_of_keys(provider, &whole->keys[i], 1, &rank, false);
        if (part != NULL)
            (void)evict(provider, part);
    }
    (void)pthread_mutex_unlock(&provider->lock);
}

void wb__provider_count(const wb_provider *provider, wb_cache_stats *stats)
{
    wb_provider *p = (wb_provider *)(uintptr_t)provider; /* not const, to lock the mutex */
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

/* ---- making and freeing ---- */

void wb__provider_free_buffers(wb_provider *provider)
{
    for (size_t i = 0; i < provider->entries.count; i++) {
        wb__entry *entry = entry_at(provider, i);
        if ((atomic_load(&entry->state) & WB__READY) != 0)
            free_handle(provider, &entry->buffer);
    }
}
