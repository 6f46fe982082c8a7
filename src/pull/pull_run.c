/*
 * Fetches files in parallel. Each connection fetches one range of a file at a time, so at most as
 * many files are open as there are connections. A free connection gets a range of the oldest open
 * file that has one left, so that files are completed one after the other.
 */
#include "pull/pull_messages.h"
#include "pull/pull_task.h"

#define BUSY_MS 100u /* time between two attempts to take a lock that another process holds */

typedef struct run {
    wb_pull *pull;
    wb__context *context;
    const wb_progress *progress;
    wb__pull_range *ranges;
    wb__pull_task *tasks;
    size_t slots;     /* number of elements of `ranges`, and of `tasks` */
    uint64_t pending; /* maximum number of bytes that all ranges may request at a time */
    size_t pieces;    /* maximum number of pieces of a range */
    size_t first;     /* no item before this one is waiting */
    size_t waiting;   /* number of items that no task has opened */
    uint64_t done;    /* bytes of completed files */
    uint64_t wake;    /* time at which `loop` continues even if nothing has changed */
    bool told_busy;
} run;

/* ---- opening files ---- */

static void complete(run *r, wb__pull_item *item)
{
    item->state = WB__ITEM_DONE;
    r->done += item->file->size;
}

/* Stores the links or metadata of a file that is already complete. */
static wb_status publish_here(run *r, wb__pull_item *item)
{
    int os_error = r->pull->layout->publish(r->pull, item, NULL);
    if (os_error != 0)
        return wb__pull_fail_path(r->pull, r->context, item->file->path, os_error);
    complete(r, item);
    return WB_OK;
}

/* Returns true if a task fetches the same contents, under the same lock. */
static bool is_in_use(const run *r, const wb__pull_item *item)
{
    for (size_t i = 0; i < r->slots; i++) {
        const wb__pull_task *task = &r->tasks[i];
        if (task->pull != NULL &&
            strcmp(wb__repo_file_blob(task->item->file), wb__repo_file_blob(item->file)) == 0)
            return true;
    }
    return false;
}

static wb__pull_task *free_task(const run *r)
{
    for (size_t i = 0; i < r->slots; i++) {
        if (r->tasks[i].pull == NULL)
            return &r->tasks[i];
    }
    return NULL;
}

static bool has_open_task(const run *r)
{
    for (size_t i = 0; i < r->slots; i++) {
        if (r->tasks[i].pull != NULL)
            return true;
    }
    return false;
}

/* Opens one item, or only publishes it if its bytes are already stored. Sets *opened to false if
 * another process holds the lock of the item, and after a failure; otherwise to true. */
static wb_status open_item(run *r, wb__pull_item *item, wb__pull_task *task, bool *opened)
{
    bool is_busy;
    r->context->file = item->file->path;
    wb_status status = wb__pull_task_open(task, r->context, r->pull, item, &is_busy);
    *opened = status == WB_OK && !is_busy && item->state == WB__ITEM_STARTED;
    if (!*opened)
        wb__pull_task_close(task);
    if (status == WB_OK && item->state == WB__ITEM_HERE) {
        *opened = true;
        status = publish_here(r, item);
    }
    if (is_busy && !has_open_task(r)) {
        if (!r->told_busy)
            wb__net_note(r->pull->net, WB__MSG_PULL_BUSY, item->file->path);
        r->told_busy = true;
    }
    if (is_busy)
        r->wake = wb__net_now_ms() + BUSY_MS;
    return status;
}

/* Opens the next file that can be opened. Sets *opened to whether there was one. */
static wb_status open_next(run *r, bool *opened)
{
    wb_status status = WB_OK;
    wb__pull_task *task = free_task(r);
    *opened = false;
    while (r->first < r->pull->count && r->pull->items[r->first].state != WB__ITEM_MISSING)
        r->first++;
    for (size_t i = r->first; i < r->pull->count && task != NULL && status == WB_OK; i++) {
        wb__pull_item *item = &r->pull->items[i];
        if (item->state != WB__ITEM_MISSING || is_in_use(r, item))
            continue;
        status = open_item(r, item, task, opened);
        if (*opened)
            break;
    }
    r->waiting -= *opened;
    return status;
}

