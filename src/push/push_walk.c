#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "io/beneath.h"
#include "io/io.h"
#include "push/push.h"
#include "push/push_messages.h"

#define DEPTH_MAX 32u
#define PATH_BYTES ((size_t)16 << 10)

typedef struct walk {
    wb_push *push;
    wb__context *context;
    const char *folder; /* the directory that the user named */
    const char *at;     /* path of the current directory */
    unsigned depth;
} walk;

/* Returns "DIRECTORY/NAME" in the arena, or NULL if memory runs out. */
static const char *join(wb_push *push, const char *directory, const char *name)
{
    wb__buffer text = {.allocator = &push->net->allocator, .ceiling = PATH_BYTES};
    size_t n = strlen(directory);
    wb__buffer_add(&text, directory, n);
    if (n > 0 && directory[n - 1] != '/')
        wb__buffer_text(&text, "/");
    wb__buffer_text(&text, name);
    const char *copy = wb__buffer_failed(&text)
                           ? NULL
                           : wb__arena_copy(&push->arena, (const char *)text.bytes, text.n);
    wb__buffer_free(&text);
    return copy;
}

static wb_status add(wb_push *push, wb__context *context, const wb__push_item *item)
{
    if (push->count == WB__LISTING_FILES)
        return wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_ARGUMENT, WB_NO_OFFSET, WB__STR(""),
                        WB__MSG_PUSH_FILES, WB__LISTING_FILES);
    if (!wb__grow(&push->net->allocator, (void **)&push->items, &push->capacity,
                  sizeof *push->items, push->count + 1, SIZE_MAX) ||
        item->path == NULL)
        return wb__fail_memory(context);
    push->items[push->count] = *item;
    push->items[push->count++].size = (uint64_t)item->st.st_size;
    return WB_OK;
}

/* Returns true for files of git and of downloads, which are not part of the model. */
static bool is_skipped(const char *name)
{
    static const char *const names[] = {".git", ".cache"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    const char *end = strrchr(name, '.');
    return end != NULL && strncmp(end, ".wb-", 4) == 0;
}

static wb_status walk_folder(const walk *outer, const char *path);

static wb_status visit(void *ctx, const char *name)
{
    const walk *w = ctx;
    wb_push *push = w->push;
    wb__push_item item = {.folder = w->folder};
    if (is_skipped(name))
        return WB_OK;
    item.local = join(push, w->at, name);
    if (item.local == NULL)
        return wb__fail_memory(w->context);
    w->context->file = item.local;
    int os_error = wb__beneath_stat(w->folder, item.local, false, &item.st);
    if (os_error != 0)
        return wb__fail_os(w->context, os_error, WB__MSG_PUSH_READ);
    if (S_ISDIR(item.st.st_mode))
        return walk_folder(w, item.local);
    if (!S_ISREG(item.st.st_mode))
        return wb__fail(w->context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_PUSH_SPECIAL);
    item.path = join(push, push->prefix, wb__path_below(w->folder, item.local));
    return add(push, w->context, &item);
}

static wb_status walk_folder(const walk *outer, const char *path)
{
    walk w = *outer;
    w.at = path;
    if (++w.depth > DEPTH_MAX)
        return wb__fail(w.context, WB_ERROR_LIMIT, WB__FINDING_ARGUMENT, WB_NO_OFFSET, WB__STR(""),
                        WB__MSG_PUSH_DEPTH, DEPTH_MAX);
    return wb__directory_list(w.context, path, visit, &w);
}

wb_status wb__push_walk(wb_push *push, wb__context *context, const char *path)
{
    const char *slash = strrchr(path, '/');
    wb__push_item item = {.local = wb__arena_copy(&push->arena, path, strlen(path))};
    walk w = {.push = push, .context = context, .folder = item.local};
    if (item.local == NULL)
        return wb__fail_memory(context);
    context->file = item.local;
    if (stat(path, &item.st) != 0)
        return wb__fail_os(context, errno, WB__MSG_PUSH_READ);
    if (S_ISDIR(item.st.st_mode))
        return walk_folder(&w, item.local);
    if (!S_ISREG(item.st.st_mode))
        return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET, WB__STR(""),
                        WB__MSG_PUSH_SPECIAL);
    item.path = join(push, push->prefix, slash == NULL ? path : slash + 1);
    return add(push, context, &item);
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

wb_status wb__push_open_file(const wb__push_item *item, wb__context *context, int *fd)
{
    struct stat st;
    context->file = item->local;
    *fd = item->folder == NULL
              ? open(item->local, O_RDONLY | O_CLOEXEC)
              : wb__beneath_open(item->folder, wb__path_below(item->folder, item->local),
                                 O_RDONLY | O_CLOEXEC);
    if (*fd < 0)
        return wb__fail_os(context, errno, WB__MSG_PUSH_READ);
    if (fstat(*fd, &st) == 0 && is_same_file(&st, &item->st))
        return WB_OK;
    (void)close(*fd);
    *fd = -1;
    return wb__fail(context, WB_ERROR_CHANGED, WB__FINDING_FILE_CHANGED, WB_NO_OFFSET, WB__STR(""),
                    WB__MSG_PUSH_CHANGED);
}
