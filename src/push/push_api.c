/*
 * The requests of the API of the hub (https://huggingface.co/docs/hub/api):
 *
 *   POST /api/models/ID/preupload/REVISION      {"files": [{"path", "sample", "size"}, …]}
 *        answer                                 {"files": [{"path", "uploadMode", "shouldIgnore"}]}
 *   POST /ID.git/info/lfs/objects/batch         {"operation": "upload", "transfers": …,
 *                                                "objects": [{"oid", "size"}, …]}
 *        answer                                 {"objects": [{"oid", "actions": {"upload":
 *                                                {"href", "header"}, "verify": {"href"}}}]}
 *   POST /api/models/ID/commit/REVISION         a JSON object on each line
 *        answer                                 {"commitOid"}
 *
 * An object without actions is there already. If the header of an upload has "chunk_size", it also
 * has the addresses of the parts, whose names are "1", "2", ….
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <unistd.h>

#include "io/sink.h"
#include "net/fetch.h"
#include "net/names.h"
#include "net/percent.h"
#include "net/reply.h"
#include "push/base64.h"
#include "push/push.h"
#include "push/push_messages.h"

#define BATCH 256            /* files of a preupload request */
#define SAMPLE ((size_t)512) /* bytes of a file that the hub looks at */
#define REPLY_MAX ((size_t)64 << 20)
#define COMMIT_MAX ((size_t)512 << 20)
#define PARTS_MAX ((size_t)10000)
#define TYPE_JSON "application/json"
#define TYPE_COMMIT "application/x-ndjson"

/* ---- requests ---- */

static bool add_text(void *ctx, const char *text, size_t n)
{
    wb__buffer_add(ctx, text, n);
    return !wb__buffer_failed(ctx);
}

static void write_text(wb__json_writer *json, const char *key, const char *value)
{
    wb__json_write_key(json, key);
    wb__json_write_str(json, wb__str_from(value, SIZE_MAX));
}

static void write_number(wb__json_writer *json, const char *key, uint64_t value)
{
    wb__json_write_key(json, key);
    wb__json_write_uint(json, value);
}

/* Sends a POST request. The caller frees *fetch and *url, also after a failure. */
static wb_status post(wb_push *push, wb__context *context, wb__fetch *fetch, const char *url,
                      const char *type, const wb__buffer *body)
{
    if (body->out_of_memory)
        return wb__fail_memory(context);
    if (body->too_large)
        return wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_ARGUMENT, WB_NO_OFFSET, WB__STR(""),
                        WB__MSG_PUSH_LARGE, body->ceiling);
    wb_status status = wb__fetch_begin(fetch, push->net, context, url, REPLY_MAX);
    fetch->type = type;
    fetch->body = (wb__str){(const char *)body->bytes, body->n};
    fetch->once = strcmp(type, TYPE_COMMIT) == 0;
    return status == WB_OK ? wb__fetch_run_ok(fetch, push->net, context) : status;
}

/* Makes "ENDPOINT/api/models/ID/CALL/REVISION", NUL-terminated. */
static void make_call(wb__buffer *url, const wb_push *push, const char *call)
{
    *url = (wb__buffer){.allocator = &push->net->allocator, .ceiling = WB__URL_MAX};
    wb__hub_api(url, push->net, &push->repo->address);
    wb__buffer_text(url, call);
    wb__percent_add(url, wb__str_from(push->repo->address.revision, SIZE_MAX), false);
    wb__buffer_add(url, "", 1);
}

/* Sends a POST request to a URL in a buffer, which is freed. */
static wb_status post_to(wb_push *push, wb__context *context, wb__fetch *fetch, wb__buffer *url,
                         const char *type, const wb__buffer *body)
{
    *fetch = (wb__fetch){0};
    wb_status status = wb__buffer_failed(url)
                           ? wb__fail_memory(context)
                           : post(push, context, fetch, (const char *)url->bytes, type, body);
    wb__buffer_free(url);
    return status;
}

/* ---- preupload ---- */

static wb_status write_sample(wb_push *push, wb__context *context, wb__json_writer *json,
                              const wb__push_item *item)
{
    int fd;
    uint8_t sample[SAMPLE];
    wb__buffer text = {.allocator = &push->net->allocator, .ceiling = 4 * SAMPLE};
    wb_status status = wb__push_open_file(item, context, &fd);
    if (status != WB_OK)
        return status;
    size_t n = wb__read_back(fd, 0, sample, sizeof sample);
    (void)close(fd);
    wb__base64_add(&text, sample, n);
    wb__json_write_begin(json, '{');
    write_text(json, "path", item->path);
    write_number(json, "size", item->size);
    wb__json_write_key(json, "sample");
    wb__json_write_str(json, (wb__str){(const char *)text.bytes, text.n});
    wb__json_write_end(json, '}');
    status = wb__buffer_failed(&text) ? wb__fail_memory(context) : WB_OK;
    wb__buffer_free(&text);
    return status;
}

