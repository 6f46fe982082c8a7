#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include "net/hub_cache.h"

#include <sys/stat.h>

#include "net/names.h"

#define CACHE_PATH_MAX ((size_t)16 << 10)
#define TREE_MAX ((size_t)512 << 20)

void wb__hub_cache_folder(wb__buffer *out, const wb_net *net, const wb__address *address)
{
    const char *slash = strchr(address->repo, '/');
    wb__buffer_text(out, net->settings.hub_cache);
    wb__buffer_text(out, "/");
    wb__buffer_text(out, wb__repo_plural(address->type));
    wb__buffer_text(out, "--");
    wb__buffer_add(out, address->repo, (size_t)(slash - address->repo));
    wb__buffer_text(out, "--");
    wb__buffer_text(out, slash + 1);
}

/* Makes the path of a file in the cache: the folder of the repository, then `kind` ("/refs/"),
 * `name` and `end`. The caller frees the buffer. */
static wb_status make_path(wb__buffer *out, const wb_net *net, wb__context *context,
                           const wb__address *address, const char *kind, const char *name,
                           const char *end)
{
    *out = (wb__buffer){.allocator = &net->allocator, .ceiling = CACHE_PATH_MAX};
    wb__hub_cache_folder(out, net, address);
    wb__buffer_text(out, kind);
    wb__buffer_text(out, name);
    wb__buffer_text(out, end);
    wb__buffer_add(out, "", 1);
    return wb__buffer_failed(out) ? wb__fail_memory(context) : WB_OK;
}

wb_status wb__hub_cache_read_ref(wb_net *net, wb__context *context, const wb__address *address,
                                 char commit[WB__HEX_COMMIT + 1])
{
    wb__buffer path;
    wb__arena arena = {.allocator = &net->allocator};
    const char *text = NULL;
    commit[0] = '\0';
    wb_status status = make_path(&path, net, context, address, "/refs/", address->revision, "");
    if (status == WB_OK)
        status = wb__read_small_file(context, &arena, (const char *)path.bytes, 256, &text);
    if (text != NULL && strlen(text) >= WB__HEX_COMMIT &&
        wb__is_hex((wb__str){text, WB__HEX_COMMIT})) {
        memcpy(commit, text, WB__HEX_COMMIT);
        commit[WB__HEX_COMMIT] = '\0';
    }
    wb__arena_free(&arena);
    wb__buffer_free(&path);
    return status;
}

wb_status wb__hub_cache_read_tree(wb_net *net, wb__context *context, wb__repo *repo, bool *found)
{
    wb__buffer path;
    wb__arena arena = {.allocator = &net->allocator};
    const char *text = NULL;
    *found = false;
    wb_status status =
        make_path(&path, net, context, &repo->address, "/trees/", repo->commit, ".json");
    if (status == WB_OK)
        status = wb__read_small_file(context, &arena, (const char *)path.bytes, TREE_MAX, &text);
    if (status == WB_OK && text != NULL) {
        status = wb__listing_add_cached(&repo->listing, context, text, strlen(text));
        if (status == WB_OK)
            status = wb__listing_finish(&repo->listing, context);
        *found = status == WB_OK;
    }
    if (!*found && status != WB_ERROR_MEMORY) { /* damaged, or of a later version */
        wb__listing_free(&repo->listing);
        wb__listing_init(&repo->listing, repo->allocator);
        (void)wb__error_reset(context->error, context->error);
        status = WB_OK;
    }
    wb__arena_free(&arena);
    wb__buffer_free(&path);
    return status;
}

wb_status wb__hub_cache_blob(wb_net *net, wb__context *context, const wb__repo *repo,
                             const wb__repo_file *file, char **out)
{
    wb__buffer path;
    struct stat st;
    *out = NULL;
    wb_status status =
        make_path(&path, net, context, &repo->address, "/blobs/", wb__repo_file_blob(file), "");
    bool there = status == WB_OK && stat((const char *)path.bytes, &st) == 0 &&
                 S_ISREG(st.st_mode) && (uint64_t)st.st_size == file->size;
    if (there) {
        *out = wb__alloc(&net->allocator, path.n);
        if (*out == NULL)
            status = wb__fail_memory(context);
        else
            memcpy(*out, path.bytes, path.n);
    }
    wb__buffer_free(&path);
    return status;
}
