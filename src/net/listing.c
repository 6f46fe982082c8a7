#include "net/listing.h"

#include <stdlib.h>

#include "net/names.h"
#include "net/net_messages.h"
#include "net/reply.h"
#include "json/json.h"

void wb__listing_init(wb__listing *listing, const wb_allocator *allocator)
{
    *listing = (wb__listing){.arena = {.allocator = allocator},
                             .files = {.item_size = sizeof(wb__repo_file)}};
    listing->files.arena = &listing->arena;
}

void wb__listing_free(wb__listing *listing)
{
    if (listing->order != NULL)
        wb__free(listing->arena.allocator, listing->order, listing->order_bytes);
    listing->order = NULL;
    wb__list_free(&listing->files);
    wb__arena_free(&listing->arena);
}

/* ---- one file ---- */

static wb_status fail_name(wb__context *context, wb__str path, const char *fault)
{
    return wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_NET_NAME, WB_NO_OFFSET, path,
                    WB__MSG_NET_NAME, fault);
}

static bool is_digest(const char *text, size_t digits)
{
    return strlen(text) == digits && wb__is_hex(wb__str_from(text, digits));
}

/* Appends a file to the listing. Fails if the path, id or digest of the file is invalid. */
static void add_file(wb__listing *listing, wb__reply *reply, const wb__repo_file *file,
                     wb__str path)
{
    const char *fault = wb__path_fault(path);
    if (reply->status != WB_OK)
        return;
    if (fault != NULL) {
        reply->status = fail_name(reply->context, path, fault);
    } else if (!is_digest(file->oid, WB__HEX_COMMIT)) {
        (void)wb__reply_fail(reply, "the id of a file is not 40 hexadecimal digits");
    } else if (file->sha256[0] != '\0' && !is_digest(file->sha256, WB__HEX_SHA256)) {
        (void)wb__reply_fail(reply, "the digest of a file is not 64 hexadecimal digits");
    } else if (listing->files.count == WB__LISTING_FILES) {
        reply->status = wb__fail(reply->context, WB_ERROR_LIMIT, WB__FINDING_NET_REPLY,
                                 WB_NO_OFFSET, WB__STR(""), WB__MSG_NET_FILES, WB__LISTING_FILES);
    } else {
        wb__repo_file *slot = wb__list_append(&listing->files);
        if (slot == NULL) {
            reply->status = wb__fail_memory(reply->context);
            return;
        }
        *slot = *file;
        slot->path = path.ptr;
        if (!is_digest(slot->xet, WB__HEX_SHA256))
            slot->xet[0] = '\0';
    }
}

/* ---- pages of a tree ---- */

/* Reads the member "lfs": {"oid", "size", …}. */
static void read_lfs(wb__reply *reply, wb__repo_file *file, bool *is_lfs)
{
    *is_lfs = wb__reply_enter(reply);
    while (*is_lfs && wb__reply_key(reply)) {
        if (wb__reply_is(reply, "oid"))
            (void)wb__reply_string(reply, file->sha256, sizeof file->sha256);
        else if (wb__reply_is(reply, "size"))
            (void)wb__reply_uint(reply, &file->size);
        else
            (void)wb__reply_skip(reply);
    }
    if (*is_lfs && file->sha256[0] == '\0')
        (void)wb__reply_fail(reply, "the digest of a file is not 64 hexadecimal digits");
}

/* An LFS file has "size" twice: as a member of its own and inside "lfs". The one in "lfs" is used,
 * whatever the order of the members. */
static void read_entry(wb__listing *listing, wb__reply *reply)
{
    wb__repo_file file = {.size = UINT64_MAX};
    wb__str path = WB__STR("");
    char type[16] = "";
    uint64_t size = UINT64_MAX;
    bool is_lfs = false;
    while (wb__reply_key(reply)) {
        if (wb__reply_is(reply, "type"))
            (void)wb__reply_string(reply, type, sizeof type);
        else if (wb__reply_is(reply, "path"))
            (void)wb__reply_arena(reply, &listing->arena, &path);
        else if (wb__reply_is(reply, "oid"))
            (void)wb__reply_string(reply, file.oid, sizeof file.oid);
        else if (wb__reply_is(reply, "size"))
            (void)wb__reply_uint(reply, &size);
        else if (wb__reply_is(reply, "xetHash"))
            (void)wb__reply_string(reply, file.xet, sizeof file.xet);
        else if (wb__reply_is(reply, "lfs"))
            read_lfs(reply, &file, &is_lfs);
        else
            (void)wb__reply_skip(reply);
    }
    if (file.size == UINT64_MAX)
        file.size = size;
    if (reply->status != WB_OK || strcmp(type, "file") != 0)
        return;
    if (file.size >= INT64_MAX)
        (void)wb__reply_fail(reply, "the size of a file is missing or too large");
    add_file(listing, reply, &file, path);
}

