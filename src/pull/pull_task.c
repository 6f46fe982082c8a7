#include "pull/pull_task.h"

#include <errno.h>
#include <unistd.h>

#include "net/names.h"
#include "net/retry.h"
#include "pull/pull_messages.h"
#include "pull/pull_repair.h"
#include "pull/pull_web.h"

/* ---- opening ---- */

static wb_status open_remote(wb__pull_task *task, wb__context *context)
{
    wb__url url;
    const wb__repo_file *file = task->item->file;
    if (task->pull->is_web) {
        wb_status status = wb__pull_web_remote(task->pull, context, &task->remote);
        task->has_remote = status == WB_OK;
        return status;
    }
    const char *fault = wb__repo_url(task->pull->repo, task->pull->net, file->path, &url);
    if (fault != NULL) {
        wb__url_free(&url);
        return fault == wb__url_memory
                   ? wb__fail_memory(context)
                   : wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_NET_ADDRESS, WB_NO_OFFSET,
                              WB__STR(""), WB__MSG_NET_ADDRESS, fault);
    }
    wb__remote_init(&task->remote, task->pull->net, &url);
    task->has_remote = true;
    wb__remote_set_size(&task->remote, file->size);
    const char *blob = wb__repo_file_blob(file);
    memcpy(task->remote.digest, blob, strlen(blob) + 1);
    return WB_OK;
}

static wb_status open_partial(wb__pull_task *task, wb__context *context)
{
    char name[WB__PARTIAL_NAME];
    wb_pull *pull = task->pull;
    const wb__repo_file *file = task->item->file;
    const char *digest = wb__repo_file_blob(file);
    pull->layout->partial_name(task->item, name);
    wb_status status =
        wb__pull_partial_open(&task->partial, context, pull->store, name, digest, file->size);
    if (status == WB_OK)
        status = wb__content_hash_open(&task->hash, context, digest, file->size);
    return status == WB_OK ? open_remote(task, context) : status;
}

wb_status wb__pull_task_open(wb__pull_task *task, wb__context *context, wb_pull *pull,
                             wb__pull_item *item, bool *is_busy)
{
    *task = (wb__pull_task){.pull = pull, .item = item, .lock = -1};
    task->partial = (wb__pull_partial){.allocator = context->allocator, .data = -1, .journal = -1};
    int os_error = pull->layout->lock(pull, item, &task->lock);
    *is_busy = os_error == EWOULDBLOCK;
    if (*is_busy)
        return WB_OK;
    if (os_error != 0)
        return wb__fail_os(context, os_error, WB__MSG_PULL_LOCK);
    if (item->is_damaged) {
        wb__pull_reuse(pull, item);
    } else if ((pull->flags & WB_PULL_FORCE) ==
               0) { /* another process may have stored it meanwhile */
        wb_status status = pull->layout->look(pull, context, item);
        if (status != WB_OK || item->state == WB__ITEM_HERE)
            return status;
    }
    item->state = WB__ITEM_STARTED;
    return open_partial(task, context);
}

void wb__pull_task_close(wb__pull_task *task)
{
    if (task->pull == NULL)
        return;
    if (task->has_remote)
        wb__remote_free(&task->remote);
    wb__content_hash_close(&task->hash);
    wb__pull_partial_close(&task->partial);
    if (task->lock >= 0)
        (void)close(task->lock);
    task->pull = NULL;
}

/* ---- ranges ---- */

/* Writes received bytes to the partial file. Called on the thread of the engine. */
static bool put(void *owner, uint64_t offset, const uint8_t *bytes, size_t n)
{
    wb__pull_range *range = owner;
    return wb__pull_partial_write(&range->task->partial, &range->sum, offset, bytes, n);
}

/* Returns true if a piece must be fetched. A piece in doubt is fetched again unless another one has
 * just arrived with other bytes than before, so that the digest may be right now. */
static bool is_wanted(const wb__pull_partial *partial, size_t piece)
{
    int state = wb__pull_partial_state(partial, piece);
    return state == WB__PIECE_MISSING ||
           (state == WB__PIECE_DOUBTED && !atomic_load(&partial->has_other));
}

static size_t count_wanted(const wb__pull_partial *partial, size_t from, size_t most)
{
    size_t end = from;
    while (end < partial->count && end - from < most && is_wanted(partial, end))
        end++;
    return end - from;
}

bool wb__pull_task_has_next(wb__pull_task *task)
{
    const wb__pull_partial *partial = &task->partial;
    while (task->next < partial->count && !is_wanted(partial, task->next))
        task->next++;
    return task->next < partial->count && !(task->is_single && task->ranges > 0);
}

void wb__pull_task_next(wb__pull_task *task, wb__pull_range *range, size_t most)
{
    wb__pull_partial *partial = &task->partial;
    size_t n = count_wanted(partial, task->next, task->is_single ? SIZE_MAX : most);
    uint64_t begin = task->next * WB__PIECE, end = (task->next + n) * WB__PIECE;
    for (size_t i = 0; i < n; i++)
        wb__pull_partial_set_state(partial, task->next + i, WB__PIECE_CLAIMED);
    wb__transfer_init(&range->transfer, &task->remote, begin,
                      end < partial->size ? end : partial->size);
    range->transfer.put = put;
    range->transfer.owner = range;
    range->task = task;
    task->ranges++;
}

