/*
 * provider: the weights of a model as buffers on a device, each loaded once.
 *
 *   buffer_request.h  requests: operands, axis splits, row changes, layouts
 *   tensor_role.h     q, k, v and their fusion: roles of tensors
 *   fuse_groups.h     groups of tensors that can be fused
 *   buffer_fill.h     fills a buffer from files
 *   direct_read.h     direct I/O for runs that need no decoding
 *   staging.h         staging buffers
 *   buffer_table.h    hash table from names to entries, with lock-free lookup
 *   buffer_cache.c    entries: loading, use counts, eviction
 *   slice_plan.c      byte ranges that a rank needs, without a provider
 *
 * An entry represents a buffer that is or can be loaded. Entries and their names live as long as
 * the provider, while buffers are loaded and evicted. If the name of a request is in the table and
 * its entry is ready, the request takes two atomic operations and no lock. Everything else is done
 * under one lock, except loading. If a thread requests a buffer that another thread is loading, it
 * waits for the buffer. Only buffer_fill.c reads files and calls the device. No code here depends
 * on a file format.
 */
#ifndef WB_PROVIDER_PROVIDER_H
#define WB_PROVIDER_PROVIDER_H

#include <pthread.h>
#include <stdatomic.h>

#include "provider/buffer_fill.h"
#include "provider/buffer_request.h"
#include "provider/buffer_table.h"

/* Bit of wb__entry.state: the buffer is loaded. The other bits are the use count. */
#define WB__READY (~(SIZE_MAX >> 1))

struct wb__entry {
    _Atomic size_t state;     /* WB__READY if the buffer is loaded, plus the use count */
    _Atomic size_t last_used; /* wb_provider.clock at the last use */
    _Atomic size_t hits;
    /* The following members are written by a thread that holds the lock, or by the thread that
     * loads the buffer, before it sets WB__READY. */
    wb_buffer buffer;
    uint64_t *shape;
    uint64_t *part_rows;
    bool described; /* shape and part_rows are valid */
    bool loading;
    uint64_t charged; /* bytes that count towards the budget */
    wb__rank rank;
    size_t operands;
    uint64_t keys[]; /* wb__operand_key of each operand */
};

struct wb_provider {
    wb_allocator allocator;
    wb_executor executor;
    const wb_model *model;
    wb__files files; /* files of the model */
    wb__staging rooms;
    wb_device device;
    wb_device own; /* the default device if the caller gave none, closed with the provider */
    wb__target_type becomes;
    uint64_t budget;
    uint8_t model_key[WB__MODEL_KEY_BYTES]; /* identifies the files, for wb_device.claim */
    wb__table_of_names names;
    /* logical time for `last_used`; advanced by a load and, with a budget, by each use */
    _Atomic size_t clock;
    pthread_mutex_t lock;
    pthread_cond_t loaded; /* signaled when a load ends */
    wb__arena arena;       /* entries */
    wb__list entries;      /* list of wb__entry * */
    wb_cache_stats stats;  /* statistics; `hits` and `in_use` are computed from the entries */
};

/* Value of wb__rank.axis in a request for fused tensors. The text of such a request consists of the
 * names of the tensors, joined with '+'. */
#define WB__JOINED UINT32_MAX

/* A request for a buffer. */
typedef struct wb__query {
    wb__str text; /* a name, or names joined with '+' */
    wb__rank rank;
} wb__query;

/* Creates a provider. Precondition: files->io has the value of wb_policy.io. */
wb_status wb__provider_make(wb__context *context, const wb_model *model, const wb__files *files,
                            const wb_device *device, const wb_policy *policy,
                            wb_provider **provider);
void wb__provider_free(wb_provider *provider);

/* Returns the context of a call. Its error is *error, which is cleared. */
static inline wb__context wb__provider_context(const wb_provider *provider, wb_error *error)
{
    return (wb__context){.allocator = provider->allocator,
                         .executor = provider->executor,
                         .file = "",
                         .error = error};
}

/* ---- buffer_evict.c ---- */

/* Maximum use count. When the count of an entry reaches the maximum, the count stays there, and the
 * entry is never evicted. On 32-bit systems, a program that never releases a buffer can reach the
 * maximum. */
#define WB__FOR_GOOD (~WB__READY)

/* Adds a use if the entry is ready. Returns false if it is not. */
static inline bool wb__entry_use(wb_provider *provider, wb__entry *entry)
{
    size_t state = atomic_load_explicit(&entry->state, memory_order_relaxed);
    size_t more;
    do {
        if ((state & WB__READY) == 0)
            return false;
        more = state + ((state & ~WB__READY) != WB__FOR_GOOD);
    } while (!atomic_compare_exchange_weak_explicit(&entry->state, &state, more,
                                                    memory_order_acquire, memory_order_relaxed));
    if (provider->budget != 0)
        atomic_store_explicit(&entry->last_used,
                              atomic_fetch_add_explicit(&provider->clock, 1, memory_order_relaxed),
                              memory_order_relaxed);
    atomic_fetch_add_explicit(&entry->hits, 1, memory_order_relaxed);
    return true;
}

/* Frees the buffer of an entry. Returns false if the buffer is in use or not loaded. The caller
 * holds the lock. */
bool wb__entry_evict(wb_provider *provider, wb__entry *entry);

/* Reserves memory in the budget, and evicts buffers if necessary. The caller holds the lock. */
wb_status wb__reserve(wb_provider *provider, wb__context *context, uint64_t bytes);

/* Returns the size to request from a device. The size is at least 1, because some devices cannot
 * allocate empty buffers. */
uint64_t wb__device_bytes(const wb_buffer *buffer);

/* Frees the handle of a buffer, or passes a borrowed handle to wb_device.unborrow. */
void wb__handle_free(const wb_provider *provider, const wb_buffer *buffer);

/* ---- buffer_cache.c ---- */

/* Returns the entry of a query. Creates it if there is none. The caller holds the lock. */
wb_status wb__entry_find(wb_provider *provider, wb__context *context, const wb__query *query,
                         wb__entry **found);

/* If the entry is not ready, loads it or waits until another thread has loaded it. Then counts one
 * more use of its buffer. The caller holds the lock, which is released while waiting or loading. */
wb_status wb__entry_get(wb_provider *provider, wb__context *context, wb__entry *entry);

/* Loads the buffer if necessary, describes it in *buffer, and adds a use. Precondition:
 * buffer->size is set. */
wb_status wb__provider_get(wb_provider *provider, const wb__query *query, wb_buffer *buffer,
                           wb_error *error);

/* Ends one use of a buffer. */
void wb__provider_release(wb_provider *provider, const wb_buffer *buffer);

/* Frees the buffers of the single tensors that `buffer` fuses, except those in use. */
void wb__provider_drop_parts(wb_provider *provider, const wb_buffer *buffer);

/* Frees all buffers except those in use. */
void wb__provider_trim(wb_provider *provider);

/* Frees all buffers, even those in use. The entries must not be used afterwards. */
void wb__provider_free_buffers(wb_provider *provider);

void wb__provider_count(const wb_provider *provider, wb_cache_stats *stats);

#endif
