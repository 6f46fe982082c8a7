#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <stdlib.h>
#include <unistd.h>

#include "io/sink.h"
#include "net/names.h"
#include "pull/content_hash.h"
#include "push/push.h"
#include "push/push_messages.h"

static int by_path(const void *a, const void *b)
{
    const wb__push_item *left = a, *right = b;
    return strcmp(left->path, right->path);
}

static wb_status fail_path(wb__context *context, const char *format, const char *path,
                           const char *fault)
{
    context->file = path;
    return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_NET_NAME, WB_NO_OFFSET, WB__STR(""),
                    format, fault);
}

/* Checks that every path is valid, and that all of them can exist in one directory tree. */
static wb_status check_paths(const wb_push *push, wb__context *context)
{
    bool out_of_memory = false;
    size_t bytes = push->count * sizeof(char *);
    const char **paths = wb__alloc(&push->net->allocator, bytes);
    if (paths == NULL)
        return wb__fail_memory(context);
    wb_status status = WB_OK;
    for (size_t i = 0; i < push->count && status == WB_OK; i++) {
        paths[i] = push->items[i].path;
        const char *fault = wb__path_fault(wb__str_from(paths[i], SIZE_MAX));
        if (fault == NULL && i > 0 && strcmp(paths[i - 1], paths[i]) == 0)
            status = fail_path(context, WB__MSG_PUSH_CONFLICT, paths[i], "");
        if (fault != NULL)
            status = fail_path(context, WB__MSG_PUSH_NAME, paths[i], fault);
    }
    const char *conflict = status == WB_OK ? wb__paths_conflict(&push->net->allocator, paths,
                                                                push->count, &out_of_memory)
                                           : NULL;
    wb__free(&push->net->allocator, paths, bytes);
    if (out_of_memory)
        return wb__fail_memory(context);
    return conflict == NULL ? status : fail_path(context, WB__MSG_PUSH_CONFLICT, conflict, "");
}

/* Sets the state of an item to SAME if the repository has its contents. */
static wb_status compare(wb_push *push, wb__context *context, wb__push_item *item)
{
    int fd;
    bool same;
    const wb__repo_file *file =
        wb__listing_find(&push->repo->listing, wb__str_from(item->path, SIZE_MAX));
    if (file == NULL || file->size != item->size)
        return WB_OK;
    wb_status status = wb__push_open_file(item, context, &fd);
    if (status != WB_OK)
        return status;
    status = wb__content_hash_file(context, fd, wb__repo_file_blob(file), item->size, push->scratch,
                                   WB__PUSH_SCRATCH, &same);
    (void)close(fd);
    if (status == WB_OK && same)
        item->state = WB__PUSH_SAME;
    return status;
}

wb_status wb__push_plan(wb_push *push, wb__context *context)
{
    if (push->count == 0)
        return wb__fail(context, WB_ERROR_NOT_FOUND, WB__FINDING_ARGUMENT, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_PUSH_NOTHING);
    qsort(push->items, push->count, sizeof *push->items, by_path);
    wb_status status = check_paths(push, context);
    for (size_t i = 0; i < push->count && status == WB_OK; i++)
        status = compare(push, context, &push->items[i]);
    return status;
}

wb_status wb__push_hash(wb_push *push, wb__context *context, wb__push_item *item)
{
    int fd;
    wb__sha256 hash;
    uint8_t digest[WB__SHA256_BYTES];
    uint64_t at = 0;
    size_t got = WB__PUSH_SCRATCH;
    wb_status status = wb__push_open_file(item, context, &fd);
    if (status != WB_OK)
        return status;
    status = wb__sha256_open(&hash, context);
    while (status == WB_OK && got == WB__PUSH_SCRATCH && at <= item->size) {
        got = wb__read_back(fd, at, push->scratch, WB__PUSH_SCRATCH);
        wb__sha256_add(&hash, push->scratch, got);
        at += got;
    }
    (void)close(fd);
    if (status == WB_OK && at != item->size)
        status = wb__fail(context, WB_ERROR_CHANGED, WB__FINDING_FILE_CHANGED, WB_NO_OFFSET,
                          WB__STR(""), WB__MSG_PUSH_CHANGED);
    if (status == WB_OK && !wb__sha256_finish(&hash, digest))
        status = wb__fail_memory(context);
    if (status == WB_OK)
        wb__hex_encode(digest, WB__SHA256_BYTES, item->sha256);
    wb__sha256_close(&hash);
    return status;
}