/* ---- ranges ---- */

/* Sets the limits of `pending` and `pieces` (pull/pull_task.h). */
static void set_limits(run *r)
{
    uint64_t part = r->pull->total / WB__PULL_PENDING_PART;
    r->pending = part > WB__PULL_PENDING_MIN ? part : WB__PULL_PENDING_MIN;
    uint64_t pieces = r->pending / r->slots / WB__PIECE;
    r->pieces = pieces > WB__PULL_RANGE_MAX ? WB__PULL_RANGE_MAX : pieces > 0 ? (size_t)pieces : 1;
}

/* Returns true if all ranges together request the permitted number of bytes. */
static bool is_full(const run *r)
{
    uint64_t bytes = r->pieces * WB__PIECE; /* of the next range */
    for (size_t i = 0; i < r->slots; i++) {
        const wb__pull_range *range = &r->ranges[i];
        if (range->task != NULL && !range->task->is_single)
            bytes += range->transfer.end - range->transfer.begin;
    }
    return bytes > r->pending;
}

/* Gives a free range to the open file that was opened first and can use it. Returns false if no
 * open file can use it. */
static bool assign(const run *r, wb__pull_range *range)
{
    wb__pull_task *oldest = NULL;
    for (size_t i = 0; i < r->slots; i++) {
        wb__pull_task *task = &r->tasks[i];
        if (task->pull != NULL && (oldest == NULL || task->item < oldest->item) &&
            wb__pull_task_has_next(task))
            oldest = task;
    }
    if (oldest != NULL)
        wb__pull_task_next(oldest, range, r->pieces);
    return oldest != NULL;
}

static wb_status fill(run *r)
{
    wb_status status = WB_OK;
    for (size_t i = 0; i < r->slots && status == WB_OK; i++) {
        bool opened = true;
        if (r->ranges[i].task != NULL)
            continue;
        if (is_full(r))
            break;
        while (!assign(r, &r->ranges[i]) && opened && status == WB_OK)
            status = open_next(r, &opened);
        if (r->ranges[i].task == NULL)
            break;
    }
    return status;
}

static wb_status restart(run *r, wb__pull_task *task)
{
    for (size_t i = 0; i < r->slots; i++) {
        if (r->ranges[i].task == task)
            wb__pull_range_stop(&r->ranges[i]);
    }
    return wb__pull_task_restart(task, r->context);
}

static wb_status advance(run *r)
{
    wb_status status = WB_OK;
    for (size_t i = 0; i < r->slots && status == WB_OK; i++) {
        wb__pull_range *range = &r->ranges[i];
        wb__pull_task *task = range->task;
        uint64_t wake;
        if (task == NULL)
            continue;
        wb__transfer_state state = wb__transfer_advance(&range->transfer, &wake);
        r->wake = wake < r->wake ? wake : r->wake;
        if (state == WB__TRANSFER_DONE || state == WB__TRANSFER_FAILED)
            status = wb__pull_range_end(range, r->context);
        if (status == WB_OK && task->must_restart)
            status = restart(r, task);
    }
    return status;
}

/* ---- digests ---- */

/* Hashes what has arrived and finishes complete files. Sets *worked if there was anything to do. */
static wb_status digest(run *r, bool *worked)
{
    wb_status status = WB_OK;
    for (size_t i = 0; i < r->slots && status == WB_OK; i++) {
        wb__pull_task *task = &r->tasks[i];
        bool again = false;
        if (task->pull == NULL)
            continue;
        status = wb__pull_task_hash(task, r->context, worked);
        if (status != WB_OK || !wb__pull_task_is_complete(task))
            continue;
        *worked = true;
        status = wb__pull_task_finish(task, r->context, &again);
        if (again)
            continue;
        r->done += status == WB_OK ? task->item->file->size : 0;
        wb__pull_task_close(task);
    }
    return status;
}

