#include "net/file_table.h"

#include "net/hub.h"
#include "net/hub_cache.h"
#include "net/remote_address.h"

#define SLOTS 4096
#define ENTRIES_MAX ((size_t)1000000)

struct wb__file_table {
    wb__hash_key key;
    wb__file_entry *slots[SLOTS]; /* under the lock of the wb_net */
    size_t count;
};

wb_status wb__file_table_new(wb_net *net, wb__context *context)
{
    net->files = wb__alloc_zeroed(&net->allocator, sizeof *net->files);
    if (net->files == NULL)
        return wb__fail_memory(context);
    net->files->key = wb__hash_key_draw();
    return WB_OK;
}

static void free_text(const wb_allocator *allocator, char *text)
{
    if (text != NULL)
        wb__free(allocator, text, strlen(text) + 1);
}

static void free_entry(wb_net *net, wb__file_entry *entry)
{
    if (entry->file != NULL) {
        wb__cached_file_free(entry->file);
        wb__free(&net->allocator, entry->file, sizeof *entry->file);
    }
    free_text(&net->allocator, entry->local);
    free_text(&net->allocator, entry->path);
    wb__free(&net->allocator, entry, sizeof *entry);
}

void wb__file_table_free(wb_net *net)
{
    if (net->files == NULL)
        return;
    for (size_t i = 0; i < SLOTS; i++) {
        for (wb__file_entry *entry = net->files->slots[i], *next; entry != NULL; entry = next) {
            next = entry->next;
            free_entry(net, entry);
        }
    }
    wb__free(&net->allocator, net->files, sizeof *net->files);
    net->files = NULL;
}

/* ---- what is at a path ---- */

static wb_status add_file(wb_net *net, wb__context *context, wb__file_entry *entry, wb__url *url)
{
    wb_status status = wb__check_scheme(net, context, url);
    if (status != WB_OK)
        return status;
    entry->file = wb__alloc(&net->allocator, sizeof *entry->file);
    if (entry->file == NULL)
        return wb__fail_memory(context);
    wb__cached_file_init(entry->file, net, url);
    return WB_OK;
}

static wb_status fail_missing(wb__context *context, const wb__address *address)
{
    return wb__fail(context, WB_ERROR_NOT_FOUND, WB__FINDING_NET_NOT_FOUND, WB_NO_OFFSET,
                    WB__STR(""), WB__MSG_NET_NO_FILE, address->repo);
}

static wb_status look_on_hub(wb_net *net, wb__context *context, const wb__address *address,
                             wb__file_entry *entry)
{
    const wb__repo *repo;
    wb__url url;
    wb__str path = wb__str_from(address->path, SIZE_MAX);
    wb_status status = wb__repo_share(net, context, address, &repo);
    if (status != WB_OK)
        return status;
    const wb__repo_file *file = path.len == 0 ? NULL : wb__listing_find(&repo->listing, path);
    entry->is_folder =
        file == NULL && (path.len == 0 || wb__listing_has_folder(&repo->listing, path));
    if (entry->is_folder)
        return WB_OK;
    if (file == NULL)
        return fail_missing(context, address);
    status = wb__hub_cache_blob(net, context, repo, file, &entry->local);
    if (status != WB_OK || entry->local != NULL)
        return status;
    const char *fault = wb__repo_url(repo, net, file->path, &url);
    if (fault != NULL)
        return wb__fail_address(context, fault);
    status = add_file(net, context, entry, &url);
    wb__url_free(&url);
    if (status != WB_OK)
        return status;
    wb__remote_set_size(&entry->file->remote, file->size);
    memcpy(entry->file->remote.digest, wb__repo_file_blob(file), WB__HEX_COMMIT);
    if (file->sha256[0] != '\0')
        memcpy(entry->file->remote.digest, file->sha256, WB__HEX_SHA256);
    return WB_OK;
}