static int by_path(const void *key, const void *element)
{
    const wb__push_item *item = element;
    return strcmp(key, item->path);
}

static void read_mode(wb_push *push, wb__reply *reply)
{
    char path[4096] = "", mode[16] = "";
    bool ignore = false;
    while (wb__reply_key(reply)) {
        if (wb__reply_is(reply, "path"))
            (void)wb__reply_string(reply, path, sizeof path);
        else if (wb__reply_is(reply, "uploadMode"))
            (void)wb__reply_string(reply, mode, sizeof mode);
        else if (wb__reply_is(reply, "shouldIgnore"))
            (void)wb__reply_bool(reply, &ignore);
        else
            (void)wb__reply_skip(reply);
    }
    wb__push_item *item = bsearch(path, push->items, push->count, sizeof *push->items, by_path);
    if (reply->status != WB_OK || item == NULL || item->state != WB__PUSH_NEW)
        return;
    item->is_lfs = strcmp(mode, "lfs") == 0;
    if (!item->is_lfs && strcmp(mode, "regular") != 0)
        (void)wb__reply_fail(reply, WB__MSG_PUSH_MODE);
    if (ignore)
        item->state = WB__PUSH_IGNORED;
}

static wb_status read_modes(wb_push *push, wb__context *context, const wb__fetch *fetch)
{
    wb__reply reply;
    wb__reply_begin(&reply, context, (const char *)fetch->reply.bytes, fetch->reply.n,
                    "the answer to the list of files");
    bool inside = wb__reply_open(&reply, WB__JSON_OBJECT);
    while (inside && wb__reply_key(&reply)) {
        if (!wb__reply_is(&reply, "files")) {
            (void)wb__reply_skip(&reply);
            continue;
        }
        bool listed = wb__reply_open(&reply, WB__JSON_ARRAY);
        while (listed && wb__reply_element(&reply)) {
            if (reply.json.token == WB__JSON_OBJECT)
                read_mode(push, &reply);
            else
                (void)wb__reply_fail(&reply, "an object was expected");
        }
    }
    return wb__reply_end(&reply);
}

/* Asks for at most BATCH items from *next on. */
static wb_status ask_modes(wb_push *push, wb__context *context, size_t *next)
{
    wb__fetch fetch = {0};
    wb__buffer url, body = {.allocator = &push->net->allocator, .ceiling = COMMIT_MAX};
    wb__json_writer json = {.write = add_text, .ctx = &body};
    wb_status status = WB_OK;
    size_t n = 0;
    wb__json_write_begin(&json, '{');
    wb__json_write_key(&json, "files");
    wb__json_write_begin(&json, '[');
    for (; *next < push->count && n < BATCH && status == WB_OK; ++*next) {
        const wb__push_item *item = &push->items[*next];
        if (item->state != WB__PUSH_NEW)
            continue;
        status = write_sample(push, context, &json, item);
        n++;
    }
    wb__json_write_end(&json, ']');
    wb__json_write_end(&json, '}');
    context->file = "";
    make_call(&url, push, "/preupload/");
    if (status == WB_OK && n > 0)
        status = post_to(push, context, &fetch, &url, TYPE_JSON, &body);
    if (status == WB_OK && n > 0)
        status = read_modes(push, context, &fetch);
    wb__fetch_free(&fetch);
    wb__buffer_free(&url);
    wb__buffer_free(&body);
    return status;
}

wb_status wb__push_preupload(wb_push *push, wb__context *context)
{
    wb_status status = WB_OK;
    for (size_t next = 0; next < push->count && status == WB_OK;)
        status = ask_modes(push, context, &next);
    return status;
}

/* ---- the LFS batch ---- */

static const char *keep(wb_push *push, wb__reply *reply)
{
    wb__str text = WB__STR("");
    if (!wb__reply_arena(reply, &push->arena, &text))
        return NULL;
    return text.len == 0 ? NULL : text.ptr;
}

