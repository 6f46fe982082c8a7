/*
 * provider/buffer_load.h: loads the buffers of entries (wb__entry: a buffer that was requested).
 *
 * A load has three steps: wb__load_prepare reserves memory, wb__load_allocate allocates the buffer,
 * and wb__load_end publishes the buffer when it is filled, or undoes everything. Between these
 * steps the entry is marked as loading, and other threads that request it wait.
 */
#ifndef WB_PROVIDER_BUFFER_LOAD_H
#define WB_PROVIDER_BUFFER_LOAD_H

#include "provider/provider.h"

/* State while one entry (buffer) is loaded. */
typedef struct wb__load_job {
    wb__entry *entry;
    wb__layout layout;
    wb_buffer buffer;
    uint64_t charge;   /* bytes reserved in the budget */
    bool is_borrowed;  /* the buffer uses the bytes of the mapped file */
    bool is_allocated; /* the buffer has to be freed after a failure */
    bool is_shared;    /* another process has filled the buffer */
    wb__lost lost;
} wb__load_job;

/* Computes the layout of an entry that is marked as loading, and borrows the mapped bytes of the
 * file or reserves memory. The caller must call wb__load_end, also after a failure. */
wb_status wb__load_prepare(wb_provider *provider, wb__context *context, wb__entry *entry,
                           wb__load_job *job);

/* Allocates the buffer, unless it is borrowed. */
wb_status wb__load_allocate(const wb_provider *provider, wb__context *context, wb__load_job *job);

/* If `status` is WB_OK, makes the buffer available to all threads, and counts one use by the caller
 * if `uses` is set. Otherwise frees the buffer. */
void wb__load_end(wb_provider *provider, wb__load_job *job, wb_status status, bool uses);

/* Loads an entry that is marked as loading, in the calling thread, and adds a use for the
 * caller. */
wb_status wb__load_alone(wb_provider *provider, wb__context *context, wb__entry *entry);

#endif
