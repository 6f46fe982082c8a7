#include "core/call_options.h"
#include "edit/edit.h"
#include "edit/edit_messages.h"

/* Initializes *context. Overwrites the defaults in *options with the caller's options, unless these
 * are NULL. */
static wb_status begin(wb__context *context, const char *path, const wb_edit_options *caller,
                       wb_edit_options *options, wb_error *error)
{
    wb_open_options open = {.size = sizeof open};
    *context = (wb__context){.file = "", .error = error};
    if (path == NULL)
        return wb__fail_argument(context, WB__MSG_EDIT_PATH_NULL);
    if (!WB__TAKE(wb_edit_options, caller, options))
        return WB__FAIL_SIZE(context, wb_edit_options, caller);
    open.limits = options->limits;
    open.allocator = options->allocator;
    return wb__context_init(context, &open, error);
}

/* The caller's edits. If the caller's wb_edit struct has another size than the library's, the
 * edits are copied into the library's struct. */
typedef struct edit_list {
    const wb_edit *edits; /* the caller's array or `copy` */
    wb_edit *copy;        /* NULL: the caller's array is used */
    size_t bytes;         /* size of `copy`, in bytes */
} edit_list;

static wb_status take_edits(wb__context *context, const wb_edit *caller, uint64_t count,
                            edit_list *list)
{
    *list = (edit_list){.edits = caller};
    if (count == 0 || caller->size == sizeof *caller)
        return WB_OK;
    if (!wb__abi_fits(WB__ABI_wb_edit, caller->size))
        return WB__FAIL_SIZE(context, wb_edit, caller);
    uint64_t bytes;
    if (!wb__mul(count, sizeof *caller, &bytes) || bytes > SIZE_MAX)
        return wb__fail_memory(context);
    list->bytes = (size_t)bytes;
    list->edits = list->copy = wb__alloc_zeroed(&context->allocator, list->bytes);
    if (list->copy == NULL)
        return wb__fail_memory(context);
    for (uint64_t i = 0; i < count; i++) {
        const wb_edit *edit = WB__ELEMENT(wb_edit, caller, i);
        if (edit->size != caller->size)
            return wb__fail_argument(context, WB__MSG_EDIT_EDIT_SIZES);
        if (!WB__TAKE(wb_edit, edit, &list->copy[i]))
            return WB__FAIL_SIZE(context, wb_edit, edit);
    }
    return WB_OK;
}

static wb_status check_edits(wb__context *context, const wb_edit *edits, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        bool is_rename = edits[i].kind == WB_EDIT_RENAME || edits[i].kind == WB_EDIT_RENAME_KEY;
        if (edits[i].size != sizeof *edits)
            return wb__fail_argument(context, WB__MSG_EDIT_EDIT_SIZES);
        if (edits[i].kind < WB_EDIT_SET || edits[i].kind > WB_EDIT_DROP || edits[i].name == NULL ||
            (is_rename && edits[i].to == NULL) ||
            (edits[i].kind == WB_EDIT_SET && edits[i].value == NULL))
            return wb__fail_argument(context, WB__MSG_EDIT_EDIT_INCOMPLETE);
    }
    return WB_OK;
}

wb_status wb_edit_file(const char *path, const wb_edit *edits, uint64_t count,
                       const wb_edit_options *options, wb_edited *edited, wb_error *error)
{
    wb_edit_options own = {.size = sizeof own};
    wb_edited unseen = {.size = sizeof unseen}, other;
    edit_list list = {.edits = NULL};
    wb_error spare;
    wb__context context;
    wb_status status = begin(&context, path, options, &own, wb__error_reset(error, &spare));
    if (edited == NULL)
        edited = &unseen;
    wb_edited *out = WB__OUT(wb_edited, edited, &other);
    if (status == WB_OK && out == NULL)
        status = WB__FAIL_SIZE(&context, wb_edited, edited);
    if (status == WB_OK)
        status = take_edits(&context, edits, count, &list);
    if (status == WB_OK)
        status = check_edits(&context, list.edits, count);
    if (status == WB_OK)
        status = wb__edit_file(&context, path, list.edits, count, &own, out);
    if (status == WB_OK)
        WB__GIVE(wb_edited, edited, out);
    if (list.copy != NULL)
        wb__free(&context.allocator, list.copy, list.bytes);
    return status;
}

wb_status wb_edit_recover(const char *path, int *undone, wb_error *error)
{
    wb_error spare;
    wb__context context;
    bool was_undone = false;
    wb_edit_options own = {.size = sizeof own};
    wb_status status = begin(&context, path, NULL, &own, wb__error_reset(error, &spare));
    if (status == WB_OK)
        status = wb__edit_recover(&context, path, &was_undone);
    if (undone != NULL)
        *undone = was_undone;
    return status;
}
