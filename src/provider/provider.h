/*
 * provider: the weights of a model as buffers on a device, each loaded once.
 *
 *   buffer_request.h  requests: operands, axis splits, layouts
 *   buffer_fill.h     fills a buffer from files
 *   direct_read.h     direct I/O for runs that need no decoding
 *   staging.h         staging buffers
 *   buffer_table.h    names to entries, lock-free lookup
 *   buffer_cache.c    entries: loading, use counts, eviction
 *   slice_plan.c      byte ranges of the part of a rank, without a provider
 *
 * An entry stands for a buffer that is or can be loaded. Entries and their names live as long as
 * the provider, while buffers are loaded and evicted. A request whose name is in the table and
 * whose entry is ready takes two atomic operations and no lock. Everything else is done under one
 * lock, except loading. A thread that requests a buffer that another thread loads waits for it.
 * Only buffer_fill.c reads files and calls the device. No code here depends on a file format.
 */
#ifndef WB_PROVIDER_PROVIDER_H
#define WB_PROVIDER_PROVIDER_H

#include <pthread.h>
#include <stdatomic.h>

#include "provider/buffer_fill.h"
#include "provider/buffer_request.h"
#include "provider/buffer_table.h"

/* wb__entry.state: the use count, and READY if the buffer can be used. */
#define WB__READY (~(SIZE_MAX >> 1))

struct wb__entry {
    _Atomic size_t state; /* WB__READY, if the buffer can be used, plus the use count */
    _Atomic size_t last_used;
    _Atomic size_t hits;
    /* Written by a thread that holds the lock, or by the thread that loads the buffer, before it
     * sets WB__READY. */
    wb_buffer buffer;
    uint64_t *shape;
    uint64_t *part_rows;
    bool described; /* shape and part_rows are valid */
    bool loading;
    uint64_t charged; /* bytes that count towards the budget */
    wb__rank rank;
    size_t operands;
    uint64_t numbers[]; /* tensor indices */
};

struct wb_provider {
    wb_allocator allocator;
    wb_executor executor;
    const wb_model *model;
    wb__files files; /* its */
    wb__staging rooms;
    wb_device device;
    wb_device own; /* the default device if the caller gave none, closed with the provider */
    wb__target_type becomes;
    uint64_t budget;
    uint8_t model_key[WB__MODEL_KEY_BYTES]; /* digest of files and policy, for wb_device.claim */
    wb__table_of_names names;
    _Atomic size_t clock; /* clock of last_used; constant without a budget */
    pthread_mutex_t lock;
    pthread_cond_t loaded; /* signaled when a load ends */
    wb__arena arena;       /* entries */
    wb__list entries;      /* list of wb__entry * */
    wb_cache_stats stats;  /* statistics, except the counts that the entries have */
};

/* Axis of a request for whole tensors whose text is names joined with '+'. */
#define WB__JOINED UINT32_MAX

/* The request for a buffer. */
typedef struct wb__query {
    wb__str text; /* a name, or names joined with '+' */
    wb__rank rank;
} wb__query;

/* Creates a provider. files->io is the method that the policy requests. */
wb_status wb__provider_make(wb__context *context, const wb_model *model, const wb__files *files,
                            const wb_device *device, const wb_policy *policy,
                            wb_provider **provider);
void wb__provider_free(wb_provider *provider);

/* Fills in *buffer, whose size is set, and adds a use. */
wb_status wb__provider_get(wb_provider *provider, const wb__query *query, wb_buffer *buffer,
                           wb_error *error);

/* Ends one use of a buffer. */
void wb__provider_release(wb_provider *provider, const wb_buffer *buffer);

/* Free the buffers of the tensors that are fused in a buffer, or all buffers. Buffers in use stay.
 */
void wb__provider_drop_parts(wb_provider *provider, const wb_buffer *buffer);
void wb__provider_trim(wb_provider *provider);

/* Frees all buffers, also those in use. The entries must not be used afterwards. */
void wb__provider_free_buffers(wb_provider *provider);

void wb__provider_count(const wb_provider *provider, wb_cache_stats *stats);

#endif