static wb_status report(const run *r)
{
    uint64_t done = r->done;
    if (r->progress == NULL || r->progress->report == NULL)
        return WB_OK;
    for (size_t i = 0; i < r->slots; i++) {
        if (r->tasks[i].pull != NULL)
            done += wb__pull_partial_bytes(&r->tasks[i].partial);
    }
    if (r->progress->report(r->progress->ctx, done, r->pull->total) == 0)
        return WB_OK;
    return wb__fail(r->context, WB_ERROR_CANCELLED, WB__FINDING_CANCELLED, WB_NO_OFFSET,
                    WB__STR(""), WB__MSG_PULL_CANCELLED);
}

/* ---- all files ---- */

static wb_status loop(run *r)
{
    wb_status status = WB_OK;
    while (status == WB_OK) {
        bool worked = false;
        uint64_t seen = wb__net_changes(r->pull->net);
        r->wake = UINT64_MAX;
        status = fill(r);
        if (status == WB_OK)
            status = advance(r);
        if (status == WB_OK)
            status = digest(r, &worked);
        if (status == WB_OK)
            status = report(r);
        if (r->waiting == 0 && !has_open_task(r))
            break;
        if (status == WB_OK && !worked)
            (void)wb__net_wait_change(r->pull->net, seen, r->wake);
    }
    return status;
}

static void stop(const run *r)
{
    for (size_t i = 0; i < r->slots; i++) {
        if (r->ranges[i].task != NULL)
            wb__pull_range_stop(&r->ranges[i]);
    }
    for (size_t i = 0; i < r->slots; i++)
        wb__pull_task_close(&r->tasks[i]);
}

/* Stores the links or metadata of all files whose contents are complete, which needs no request.
 * Marks the other files as missing, also those that an earlier run had started before it failed. */
static wb_status publish_all_here(run *r)
{
    wb_status status = WB_OK;
    for (size_t i = 0; i < r->pull->count && status == WB_OK; i++) {
        wb__pull_item *item = &r->pull->items[i];
        if (item->state == WB__ITEM_HERE || item->state == WB__ITEM_DONE) {
            status = publish_here(r, item);
        } else {
            item->state = WB__ITEM_MISSING;
            r->waiting++;
        }
    }
    return status;
}

wb_status wb__pull_run(wb_pull *pull, wb__context *context, const wb_progress *progress)
{
    const wb_allocator *allocator = &pull->net->allocator;
    run r = {.pull = pull,
             .context = context,
             .progress = progress,
             .slots = pull->net->options.connections};
    set_limits(&r);
    r.ranges = wb__alloc_zeroed(allocator, r.slots * sizeof *r.ranges);
    r.tasks = wb__alloc_zeroed(allocator, r.slots * sizeof *r.tasks);
    wb_status status = r.ranges == NULL || r.tasks == NULL ? wb__fail_memory(context)
                                                           : pull->layout->begin(pull, context);
    if (status == WB_OK)
        status = publish_all_here(&r);
    if (status == WB_OK)
        status = loop(&r);
    if (r.ranges != NULL && r.tasks != NULL)
        stop(&r);
    wb__free(allocator, r.ranges, r.slots * sizeof *r.ranges);
    wb__free(allocator, r.tasks, r.slots * sizeof *r.tasks);
    if (status == WB_ERROR_FORMAT) /* the stored listing may be the cause: remove it */
        pull->layout->distrust(pull);
    int os_error = status == WB_OK ? pull->layout->end(pull) : 0;
    wb__pull_close_folders(pull);
    return os_error == 0 ? status : wb__pull_fail_path(pull, context, "", os_error);
}
