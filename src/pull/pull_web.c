#define _POSIX_C_SOURCE 200809L
#include "pull/pull_web.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "core/call_options.h"
#include "crypto/sha256.h"
#include "net/names.h"
#include "net/percent.h"
#include "net/remote_address.h"
#include "net/transfer.h"
#include "pull/pull_messages.h"

#define PATH_BYTES ((size_t)16 << 10)

/* ---- the address ---- */

static wb_status fail_folder(wb__context *context)
{
    return wb__fail_address(context, WB__MSG_PULL_IS_FOLDER);
}

static wb_status make_url(wb_pull *pull, wb__context *context, const wb__address *address,
                          const wb__s3 **s3, wb__url *url)
{
    size_t n = strlen(address->path);
    *s3 = NULL;
    *url = (wb__url){.allocator = pull->net->allocator};
    if (address->kind != WB__ADDRESS_WEB)
        return n == 0 || address->path[n - 1] == '/'
                   ? fail_folder(context)
                   : wb__object_url(pull->net, context, address, NULL, s3, url);
    const char *fault =
        wb__url_parse(url, &pull->net->allocator, wb__str_from(address->path, SIZE_MAX));
    if (fault != NULL)
        return wb__fail_address(context, fault);
    wb__str path = wb__url_path(url);
    if (path.ptr[path.len - 1] == '/' && url->query == url->len)
        return fail_folder(context);
    return wb__check_scheme(pull->net, context, url);
}

/* ---- the name of the file on the disk ---- */

static const char *name_fault(wb__str name)
{
    return memchr(name.ptr, '/', name.len) != NULL ? "it contains '/'" : wb__path_fault(name);
}

/* Sets the name to the last segment of the path of the URL. */
static wb_status name_of_url(wb_pull *pull, wb__context *context, const wb__url *url)
{
    wb__str path = wb__url_path(url);
    wb__buffer name = {.allocator = &pull->net->allocator, .ceiling = PATH_BYTES};
    size_t begin = path.len;
    while (begin > 0 && path.ptr[begin - 1] != '/')
        begin--;
    bool valid =
        wb__percent_decode(&name, (wb__str){path.ptr + begin, path.len - begin}) || name.n == 0;
    const char *fault =
        valid ? name_fault((wb__str){(const char *)name.bytes, name.n}) : "it is not valid";
    pull->own.path = wb__pull_keep(pull, &name);
    if (pull->own.path == NULL)
        return wb__fail_memory(context);
    return fault == NULL ? WB_OK
                         : wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_NET_NAME, WB_NO_OFFSET,
                                    WB__STR(""), WB__MSG_PULL_WEB_NAME, fault);
}

