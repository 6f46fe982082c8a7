#define _POSIX_C_SOURCE 200809L
#include "bundles/ollama/ollama.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bundles/bundles_messages.h"
#include "io/io.h"

#define DEFAULT_HOST WB__STR("registry.ollama.ai")
#define DEFAULT_SPACE WB__STR("library")
#define DEFAULT_TAG WB__STR("latest")
#define PART_MAX 80
#define HOST_MAX 350
/* Size of the buffer for the file name that wb__ollama_kept_path makes. It is below 255, the
 * maximum length of a file name, because suffixes are added later. */
#define KEPT_MAX 240

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/*
 * Returns true if the part starts with a letter, digit or underscore and contains only these and
 * characters of `also`.
 */
static bool is_part(wb__str part, size_t max, const char *also)
{
    if (part.len == 0 || part.len > max || !is_word(part.ptr[0]))
        return false;
    for (size_t i = 1; i < part.len; i++) {
        if (!is_word(part.ptr[i]) && (part.ptr[i] == '\0' || strchr(also, part.ptr[i]) == NULL))
            return false;
    }
    return true;
}

/* Splits *text at its last `separator`: the part after it becomes *rest, and *text keeps the
 * part before it. Returns false if there is no separator. */
static bool cut_last(wb__str *text, char separator, wb__str *rest)
{
    for (size_t i = text->len; i-- > 0;) {
        if (text->ptr[i] == separator) {
            *rest = (wb__str){text->ptr + i + 1, text->len - i - 1};
            text->len = i;
            return true;
        }
    }
    return false;
}

bool wb__ollama_name_parse(wb__str text, wb__ollama_name *name)
{
    const size_t scheme = sizeof WB__OLLAMA_SCHEME - 1;
    *name = (wb__ollama_name){DEFAULT_HOST, DEFAULT_SPACE, {NULL, 0}, DEFAULT_TAG};
    if (text.len >= scheme && memcmp(text.ptr, WB__OLLAMA_SCHEME, scheme) == 0)
        text = (wb__str){text.ptr + scheme, text.len - scheme};
    wb__str model;
    wb__str parents = text;
    if (cut_last(&parents, '/', &model)) {
        wb__str space;
        if (cut_last(&parents, '/', &space)) {
            name->host = parents;
            name->space = space;
        } else {
            name->space = parents;
        }
    } else {
        model = text;
    }
    (void)cut_last(&model, ':', &name->tag);
    name->model = model;
    return is_part(name->host, HOST_MAX, "-.:") && is_part(name->space, PART_MAX, "-") &&
           is_part(name->model, PART_MAX, "-.") && is_part(name->tag, PART_MAX, "-.");
}

/* Returns an environment variable; NULL if unset or empty. */
static const char *variable(const char *name)
{
    const char *text = getenv(name);
    return text == NULL || text[0] == '\0' ? NULL : text;
}

wb_status wb__ollama_default_store(wb__context *context, char **store)
{
    const char *models = variable("OLLAMA_MODELS"), *home = variable("HOME");
    *store = NULL;
    if (models == NULL && home == NULL)
        return wb__fail(context, WB_ERROR_NOT_FOUND, WB__FINDING_OLLAMA_NO_MODEL, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_OLLAMA_NO_STORE);
    *store = models != NULL ? wb__path_join(&context->allocator, "", wb__str_from(models, SIZE_MAX))
                            : wb__path_join(&context->allocator, home, WB__STR(".ollama/models"));
    return *store == NULL ? wb__fail_memory(context) : WB_OK;
}

/* Converts a model name to lower case. The result is still unique, because model names that
 * differ only in case denote the same model. */
static void lower(char *text)
{
    for (; *text != '\0'; text++) {
        if (*text >= 'A' && *text <= 'Z')
            *text = (char)(*text - 'A' + 'a');
    }
}

wb_status wb__ollama_kept_path(wb__context *context, const char *store, wb__str name, char **path)
{
    wb__ollama_name parts;
    char base[KEPT_MAX], *own = NULL;
    *path = NULL;
    if (!wb__ollama_name_parse(name, &parts) ||
        parts.host.len + parts.space.len + parts.model.len + parts.tag.len + 4 > sizeof base)
        return WB_OK;
    wb_status status = store == NULL ? wb__ollama_default_store(context, &own) : WB_OK;
    if (status != WB_OK)
        return status;
    char *blobs =
        wb__path_join(&context->allocator, store == NULL ? own : store, WB__STR("blobs/"));
    (void)snprintf(base, sizeof base, "%.*s+%.*s+%.*s+%.*s", (int)parts.host.len, parts.host.ptr,
                   (int)parts.space.len, parts.space.ptr, (int)parts.model.len, parts.model.ptr,
                   (int)parts.tag.len, parts.tag.ptr);
    lower(base);
    if (blobs != NULL) {
        *path = wb__path_join(&context->allocator, blobs, wb__str_from(base, SIZE_MAX));
        wb__free(&context->allocator, blobs, strlen(blobs) + 1);
    }
    if (own != NULL)
        wb__free(&context->allocator, own, strlen(own) + 1);
    return *path == NULL ? wb__fail_memory(context) : WB_OK;
}