static const char **make_parts(wb_push *push)
{
    const char **parts = wb__arena_alloc(&push->arena, PARTS_MAX * sizeof *parts);
    for (size_t i = 0; i < PARTS_MAX && parts != NULL; i++)
        parts[i] = NULL;
    return parts;
}

/* Reads "header": {"chunk_size": "…", "1": "…", …}. */
static void read_parts(wb_push *push, wb__reply *reply, wb__push_object *object)
{
    bool inside = wb__reply_enter(reply);
    while (inside && wb__reply_key(reply)) {
        uint64_t number;
        bool is_part = wb__parse_decimal(wb__str_from(reply->key, SIZE_MAX), &number) &&
                       number > 0 && number <= PARTS_MAX;
        if (wb__reply_is(reply, "chunk_size")) {
            (void)wb__reply_size(reply, &object->part_bytes);
        } else if (is_part) {
            if (object->parts == NULL)
                object->parts = make_parts(push);
            if (object->parts == NULL) {
                reply->status = wb__fail_memory(reply->context);
                return;
            }
            object->parts[number - 1] = keep(push, reply);
            object->part_count++;
        } else {
            (void)wb__reply_skip(reply);
        }
    }
}

static void read_upload(wb_push *push, wb__reply *reply, wb__push_object *object)
{
    bool inside = wb__reply_enter(reply);
    while (inside && wb__reply_key(reply)) {
        if (wb__reply_is(reply, "href"))
            object->href = keep(push, reply);
        else if (wb__reply_is(reply, "header"))
            read_parts(push, reply, object);
        else
            (void)wb__reply_skip(reply);
    }
}

static void read_verify(wb_push *push, wb__reply *reply, wb__push_object *object)
{
    bool inside = wb__reply_enter(reply);
    while (inside && wb__reply_key(reply)) {
        if (wb__reply_is(reply, "href"))
            object->verify = keep(push, reply);
        else
            (void)wb__reply_skip(reply);
    }
}

static void read_actions(wb_push *push, wb__reply *reply, wb__push_object *object)
{
    bool inside = wb__reply_enter(reply);
    while (inside && wb__reply_key(reply)) {
        if (wb__reply_is(reply, "upload"))
            read_upload(push, reply, object);
        else if (wb__reply_is(reply, "verify"))
            read_verify(push, reply, object);
        else
            (void)wb__reply_skip(reply);
    }
}

/* Returns true if the addresses of an object are complete. */
static bool is_usable(const wb__push_object *object)
{
    if (object->href == NULL)
        return false;
    if (object->part_bytes == 0)
        return true;
    uint64_t count =
        object->item->size / object->part_bytes + (object->item->size % object->part_bytes != 0);
    if (count != object->part_count)
        return false;
    for (size_t i = 0; i < object->part_count; i++) {
        if (object->parts[i] == NULL)
            return false;
    }
    return true;
}

static void read_object(wb_push *push, wb__reply *reply, wb__push_object *objects, size_t n)
{
    char oid[WB__HEX_SHA256 + 1] = "";
    bool failed = false;
    wb__push_object found = {0};
    while (wb__reply_key(reply)) {
        if (wb__reply_is(reply, "oid"))
            (void)wb__reply_string(reply, oid, sizeof oid);
        else if (wb__reply_is(reply, "actions"))
            read_actions(push, reply, &found);
        else if (wb__reply_is(reply, "error"))
            failed = wb__reply_skip(reply);
        else
            (void)wb__reply_skip(reply);
    }
    for (size_t i = 0; i < n && reply->status == WB_OK; i++) {
        wb__push_item *item = objects[i].item;
        if (strcmp(item->sha256, oid) != 0)
            continue;
        objects[i] = found;
        objects[i].item = item;
        if (failed)
            (void)wb__reply_fail(reply, WB__MSG_PUSH_REFUSED);
        else if (found.href == NULL)
            item->state = WB__PUSH_STORED;
        else if (!is_usable(&objects[i]))
            (void)wb__reply_fail(reply, WB__MSG_PUSH_PARTS);
    }
}