wb_status wb__listing_add_page(wb__listing *listing, wb__context *context, const char *text,
                               size_t n)
{
    wb__reply reply;
    wb__reply_begin(&reply, context, text, n, "the listing of the files");
    bool inside = wb__reply_open(&reply, WB__JSON_ARRAY);
    while (inside && wb__reply_element(&reply)) {
        if (reply.json.token == WB__JSON_OBJECT)
            read_entry(listing, &reply);
        else
            (void)wb__reply_fail(&reply, "an object was expected");
    }
    return wb__reply_end(&reply);
}

/* ---- the cached tree ---- */

static void read_cached_file(wb__listing *listing, wb__reply *reply, wb__str path)
{
    wb__repo_file file = {.size = UINT64_MAX};
    uint64_t lfs_size = UINT64_MAX;
    bool inside = wb__reply_enter(reply);
    while (inside && wb__reply_key(reply)) {
        if (wb__reply_is(reply, "size"))
            (void)wb__reply_uint(reply, &file.size);
        else if (wb__reply_is(reply, "blob_id"))
            (void)wb__reply_string(reply, file.oid, sizeof file.oid);
        else if (wb__reply_is(reply, "lfs_sha256"))
            (void)wb__reply_string(reply, file.sha256, sizeof file.sha256);
        else if (wb__reply_is(reply, "lfs_size"))
            (void)wb__reply_uint(reply, &lfs_size);
        else if (wb__reply_is(reply, "xet_hash"))
            (void)wb__reply_string(reply, file.xet, sizeof file.xet);
        else
            (void)wb__reply_skip(reply);
    }
    if (file.size >= INT64_MAX || (lfs_size != UINT64_MAX && lfs_size != file.size))
        (void)wb__reply_fail(reply, "the size of a file is missing, too large or contradictory");
    add_file(listing, reply, &file, path);
}

static void read_cached_files(wb__listing *listing, wb__reply *reply)
{
    bool inside = wb__reply_enter(reply);
    while (inside && wb__reply_key(reply)) {
        wb__str text = reply->json.text;
        const char *path = wb__arena_copy(&listing->arena, text.ptr, text.len);
        if (path == NULL)
            reply->status = wb__fail_memory(reply->context);
        else
            read_cached_file(listing, reply, (wb__str){path, text.len});
    }
}

wb_status wb__listing_add_cached(wb__listing *listing, wb__context *context, const char *text,
                                 size_t n)
{
    wb__reply reply;
    uint64_t version = 0;
    wb__reply_begin(&reply, context, text, n, "the cached listing");
    bool inside = wb__reply_open(&reply, WB__JSON_OBJECT);
    while (inside && wb__reply_key(&reply)) {
        if (wb__reply_is(&reply, "format_version"))
            (void)wb__reply_uint(&reply, &version);
        else if (wb__reply_is(&reply, "files"))
            read_cached_files(listing, &reply);
        else
            (void)wb__reply_skip(&reply);
    }
    if (reply.status == WB_OK && version != 1)
        (void)wb__reply_fail(&reply, "its format_version is not 1");
    return wb__reply_end(&reply);
}

static void print_string(wb__buffer *out, const char *key, const char *value)
{
    wb__buffer_text(out, ",\"");
    wb__buffer_text(out, key);
    wb__buffer_text(out, "\":\"");
    wb__buffer_text(out, value);
    wb__buffer_text(out, "\"");
}

static bool append(void *ctx, const char *text, size_t n)
{
    wb__buffer_add(ctx, text, n);
    return !wb__buffer_failed(ctx);
}

static void print_file(wb__buffer *out, const wb__repo_file *file)
{
    wb__json_writer writer = {.write = append, .ctx = out};
    wb__json_write_str(&writer, wb__str_from(file->path, SIZE_MAX));
    wb__buffer_text(out, ":{\"size\":");
    wb__buffer_uint(out, file->size);
    print_string(out, "blob_id", file->oid);
    if (file->sha256[0] != '\0') {
        print_string(out, "lfs_sha256", file->sha256);
        wb__buffer_text(out, ",\"lfs_size\":");
        wb__buffer_uint(out, file->size);
    }
    if (file->xet[0] != '\0')
        print_string(out, "xet_hash", file->xet);
    wb__buffer_text(out, "}");
}

void wb__listing_print(const wb__listing *listing, wb__buffer *out)
{
    wb__buffer_text(out, "{\"format_version\":1,\"files\":{");
    for (size_t i = 0; i < wb__listing_count(listing); i++) {
        wb__buffer_text(out, i > 0 ? "," : "");
        print_file(out, wb__listing_at(listing, i));
    }
    wb__buffer_text(out, "}}");
}