static bool has_folder(const wb_allocator *allocator, const char *folder, wb__str name)
{
    char *path = wb__path_join(allocator, folder, name);
    bool has = path != NULL && access(path, X_OK) == 0;
    if (path != NULL)
        wb__free(allocator, path, strlen(path) + 1);
    return has;
}

bool wb__ollama_is_store(const wb_allocator *allocator, const char *folder)
{
    return has_folder(allocator, folder, WB__STR("manifests")) &&
           has_folder(allocator, folder, WB__STR("blobs"));
}

bool wb__ollama_is_manifest_path(const char *path)
{
    static const char inner[] = "/manifests/";
    return strstr(path, inner) != NULL || strncmp(path, inner + 1, sizeof inner - 2) == 0;
}

bool wb__ollama_is_blob_path(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t n = slash == NULL ? 0 : (size_t)(slash - path);
    return n >= 5 && (n == 5 || path[n - 6] == '/') && strncmp(slash - 5, "blobs/sha256", 12) == 0;
}

/* ---- finding a manifest ---- */

typedef struct case_search {
    const wb_allocator *allocator;
    wb__str wanted;
    char *found;
} case_search;

static wb_status compare_entry(void *ctx, const char *entry)
{
    case_search *search = ctx;
    wb__str name = wb__str_from(entry, SIZE_MAX);
    if (search->found == NULL && wb__str_equal_nocase(name, search->wanted)) {
        search->found = wb__alloc(search->allocator, name.len + 1);
        if (search->found == NULL)
            return WB_ERROR_MEMORY;
        memcpy(search->found, entry, name.len + 1);
    }
    return WB_OK;
}

/*
 * Replaces *path, a directory, by the path of the entry `name` in this directory. The name is
 * matched case-insensitively.
 */
static wb_status descend(wb__context *context, char **path, wb__str name)
{
    const wb_allocator *allocator = &context->allocator;
    char *exact = wb__path_join(allocator, *path, name);
    if (exact == NULL)
        return wb__fail_memory(context);
    if (access(exact, F_OK) != 0) {
        case_search search = {.allocator = allocator, .wanted = name};
        wb_status status = wb__directory_list(context, *path, compare_entry, &search);
        wb__free(allocator, exact, strlen(exact) + 1);
        exact = NULL;
        if (search.found != NULL) {
            exact = wb__path_join(allocator, *path, wb__str_from(search.found, SIZE_MAX));
            wb__free(allocator, search.found, strlen(search.found) + 1);
        }
        if (status != WB_OK || exact == NULL) {
            wb__free(allocator, exact, exact == NULL ? 0 : strlen(exact) + 1);
            return status == WB_ERROR_MEMORY || (status == WB_OK && search.found != NULL)
                       ? wb__fail_memory(context)
                       : WB_ERROR_NOT_FOUND;
        }
    }
    wb__free(allocator, *path, strlen(*path) + 1);
    *path = exact;
    return WB_OK;
}

wb_status wb__ollama_find(wb__context *context, const char *store, wb__str text, char **out)
{
    wb__ollama_name name;
    *out = NULL;
    if (!wb__ollama_name_parse(text, &name))
        return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_OLLAMA_NAME, WB_NO_OFFSET, text,
                        WB__MSG_OLLAMA_BAD_NAME);
    const wb__str parts[] = {WB__STR("manifests"), name.host, name.space, name.model, name.tag};
    char *path = wb__path_join(&context->allocator, "", wb__str_from(store, SIZE_MAX));
    wb_status status = path == NULL ? wb__fail_memory(context) : WB_OK;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && status == WB_OK; i++)
        status = descend(context, &path, parts[i]);
    if (status == WB_OK) {
        *out = path;
        return WB_OK;
    }
    if (path != NULL)
        wb__free(&context->allocator, path, strlen(path) + 1);
    if (status != WB_ERROR_NOT_FOUND)
        return status;
    const char *file = context->file;
    context->file = store;
    status = wb__fail(context, WB_ERROR_NOT_FOUND, WB__FINDING_OLLAMA_NO_MODEL, WB_NO_OFFSET, text,
                      WB__MSG_OLLAMA_NO_MODEL);
    context->file = file;
    return status;
}