static wb_status read_batch(wb_push *push, wb__context *context, const wb__fetch *fetch,
                            wb__push_object *objects, size_t n)
{
    wb__reply reply;
    wb__reply_begin(&reply, context, (const char *)fetch->reply.bytes, fetch->reply.n,
                    "the answer to the LFS batch");
    bool inside = wb__reply_open(&reply, WB__JSON_OBJECT);
    while (inside && wb__reply_key(&reply)) {
        if (!wb__reply_is(&reply, "objects")) {
            (void)wb__reply_skip(&reply);
            continue;
        }
        bool listed = wb__reply_open(&reply, WB__JSON_ARRAY);
        while (listed && wb__reply_element(&reply)) {
            if (reply.json.token == WB__JSON_OBJECT)
                read_object(push, &reply, objects, n);
            else
                (void)wb__reply_fail(&reply, "an object was expected");
        }
    }
    for (size_t i = 0; i < n && reply.status == WB_OK; i++) {
        if (objects[i].item->state == WB__PUSH_NEW && objects[i].href == NULL)
            (void)wb__reply_fail(&reply, WB__MSG_PUSH_BATCH);
    }
    return wb__reply_end(&reply);
}

static void write_object(wb__json_writer *json, const wb__push_item *item)
{
    write_text(json, "oid", item->sha256);
    write_number(json, "size", item->size);
}

wb_status wb__push_batch(wb_push *push, wb__context *context, wb__push_object *objects, size_t n)
{
    wb__fetch fetch;
    wb__buffer body = {.allocator = &push->net->allocator, .ceiling = COMMIT_MAX};
    wb__buffer url = {.allocator = &push->net->allocator, .ceiling = WB__URL_MAX};
    wb__json_writer json = {.write = add_text, .ctx = &body};
    const wb__address *address = &push->repo->address;
    wb__buffer_text(&body, "{\"operation\":\"upload\",\"transfers\":[\"basic\",\"multipart\"],"
                           "\"hash_algo\":\"sha256\",\"objects\":");
    wb__json_write_begin(&json, '[');
    for (size_t i = 0; i < n; i++) {
        wb__json_write_begin(&json, '{');
        write_object(&json, objects[i].item);
        wb__json_write_end(&json, '}');
    }
    wb__json_write_end(&json, ']');
    wb__buffer_text(&body, "}");
    wb__buffer_text(&url, push->net->settings.endpoint_text);
    wb__buffer_text(&url, "/");
    wb__buffer_text(&url, wb__repo_prefix(address->type));
    wb__buffer_text(&url, address->repo);
    wb__buffer_add(&url, ".git/info/lfs/objects/batch", sizeof ".git/info/lfs/objects/batch");
    wb_status status = post_to(push, context, &fetch, &url, WB__TYPE_LFS, &body);
    if (status == WB_OK)
        status = read_batch(push, context, &fetch, objects, n);
    wb__fetch_free(&fetch);
    wb__buffer_free(&body);
    return status;
}

wb_status wb__push_complete(wb_push *push, wb__context *context, const wb__push_object *object,
                            const wb__push_etag *etags)
{
    wb__fetch fetch = {0};
    wb__buffer body = {.allocator = &push->net->allocator, .ceiling = REPLY_MAX};
    wb__json_writer json = {.write = add_text, .ctx = &body};
    wb_status status = WB_OK;
    if (object->part_bytes > 0) {
        wb__json_write_begin(&json, '{');
        write_text(&json, "oid", object->item->sha256);
        wb__json_write_key(&json, "parts");
        wb__json_write_begin(&json, '[');
        for (size_t i = 0; i < object->part_count; i++) {
            wb__json_write_begin(&json, '{');
            write_number(&json, "partNumber", i + 1);
            write_text(&json, "etag", etags[i].text);
            wb__json_write_end(&json, '}');
        }
        wb__json_write_end(&json, ']');
        wb__json_write_end(&json, '}');
        status = post(push, context, &fetch, object->href, WB__TYPE_LFS, &body);
        wb__fetch_free(&fetch);
    }
    if (status == WB_OK && object->verify != NULL) {
        body.n = 0;
        json = (wb__json_writer){.write = add_text, .ctx = &body};
        wb__json_write_begin(&json, '{');
        write_object(&json, object->item);
        wb__json_write_end(&json, '}');
        status = post(push, context, &fetch, object->verify, WB__TYPE_LFS, &body);
        wb__fetch_free(&fetch);
    }
    wb__buffer_free(&body);
    return status;
}

/* ---- the commit ---- */

