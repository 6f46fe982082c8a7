#include "edit/edit.h"

static wb_status begin(wb__context *context, const char *path, const wb_edit_options *options,
                       wb_error *error)
{
    wb_open_options open = {.size = sizeof open};
    *context = (wb__context){.file = "", .error = error};
    if (path == NULL || (options != NULL && options->size != sizeof *options))
        return wb__fail_argument(context, path == NULL ? "the path is NULL"
                                                       : "wb_edit_options.size is not "
                                                         "sizeof(wb_edit_options)");
    if (options != NULL) {
        open.limits = options->limits;
        open.allocator = options->allocator;
    }
    return wb__context_init(context, &open, error);
}

static wb_status check_edits(wb__context *context, const wb_edit *edits, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        bool is_rename = edits[i].kind == WB_EDIT_RENAME || edits[i].kind == WB_EDIT_RENAME_KEY;
        if (edits[i].size != sizeof *edits || edits[i].kind < WB_EDIT_SET ||
            edits[i].kind > WB_EDIT_DROP || edits[i].name == NULL ||
            (is_rename && edits[i].to == NULL) ||
            (edits[i].kind == WB_EDIT_SET && edits[i].value == NULL))
            return wb__fail_argument(context, "an edit has not all that its kind needs");
    }
    return WB_OK;
}

wb_status wb_edit_file(const char *path, const wb_edit *edits, uint64_t count,
                       const wb_edit_options *options, wb_edited *edited, wb_error *error)
{
    static const wb_edit_options defaults = {.size = sizeof defaults};
    wb_error spare;
    wb__context context;
    size_t size = edited == NULL ? sizeof *edited : edited->size;
    wb_status status = begin(&context, path, options, wb__error_reset(error, &spare));
    if (edited != NULL)
        *edited = (wb_edited){.size = size};
    if (status == WB_OK && size != sizeof *edited)
        status = wb__fail_argument(&context, "wb_edited.size is not sizeof(wb_edited)");
    if (status == WB_OK)
        status = check_edits(&context, edits, count);
    if (status == WB_OK)
        status = wb__edit_file(&context, path, edits, count, options == NULL ? &defaults : options,
                               edited);
    return status;
}

wb_status wb_edit_recover(const char *path, int *undone, wb_error *error)
{
    wb_error spare;
    wb__context context;
    bool was_undone = false;
    wb_status status = begin(&context, path, NULL, wb__error_reset(error, &spare));
    if (status == WB_OK)
        status = wb__edit_recover(&context, path, &was_undone);
    if (undone != NULL)
        *undone = was_undone;
    return status;
}
