/*
 * Finds the journal of an interrupted edit next to a file. Other programs see the file half edited,
 * so a journal explains findings that are not the fault of the original file.
 */
#include "verify/verify.h"
#include "verify/verify_messages.h"

#define MAGIC (sizeof WB__JOURNAL_MAGIC - 1)

static bool has_journal(const wb_model *model, const wb__context *context, size_t source)
{
    uint8_t bytes[MAGIC] = {0};
    wb_error unused;
    wb__context ask = *context;
    wb__source *journal = NULL;
    bool is_folder = false, found = false;
    ask.error = wb__error_reset(&unused, &unused);
    char *path = wb__source_has_path(model->sources[source])
                     ? wb__path_journal(&ask.allocator, wb__source_label(model->sources[source]))
                     : NULL;
    if (path == NULL)
        return false;
    ask.file = path;
    if (wb__source_open(&ask, path, WB_ACCESS_READ, &journal, &is_folder) == WB_OK && !is_folder) {
        found = wb__source_bytes(journal) >= MAGIC &&
                wb__source_read(journal, &ask, 0, bytes, MAGIC) == WB_OK &&
                memcmp(bytes, WB__JOURNAL_MAGIC, MAGIC) == 0;
        wb__source_close(journal);
    }
    wb__free(&ask.allocator, path, strlen(path) + 1);
    return found;
}

wb_status wb__verify_journals(const wb_model *model, wb__context *context)
{
    const char *file = context->file;
    wb_status status = WB_OK;
    for (size_t i = 0; i < model->source_count && status == WB_OK; i++) {
        if (!has_journal(model, context, i))
            continue;
        context->file = wb__source_label(model->sources[i]);
        status = wb__note(context, WB_WARNING, WB__FINDING_EDIT_JOURNAL, WB_NO_OFFSET, WB__STR(""),
                          WB__MSG_VERIFY_JOURNAL);
    }
    context->file = file;
    return status;
}

void wb__verify_explain(const wb_model *model, wb__context *context)
{
    char said[sizeof context->error->message];
    if (model->source_count == 0 || !has_journal(model, context, model->source_count - 1))
        return;
    wb_status status = context->error->status;
    uint64_t at = context->error->offset;
    memcpy(said, context->error->message, sizeof said);
    context->file = wb__source_label(model->sources[model->source_count - 1]);
    (void)wb__fail(context, status, WB__FINDING_EDIT_JOURNAL, at, WB__STR(""),
                   WB__MSG_VERIFY_EDIT_HALF, said);
}
