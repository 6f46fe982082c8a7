/* The cache of huggingface_hub; net/hub_cache.h describes its files. */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "io/sink.h"
#include "net/hub_cache.h"
#include "pull/below.h"
#include "pull/pull.h"
#include "pull/pull_messages.h"

static wb_status look(wb_pull *pull, wb__context *context, wb__pull_item *item)
{
    char *path;
    wb_status status = wb__hub_cache_blob(pull->net, context, pull->repo, item->file, &path);
    if (path != NULL) {
        item->state = WB__ITEM_HERE;
        wb__free(&pull->net->allocator, path, strlen(path) + 1);
    }
    return status;
}

static int open_file(wb_pull *pull, const wb__pull_item *item)
{
    wb__buffer path = {.allocator = &pull->net->allocator, .ceiling = PATH_MAX};
    wb__buffer_text(&path, pull->folder);
    wb__buffer_text(&path, "/blobs/");
    wb__buffer_text(&path, wb__repo_file_blob(item->file));
    wb__buffer_add(&path, "", 1);
    errno = ENAMETOOLONG;
    int fd = wb__buffer_failed(&path) ? -1 : open((const char *)path.bytes, O_RDONLY | O_CLOEXEC);
    int os_error = errno;
    wb__buffer_free(&path);
    errno = os_error;
    return fd;
}

/* Opens a directory that may be a symbolic link, after creating it if it is missing. */
static wb_status open_folder(wb__context *context, const char *path, int *fd)
{
    wb__buffer below = {.allocator = &context->allocator, .ceiling = PATH_MAX + 2};
    wb__buffer_text(&below, path);
    wb__buffer_add(&below, "/", 2);
    if (wb__buffer_failed(&below)) {
        wb__buffer_free(&below);
        return wb__fail_memory(context);
    }
    wb_status status = wb__directories_make(context, (const char *)below.bytes);
    wb__buffer_free(&below);
    if (status != WB_OK)
        return status;
    context->file = path;
    *fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *fd >= 0 ? WB_OK : wb__fail_os(context, errno, WB__MSG_PULL_FOLDER);
}

static wb_status begin(wb_pull *pull, wb__context *context)
{
    char snapshot[WB__HEX_COMMIT + sizeof "snapshots/"];
    int cache = -1;
    wb_status status = open_folder(context, pull->net->settings.hub_cache, &cache);
    int os_error = status == WB_OK ? wb__pull_write_tag(cache) : 0;
    if (cache >= 0)
        (void)close(cache);
    if (status == WB_OK && os_error != 0)
        return wb__pull_fail_path(pull, context, "", os_error);
    if (status == WB_OK)
        status = open_folder(context, pull->folder, &pull->root);
    if (status == WB_OK)
        status = wb__pull_write_tree(pull, context, pull->root);
    if (status != WB_OK)
        return status;
    (void)snprintf(snapshot, sizeof snapshot, "snapshots/%s", pull->repo->commit);
    pull->store = wb__below_folder(pull->root, "blobs", true);
    pull->files = pull->store < 0 ? -1 : wb__below_folder(pull->root, snapshot, true);
    return pull->files >= 0 ? WB_OK : wb__pull_fail_path(pull, context, "", errno);
}

/* Opens CACHE/.locks/models--OWNER--NAME. */
static int open_locks(wb_pull *pull)
{
    char name[256];
    const char *slash = strrchr(pull->folder, '/');
    int cache = open(pull->net->settings.hub_cache, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (cache < 0)
        return errno;
    (void)snprintf(name, sizeof name, ".locks/%s", slash == NULL ? pull->folder : slash + 1);
    pull->locks = wb__below_folder(cache, name, true);
    int os_error = pull->locks < 0 ? errno : 0;
    (void)close(cache);
    return os_error;
}

static int take_lock(wb_pull *pull, const wb__pull_item *item, int *fd)
{
    char name[WB__HEX_SHA256 + sizeof ".lock"];
    int os_error = pull->locks < 0 ? open_locks(pull) : 0;
    (void)snprintf(name, sizeof name, "%s.lock", wb__repo_file_blob(item->file));
    return os_error == 0 ? wb__pull_take_lock(pull->locks, name, fd) : os_error;
}

static void partial_name(const wb__pull_item *item, char name[WB__PARTIAL_NAME])
{
    (void)snprintf(name, WB__PARTIAL_NAME, "%s", wb__repo_file_blob(item->file));
}

/* Returns the errno value for a path that could not be made. */
static int path_error(const wb__buffer *path)
{
    return path->out_of_memory ? ENOMEM : ENAMETOOLONG;
}

static int publish(wb_pull *pull, const wb__pull_item *item, const wb__pull_partial *partial)
{
    wb__buffer target = {.allocator = &pull->net->allocator, .ceiling = PATH_MAX};
    const char *blob = wb__repo_file_blob(item->file);
    int os_error = partial == NULL ? 0 : wb__pull_move(partial, pull->store, blob);
    if (os_error != 0)
        return os_error;
    wb__buffer_text(&target, "../../");
    for (const char *p = item->file->path; *p != '\0'; p++) {
        if (*p == '/')
            wb__buffer_text(&target, "../");
    }
    wb__buffer_text(&target, "blobs/");
    wb__buffer_text(&target, blob);
    wb__buffer_add(&target, "", 1);
    os_error = wb__buffer_failed(&target)
                   ? path_error(&target)
                   : wb__below_link(pull->files, item->file->path, (const char *)target.bytes);
    wb__buffer_free(&target);
    return os_error;
}

static void distrust(wb_pull *pull)
{
    wb__pull_remove_tree(pull, pull->root, "");
}

/* Writes the file below refs/ that names the commit. It is written after all other files, so that
 * it never names an incomplete snapshot. */
static int end(wb_pull *pull)
{
    const wb__repo *repo = pull->repo;
    wb__buffer path = {.allocator = &pull->net->allocator, .ceiling = PATH_MAX};
    int os_error = wb__write_sync(pull->store);
    if (os_error == EINVAL) /* this file system does not support fsync on directories */
        os_error = 0;
    if (os_error != 0 || strcmp(repo->address.revision, repo->commit) == 0)
        return os_error;
    wb__buffer_text(&path, "refs/");
    wb__buffer_add(&path, repo->address.revision, strlen(repo->address.revision) + 1);
    os_error = wb__buffer_failed(&path) ? path_error(&path)
                                        : wb__below_write(pull->root, (const char *)path.bytes,
                                                          repo->commit, WB__HEX_COMMIT);
    wb__buffer_free(&path);
    return os_error;
}

const wb__pull_layout wb__layout_cache = {.store = "blobs",
                                          .look = look,
                                          .open = open_file,
                                          .begin = begin,
                                          .lock = take_lock,
                                          .partial_name = partial_name,
                                          .publish = publish,
                                          .distrust = distrust,
                                          .end = end};