static bool is_folder(const char *path)
{
    struct stat st;
    size_t n = strlen(path);
    return path[n - 1] == '/' || (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

/* Sets the paths. `to` is a directory, or the path of the file; NULL: the current directory. */
static wb_status set_paths(wb_pull *pull, wb__context *context, const wb__url *url, const char *to)
{
    wb__buffer text = {.allocator = &pull->net->allocator, .ceiling = PATH_BYTES};
    const char *slash = to == NULL ? NULL : strrchr(to, '/');
    bool is_name = to != NULL && !is_folder(to);
    size_t folder = to == NULL      ? 0
                    : !is_name      ? strlen(to)
                    : slash == NULL ? 0
                                    : (size_t)(slash - to);
    wb__buffer_add(&text, to, folder);
    if (folder == 0)
        wb__buffer_text(&text, slash != NULL && is_name ? "/" : ".");
    pull->folder = wb__pull_keep(pull, &text);
    pull->own.path = is_name ? wb__arena_copy(&pull->arena, slash == NULL ? to : slash + 1,
                                              strlen(slash == NULL ? to : slash + 1))
                             : "";
    if (pull->folder == NULL || pull->own.path == NULL)
        return wb__fail_memory(context);
    wb_status status = is_name ? WB_OK : name_of_url(pull, context, url);
    if (status != WB_OK)
        return status;
    if (folder > 0 || (slash != NULL && is_name)) {
        wb__buffer_text(&text, pull->folder);
        if (pull->folder[strlen(pull->folder) - 1] != '/')
            wb__buffer_text(&text, "/");
    }
    wb__buffer_text(&text, pull->own.path);
    pull->path = wb__pull_keep(pull, &text);
    return pull->path == NULL ? wb__fail_memory(context) : WB_OK;
}

/* ---- what the server states ---- */

static bool ignore(void *owner, uint64_t offset, const uint8_t *bytes, size_t n)
{
    (void)owner;
    (void)offset;
    (void)bytes;
    (void)n;
    return true;
}

/* Returns true if the response is a web page in place of a model. */
static bool is_page(const wb_pull *pull, const wb__response *response)
{
    const char *end = strrchr(pull->own.path, '.');
    return wb__response_is_page(response) &&
           (end == NULL || (strcmp(end, ".html") != 0 && strcmp(end, ".htm") != 0));
}

/* Sets the identity of the file, from which its journal is found: the digest, if it is known. */
static wb_status identify(wb_pull *pull, wb__context *context, const wb__response *response,
                          const char *digest)
{
    wb__sha256 sha256;
    uint8_t bytes[WB__SHA256_BYTES];
    char size[32];
    const wb__remote *remote = &pull->web;
    const char *date = wb__response_get(response, WB__FIELD_LAST_MODIFIED);
    const char *version = remote->etag[0] != '\0' ? remote->etag : date;
    pull->has_digest = digest != NULL;
    if (digest != NULL) {
        memcpy(pull->own.sha256, digest, WB__HEX_SHA256 + 1);
        return WB_OK;
    }
    wb__hash_key key = wb__hash_key_draw();
    wb_status status = wb__sha256_open(&sha256, context);
    (void)snprintf(size, sizeof size, "\n%" PRIu64 "\n", remote->size);
    if (status == WB_OK) {
        wb__sha256_add(&sha256, remote->url.text, remote->url.len);
        wb__sha256_add(&sha256, size, strlen(size));
        if (version != NULL)
            wb__sha256_add(&sha256, version, strlen(version));
        else /* the versions cannot be compared, so that no journal may be continued */
            wb__sha256_add(&sha256, &key, sizeof key);
        if (!wb__sha256_finish(&sha256, bytes))
            status = wb__fail_memory(context);
        else
            wb__hex_encode(bytes, WB__SHA256_BYTES, pull->own.sha256);
    }
    wb__sha256_close(&sha256);
    return status;
}

static wb_status check_response(const wb_pull *pull, wb__context *context,
                                const wb__response *response)
{
    char host[128];
    const char *fault = !pull->web.size_known     ? WB__MSG_NET_NO_SIZE
                        : is_page(pull, response) ? WB__MSG_NET_WEB_PAGE
                                                  : NULL;
    if (fault == NULL)
        return WB_OK;
    wb__printable(host, sizeof host, wb__url_origin(&pull->web.url));
    return wb__fail(context, WB_ERROR_IO, WB__FINDING_NET_REPLY, WB_NO_OFFSET, WB__STR(""),
                    WB__MSG_NET_RESPONSE, host, fault);
}

static wb_status probe(wb_pull *pull, wb__context *context, const char *digest)
{
    wb__transfer transfer, *one = &transfer;
    wb__transfer_init(&transfer, &pull->web, 0, 1);
    transfer.put = ignore;
    wb_status status = wb__transfers_run(pull->net, context, &one, 1, 1);
    const wb__response *response = &transfer.exchange.response;
    if (status == WB_OK)
        status = check_response(pull, context, response);
    if (status == WB_OK)
        status = identify(pull, context, response, digest);
    wb__transfer_free(&transfer);
    return status;
}

static bool is_digest(const char *digest)
{
    return strlen(digest) == WB__HEX_SHA256 && wb__is_hex(wb__str_from(digest, SIZE_MAX));
}

wb_status wb__pull_web_open(wb_pull *pull, wb__context *context, const wb__address *address,
                            const wb_pull_options *options)
{
    wb__url url;
    const wb__s3 *s3;
    if (options->sha256 != NULL && !is_digest(options->sha256))
        return wb__fail_argument(context, WB__MSG_PULL_SHA256);
    wb_status status = make_url(pull, context, address, &s3, &url);
    pull->layout = &wb__layout_file;
    if (status == WB_OK)
        status = set_paths(pull, context, &url, options->directory);
    if (status == WB_OK) {
        wb__remote_init(&pull->web, pull->net, &url);
        pull->web.s3 = s3;
        pull->is_web = true;
        status = probe(pull, context, options->sha256);
    }
    wb__url_free(&url);
    if (status != WB_OK)
        return status;
    pull->own.size = pull->web.size;
    pull->only = (wb__pull_item){.file = &pull->own};
    pull->items = &pull->only;
    pull->count = 1;
    return WB_OK;
}

wb_status wb__pull_web_remote(const wb_pull *pull, wb__context *context, wb__remote *remote)
{
    wb__url url;
    const wb__remote *web = &pull->web;
    if (!wb__url_copy(&url, &web->url))
        return wb__fail_memory(context);
    wb__remote_init(remote, pull->net, &url);
    remote->s3 = web->s3;
    wb__remote_set_size(remote, web->size);
    memcpy(remote->etag, web->etag, sizeof remote->etag);
    return WB_OK;
}