/* ---- order ---- */

static int compare_files(const void *a, const void *b)
{
    return strcmp((*(wb__repo_file *const *)a)->path, (*(wb__repo_file *const *)b)->path);
}

static wb_status check_conflicts(wb__listing *listing, wb__context *context)
{
    size_t n = wb__listing_count(listing);
    const char **paths = wb__alloc_zeroed(&context->allocator, n * sizeof *paths);
    bool out_of_memory = paths == NULL;
    const char *conflict = NULL;
    for (size_t i = 0; i < n && !out_of_memory; i++)
        paths[i] = listing->order[i]->path;
    if (!out_of_memory)
        conflict = wb__paths_conflict(&context->allocator, paths, n, &out_of_memory);
    wb__free(&context->allocator, (void *)paths, n * sizeof *paths);
    if (out_of_memory)
        return wb__fail_memory(context);
    return conflict == NULL ? WB_OK
                            : fail_name(context, wb__str_from(conflict, SIZE_MAX),
                                        "another file or folder has the same name if the case "
                                        "of letters is ignored");
}

wb_status wb__listing_finish(wb__listing *listing, wb__context *context)
{
    size_t n = wb__listing_count(listing);
    listing->order_bytes = (n + 1) * sizeof *listing->order;
    listing->order = wb__alloc(listing->arena.allocator, listing->order_bytes);
    if (listing->order == NULL)
        return wb__fail_memory(context);
    for (size_t i = 0; i < n; i++)
        listing->order[i] = wb__list_at(&listing->files, i);
    if (n > 1)
        qsort(listing->order, n, sizeof *listing->order, compare_files);
    return check_conflicts(listing, context);
}

/* Returns the number of the first file whose path is not less than `path`. */
static size_t lower_bound(const wb__listing *listing, wb__str path)
{
    size_t low = 0, high = wb__listing_count(listing);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        wb__str name = wb__str_from(listing->order[middle]->path, SIZE_MAX);
        if (wb__str_compare(name, path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const wb__repo_file *wb__listing_find(const wb__listing *listing, wb__str path)
{
    size_t i = lower_bound(listing, path);
    bool found = i < wb__listing_count(listing) &&
                 wb__str_equal(wb__str_from(listing->order[i]->path, SIZE_MAX), path);
    return found ? listing->order[i] : NULL;
}

bool wb__listing_has_folder(const wb__listing *listing, wb__str path)
{
    if (path.len == 0)
        return wb__listing_count(listing) > 0;
    for (size_t i = lower_bound(listing, path); i < wb__listing_count(listing); i++) {
        wb__str name = wb__str_from(listing->order[i]->path, SIZE_MAX);
        if (!wb__str_starts_with(name, path))
            return false;
        if (name.len > path.len && name.ptr[path.len] == '/')
            return true;
    }
    return false;
}

/* ---- other replies ---- */

wb_status wb__read_commit(wb__context *context, const char *text, size_t n,
                          char commit[WB__HEX_COMMIT + 1])
{
    wb__reply reply;
    commit[0] = '\0';
    wb__reply_begin(&reply, context, text, n, "the description of the repository");
    bool inside = wb__reply_open(&reply, WB__JSON_OBJECT);
    while (inside && wb__reply_key(&reply)) {
        if (wb__reply_is(&reply, "sha"))
            (void)wb__reply_string(&reply, commit, WB__HEX_COMMIT + 1);
        else
            (void)wb__reply_skip(&reply);
    }
    if (!is_digest(commit, WB__HEX_COMMIT)) {
        commit[0] = '\0';
        (void)wb__reply_fail(&reply, "\"sha\" is not a commit of 40 hexadecimal digits");
    }
    return wb__reply_end(&reply);
}

void wb__read_error(const wb_allocator *allocator, const char *text, size_t n, char *message,
                    size_t capacity)
{
    wb_error error;
    wb__context context = {.allocator = *allocator, .file = ""};
    wb__reply reply;
    char found[512] = "";
    message[0] = '\0';
    context.error = wb__error_reset(NULL, &error);
    wb__reply_begin(&reply, &context, text, n, "");
    bool inside = wb__reply_open(&reply, WB__JSON_OBJECT);
    while (inside && wb__reply_key(&reply)) {
        if (wb__reply_is(&reply, "error"))
            (void)wb__reply_string(&reply, found, sizeof found);
        else
            (void)wb__reply_skip(&reply);
    }
    (void)wb__reply_end(&reply);
    wb__printable(message, capacity, wb__str_from(found, SIZE_MAX));
}