static wb_status look_on_web(wb_net *net, wb__context *context, const wb__address *address,
                             wb__file_entry *entry)
{
    wb__url url;
    const char *fault = wb__url_parse(&url, &net->allocator, wb__str_from(address->path, SIZE_MAX));
    wb_status status = fault == NULL ? WB_OK : wb__fail_address(context, fault);
    wb__str path = fault == NULL ? wb__url_path(&url) : WB__STR("");
    entry->is_folder = path.len > 0 && path.ptr[path.len - 1] == '/' && url.query == url.len;
    if (status == WB_OK && !entry->is_folder)
        status = add_file(net, context, entry, &url);
    wb__url_free(&url);
    return status;
}

static wb_status look_in_store(wb_net *net, wb__context *context, const wb__address *address,
                               wb__file_entry *entry)
{
    wb__url url;
    const wb__s3 *s3;
    size_t n = strlen(address->path);
    entry->is_folder = n == 0 || address->path[n - 1] == '/';
    if (entry->is_folder)
        return WB_OK;
    wb_status status = wb__object_url(net, context, address, NULL, &s3, &url);
    if (status == WB_OK)
        status = add_file(net, context, entry, &url);
    if (status == WB_OK)
        entry->file->remote.s3 = s3;
    wb__url_free(&url);
    return status;
}

static wb_status look(wb_net *net, wb__context *context, wb__file_entry *entry)
{
    wb__address address;
    wb__arena arena = {.allocator = &net->allocator};
    wb_status status = wb__address_read(net, context, &arena, entry->path, &address);
    if (status == WB_OK && address.kind == WB__ADDRESS_HUB)
        status = look_on_hub(net, context, &address, entry);
    else if (status == WB_OK && address.kind == WB__ADDRESS_WEB)
        status = look_on_web(net, context, &address, entry);
    else if (status == WB_OK)
        status = look_in_store(net, context, &address, entry);
    wb__arena_free(&arena);
    return status;
}

/* ---- the table ---- */

static wb__file_entry **slot_of(wb_net *net, const char *path)
{
    return &net->files->slots[wb__siphash(&net->files->key, path, strlen(path)) % SLOTS];
}

/* Returns the entry of a path, or NULL. Sets *is_full to whether the table is full, so that no
 * entry can be added. */
static wb__file_entry *find(wb_net *net, const char *path, bool *is_full)
{
    wb__net_lock(net);
    *is_full = net->files->count >= ENTRIES_MAX;
    wb__file_entry *entry = *slot_of(net, path);
    while (entry != NULL && strcmp(entry->path, path) != 0)
        entry = entry->next;
    wb__net_unlock(net);
    return entry;
}

/* Returns the file name of `path` if it is directly in the directory `folder`, else empty. */
static wb__str name_in(const char *path, wb__str folder)
{
    wb__str whole = wb__str_from(path, SIZE_MAX);
    if (!wb__str_starts_with(whole, folder) || whole.len < folder.len + 2 ||
        whole.ptr[folder.len] != '/')
        return WB__STR("");
    wb__str name = {whole.ptr + folder.len + 1, whole.len - folder.len - 1};
    return memchr(name.ptr, '/', name.len) != NULL ? WB__STR("") : name;
}

wb__str wb__file_table_name(wb_net *net, const char *folder,
                            uint64_t (*shards_of)(wb__str name, wb__str *prefix,
                                                  wb__str *extension))
{
    wb__str at = wb__str_from(folder, SIZE_MAX), found = WB__STR(""), prefix, extension;
    wb__net_lock(net);
    for (size_t i = 0; i < SLOTS && found.len == 0; i++) {
        for (wb__file_entry *entry = net->files->slots[i]; entry != NULL && found.len == 0;
             entry = entry->next) {
            wb__str name = name_in(entry->path, at);
            if (name.len > 0 && shards_of(name, &prefix, &extension) > 0)
                found = name;
        }
    }
    wb__net_unlock(net);
    return found;
}

static wb__file_entry *new_entry(wb_net *net, const char *path)
{
    size_t n = strlen(path) + 1;
    wb__file_entry *entry = wb__alloc_zeroed(&net->allocator, sizeof *entry);
    char *copy = wb__alloc(&net->allocator, n);
    if (entry == NULL || copy == NULL) {
        wb__free(&net->allocator, entry, sizeof *entry);
        wb__free(&net->allocator, copy, n);
        return NULL;
    }
    memcpy(copy, path, n);
    entry->path = copy;
    return entry;
}

