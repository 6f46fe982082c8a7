/*
 * One file, wherever the user wants it:
 *
 *     DIR/NAME                the file
 *     DIR/NAME.wb-partial     the partial file
 *     DIR/NAME.wb-pieces      its journal
 *     DIR/NAME.wb-lock        flock, while the file is written
 *
 * A file that exists is kept if it has the digest that the user stated. Without a digest, its pieces
 * are compared with the journal of the download that stored it.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/sink.h"
#include "pull/below.h"
#include "pull/pull.h"
#include "pull/pull_messages.h"
#include "pull/pull_repair.h"

#define NAME_MAX_WHOLE 100 /* a longer name is shortened in the names of its partial files */

static wb_status look_inside(wb_pull *pull, wb__context *context, int fd, wb__pull_item *item)
{
    struct stat st;
    bool same = false, known = pull->has_digest;
    if (fstat(fd, &st) != 0)
        return wb__fail_os(context, errno, WB__MSG_PULL_STORE);
    wb_status status =
        S_ISREG(st.st_mode) ? wb__pull_compare(pull, context, fd, item, &same, &known) : WB_OK;
    bool repairs = (pull->flags & WB_PULL_REPAIR) != 0 && S_ISREG(st.st_mode) && known;
    if (same || repairs)
        item->state = WB__ITEM_HERE;
    if (status == WB_OK && !same && !repairs)
        status = wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_WRITE_EXISTS, WB_NO_OFFSET,
                          WB__STR(""), WB__MSG_PULL_OTHER_FILE);
    return status;
}

static wb_status look(wb_pull *pull, wb__context *context, wb__pull_item *item)
{
    context->file = pull->path;
    int fd = wb__pull_open_plain(pull, item);
    if (fd < 0)
        return errno == ENOENT ? WB_OK : wb__fail_os(context, errno, WB__MSG_PULL_STORE);
    wb_status status = look_inside(pull, context, fd, item);
    (void)close(fd);
    return status;
}

static wb_status begin(wb_pull *pull, wb__context *context)
{
    wb_status status = wb__directories_make(context, pull->path);
    if (status != WB_OK)
        return status;
    if (wb__pull_open_root(pull) >= 0)
        pull->store = fcntl(pull->root, F_DUPFD_CLOEXEC, 0);
    return pull->store >= 0 ? WB_OK : wb__pull_fail_path(pull, context, "", errno);
}

static void partial_name(const wb__pull_item *item, char name[WB__PARTIAL_NAME])
{
    const char *path = item->file->path;
    size_t n = strlen(path);
    if (n <= NAME_MAX_WHOLE)
        (void)snprintf(name, WB__PARTIAL_NAME, "%s", path);
    else
        (void)snprintf(name, WB__PARTIAL_NAME, "%.64s.%016" PRIx64, path,
                       wb__piece_sum_of(path, n));
}

static void lock_name(const wb__pull_item *item, char file[WB__PARTIAL_NAME])
{
    char name[WB__PARTIAL_NAME];
    partial_name(item, name);
    wb__pull_partial_file(file, name, ".wb-lock");
}

/* The lock file is removed when the download ends. A process that waited for the lock must not use
 * the removed file. */
static int take_lock(wb_pull *pull, const wb__pull_item *item, int *fd)
{
    struct stat st;
    char file[WB__PARTIAL_NAME];
    lock_name(item, file);
    int os_error = wb__pull_take_lock(pull->store, file, fd);
    if (os_error != 0 || *fd < 0 || (fstat(*fd, &st) == 0 && st.st_nlink > 0))
        return os_error;
    (void)close(*fd);
    *fd = -1;
    return EWOULDBLOCK;
}

static int publish(wb_pull *pull, const wb__pull_item *item, const wb__pull_partial *partial)
{
    char file[WB__PARTIAL_NAME];
    int os_error = partial == NULL ? 0 : wb__pull_move(partial, pull->root, item->file->path);
    lock_name(item, file);
    if (partial != NULL && os_error == 0)
        (void)unlinkat(pull->store, file, 0);
    return os_error;
}

static void distrust(wb_pull *pull)
{
    (void)pull;
}

static int end(wb_pull *pull)
{
    int os_error = wb__write_sync(pull->root);
    return os_error == EINVAL ? 0 : os_error;
}

const wb__pull_layout wb__layout_file = {.store = "",
                                         .look = look,
                                         .open = wb__pull_open_plain,
                                         .begin = begin,
                                         .lock = take_lock,
                                         .partial_name = partial_name,
                                         .publish = publish,
                                         .distrust = distrust,
                                         .end = end};