void wb__pull_range_stop(wb__pull_range *range)
{
    wb__transfer_free(&range->transfer);
    range->task->ranges--;
    range->task = NULL;
}

/* Starts the digest again. */
static wb_status restart_hash(wb__pull_task *task, wb__context *context)
{
    const wb__repo_file *file = task->item->file;
    wb__content_hash_close(&task->hash);
    task->hashed = task->next = 0;
    return wb__content_hash_open(&task->hash, context, wb__repo_file_blob(file), file->size);
}

wb_status wb__pull_task_restart(wb__pull_task *task, wb__context *context)
{
    const char *digest = wb__repo_file_blob(task->item->file);
    wb_status status = restart_hash(task, context);
    task->must_restart = false;
    return status == WB_OK ? wb__pull_partial_restart(&task->partial, context, digest) : status;
}

wb_status wb__pull_range_end(wb__pull_range *range, wb__context *context)
{
    wb__pull_task *task = range->task;
    bool failed = range->transfer.state == WB__TRANSFER_FAILED;
    bool no_ranges = failed && range->transfer.fault_kind == WB__FAULT_NO_RANGES;
    int os_error = atomic_load(&task->partial.os_error);
    context->file = task->item->file->path;
    wb_status status = WB_OK;
    if (os_error != 0)
        status = wb__fail_os(context, os_error, WB__MSG_PULL_PARTIAL);
    else if (failed && !(no_ranges && task->restarts < WB__PULL_RESTARTS))
        status = wb__transfer_fail(&range->transfer, context);
    wb__pull_range_stop(range);
    if (status == WB_OK && no_ranges) {
        task->is_single = task->must_restart = true;
        task->restarts++;
    }
    return status;
}

/* ---- the digest ---- */

/* Returns true if the next piece can be hashed. While pieces are fetched for the second time, none is
 * hashed. */
static bool can_hash(wb__pull_task *task)
{
    const wb__pull_partial *partial = &task->partial;
    if (task->hashed == partial->count)
        return false;
    if (partial->compares)
        return task->ranges == 0 && !wb__pull_task_has_next(task);
    return wb__pull_partial_state(partial, task->hashed) == WB__PIECE_HERE;
}

wb_status wb__pull_task_hash(wb__pull_task *task, wb__context *context, bool *worked)
{
    const wb__pull_partial *partial = &task->partial;
    size_t piece = task->hashed;
    if (!can_hash(task))
        return WB_OK;
    context->file = task->item->file->path;
    if (!task->pull->has_digest) { /* there is nothing to compare a digest with */
        task->hashed++;
        *worked = true;
        return WB_OK;
    }
    if (!wb__pull_partial_read(partial, piece, task->pull->scratch))
        return wb__fail_os(context, EIO, WB__MSG_PULL_PARTIAL);
    wb__content_hash_add(&task->hash, task->pull->scratch,
                         wb__pull_partial_piece_bytes(partial, piece));
    task->hashed++;
    *worked = true;
    return WB_OK;
}

bool wb__pull_task_is_complete(const wb__pull_task *task)
{
    return task->hashed == task->partial.count && task->ranges == 0;
}

static bool has_doubted(const wb__pull_partial *partial)
{
    for (size_t i = 0; i < partial->count; i++) {
        if (wb__pull_partial_state(partial, i) == WB__PIECE_DOUBTED)
            return true;
    }
    return false;
}

/* Prepares the next attempt after a wrong digest. Sets *again to false if there is none. */
static wb_status try_again(wb__pull_task *task, wb__context *context, bool *again)
{
    wb__pull_partial *partial = &task->partial;
    const char *path = task->item->file->path;
    wb_net *net = task->pull->net;
    size_t damaged =
        task->is_rechecked ? 0 : wb__pull_partial_recheck(partial, task->pull->scratch);
    *again = true;
    task->is_rechecked = true;
    if (damaged > 0) {
        wb__net_note(net, WB__MSG_PULL_DAMAGED, path, damaged);
        return restart_hash(task, context);
    }
    if (!task->is_second) { /* bytes may have been damaged on the way */
        task->is_second = true;
        wb__net_note(net, WB__MSG_PULL_AGAIN, path);
        if (task->is_single)
            return wb__pull_task_restart(task, context);
        wb__pull_partial_doubt(partial);
        return restart_hash(task, context);
    }
    *again = has_doubted(partial);
    atomic_store(&partial->has_other, false);
    return *again ? restart_hash(task, context) : WB_OK;
}

wb_status wb__pull_task_finish(wb__pull_task *task, wb__context *context, bool *again)
{
    wb_pull *pull = task->pull;
    const wb__repo_file *file = task->item->file;
    *again = false;
    context->file = file->path;
    if (!pull->has_digest || wb__content_hash_equals(&task->hash, wb__repo_file_blob(file))) {
        wb__pull_keep_journal(pull, task->item, &task->partial);
        int os_error = pull->layout->publish(pull, task->item, &task->partial);
        if (os_error != 0)
            return wb__pull_fail_path(pull, context, file->path, os_error);
        task->item->state = WB__ITEM_DONE;
        return WB_OK;
    }
    wb_status status = try_again(task, context, again);
    if (status != WB_OK || *again)
        return status;
    wb__pull_partial_remove(&task->partial);
    return wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_FILE_DIGEST, WB_NO_OFFSET, WB__STR(""),
                    WB__MSG_PULL_DIGEST);
}
