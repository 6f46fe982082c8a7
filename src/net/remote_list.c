/* Lists the names in a directory of a hub, an object store or a web server. */
#include "net/remote_list.h"

#include <stdio.h>

#include "net/fetch.h"
#include "net/file_table.h"
#include "net/hub.h"
#include "net/names.h"
#include "net/percent.h"
#include "net/remote_address.h"
#include "net/reply.h"
#include "net/s3_list.h"

#define PAGE_MAX ((size_t)16 << 20)
#define NAMES_MAX ((size_t)1000000)
#define OBJECT_PAGES 1000u

/* Passes names to `each`. Skips a name that equals the one before it: several paths in the same
 * directory give the name of this directory several times. */
typedef struct names {
    wb_net *net;
    wb__context *context;
    wb_status (*each)(void *ctx, const char *name);
    void *ctx;
    wb__buffer name; /* the last name, NUL-terminated */
    size_t count;
    size_t skip; /* bytes before the name in object keys: the length of the prefix */
} names;

static wb_status pass_on(names *n, wb__str name)
{
    wb__buffer *last = &n->name;
    if (last->n > 0 && wb__str_equal((wb__str){(const char *)last->bytes, last->n - 1}, name))
        return WB_OK;
    last->n = 0;
    wb__buffer_add(last, name.ptr, name.len);
    wb__buffer_add(last, "", 1);
    if (wb__buffer_failed(last))
        return wb__fail_memory(n->context);
    if (n->count++ >= NAMES_MAX)
        return wb__fail(n->context, WB_ERROR_LIMIT, WB__FINDING_NET_REPLY, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_NET_FILES, NAMES_MAX);
    return n->each(n->ctx, (const char *)last->bytes);
}

/* ---- hub ---- */

static wb_status list_repo(names *n, const wb__address *address)
{
    const wb__repo *repo;
    wb__str folder = wb__str_from(address->path, SIZE_MAX);
    wb_status status = wb__repo_share(n->net, n->context, address, &repo);
    for (size_t i = 0; status == WB_OK && i < wb__listing_count(&repo->listing); i++) {
        wb__str path = wb__str_from(wb__listing_at(&repo->listing, i)->path, SIZE_MAX);
        bool below = folder.len == 0 || (wb__str_starts_with(path, folder) &&
                                         path.len > folder.len && path.ptr[folder.len] == '/');
        if (!below)
            continue;
        size_t skip = folder.len == 0 ? 0 : folder.len + 1;
        wb__str name = {path.ptr + skip, path.len - skip};
        const char *slash = memchr(name.ptr, '/', name.len);
        status =
            pass_on(n, (wb__str){name.ptr, slash == NULL ? name.len : (size_t)(slash - name.ptr)});
    }
    return status;
}

/* ---- object stores ---- */

static wb_status pass_key(void *ctx, wb__str key)
{
    names *n = ctx;
    if (key.len <= n->skip)
        return WB_OK;
    wb__str name = {key.ptr + n->skip, key.len - n->skip};
    if (name.ptr[name.len - 1] == '/')
        name.len--;
    return wb__path_fault(name) == NULL && memchr(name.ptr, '/', name.len) == NULL
               ? pass_on(n, name)
               : WB_OK;
}

static wb_status fetch_objects(names *n, const wb__address *address, const char *query,
                               wb__fetch *fetch)
{
    wb__url url, signed_url;
    const wb__s3 *s3;
    wb_status status = wb__object_url(n->net, n->context, address, query, &s3, &url);
    if (status == WB_OK && !wb__s3_presign(s3, &url, &signed_url)) {
        wb__url_free(&url);
        return wb__fail_memory(n->context);
    }
    if (status != WB_OK)
        return status;
    status = wb__fetch_begin(fetch, n->net, n->context, signed_url.text, PAGE_MAX);
    if (status == WB_OK)
        status = wb__fetch_run_ok(fetch, n->net, n->context);
    wb__url_free(&url);
    wb__url_free(&signed_url);
    return status;
}

/* Makes the URL query that requests one page of the listing. The parameters are in the order that
 * the signature requires. */
static bool make_query(wb__buffer *query, wb__str prefix, wb__str token)
{
    query->n = 0;
    if (token.len > 0) {
        wb__buffer_text(query, "continuation-token=");
        wb__percent_add(query, token, false);
        wb__buffer_text(query, "&");
    }
    wb__buffer_text(query, "delimiter=%2F&list-type=2&prefix=");
    wb__percent_add(query, prefix, false);
    wb__buffer_add(query, "", 1);
    return !wb__buffer_failed(query);
}