/* Adds an entry and returns it. If another thread has added one for the same path, returns that
 * entry instead. */
static wb__file_entry *add_entry(wb_net *net, wb__file_entry *entry)
{
    wb__net_lock(net);
    wb__file_entry **slot = slot_of(net, entry->path), *other = *slot;
    while (other != NULL && strcmp(other->path, entry->path) != 0)
        other = other->next;
    if (other == NULL) {
        entry->next = *slot;
        *slot = entry;
        net->files->count++;
    }
    wb__net_unlock(net);
    if (other == NULL)
        return entry;
    free_entry(net, entry);
    return other;
}

/* Returns true if the server redirected the URL to the same URL with '/' at the end, as web servers
 * do for directories. */
static bool is_folder_redirect(const wb__cached_file *file)
{
    const wb__url *url = &file->remote.url, *content = &file->remote.content;
    return content->text != NULL && content->len == url->len + 1 &&
           content->text[content->len - 1] == '/' &&
           memcmp(content->text, url->text, url->len) == 0;
}

/* Asks the server about a file whose size is not known from a listing. */
static wb_status probe_entry(wb_net *net, wb__context *context, wb__file_entry *entry)
{
    wb__cached_file *file = entry->file;
    wb_status status = wb__cached_file_probe(file, context);
    wb__net_lock(net);
    bool is_folder = is_folder_redirect(file);
    entry->is_folder = is_folder;
    wb__net_unlock(net);
    return is_folder ? WB_OK : status;
}

/* Returns true if the failure means that the file does not exist. Servers that do not list their
 * files answer 403 for such a file. A denial therefore has this meaning, unless the digest of the
 * file is known, because a listing then contains the file. */
static bool counts_as_missing(const wb__context *context, const wb__file_entry *entry,
                              wb_status status)
{
    bool denied = status == WB_ERROR_IO && entry->file != NULL &&
                  strcmp(context->error->code, wb__finding_code(WB__FINDING_NET_DENIED)) == 0 &&
                  entry->file->remote.digest[0] == '\0';
    return status == WB_ERROR_NOT_FOUND || denied;
}

/* Remembers that a file does not exist. */
static wb_status keep_missing(wb_net *net, const wb__context *context, wb__file_entry *entry)
{
    wb__net_lock(net);
    entry->missing = WB_ERROR_NOT_FOUND;
    entry->error = *context->error;
    wb__net_unlock(net);
    return WB_ERROR_NOT_FOUND;
}

/* Fails if the file is known not to exist. Sets *must_probe to true if its size is not known, so
 * that the server has to be asked. */
static wb_status recall(wb_net *net, const wb__context *context, const wb__file_entry *entry,
                        bool *must_probe)
{
    wb__net_lock(net);
    wb_status missing = entry->missing;
    if (missing != WB_OK)
        *context->error = entry->error;
    *must_probe = entry->file != NULL && !entry->file->remote.size_known;
    wb__net_unlock(net);
    return missing;
}

static wb_status find_or_add(wb_net *net, wb__context *context, const char *path,
                             wb__file_entry **out)
{
    bool is_full;
    wb__file_entry *entry = find(net, path, &is_full);
    *out = entry;
    if (entry != NULL)
        return WB_OK;
    if (is_full || (entry = new_entry(net, path)) == NULL)
        return wb__fail_memory(context);
    wb_status status = look(net, context, entry);
    if (status == WB_ERROR_NOT_FOUND) {
        (void)keep_missing(net, context, entry);
    } else if (status != WB_OK) {
        free_entry(net, entry);
        return status;
    }
    *out = add_entry(net, entry);
    return WB_OK;
}

wb_status wb__file_entry_get(wb_net *net, wb__context *context, const char *path, bool probe,
                             wb__file_entry **entry)
{
    bool must_probe = false;
    wb_status status = find_or_add(net, context, path, entry);
    if (status == WB_OK)
        status = recall(net, context, *entry, &must_probe);
    if (status != WB_OK || !probe || !must_probe)
        return status;
    /* The entry is in the table already, so that threads that ask for one file share the
     * request. */
    status = probe_entry(net, context, *entry);
    return counts_as_missing(context, *entry, status) ? keep_missing(net, context, *entry) : status;
}
