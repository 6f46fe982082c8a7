/*
 * Lists a store: the manifests are the files manifests/<host>/<namespace>/<model>/<tag>. Only the
 * sizes and media types in each manifest are read. A damaged manifest is listed with its error.
 */
#define _FILE_OFFSET_BITS 64
#include "bundles/ollama/ollama.h"

#include <errno.h>

#include "bundles/bundles_messages.h"
#include "io/beneath.h"
#include "io/io.h"

#define LEVELS 4
#define MANIFEST_MAX ((uint64_t)16 << 20)

typedef struct listing {
    wb__context *context;
    const char *store;
    wb__store_each *each;
    void *ctx;
    /* paths from manifests/ down to the current directory or manifest, one per level */
    char *paths[LEVELS + 1];
    wb__str names[LEVELS]; /* host, namespace, model, tag */
    unsigned level;
    char *text; /* text of the current manifest */
    size_t text_capacity;
} listing;

/* Reads an object to its end and returns its "size" and "mediaType". Its opening brace must already
 * have been read. */
static bool read_size(wb__json *json, uint64_t *size, wb__str *media, char *buffer, size_t capacity)
{
    *size = 0;
    *media = WB__STR("");
    while (wb__json_next(json) == WB__JSON_KEY) {
        bool is_size = wb__str_equal(json->text, WB__STR("size"));
        bool is_media = wb__str_equal(json->text, WB__STR("mediaType"));
        wb__json_token token = wb__json_next(json);
        if (is_size && token == WB__JSON_UINT)
            *size = json->uint;
        if (is_media && token == WB__JSON_STRING && json->text.len <= capacity) {
            memcpy(buffer, json->text.ptr, json->text.len);
            *media = (wb__str){buffer, json->text.len};
        }
        if (!wb__json_skip(json))
            return false;
    }
    return json->token == WB__JSON_OBJECT_END;
}

static bool read_layers(wb__json *json, wb__store_entry *entry)
{
    const wb__str tensor = WB__STR("application/vnd.ollama.image.tensor");
    char buffer[128];
    wb__str media;
    uint64_t size;
    if (json->token != WB__JSON_ARRAY)
        return false;
    while (wb__json_next(json) == WB__JSON_OBJECT) {
        if (!read_size(json, &size, &media, buffer, sizeof buffer))
            return false;
        if (!wb__add(entry->bytes, size, &entry->bytes))
            return false;
        entry->layers++;
        entry->tensors += wb__str_equal(media, tensor);
    }
    return json->token == WB__JSON_ARRAY_END;
}

static bool read_manifest(wb__json *json, wb__store_entry *entry)
{
    char buffer[1];
    wb__str media;
    uint64_t size;
    bool has_layers = false;
    if (wb__json_next(json) != WB__JSON_OBJECT)
        return false;
    while (wb__json_next(json) == WB__JSON_KEY) {
        bool is_layers = wb__str_equal(json->text, WB__STR("layers"));
        bool is_config = wb__str_equal(json->text, WB__STR("config"));
        wb__json_token token = wb__json_next(json);
        if (is_layers) {
            if (!read_layers(json, entry))
                return false;
            has_layers = true;
        } else if (is_config && token == WB__JSON_OBJECT) {
            if (!read_size(json, &size, &media, buffer, sizeof buffer) ||
                !wb__add(entry->bytes, size, &entry->bytes))
                return false;
        } else if (!wb__json_skip(json)) {
            return false;
        }
    }
    return json->token == WB__JSON_OBJECT_END && has_layers;
}

/* An unreadable manifest is reported in the entry; only running out of memory ends the listing. */
static wb_status read_entry(listing *list, wb__store_entry *entry)
{
    wb__context *context = list->context;
    wb__source *source;
    bool is_folder;
    context->file = entry->path;
    wb_status status =
        wb__source_open_in(context, list->store, entry->path, WB_ACCESS_READ, &source, &is_folder);
    if (status == WB_OK && is_folder)
        return WB_OK; /* a directory is not a manifest and is skipped */
    if (status == WB_OK) {
        uint64_t bytes = wb__source_bytes(source);
        if (bytes > MANIFEST_MAX)
            status = wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_OLLAMA_MANIFEST, WB_NO_OFFSET,
                              WB__STR(""), WB__MSG_OLLAMA_MANIFEST_SIZE);
        else if (!wb__grow(&context->allocator, (void **)&list->text, &list->text_capacity, 1,
                           (size_t)bytes, SIZE_MAX))
            status = wb__fail_memory(context);
        if (status == WB_OK)
            status = wb__source_read(source, context, 0, list->text, (size_t)bytes);
        wb__source_close(source);
        if (status == WB_OK) {
            wb__json json;
            wb__cursor cursor = wb__cursor_over(list->text, (size_t)bytes);
            wb__json_start(&json, &cursor, &context->allocator);
            bool good = read_manifest(&json, entry);
            if (!good && json.fault == WB__JSON_FAULT_MEMORY)
                status = wb__fail_memory(context);
            else if (!good)
                status = wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_OLLAMA_MANIFEST, json.at,
                                  WB__STR(""), "%s",
                                  json.token == WB__JSON_FAULT ? wb__json_fault_text(json.fault)
                                                               : WB__MSG_OLLAMA_NOT_MANIFEST);
            wb__json_stop(&json);
        }
    }
    if (status == WB_ERROR_MEMORY)
        return status;
    entry->error = status == WB_OK ? NULL : context->error;
    entry->host = list->names[0];
    entry->space = list->names[1];
    entry->model = list->names[2];
    entry->tag = list->names[3];
    return list->each(list->ctx, entry);
}

/* Returns true if a symbolic link in the path leads outside the store. */
static bool is_outside(const listing *list, const char *path)
{
    struct stat st;
    return wb__beneath_stat(list->store, path, list->context->follow_links, &st) == EXDEV;
}

static wb_status visit(void *ctx, const char *name)
{
    listing *list = ctx;
    unsigned level = list->level;
    if (name[0] == '.')
        return WB_OK;
    char *path =
        wb__path_join(&list->context->allocator, list->paths[level], wb__str_from(name, SIZE_MAX));
    if (path == NULL)
        return wb__fail_memory(list->context);
    list->paths[level + 1] = path;
    list->names[level] = wb__str_from(name, SIZE_MAX);
    wb_status status = WB_OK;
    if (level + 1 == LEVELS) {
        const char *file = list->context->file;
        wb__store_entry entry = {.path = path};
        status = read_entry(list, &entry);
        list->context->file = file;
    } else if (!is_outside(list, path)) {
        list->level++;
        status = wb__directory_list(list->context, path, visit, list);
        list->level--;
        if (status == WB_ERROR_IO ||
            status == WB_ERROR_NOT_FOUND) /* the entry is a file, not a directory */
            status = WB_OK;
    }
    wb__free(&list->context->allocator, path, strlen(path) + 1);
    return status;
}

wb_status wb__ollama_list(wb__context *context, const char *store, wb__store_each *each, void *ctx)
{
    listing list = {.context = context, .store = store, .each = each, .ctx = ctx};
    list.paths[0] = wb__path_join(&context->allocator, store, WB__STR("manifests"));
    if (list.paths[0] == NULL)
        return wb__fail_memory(context);
    context->file = store;
    wb_status status = wb__directory_list(context, list.paths[0], visit, &list);
    wb__free(&context->allocator, list.paths[0], strlen(list.paths[0]) + 1);
    wb__free(&context->allocator, list.text, list.text_capacity);
    return status;
}
