/*
 * provider: a model's weights as buffers on a device, each loaded once.
 *
 *   request.h   what is asked for: operands, shares, layouts
 *   fill.h      bytes from files into a buffer
 *   straight.h  those that lie there as they are wanted, past the page cache
 *   rooms.h     memory they pass through
 *   table.h     names to entries, looked up without a lock
 *   cache.c     entries: loading, counting uses, making room
 *   plan.c      where the part of a rank lies, without a provider
 *
 * An entry is a buffer that is there, or can be again: entries and the names they were asked by live as
 * long as the provider, buffers come and go. A request that finds its name in the table and its
 * entry ready takes two atomic operations and no lock. All else happens under one lock, but for the
 * loading itself; a thread that wants what another loads waits for it. What reading the files and
 * calling the device means is left to fill.c; nothing here knows a format.
 */
#ifndef WB_PROVIDER_PROVIDER_H
#define WB_PROVIDER_PROVIDER_H

#include <pthread.h>
#include <stdatomic.h>

#include "provider/buffer_fill.h"
#include "provider/buffer_request.h"
#include "provider/buffer_table.h"

/* wb__entry.state: uses, and whether there is a buffer to use. */
#define WB__READY (~(SIZE_MAX >> 1))

struct wb__entry {
    _Atomic size_t state; /* READY plus the number of uses */
    _Atomic size_t last_used;
    _Atomic size_t hits;
    /* Written under the lock, or by the thread that loads, before READY is set. */
    wb_buffer buffer;
    uint64_t *shape;
    uint64_t *part_rows;
    bool described; /* shape and part_rows are there */
    bool loading;
    uint64_t charged; /* to the budget */
    wb__rank rank;
    size_t operands;
    uint64_t numbers[]; /* of the tensors */
};

struct wb_provider {
    wb_allocator allocator;
    wb_executor executor;
    const wb_model *model;
    wb__files files; /* its */
    wb__staging rooms;
    wb_device device;
    wb_device own; /* made for want of another, closed with the provider */
    wb__target_type becomes;
    uint64_t budget;
    uint8_t model_key[WB__MODEL_KEY_BYTES]; /* of files and policy, for wb_device.claim */
    wb__table_of_names names;
    _Atomic size_t clock; /* of last_used; stands still without a budget */
    pthread_mutex_t lock;
    pthread_cond_t loaded; /* some load came to its end */
    wb__arena arena;       /* entries */
    wb__list entries;      /* of wb__entry * */
    wb_cache_stats stats;  /* but for what the entries count */
};

#define WB__JOINED UINT32_MAX /* as axis of a whole: the text is names joined with '+' */

/* What a buffer is asked by. */
typedef struct wb__query {
    wb__str text; /* a name, or several joined with '+' */
    wb__rank rank;
} wb__query;

/* files->io is what the policy asks for. */
wb_status wb__provider_make(wb__context *context, const wb_model *model, const wb__files *files,
                            const wb_device *device, const wb_policy *policy,
                            wb_provider **provider);
void wb__provider_free(wb_provider *provider);

/* Fills in *buffer, whose size is set, and counts a use of it. */
wb_status wb__provider_get(wb_provider *provider, const wb__query *query, wb_buffer *buffer,
                           wb_error *error);

/* Ends a use. */
void wb__provider_release(wb_provider *provider, const wb_buffer *buffer);

/* Frees the buffers of the tensors that are joined in one; all buffers. Those in use stay. */
void wb__provider_drop_parts(wb_provider *provider, const wb_buffer *buffer);
void wb__provider_trim(wb_provider *provider);

/* Frees all buffers, whether in use or not, and leaves the entries to their fate. */
void wb__provider_free_buffers(wb_provider *provider);

void wb__provider_count(const wb_provider *provider, wb_cache_stats *stats);

#endif
