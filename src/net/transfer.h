/*
 * net/transfer.h: a range of the bytes of a remote file, fetched with redirects, renewed addresses
 * and retries. Bytes that arrived are never asked for again.
 *
 *     IDLE --start--> RUNNING --exchange ends--> ENDED --judge--> DONE | FAILED | IDLE (again)
 *
 * The engine's thread moves the bytes and ends the exchange. The owner of the transfer, or whoever
 * waits for it, calls wb__transfer_judge, which decides how to go on; `not_before` then says when
 * to start again.
 */
#ifndef WB_NET_TRANSFER_H
#define WB_NET_TRANSFER_H

#include "net/fetch.h"
#include "net/remote.h"

typedef enum wb__transfer_state {
    WB__TRANSFER_IDLE,
    WB__TRANSFER_RUNNING,
    WB__TRANSFER_ENDED,
    WB__TRANSFER_JUDGING, /* a thread is in wb__transfer_judge */
    WB__TRANSFER_DONE,
    WB__TRANSFER_FAILED
} wb__transfer_state;

/* What is wrong with a response. */
typedef enum wb__transfer_fault {
    WB__FAULT_REPLY,   /* the response violates HTTP or does not answer the request */
    WB__FAULT_SIZE,    /* the response contradicts the known size of the file */
    WB__FAULT_CHANGED, /* its file version differs from that of the bytes received before */
    WB__FAULT_NO_RANGES
} wb__transfer_fault;

typedef struct wb__transfer {
    wb__remote *remote;
    uint64_t begin, end; /* the range; `end` may be lowered under the lock */
    uint64_t received;   /* number of bytes received, from `begin` on; changes under the lock */
    /* Takes received bytes on the engine's thread, without the lock. Returns false if it cannot
     * take them. */
    bool (*put)(void *owner, uint64_t offset, const uint8_t *bytes, size_t n);
    void *owner;

    /* True if no thread waits for the transfer. The transfer then never asks for the content
     * address (net/remote.h). */
    bool background;

    wb__transfer_state state; /* under the lock */
    uint64_t not_before;      /* earliest time of the next start, compared with wb__net_now_ms */
    wb_error error;           /* if FAILED */

    /* ---- internal ---- */
    wb__exchange exchange;
    wb__url url;
    wb__buffer fields;
    bool is_content, is_resolver;
    bool accepted;      /* the response has the bytes of the range */
    bool refused_bytes; /* `put` returned false */
    const char *fault;  /* what is wrong with the response; static */
    wb__transfer_fault fault_kind;
    uint64_t stated_end; /* the response has bytes up to this offset; UINT64_MAX: not stated */
    uint64_t received_before;
    unsigned generation, failures, redirects, renewals;
    uint64_t ignored; /* number of bytes received of a body that is not the requested range */
} wb__transfer;

/* Initializes a transfer of the bytes from `begin` to `end`. Release with wb__transfer_free. */
void wb__transfer_init(wb__transfer *transfer, wb__remote *remote, uint64_t begin, uint64_t end);

/* Frees the transfer, which must not be RUNNING. */
void wb__transfer_free(wb__transfer *transfer);

/*
 * Starts an IDLE transfer. The transfer stays IDLE if another transfer is asking for the content
 * address: call this function again after a change (wb__net_wait_change). On failure the state is
 * FAILED. The lock must not be held.
 */
void wb__transfer_start(wb__transfer *transfer);

/* Decides how an ENDED transfer goes on. The lock must not be held. */
void wb__transfer_judge(wb__transfer *transfer);

/* Calls wb__transfer_judge if the transfer is ENDED, and starts the transfer if it is IDLE and its
 * time has come. Returns the new state. If this is IDLE, sets *wake to the time of the next start,
 * or to UINT64_MAX if the transfer waits for a change (wb__net_wait_change). */
wb__transfer_state wb__transfer_advance(wb__transfer *transfer, uint64_t *wake);

/* Ends a RUNNING transfer and waits until it has ended; the bytes that arrived stay. No other
 * thread may use the transfer. */
void wb__transfer_stop(wb__transfer *transfer);

/* If the transfer asks for the content address (net/remote.h), lets another transfer ask in its
 * place. The lock is held. */
void wb__transfer_disclaim(wb__transfer *transfer);

/*
 * Runs transfers, at most `parallel` at a time, until each is DONE or FAILED. Stops no transfer, so
 * other threads may run the same transfers.
 */
void wb__transfers_settle(wb_net *net, wb__transfer *const *transfers, size_t n, size_t parallel);

/*
 * Runs transfers, at most `parallel` at a time, until all are DONE or one is FAILED. After a
 * failure, stops all other transfers and copies the error of the FAILED transfer to the context.
 * No other thread may use a transfer while it is stopped (wb__transfer_stop). So other threads may
 * use the transfers only if n is 1, because then there is no other transfer to stop.
 */
wb_status wb__transfers_run(wb_net *net, wb__context *context, wb__transfer *const *transfers,
                            size_t n, size_t parallel);

/* Reports the failure of a FAILED transfer. */
wb_status wb__transfer_fail(const wb__transfer *transfer, wb__context *context);

#endif
