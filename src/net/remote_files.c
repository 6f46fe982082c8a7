#include "net/remote_files.h"

#include <errno.h>

#include "io/io.h"
#include "net/file_table.h"
#include "net/remote_address.h"
#include "net/remote_list.h"

static int owns(void *ctx, const char *path)
{
    (void)ctx;
    return wb__address_kind_of(path) != WB__ADDRESS_NONE;
}

/* The read function of a wb_source. If the cache of the hub has the blob of a remote file, this
 * function reads from the cached blob. */
static wb_status read_local(void *ctx, uint64_t offset, void *dst, size_t n, size_t *got)
{
    wb__source *source = ctx;
    wb_error error;
    wb__context context = {.allocator = wb__default_allocator, .file = ""};
    uint64_t bytes = wb__source_bytes(source);
    context.error = wb__error_reset(NULL, &error);
    *got = offset >= bytes ? 0 : bytes - offset < n ? (size_t)(bytes - offset) : n;
    return *got == 0 ? WB_OK : wb__source_read(source, &context, offset, dst, *got);
}

static void close_local(void *ctx)
{
    wb__source_close(ctx);
}

static wb_status open_local(wb__context *context, const wb__file_entry *entry, wb_source *out)
{
    wb__source *source;
    bool is_folder;
    wb_status status = wb__source_open(context, entry->local, WB_ACCESS_READ, &source, &is_folder);
    if (status == WB_OK && is_folder)
        return wb__fail_os(context, EISDIR, WB__MSG_NET_CACHE_FILE);
    if (status == WB_OK)
        *out = (wb_source){.size = sizeof *out,
                           .ctx = source,
                           .bytes = wb__source_bytes(source),
                           .read = read_local,
                           .close = close_local,
                           .version = strrchr(entry->local, '/') + 1,
                           .digest = strrchr(entry->local, '/') + 1};
    return status;
}

static wb_status open_path(void *ctx, const char *path, wb_source *source, int *is_folder,
                           wb_error *error)
{
    wb_net *net = ctx;
    wb_error spare;
    wb__context context = wb__net_context(net, wb__error_reset(error, &spare));
    wb__file_entry *entry;
    wb_status status = wb__file_entry_get(net, &context, path, true, &entry);
    if (status != WB_OK)
        return status;
    wb__net_lock(net);
    *is_folder = entry->is_folder;
    wb__net_unlock(net);
    if (*is_folder)
        return WB_OK;
    if (entry->local != NULL)
        return open_local(&context, entry, source);
    wb__cached_file_source(entry->file, source);
    return WB_OK;
}

static wb_status list_path(void *ctx, const char *path,
                           wb_status (*each)(void *each_ctx, const char *name), void *each_ctx,
                           wb_error *error)
{
    wb_error spare;
    wb__context context = wb__net_context(ctx, wb__error_reset(error, &spare));
    return wb__remote_list(ctx, &context, path, each, each_ctx);
}

#define HEADS 64 /* maximum number of files whose first bytes are fetched together */

/* Fetches the first bytes of files in parallel. Failures are reported when a file is opened. */
static void fetch_heads(wb_net *net, wb__context *context, const char *const *paths, size_t count)
{
    wb__transfer *heads[HEADS];
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        wb__file_entry *entry;
        if (wb__file_entry_get(net, context, paths[i], false, &entry) != WB_OK ||
            entry->file == NULL)
            continue;
        heads[n] = wb__cached_file_head(entry->file);
        n += heads[n] != NULL;
    }
    wb__transfers_settle(net, heads, n, net->options.connections);
    for (size_t i = 0; i < n; i++)
        wb__cached_file_release(heads[i]);
}

/* Fetches the first bytes of files that will be opened soon. Fetches at most half as many bytes as
 * the cache can hold, so that they are still cached when the files are opened. */
static void expect_paths(void *ctx, const char *const *paths, size_t count)
{
    wb_net *net = ctx;
    wb_error error;
    wb__context context = wb__net_context(net, wb__error_reset(&error, &error));
    uint64_t fits = net->options.cache_bytes / 2 / WB__HEAD_FETCHED;
    if (count > fits)
        count = (size_t)fits;
    for (size_t i = 0; i < count; i += HEADS)
        fetch_heads(net, &context, paths + i, count - i < HEADS ? count - i : HEADS);
}

void wb__remote_files(wb_net *net, wb_files *files)
{
    *files = (wb_files){.size = sizeof *files,
                        .ctx = net,
                        .owns = owns,
                        .open = open_path,
                        .list = list_path,
                        .expect = expect_paths};
}