static wb_status write_contents(wb_push *push, wb__context *context, wb__json_writer *json,
                                const wb__push_item *item)
{
    int fd;
    size_t n;
    if (!wb__to_size(item->size, &n) || n > COMMIT_MAX)
        return wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_ARGUMENT, WB_NO_OFFSET, WB__STR(""),
                        WB__MSG_PUSH_LARGE, COMMIT_MAX);
    wb_status status = wb__push_open_file(item, context, &fd);
    if (status != WB_OK)
        return status;
    wb__buffer text = {.allocator = &push->net->allocator, .ceiling = 2 * COMMIT_MAX};
    uint8_t *bytes = wb__alloc(&push->net->allocator, n);
    if (bytes == NULL)
        status = wb__fail_memory(context);
    else if (wb__read_back(fd, 0, bytes, n) != n)
        status = wb__fail(context, WB_ERROR_CHANGED, WB__FINDING_FILE_CHANGED, WB_NO_OFFSET,
                          WB__STR(""), WB__MSG_PUSH_CHANGED);
    else
        wb__base64_add(&text, bytes, n);
    (void)close(fd);
    wb__free(&push->net->allocator, bytes, n);
    wb__json_write_key(json, "content");
    wb__json_write_str(json, (wb__str){(const char *)text.bytes, text.n});
    if (status == WB_OK && wb__buffer_failed(&text))
        status = wb__fail_memory(context);
    wb__buffer_free(&text);
    write_text(json, "encoding", "base64");
    return status;
}

static wb_status write_operation(wb_push *push, wb__context *context, wb__buffer *body,
                                 const wb__push_item *item)
{
    wb__json_writer json = {.write = add_text, .ctx = body};
    wb_status status = WB_OK;
    wb__json_write_begin(&json, '{');
    write_text(&json, "key", item->is_lfs ? "lfsFile" : "file");
    wb__json_write_key(&json, "value");
    wb__json_write_begin(&json, '{');
    write_text(&json, "path", item->path);
    if (item->is_lfs) {
        write_text(&json, "algo", "sha256");
        write_object(&json, item);
    } else {
        status = write_contents(push, context, &json, item);
    }
    wb__json_write_end(&json, '}');
    wb__json_write_end(&json, '}');
    wb__buffer_text(body, "\n");
    return status;
}

static void write_header(const wb_push *push, wb__buffer *body)
{
    wb__json_writer json = {.write = add_text, .ctx = body};
    const char *line = strchr(push->message, '\n');
    size_t n = line == NULL ? strlen(push->message) : (size_t)(line - push->message);
    wb__json_write_begin(&json, '{');
    write_text(&json, "key", "header");
    wb__json_write_key(&json, "value");
    wb__json_write_begin(&json, '{');
    wb__json_write_key(&json, "summary");
    wb__json_write_str(&json, (wb__str){push->message, n});
    write_text(&json, "description", line == NULL ? "" : line + strspn(line, "\n"));
    write_text(&json, "parentCommit", push->repo->commit);
    wb__json_write_end(&json, '}');
    wb__json_write_end(&json, '}');
    wb__buffer_text(body, "\n");
}

static wb_status read_commit(wb_push *push, wb__context *context, const wb__fetch *fetch)
{
    wb__reply reply;
    char commit[WB__HEX_COMMIT + 1] = "";
    wb__reply_begin(&reply, context, (const char *)fetch->reply.bytes, fetch->reply.n,
                    "the answer to the commit");
    bool inside = wb__reply_open(&reply, WB__JSON_OBJECT);
    while (inside && wb__reply_key(&reply)) {
        if (wb__reply_is(&reply, "commitOid"))
            (void)wb__reply_string(&reply, commit, sizeof commit);
        else
            (void)wb__reply_skip(&reply);
    }
    if (reply.status == WB_OK && !wb__is_commit(commit))
        (void)wb__reply_fail(&reply, "it has no commit");
    wb_status status = wb__reply_end(&reply);
    if (status == WB_OK)
        memcpy(push->commit, commit, sizeof commit);
    return status;
}

wb_status wb__push_make_commit(wb_push *push, wb__context *context)
{
    wb__fetch fetch = {0};
    wb__buffer url, body = {.allocator = &push->net->allocator, .ceiling = COMMIT_MAX};
    wb_status status = WB_OK;
    write_header(push, &body);
    for (size_t i = 0; i < push->count && status == WB_OK; i++) {
        const wb__push_item *item = &push->items[i];
        if (item->state == WB__PUSH_STORED || (item->state == WB__PUSH_NEW && !item->is_lfs))
            status = write_operation(push, context, &body, item);
    }
    context->file = "";
    make_call(&url, push, "/commit/");
    if (status == WB_OK)
        status = post_to(push, context, &fetch, &url, TYPE_COMMIT, &body);
    if (status == WB_OK)
        status = read_commit(push, context, &fetch);
    wb__fetch_free(&fetch);
    wb__buffer_free(&url);
    wb__buffer_free(&body);
    return status;
}
