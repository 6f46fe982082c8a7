/* Explains errors for paths that are not a model but are related to one (an Ollama store, an
 * address, a shard), and finds the model in a repository of a Hugging Face cache. */
#define _XOPEN_SOURCE 700 /* lstat */
#define _FILE_OFFSET_BITS 64
#include <sys/stat.h>

#include "bundles/ollama/ollama.h"
#include "handle/config_json.h"
#include "io/provided_files.h"
#include "open/open.h"
#include "open/open_messages.h"

#define REVISION_BYTES 64 /* a commit has 40 or 64 hexadecimal digits */

static void free_text(wb__context *context, char *text, size_t bytes)
{
    if (text != NULL)
        wb__free(&context->allocator, text, bytes + 1);
}

/* Returns the length of the revision in refs/main; 0 if the revision cannot be the name of a
 * directory. */
static size_t revision_length(const char *text, size_t bytes)
{
    size_t n = 0;
    while (n < bytes && ((text[n] >= '0' && text[n] <= '9') || (text[n] >= 'a' && text[n] <= 'z')))
        n++;
    bool ends = n == bytes || text[n] == '\n';
    return ends && n <= REVISION_BYTES ? n : 0;
}

wb_status wb__snapshot_of(wb__context *context, const char *folder, char **snapshot)
{
    static const char snapshots[] = "snapshots/";
    char name[sizeof snapshots + REVISION_BYTES];
    char *text;
    size_t bytes;
    *snapshot = NULL;
    char *path = wb__path_join(&context->allocator, folder, WB__STR("refs/main"));
    if (path == NULL)
        return wb__fail_memory(context);
    wb_status status = wb__read_text(context, folder, path, &text, &bytes);
    free_text(context, path, strlen(path));
    if (status != WB_OK || text == NULL)
        return status;
    size_t n = revision_length(text, bytes);
    memcpy(name, snapshots, sizeof snapshots - 1);
    memcpy(name + sizeof snapshots - 1, text, n);
    free_text(context, text, bytes);
    if (n == 0)
        return WB_OK;
    *snapshot =
        wb__path_join(&context->allocator, folder, (wb__str){name, sizeof snapshots - 1 + n});
    return *snapshot == NULL ? wb__fail_memory(context) : WB_OK;
}

wb_status wb__explain_link(wb__context *context, const char *path, wb_status status)
{
    struct stat st;
    if (wb__files_own(context, path) || lstat(path, &st) != 0 || !S_ISLNK(st.st_mode))
        return WB_ERROR_NOT_FOUND;
    const char *file = context->file;
    context->file = path;
    (void)wb__fail(context, status, WB__FINDING_LINK_BROKEN, WB_NO_OFFSET, WB__STR(""),
                   WB__MSG_OPEN_LINK_BROKEN);
    context->file = file;
    return status;
}

bool wb__is_address(const char *path)
{
    size_t n = 0;
    while ((path[n] >= 'a' && path[n] <= 'z') || (n > 0 && path[n] >= '0' && path[n] <= '9'))
        n++;
    return n > 0 && strncmp(path + n, "://", 3) == 0;
}

static bool is_store_at(wb__context *context, const char *folder, const char *name)
{
    char *path = wb__path_join(&context->allocator, folder, wb__str_from(name, SIZE_MAX));
    bool is_store = path != NULL && wb__ollama_is_store(&context->allocator, path);
    if (path != NULL)
        free_text(context, path, strlen(path));
    return is_store;
}

void wb__explain_store(wb__context *context, const char *folder)
{
    static const struct {
        const char *name;
        const char *what;
    } places[] = {
        {".", WB__MSG_OPEN_STORE},
        {"models", WB__MSG_OPEN_STORE_INSIDE},
        {"..", WB__MSG_OPEN_STORE_AROUND},
    };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (is_store_at(context, folder, places[i].name)) {
            (void)wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_OLLAMA_STORE, WB_NO_OFFSET,
                           WB__STR(""), "%s", places[i].what);
            return;
        }
    }
}

void wb__explain_store_option(wb__context *context, const char *store)
{
    if (store == NULL || is_store_at(context, store, ".") || !is_store_at(context, store, "models"))
        return;
    const char *file = context->file;
    context->file = store;
    (void)wb__fail(context, WB_ERROR_NOT_FOUND, WB__FINDING_OLLAMA_NO_MODEL, WB_NO_OFFSET,
                   WB__STR(""), WB__MSG_OPEN_STORE_BELOW);
    context->file = file;
}

void wb__explain_lone_shard(wb__context *context, wb__source *source)
{
    uint8_t bytes[WB__HEAD_BYTES];
    wb_error first = *context->error;
    wb__head head = {.bytes = bytes, .file_bytes = wb__source_bytes(source)};
    head.n = head.file_bytes < sizeof bytes ? (size_t)head.file_bytes : sizeof bytes;
    if (wb__source_read(source, context, 0, bytes, head.n) != WB_OK ||
        !wb__explain_foreign(context, &head))
        *context->error = first;
}
