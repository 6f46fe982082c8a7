/*
 * provider/load_many.h: loads many buffers, in one pass over the files (load_pass.h).
 *
 * Entries that no thread loads are marked as loading and filled together. Only after that, the
 * function waits for buffers that other threads load. No thread waits before its own buffers are
 * filled, so two threads never wait for each other. With a budget, the pass is divided into batches
 * that fit. If processes share buffers (wb_device.claim), each buffer is loaded by itself, so that
 * no process holds unfilled buffers while it waits for a buffer that another process fills.
 */
#ifndef WB_PROVIDER_LOAD_MANY_H
#define WB_PROVIDER_LOAD_MANY_H

#include "provider/provider.h"

/*
 * Loads n entries on the threads of the executor. An entry may be listed more than once. If
 * `buffers` is not NULL, sets buffers[i] to the description of the buffer of entry i, and counts
 * one more use of this buffer. After a failure no uses are counted, and buffers[] is undefined. If
 * there are several errors, reports that of the first buffer in file order.
 */
wb_status wb__load_many(wb_provider *provider, wb__context *context, wb__entry *const *entries,
                        size_t n, wb_buffer *buffers);

#endif
