#include "core/call_options.h"
#include "net/names.h"
#include "net/remote_address.h"
#include "push/push.h"
#include "push/push_messages.h"

/* Checks the address and keeps the folder in it. */
static wb_status take_address(wb_push *push, wb__context *context, const char *text,
                              const wb_push_options *options, wb__address *address)
{
    if (text == NULL)
        return wb__fail_address(context, "it is missing");
    wb_status status = wb__address_read(push->net, context, &push->arena, text, address);
    if (status != WB_OK)
        return status;
    if (address->kind != WB__ADDRESS_HUB)
        return wb__fail_address(context, WB__MSG_PUSH_ADDRESS);
    if (options->revision != NULL)
        address->revision = options->revision;
    if (wb__is_commit(address->revision))
        return wb__fail_address(context, WB__MSG_PUSH_COMMIT_REVISION);
    const char *fault = wb__revision_fault(address->revision);
    if (fault != NULL)
        return wb__fail_address(context, fault);
    push->prefix = address->path;
    return WB_OK;
}

static const char *keep(wb_push *push, const char *text)
{
    return wb__arena_copy(&push->arena, text, strlen(text));
}

static wb_status plan(wb_push *push, wb__context *context, const char *text,
                      const char *const *paths, size_t count, const wb_push_options *options)
{
    wb__address address = {0};
    wb_status status = take_address(push, context, text, options, &address);
    push->scratch = wb__alloc(&push->net->allocator, WB__PUSH_SCRATCH);
    push->message = keep(push, options->message == NULL || options->message[0] == '\0'
                                   ? "Upload files with weighbridge"
                                   : options->message);
    if (status == WB_OK && (push->scratch == NULL || push->message == NULL))
        status = wb__fail_memory(context);
    for (size_t i = 0; i < count && status == WB_OK; i++)
        status = paths[i] == NULL ? wb__fail_argument(context, "a path is NULL")
                                  : wb__push_walk(push, context, paths[i]);
    context->file = "";
    if (status == WB_OK)
        status = wb__repo_open(push->net, context, &address, &push->repo);
    return status == WB_OK ? wb__push_plan(push, context) : status;
}

wb_status wb_push_open(wb_net *net, const char *address, const char *const *paths, size_t count,
                       const wb_push_options *options, wb_push **out, wb_error *error)
{
    wb_error spare;
    wb_push_options own = {.size = sizeof own};
    wb__context context = wb__net_context(net, wb__error_reset(error, &spare));
    if (out == NULL)
        return wb__fail_argument(&context, "the pointer for the result is NULL");
    *out = NULL;
    if (!WB__TAKE(wb_push_options, options, &own))
        return WB__FAIL_SIZE(&context, wb_push_options, options);
    if (own.flags != 0)
        return wb__fail_argument(&context, "wb_push_options.flags contains unknown flags");
    if (count > 0 && paths == NULL)
        return wb__fail_argument(&context, "the list of paths is NULL");
    wb_push *push = wb__alloc_zeroed(&net->allocator, sizeof *push);
    if (push == NULL)
        return wb__fail_memory(&context);
    push->net = net;
    push->arena.allocator = &net->allocator;
    wb_status status = plan(push, &context, address, paths, count, &own);
    if (status == WB_OK)
        *out = push;
    else
        wb_push_close(push);
    return status;
}

void wb_push_close(wb_push *push)
{
    if (push == NULL)
        return;
    const wb_allocator *allocator = &push->net->allocator;
    wb__repo_free(push->repo);
    wb__free(allocator, push->items, push->capacity * sizeof *push->items);
    wb__free(allocator, push->scratch, WB__PUSH_SCRATCH);
    wb__arena_free(&push->arena);
    wb__free(allocator, push, sizeof *push);
}

const char *wb_push_commit(const wb_push *push)
{
    return push->commit[0] != '\0' ? push->commit : push->repo->commit;
}

uint64_t wb_push_count(const wb_push *push)
{
    return push->count;
}

wb_status wb_push_file_at(const wb_push *push, uint64_t i, wb_push_file *caller, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__net_context(push->net, wb__error_reset(error, &spare));
    wb_push_file own, *out = WB__OUT(wb_push_file, caller, &own);
    if (out == NULL)
        return WB__FAIL_SIZE(&context, wb_push_file, caller);
    if (i >= push->count)
        return wb__fail_argument(&context, "the number of the file is too large");
    const wb__push_item *item = &push->items[i];
    out->path = item->path;
    out->local = item->local;
    out->bytes = item->size;
    out->is_there = item->state == WB__PUSH_SAME;
    out->is_ignored = item->state == WB__PUSH_IGNORED;
    WB__GIVE(wb_push_file, caller, out);
    return WB_OK;
}

/* Returns true if there is a file to commit. Adds up the bytes of the files that LFS stores. */
static bool count_new(wb_push *push)
{
    bool any = false;
    push->total = push->sent = 0;
    for (size_t i = 0; i < push->count; i++) {
        const wb__push_item *item = &push->items[i];
        any |= item->state == WB__PUSH_NEW || item->state == WB__PUSH_STORED;
        push->total += item->state == WB__PUSH_NEW && item->is_lfs ? item->size : 0;
    }
    return any;
}

wb_status wb_push_run(wb_push *push, const wb_progress *progress, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__net_context(push->net, wb__error_reset(error, &spare));
    if (push->commit[0] != '\0' || !count_new(push))
        return WB_OK;
    wb_status status = wb__push_preupload(push, &context);
    if (status != WB_OK || !count_new(push))
        return status;
    status = wb__push_upload(push, &context, progress);
    return status == WB_OK ? wb__push_make_commit(push, &context) : status;
}
