/*
 * pull/pull_task.h: one file that is being fetched: up to `connections` ranges at a time, and the
 * digest of the pieces that have arrived.
 */
#ifndef WB_PULL_PULL_TASK_H
#define WB_PULL_PULL_TASK_H

#include "net/transfer.h"
#include "pull/content_hash.h"
#include "pull/pull.h"

/*
 * The bytes that are requested at a time. If the process is killed, they may be lost, even if the
 * server has sent all of them: the buffers of a connection can hold 10 MiB and more. Therefore all
 * requests together ask for at most 1/12 of the bytes of the pull, or for 4 MiB if this is more.
 */
#define WB__PULL_PENDING_PART 12u
#define WB__PULL_PENDING_MIN ((uint64_t)4 << 20) /* bytes */
#define WB__PULL_RANGE_MAX ((size_t)16)          /* pieces of one request */
#define WB__PULL_RESTARTS 5u

typedef struct wb__pull_task {
    wb_pull *pull; /* NULL: the slot is free */
    wb__pull_item *item;
    int lock; /* descriptor; -1: none */
    wb__remote remote;
    bool has_remote;
    wb__pull_partial partial;
    wb__content_hash hash;
    size_t hashed;     /* number of pieces that were hashed */
    size_t next;       /* no piece before this one is missing */
    unsigned ranges;   /* number of ranges that are being fetched */
    unsigned restarts; /* number of restarts from the first byte, because ranges failed */
    bool is_single;    /* the server ignores ranges */
    bool must_restart; /* all pieces fetched so far must be discarded */
    bool is_rechecked; /* the digest was wrong, and the pieces on the disk were checked */
    bool is_second;    /* the digest was wrong although the pieces on the disk did not change */
} wb__pull_task;

/* A range of a file, which one transfer fetches. */
typedef struct wb__pull_range {
    wb__pull_task *task; /* NULL: free */
    wb__transfer transfer;
    wb__piece_sum sum;
} wb__pull_range;

/* Opens the partial file of an item. If another process has the lock, returns WB_OK and sets
 * *is_busy to true. If another process has just stored the file, returns WB_OK; item->state is then
 * WB__ITEM_HERE. Fails like wb__pull_partial_open. Release with wb__pull_task_close in any case. */
wb_status wb__pull_task_open(wb__pull_task *task, wb__context *context, wb_pull *pull,
                             wb__pull_item *item, bool *is_busy);
void wb__pull_task_close(wb__pull_task *task);

/* Returns true if a range is missing that can be fetched now. wb__pull_task_next then prepares the
 * transfer of the first such range, of at most `most` pieces. If the server ignores ranges, the
 * transfer fetches all pieces. */
bool wb__pull_task_has_next(wb__pull_task *task);
void wb__pull_task_next(wb__pull_task *task, wb__pull_range *range, size_t most);

/* Releases a range whose transfer is DONE, or FAILED. */
wb_status wb__pull_range_end(wb__pull_range *range, wb__context *context);

/* Stops a range. */
void wb__pull_range_stop(wb__pull_range *range);

/* Forgets all pieces, so that the file is fetched from its start. No range may be in use. */
wb_status wb__pull_task_restart(wb__pull_task *task, wb__context *context);

/* Hashes the next piece if it has arrived; then sets *worked to true. */
wb_status wb__pull_task_hash(wb__pull_task *task, wb__context *context, bool *worked);

/* Returns true if all pieces were hashed. */
bool wb__pull_task_is_complete(const wb__pull_task *task);

/*
 * Publishes the file if its digest is right. Otherwise sets *again, so that pieces are fetched again:
 * first those that changed on the disk. If none did, the pieces are fetched in order until one
 * arrives with other bytes than before; then the digest is computed again. Fails if all pieces were
 * fetched twice.
 */
wb_status wb__pull_task_finish(wb__pull_task *task, wb__context *context, bool *again);

#endif
