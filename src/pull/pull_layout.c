#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE /* flock */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/sink.h"
#include "pull/below.h"
#include "pull/pull.h"
#include "pull/pull_messages.h"

#define TREE_MAX ((size_t)512 << 20)

/* Contents of CACHEDIR.TAG (https://bford.info/cachedir/), in the form that huggingface_hub
 * writes. */
#define TAG                                                                                        \
    "Signature: 8a477f597d28d172789f06886806bc55\n"                                                \
    "# This file is a cache directory tag created by weighbridge.\n"                               \
    "# For information about cache directory tags, see https://bford.info/cachedir/\n"

int wb__pull_open_root(wb_pull *pull)
{
    if (pull->root < 0)
        pull->root = open(pull->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return pull->root;
}

int wb__pull_open_plain(wb_pull *pull, const wb__pull_item *item)
{
    return wb__pull_open_root(pull) < 0 ? -1 : wb__below_open(pull->root, item->file->path);
}

wb_status wb__pull_fail_path(wb_pull *pull, wb__context *context, const char *path, int os_error)
{
    const char *file = path[0] == '\0' ? pull->folder : path;
    context->file = file;
    return wb__fail_os(context, os_error, WB__MSG_PULL_STORE);
}

static void close_folder(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

void wb__pull_close_folders(wb_pull *pull)
{
    close_folder(&pull->root);
    close_folder(&pull->store);
    close_folder(&pull->files);
    close_folder(&pull->locks);
}

uint64_t wb__pull_partial_room(const wb_pull *pull)
{
    uint64_t room = 0;
    int root = open(pull->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int store = root < 0 ? -1 : wb__below_folder(root, pull->layout->store, false);
    for (size_t i = 0; i < pull->count && store >= 0; i++) {
        char name[WB__PARTIAL_NAME], file[WB__PARTIAL_NAME];
        struct stat st;
        const wb__pull_item *item = &pull->items[i];
        if (item->state == WB__ITEM_HERE)
            continue;
        pull->layout->partial_name(item, name);
        wb__pull_partial_file(file, name, WB__PARTIAL_DATA);
        if (fstatat(store, file, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
            room += (uint64_t)st.st_blocks * 512;
    }
    close_folder(&store);
    close_folder(&root);
    return room;
}

wb_status wb__pull_write_tree(wb_pull *pull, wb__context *context, int folder)
{
    char name[64];
    wb__buffer text = {.allocator = &pull->net->allocator, .ceiling = TREE_MAX};
    wb__listing_print(&pull->repo->listing, &text);
    (void)snprintf(name, sizeof name, "trees/%s.json", pull->repo->commit);
    int os_error =
        wb__buffer_failed(&text) ? ENOMEM : wb__below_write(folder, name, text.bytes, text.n);
    wb__buffer_free(&text);
    return os_error == 0 ? WB_OK : wb__pull_fail_path(pull, context, "", os_error);
}

void wb__pull_remove_tree(const wb_pull *pull, int folder, const char *prefix)
{
    char path[128];
    const char *name;
    (void)snprintf(path, sizeof path, "%strees/%s.json", prefix, pull->repo->commit);
    int parent = wb__below_parent(folder, path, false, &name);
    if (parent < 0)
        return;
    (void)unlinkat(parent, name, 0);
    (void)close(parent);
}

int wb__pull_write_tag(int folder)
{
    struct stat st;
    if (fstatat(folder, "CACHEDIR.TAG", &st, AT_SYMLINK_NOFOLLOW) == 0)
        return 0;
    return wb__below_write(folder, "CACHEDIR.TAG", TAG, sizeof TAG - 1);
}

int wb__pull_take_lock(int folder, const char *name, int *fd)
{
    *fd = openat(folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0664);
    if (*fd < 0)
        return errno;
    if (flock(*fd, LOCK_EX | LOCK_NB) == 0)
        return 0;
    int os_error = errno;
    (void)close(*fd);
    *fd = -1;
    return os_error == EWOULDBLOCK || os_error == EINTR ? EWOULDBLOCK : 0;
}

int wb__pull_move(const wb__pull_partial *partial, int folder, const char *name)
{
    int os_error = wb__write_sync(partial->data);
    if (os_error != 0)
        return os_error;
    if (renameat(partial->folder, partial->data_name, folder, name) != 0)
        return errno;
    (void)unlinkat(partial->folder, partial->journal_name, 0);
    return 0;
}
