#define _POSIX_C_SOURCE 200809L
#include "provider/buffer_load.h"

#include "weighbridge/codec.h"

/* Computes the key by which wb_device.claim identifies the buffer of an entry, so that several
 * processes can share this buffer. */
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

/* Copies the shape and the part rows from the layout into the entry, because the entry outlives the
 * layout. The caller holds the lock. */
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

/* Computes the layout of an entry. */
static wb_status make_layout(const wb_provider *provider, wb__context *context, wb__load_job *job)
{
    const wb__entry *entry = job->entry;
    wb__operands operands = {.allocator = provider->allocator,
                             .decodes = provider->becomes.decodes,
                             .becomes = &provider->becomes};
    wb_status status = WB_OK;
    for (size_t i = 0; i < entry->operands && status == WB_OK; i++)
        status = wb__operands_add_key(&operands, context, provider->model, entry->keys[i]);
    if (status == WB_OK)
        status = wb__layout_make(&job->layout, context, provider->model, &operands, &entry->rank,
                                 &provider->becomes);
    if (status == WB_OK && operands.list != NULL) /* never NULL; only the static analyser needs
                                                   * the check */
        job->buffer = describe(&job->layout, &operands.list[0]);
    wb__operands_free(&operands);
    return status;
}

wb_status wb__load_prepare(wb_provider *provider, wb__context *context, wb__entry *entry,
                           wb__load_job *job)
{
    *job = (wb__load_job){.entry = entry};
    wb_status status = make_layout(provider, context, job);
    if (status != WB_OK)
        return status;
    job->is_borrowed = borrow_buffer(provider, &job->layout, &job->buffer);
    uint64_t charge = job->is_borrowed ? 0 : wb__device_bytes(&job->buffer);
    (void)pthread_mutex_lock(&provider->lock);
    status = keep_shape(provider, entry, &job->layout) ? WB_OK : wb__fail_memory(context);
    if (status == WB_OK)
        status = wb__reserve(provider, context, charge);
    (void)pthread_mutex_unlock(&provider->lock);
    if (status == WB_OK)
        job->charge = charge;
    else if (job->is_borrowed)
        wb__handle_free(provider, &job->buffer);
    return status;
}

wb_status wb__load_allocate(const wb_provider *provider, wb__context *context, wb__load_job *job)
{
    const wb_device *device = &provider->device;
    wb_buffer *buffer = &job->buffer;
    wb_status status = device->alloc(device->ctx, wb__device_bytes(buffer), &buffer->handle);
    job->is_allocated = status == WB_OK && buffer->handle != NULL;
    return job->is_allocated ? WB_OK : wb__fail_device(context, status, "give", buffer->bytes);
}

/* Claims a buffer that several processes share. Sets is_shared if another process has filled it.
 * The counts of lost values are then 0, because only that process knows them. */
static wb_status claim(const wb_provider *provider, wb__context *context, wb__load_job *job)
{
    const wb_device *device = &provider->device;
    wb_buffer *buffer = &job->buffer;
    uint64_t key[WB__MODEL_KEY_BYTES / 8];
    int filled = 0;
    key_of(provider, job->entry, key);
    wb_status status =
        device->claim(device->ctx, key, wb__device_bytes(buffer), &buffer->handle, &filled);
    job->is_shared = filled != 0;
    job->is_allocated = status == WB_OK && buffer->handle != NULL;
    return job->is_allocated ? WB_OK : wb__fail_device(context, status, "share", buffer->bytes);
}

static wb_status fill(const wb_provider *provider, wb__context *context, wb__load_job *job)
{
    wb__filler filler;
    wb__filler_open(&filler, context, provider->model, &provider->files, &provider->device);
    wb_status status = wb__filler_select(&filler, &job->layout, job->buffer.handle, &job->lost);
    if (status == WB_OK)
        status = wb__fill_all(&filler);
    wb__filler_close(&filler);
    return status;
}

void wb__load_end(wb_provider *provider, wb__load_job *job, wb_status status, bool uses)
{
    wb_cache_stats *stats = &provider->stats;
    wb__entry *entry = job->entry;
    wb_buffer *buffer = &job->buffer;
    if (status != WB_OK && job->is_allocated)
        wb__handle_free(provider, buffer);
    if (status == WB_OK && !job->is_borrowed && provider->device.map != NULL)
        buffer->contents = provider->device.map(provider->device.ctx, buffer->handle);
    (void)pthread_mutex_lock(&provider->lock);
    entry->loading = false;
    if (status != WB_OK) {
        stats->bytes -= job->charge;
    } else {
        buffer->overflowed = job->lost.overflowed;
        buffer->underflowed = job->lost.underflowed;
        buffer->shape = entry->shape;
        buffer->part_rows = entry->part_rows;
        buffer->use = entry;
        entry->charged = job->charge;
        entry->buffer = *buffer;
        stats->buffers++;
        stats->borrowed += job->is_borrowed;
        stats->shared += job->is_shared;
        stats->loads += !job->is_shared;
        stats->loaded_bytes += job->is_borrowed || job->is_shared ? 0 : job->layout.bytes;
        stats->overflowed += buffer->overflowed;
        stats->underflowed += buffer->underflowed;
        atomic_store(&entry->last_used, atomic_fetch_add(&provider->clock, 1));
        atomic_store_explicit(&entry->state, WB__READY | uses, memory_order_release);
    }
    (void)pthread_cond_broadcast(&provider->loaded);
    (void)pthread_mutex_unlock(&provider->lock);
    wb__layout_free(&job->layout);
}

wb_status wb__load_alone(wb_provider *provider, wb__context *context, wb__entry *entry)
{
    wb__load_job job;
    const wb_device *device = &provider->device;
    bool claims = device->claim != NULL;
    wb_status status = wb__load_prepare(provider, context, entry, &job);
    if (status == WB_OK && !job.is_borrowed)
        status =
            claims ? claim(provider, context, &job) : wb__load_allocate(provider, context, &job);
    if (status == WB_OK && !job.is_borrowed && !job.is_shared) {
        status = fill(provider, context, &job);
        if (claims)
            device->publish(device->ctx, job.buffer.handle, status);
    }
    wb__load_end(provider, &job, status, true);
    return status;
}
