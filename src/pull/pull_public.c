#include "core/call_options.h"
#include "io/sink.h"
#include "net/hub_cache.h"
#include "net/remote_address.h"
#include "pull/pull.h"
#include "pull/pull_messages.h"
#include "pull/pull_web.h"

#define PATH_BYTES ((size_t)16 << 10)

static wb_status set_paths(wb_pull *pull, wb__context *context, const char *directory)
{
    wb__buffer text = {.allocator = &pull->net->allocator, .ceiling = PATH_BYTES};
    pull->layout = directory == NULL ? &wb__layout_cache : &wb__layout_folder;
    if (directory != NULL)
        wb__buffer_text(&text, directory);
    else
        wb__hub_cache_folder(&text, pull->net, &pull->repo->address);
    pull->path = pull->folder = wb__pull_keep(pull, &text);
    if (directory == NULL && pull->folder != NULL) {
        wb__buffer_text(&text, pull->folder);
        wb__buffer_text(&text, "/snapshots/");
        wb__buffer_text(&text, pull->repo->commit);
        pull->path = wb__pull_keep(pull, &text);
    }
    return pull->folder == NULL || pull->path == NULL ? wb__fail_memory(context) : WB_OK;
}

static wb_status parse(wb_pull *pull, wb__context *context, const char *text, wb__address *address)
{
    if (text == NULL)
        return wb__fail_address(context, "it is missing");
    return wb__address_read(pull->net, context, &pull->arena, text, address);
}

static wb_status plan_web(wb_pull *pull, wb__context *context, const wb__address *address,
                          const wb_pull_options *options)
{
    if (options->include_count > 0 || options->exclude_count > 0)
        return wb__fail_argument(context, WB__MSG_PULL_WEB_PATTERNS);
    wb_status status = wb__pull_web_open(pull, context, address, options);
    return status == WB_OK ? wb__pull_look(pull, context) : status;
}

/* Compares the free space with what is missing. */
static wb_status check_room(const wb_pull *pull, wb__context *context)
{
    uint64_t missing = pull->total - pull->present, partial = wb__pull_partial_room(pull);
    char *there = wb__directory_there(&pull->net->allocator, pull->folder);
    if (there == NULL)
        return wb__fail_memory(context);
    uint64_t room = wb__write_room(there);
    wb__free(&pull->net->allocator, there, strlen(there) + 1);
    missing -= partial < missing ? partial : missing;
    if (missing <= room)
        return WB_OK;
    return wb__fail(context, WB_ERROR_IO, WB__FINDING_WRITE_ROOM, WB_NO_OFFSET, WB__STR(""),
                    WB__MSG_PULL_ROOM, (unsigned long long)missing, (unsigned long long)room);
}

static wb_status check_options(wb__context *context, const wb_pull_options *options)
{
    if ((options->flags & ~(WB_PULL_FORCE | WB_PULL_REPAIR)) != 0)
        return wb__fail_argument(context, "wb_pull_options.flags contains unknown flags");
    if (options->directory != NULL && options->directory[0] == '\0')
        return wb__fail_argument(context, "wb_pull_options.directory is empty");
    if ((options->include_count > 0 && options->include == NULL) ||
        (options->exclude_count > 0 && options->exclude == NULL))
        return wb__fail_argument(context, "wb_pull_options has a count without patterns");
    return WB_OK;
}

static wb_status plan(wb_pull *pull, wb__context *context, const char *text,
                      const wb_pull_options *options)
{
    wb__address address = {0};
    pull->scratch = wb__alloc(&pull->net->allocator, WB__PIECE);
    wb_status status =
        pull->scratch == NULL ? wb__fail_memory(context) : parse(pull, context, text, &address);
    if (status != WB_OK)
        return status;
    if (address.kind != WB__ADDRESS_HUB)
        return plan_web(pull, context, &address, options);
    if (options->sha256 != NULL)
        return wb__fail_argument(context, WB__MSG_PULL_HUB_SHA256);
    pull->has_digest = true;
    status = wb__repo_open(pull->net, context, &address, &pull->repo);
    if (status == WB_OK)
        status = set_paths(pull, context, options->directory);
    return status == WB_OK ? wb__pull_plan(pull, context, address.path, options) : status;
}

wb_status wb_pull_open(wb_net *net, const char *address, const wb_pull_options *options,
                       wb_pull **out, wb_error *error)
{
    wb_error spare;
    wb_pull_options own = {.size = sizeof own};
    wb__context context = wb__net_context(net, wb__error_reset(error, &spare));
    if (out == NULL)
        return wb__fail_argument(&context, "the pointer for the result is NULL");
    *out = NULL;
    if (!WB__TAKE(wb_pull_options, options, &own))
        return WB__FAIL_SIZE(&context, wb_pull_options, options);
    wb_status status = check_options(&context, &own);
    if (status != WB_OK)
        return status;
    wb_pull *pull = wb__alloc_zeroed(&net->allocator, sizeof *pull);
    if (pull == NULL)
        return wb__fail_memory(&context);
    pull->net = net;
    pull->arena.allocator = &net->allocator;
    pull->flags = own.flags;
    pull->root = pull->store = pull->files = pull->locks = -1;
    status = plan(pull, &context, address, &own);
    if (status == WB_OK)
        *out = pull;
    else
        wb_pull_close(pull);
    return status;
}

void wb_pull_close(wb_pull *pull)
{
    if (pull == NULL)
        return;
    const wb_allocator *allocator = &pull->net->allocator;
    wb__pull_close_folders(pull);
    wb__repo_free(pull->repo);
    if (pull->is_web)
        wb__remote_free(&pull->web);
    wb__arena_free(&pull->arena);
    wb__free(allocator, pull->scratch, WB__PIECE);
    wb__free(allocator, pull, sizeof *pull);
}

const char *wb_pull_path(const wb_pull *pull)
{
    return pull->path;
}

const char *wb_pull_commit(const wb_pull *pull)
{
    return pull->repo == NULL ? "" : pull->repo->commit;
}

uint64_t wb_pull_count(const wb_pull *pull)
{
    return pull->count;
}

wb_status wb_pull_file_at(const wb_pull *pull, uint64_t i, wb_pull_file *caller, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__net_context(pull->net, wb__error_reset(error, &spare));
    wb_pull_file own, *out = WB__OUT(wb_pull_file, caller, &own);
    if (out == NULL)
        return WB__FAIL_SIZE(&context, wb_pull_file, caller);
    if (i >= pull->count)
        return wb__fail_argument(&context, "the number of the file is too large");
    const wb__pull_item *item = &pull->items[i];
    out->path = item->file->path;
    out->digest = pull->has_digest ? wb__repo_file_blob(item->file) : "";
    out->bytes = item->file->size;
    out->is_here = item->state == WB__ITEM_HERE || item->state == WB__ITEM_DONE;
    WB__GIVE(wb_pull_file, caller, out);
    return WB_OK;
}

wb_status wb_pull_run(wb_pull *pull, const wb_progress *progress, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__net_context(pull->net, wb__error_reset(error, &spare));
    wb_status status = check_room(pull, &context);
    return status == WB_OK ? wb__pull_run(pull, &context, progress) : status;
}
