/* Files that the caller provides (wb_files). */
#include "io/provided_files.h"
#include "io/io_messages.h"

#define ROOM ((size_t)1024)

bool wb__files_own(const wb__context *context, const char *path)
{
    const wb_files *files = &context->files;
    return files->owns != NULL && files->owns(files->ctx, path) != 0;
}

/* Reports the error that a callback of the caller has described in *theirs. Members that the
 * callback has not set get default values. */
static wb_status fail_provided(wb__context *context, wb_status status, const wb_error *theirs,
                               const char *message)
{
    bool described = theirs->message[0] != '\0';
    (void)wb__fail(context, status,
                   status == WB_ERROR_NOT_FOUND ? WB__FINDING_NOT_FOUND : WB__FINDING_IO,
                   WB_NO_OFFSET, WB__STR(""), "%s", described ? theirs->message : message);
    if (theirs->code != NULL && theirs->code[0] != '\0')
        context->error->code = theirs->code;
    if (described)
        memcpy(context->error->advice, theirs->advice, sizeof theirs->advice);
    context->error->os_error = theirs->os_error;
    return status;
}

wb_status wb__provided_open(wb__context *context, const char *path, wb_source *source,
                            bool *is_folder)
{
    union {
        wb_source theirs;
        uint8_t room[ROOM]; /* the caller may have been compiled with a longer wb_source */
    } source_of = {.theirs = {.size = sizeof source_of.theirs}};
    int folder = 0;
    wb_error error;
    (void)wb__error_reset(&error, &error);
    *source = (wb_source){.size = sizeof *source};
    *is_folder = false;
    wb_status status =
        context->files.open(context->files.ctx, path, &source_of.theirs, &folder, &error);
    if (status != WB_OK)
        return fail_provided(context, status, &error, WB__MSG_IO_OPEN_FILE);
    *is_folder = folder != 0;
    if (*is_folder)
        return WB_OK;
    if (!WB__TAKE(wb_source, &source_of.theirs, source) || source->read == NULL)
        return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET, WB__STR(""),
                        WB__MSG_IO_PROVIDED_READ);
    return WB_OK;
}

/* Context of the callback pass_on. `each_failed` distinguishes an error of `each` from an error of
 * the caller's function files.list. */
typedef struct listing {
    wb_status (*each)(void *ctx, const char *name);
    void *ctx;
    bool each_failed;
} listing;

static wb_status pass_on(void *ctx, const char *name)
{
    listing *l = ctx;
    wb_status status = l->each(l->ctx, name);
    l->each_failed = status != WB_OK;
    return status;
}

wb_status wb__directory_list_provided(wb__context *context, const char *path,
                                      wb_status (*each)(void *ctx, const char *name), void *ctx)
{
    wb_error error;
    listing l = {.each = each, .ctx = ctx};
    (void)wb__error_reset(&error, &error);
    wb_status status = context->files.list(context->files.ctx, path, pass_on, &l, &error);
    if (status == WB_OK || l.each_failed)
        return status;
    return fail_provided(context, status, &error, WB__MSG_IO_LIST_FOLDER);
}

void wb__files_expect(const wb__context *context, const char *const *paths, size_t count)
{
    const wb_files *files = &context->files;
    if (files->expect != NULL && count > 0)
        files->expect(files->ctx, paths, count);
}