static wb_status list_page(names *n, const wb__address *address, const char *query,
                           wb__buffer *scratch, wb__buffer *token)
{
    wb__fetch fetch = {0};
    wb_status status = fetch_objects(n, address, query, &fetch);
    wb__str text = {(const char *)fetch.reply.bytes, fetch.reply.n};
    token->n = 0;
    if (status == WB_OK) {
        status = wb__xml_each(text, "Key", scratch, pass_key, n);
        if (status == WB_OK)
            status = wb__xml_each(text, "Prefix", scratch, pass_key, n);
        wb__xml_find(text, "NextContinuationToken", token);
        if (wb__buffer_failed(token) || wb__buffer_failed(scratch))
            status = wb__fail_memory(n->context);
    }
    wb__fetch_free(&fetch);
    return status;
}

static wb_status list_objects(names *n, const wb__address *address)
{
    const wb_allocator *allocator = &n->net->allocator;
    wb__buffer query = {.allocator = allocator, .ceiling = (size_t)16 << 10};
    wb__buffer scratch = {.allocator = allocator, .ceiling = (size_t)16 << 10};
    wb__buffer token = {.allocator = allocator, .ceiling = (size_t)4 << 10};
    wb__buffer prefix = {.allocator = allocator, .ceiling = (size_t)4 << 10};
    wb_status status = WB_OK;
    unsigned pages = 0;
    wb__buffer_text(&prefix, address->path);
    if (prefix.n > 0 && prefix.bytes[prefix.n - 1] != '/')
        wb__buffer_text(&prefix, "/");
    n->skip = prefix.n;
    do {
        wb__str at = {(const char *)token.bytes, token.n};
        if (wb__buffer_failed(&prefix) ||
            !make_query(&query, (wb__str){(const char *)prefix.bytes, prefix.n}, at))
            status = wb__fail_memory(n->context);
        else
            status = list_page(n, address, (const char *)query.bytes, &scratch, &token);
    } while (status == WB_OK && token.n > 0 && ++pages < OBJECT_PAGES);
    if (status == WB_OK && token.n > 0)
        status = wb__fail(n->context, WB_ERROR_LIMIT, WB__FINDING_NET_REPLY, WB_NO_OFFSET,
                          WB__STR(""), WB__MSG_NET_NEXT_PAGE, "there are more than 1,000 pages");
    wb__buffer_free(&query);
    wb__buffer_free(&scratch);
    wb__buffer_free(&token);
    wb__buffer_free(&prefix);
    return status;
}

/* ---- web servers ---- */

static const char index_name[] = "model.safetensors.index.json";

/* Passes on the file names of an index of shards: the values of "weight_map". */
static wb_status read_index(names *n, wb__str text)
{
    wb__reply reply;
    wb__reply_begin(&reply, n->context, text.ptr, text.len, "the index of the shards");
    bool inside = wb__reply_open(&reply, WB__JSON_OBJECT);
    while (inside && wb__reply_key(&reply)) {
        if (!wb__reply_is(&reply, "weight_map")) {
            (void)wb__reply_skip(&reply);
            continue;
        }
        bool is_map = wb__reply_enter(&reply);
        while (is_map && wb__reply_key(&reply)) {
            char name[256] = "";
            (void)wb__reply_string(&reply, name, sizeof name);
            wb__str shard = wb__str_from(name, SIZE_MAX);
            if (reply.status == WB_OK && wb__path_fault(shard) == NULL && strchr(name, '/') == NULL)
                reply.status = pass_on(n, shard);
        }
    }
    return wb__reply_end(&reply);
}

static wb_status fetch_below(names *n, const char *folder, const char *name, wb__fetch *fetch)
{
    wb__buffer url = {.allocator = &n->net->allocator, .ceiling = WB__URL_MAX};
    size_t length = strlen(folder);
    wb__buffer_text(&url, folder);
    if (length == 0 || folder[length - 1] != '/')
        wb__buffer_text(&url, "/");
    wb__buffer_text(&url, name);
    wb__buffer_add(&url, "", 1);
    wb_status status = wb__buffer_failed(&url) ? wb__fail_memory(n->context)
                                               : wb__fetch_begin(fetch, n->net, n->context,
                                                                 (const char *)url.bytes, PAGE_MAX);
    if (status == WB_OK)
        status = wb__fetch_run(fetch, n->net, n->context);
    wb__buffer_free(&url);
    return status;
}

static wb_status pass_link(void *ctx, wb__str name)
{
    if (name.ptr[name.len - 1] == '/')
        name.len--;
    return wb__path_fault(name) == NULL ? pass_on(ctx, name) : WB_OK;
}

