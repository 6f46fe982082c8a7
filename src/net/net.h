/*
 * net: models on the network. Built as a library of its own, libweighbridge-net; the core library
 * neither links it nor contains network code.
 *
 *   names, percent, url, address texts that come from users and servers
 *   trust                        where requests may go, and which of them carry the token
 *   settings                     environment variables, token files, AWS profiles
 *   engine, response             HTTP exchanges through libcurl on one thread, header fields
 *   remote_address               the URLs and credentials of addresses
 *   retry, fetch                 one request with redirects and retries
 *   listing, reply, hub          the HTTP API of a hub
 *   s3, s3_list                  presigned addresses and listings of object stores
 *   remote, transfer             a file on a server, and ranges of its bytes
 *   extent, chunk, cached_file   random access to a remote file through a cache in memory
 *   file_table                   the table of all addresses that were opened as files
 *   remote_list                  the names of the files in a directory on a server
 *   remote_files                 access to files on servers, in the form of a wb_files
 *
 * Threads. The thread of the engine only moves bytes; every decision (redirect, retry, failure) is
 * made by the thread that waits for the bytes. One lock protects the state of all transfers of a
 * wb_net; `changed` is signalled whenever a byte arrives or an exchange ends.
 */
#ifndef WB_NET_NET_H
#define WB_NET_NET_H

#include <pthread.h>

#include "core/core.h"
#include "net/engine.h"
#include "net/net_messages.h"
#include "net/s3.h"
#include "net/settings.h"
#include "weighbridge/net.h"

struct wb__file_table;

/* The chunks of all files (net/chunk.h). */
typedef struct wb__chunk_cache {
    struct wb__chunk *oldest, *newest;
    uint64_t bytes;
} wb__chunk_cache;

struct wb_net {
    wb_allocator allocator;
    wb__settings settings;
    wb_net_options options;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t changes;   /* number of signals */
    unsigned waiting;   /* threads that wait for `changed` */
    wb__engine *engine; /* created by the first request, under the lock */
    bool aws_is_read;
    bool warned_mirror;
    struct wb__file_table *files;        /* net/file_table.h */
    wb__chunk_cache cache;               /* under the lock */
    wb__s3 s3[2];                        /* S3, Google's S3-compatible interface; under the lock */
    struct wb__repo *repos;              /* net/hub.h; under the lock */
    uint64_t requests, received, random; /* under the lock */
};

void wb__net_lock(wb_net *net);
void wb__net_unlock(wb_net *net);

/* Wait for a change; wb__net_wait_until waits at most until the time `ms`, which is compared
 * with wb__net_now_ms. The lock must be held. */
void wb__net_wait(wb_net *net);
void wb__net_wait_until(wb_net *net, uint64_t ms);

/* Counts a change and wakes the threads that wait for one. The lock must be held. */
void wb__net_signal(wb_net *net);

/* wb__net_changes returns the number of changes signaled so far (wb__net_signal).
 * wb__net_wait_change waits until this number is greater than `seen`, at most until the time `ms`,
 * and returns the number. The lock must not be held during either call. */
uint64_t wb__net_changes(wb_net *net);
uint64_t wb__net_wait_change(wb_net *net, uint64_t seen, uint64_t ms);

/* Milliseconds of a clock that never jumps. */
uint64_t wb__net_now_ms(void);

/* Returns a pseudorandom number. The caller holds the lock. */
uint64_t wb__net_random(wb_net *net);

/* Starts an exchange, and creates the engine if there is none. Fails in offline mode. The lock must
 * not be held. */
wb_status wb__net_start(wb_net *net, wb__context *context, wb__exchange *exchange);

/* Returns a context for a call on `net`. */
wb__context wb__net_context(const wb_net *net, wb_error *error);

/* Reports a message to wb_net_options.note, if there is one. */
void wb__net_note(const wb_net *net, const char *format, ...) WB__PRINTF(2, 3);

#endif
