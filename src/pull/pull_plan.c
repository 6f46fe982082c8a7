#define _POSIX_C_SOURCE 200809L
#include <fnmatch.h>

#include "io/sink.h"
#include "pull/pull.h"
#include "pull/pull_messages.h"
#include "pull/pull_repair.h"

const char *wb__pull_keep(wb_pull *pull, wb__buffer *text)
{
    wb__buffer_add(text, "", 1);
    const char *copy = wb__buffer_failed(text)
                           ? NULL
                           : wb__arena_copy(&pull->arena, (const char *)text->bytes, text->n - 1);
    wb__buffer_free(text);
    return copy;
}

/* Matches as huggingface_hub does: '*' also matches '/', and a pattern that ends with '/' means all
 * files below it. */
static bool matches(const wb_allocator *allocator, const char *pattern, const char *path,
                    bool *out_of_memory)
{
    size_t n = strlen(pattern);
    if (n == 0 || pattern[n - 1] != '/')
        return fnmatch(pattern, path, FNM_NOESCAPE) == 0;
    char *longer = wb__alloc(allocator, n + 2);
    if (longer == NULL) {
        *out_of_memory = true;
        return false;
    }
    memcpy(longer, pattern, n);
    memcpy(longer + n, "*", 2);
    bool found = fnmatch(longer, path, FNM_NOESCAPE) == 0;
    wb__free(allocator, longer, n + 2);
    return found;
}

static bool matches_any(const wb_allocator *allocator, const char *const *patterns, size_t n,
                        const char *path, bool *out_of_memory)
{
    for (size_t i = 0; i < n; i++) {
        if (matches(allocator, patterns[i], path, out_of_memory))
            return true;
    }
    return false;
}

/* Returns true if `file` is `path`, or below it. */
static bool is_below(const char *file, const char *path)
{
    size_t n = strlen(path);
    if (n == 0)
        return true;
    return strncmp(file, path, n) == 0 && (file[n] == '\0' || file[n] == '/' || path[n - 1] == '/');
}

static bool is_wanted(const wb_pull *pull, const wb_pull_options *options, const char *file,
                      const char *path, bool *out_of_memory)
{
    const wb_allocator *allocator = &pull->net->allocator;
    if (!is_below(file, path))
        return false;
    if (options->include_count > 0 &&
        !matches_any(allocator, options->include, options->include_count, file, out_of_memory))
        return false;
    return !matches_any(allocator, options->exclude, options->exclude_count, file, out_of_memory);
}

static wb_status select_files(wb_pull *pull, wb__context *context, const char *path,
                              const wb_pull_options *options)
{
    const wb__listing *listing = &pull->repo->listing;
    size_t n = wb__listing_count(listing);
    bool out_of_memory = false;
    pull->items = wb__arena_alloc(&pull->arena, n * sizeof *pull->items);
    if (pull->items == NULL)
        return wb__fail_memory(context);
    for (size_t i = 0; i < n; i++) {
        const wb__repo_file *file = wb__listing_at(listing, i);
        if (is_wanted(pull, options, file->path, path, &out_of_memory))
            pull->items[pull->count++] = (wb__pull_item){.file = file};
    }
    if (out_of_memory)
        return wb__fail_memory(context);
    if (pull->count == 0)
        return wb__fail(context, WB_ERROR_NOT_FOUND, WB__FINDING_NET_NOT_FOUND, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_PULL_NOTHING);
    return WB_OK;
}

wb_status wb__pull_plan(wb_pull *pull, wb__context *context, const char *path,
                        const wb_pull_options *options)
{
    wb_status status = select_files(pull, context, path, options);
    return status == WB_OK ? wb__pull_look(pull, context) : status;
}

wb_status wb__pull_look(wb_pull *pull, wb__context *context)
{
    wb_status status = WB_OK;
    for (size_t i = 0; i < pull->count && status == WB_OK; i++) {
        wb__pull_item *item = &pull->items[i];
        if (!wb__add(pull->total, item->file->size, &pull->total))
            return wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_NET_REPLY, WB_NO_OFFSET,
                            WB__STR(""), WB__MSG_PULL_TOTAL);
        if ((pull->flags & WB_PULL_FORCE) == 0)
            status = pull->layout->look(pull, context, item);
        if (status == WB_OK && item->state == WB__ITEM_HERE && (pull->flags & WB_PULL_REPAIR) != 0)
            status = wb__pull_check(pull, context, item);
        if (item->state == WB__ITEM_HERE)
            pull->present += item->file->size;
    }
    context->file = "";
    return status;
}