/* Reads the names from the HTML page that a web server generates for a directory. */
static wb_status list_links(names *n, const char *folder)
{
    wb__fetch fetch = {0};
    wb__buffer scratch = {.allocator = &n->net->allocator, .ceiling = (size_t)16 << 10};
    wb_status status = fetch_below(n, folder, "", &fetch);
    size_t before = n->count;
    if (status == WB_OK && fetch.response.status == 200)
        status = wb__html_each_link((wb__str){(const char *)fetch.reply.bytes, fetch.reply.n},
                                    &scratch, pass_link, n);
    if (wb__buffer_failed(&scratch))
        status = wb__fail_memory(n->context);
    if (status == WB_OK && n->count == before)
        status = wb__fail(n->context, WB_ERROR_NOT_FOUND, WB__FINDING_NET_NO_LISTING, WB_NO_OFFSET,
                          WB__STR(""), WB__MSG_NET_NO_LISTING, index_name);
    wb__buffer_free(&scratch);
    wb__fetch_free(&fetch);
    return status;
}

/* ---- shards whose name was asked for ---- */

/* Parses PREFIX-00001-of-00003.EXTENSION. Returns the number of shards; 0 for any other name. */
static uint64_t shards_of(wb__str name, wb__str *prefix, wb__str *extension)
{
    uint64_t number, count;
    size_t dot = name.len;
    while (dot > 0 && name.ptr[dot - 1] != '.')
        dot--;
    if (dot < 16) /* "-00001-of-00003." */
        return 0;
    const char *text = name.ptr + dot - 16;
    *extension = (wb__str){name.ptr + dot - 1, name.len - dot + 1};
    *prefix = (wb__str){name.ptr, dot - 16};
    bool good = text[0] == '-' && memcmp(text + 6, "-of-", 4) == 0 &&
                wb__parse_decimal((wb__str){text + 1, 5}, &number) &&
                wb__parse_decimal((wb__str){text + 10, 5}, &count) && number >= 1 &&
                number <= count;
    return good ? count : 0;
}

/* Passes on the names of the shards of a set if one of them was opened before. A server that
 * does not list its files can still have the other shards. */
static wb_status list_set(names *n, const char *folder)
{
    wb__str prefix, extension, name = wb__file_table_name(n->net, folder, shards_of);
    uint64_t count = name.len == 0 ? 0 : shards_of(name, &prefix, &extension);
    wb__buffer made = {.allocator = &n->net->allocator, .ceiling = (size_t)4 << 10};
    wb_status status = WB_OK;
    for (uint64_t i = 1; i <= count && status == WB_OK; i++) {
        char middle[16];
        (void)snprintf(middle, sizeof middle, "-%05u-of-%05u", (unsigned)i, (unsigned)count);
        made.n = 0;
        wb__buffer_add(&made, prefix.ptr, prefix.len);
        wb__buffer_text(&made, middle);
        wb__buffer_add(&made, extension.ptr, extension.len);
        status = wb__buffer_failed(&made) ? wb__fail_memory(n->context)
                                          : pass_on(n, (wb__str){(char *)made.bytes, made.n});
    }
    wb__buffer_free(&made);
    return status;
}

static wb_status list_web(names *n, const char *folder)
{
    wb__fetch fetch = {0};
    wb_status status = fetch_below(n, folder, index_name, &fetch);
    bool found = status == WB_OK && fetch.response.status == 200;
    if (found) {
        status = pass_on(n, wb__str_from(index_name, SIZE_MAX));
        if (status == WB_OK)
            status = read_index(n, (wb__str){(const char *)fetch.reply.bytes, fetch.reply.n});
    }
    wb__fetch_free(&fetch);
    if (status == WB_OK && !found)
        status = list_set(n, folder);
    return status != WB_OK || n->count > 0 ? status : list_links(n, folder);
}

/* ---- all directories ---- */

wb_status wb__remote_list(wb_net *net, wb__context *context, const char *path,
                          wb_status (*each)(void *ctx, const char *name), void *ctx)
{
    wb__address address;
    wb__arena arena = {.allocator = &net->allocator};
    names n = {.net = net, .context = context, .each = each, .ctx = ctx};
    n.name = (wb__buffer){.allocator = &net->allocator, .ceiling = (size_t)8 << 10};
    wb_status status = wb__address_read(net, context, &arena, path, &address);
    if (status == WB_OK && address.kind == WB__ADDRESS_HUB)
        status = list_repo(&n, &address);
    else if (status == WB_OK && address.kind == WB__ADDRESS_WEB)
        status = list_web(&n, path);
    else if (status == WB_OK)
        status = list_objects(&n, &address);
    wb__buffer_free(&n.name);
    wb__arena_free(&arena);
    return status;
}
