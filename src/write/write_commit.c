/*
 * Makes all files durable, then renames them. The anchor of a set is renamed last, because readers
 * do not accept a set without its anchor. The anchor is the index file of shards or the first part
 * of a split.
 */
#include <errno.h>

#include "core/call_options.h"
#include "write/write.h"
#include "write/write_messages.h"

static wb_status check_complete(wb__context *context, const wb_writer *writer)
{
    for (size_t i = 0; i < writer->tensors.count; i++) {
        const wb__outgoing *tensor = wb__writer_tensor(writer, i);
        if (tensor->done != tensor->out.bytes)
            return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_WRITE_MISSING, WB_NO_OFFSET,
                            tensor->out.name, WB__MSG_WRITE_BYTE_MISSING,
                            (unsigned long long)tensor->done);
    }
    return WB_OK;
}

/* ---- before the first rename ---- */

static wb_status write_index(wb__context *context, wb_writer *writer, wb_sink **sink)
{
    wb_status status =
        wb__writer_open(context, writer, writer->index_path, false, writer->index_len, sink);
    if (status == WB_OK && writer->folder == NULL)
        wb__sink_keep_others(*sink, writer->set, 0);
    if (status == WB_OK)
        status = wb__sink_write(context, *sink, writer->index, writer->index_len);
    if (status == WB_OK)
        status = wb__sink_finish(context, *sink, writer->index_len);
    return status;
}

/* Removes the final names that a failed commit has created. If a final name cannot be removed,
 * the temporary names are kept, so that the next run can recover the set. */
static void withdraw(wb_writer *writer, wb_sink *index)
{
    bool all = index == NULL || wb__sink_withdraw(index);
    for (size_t i = 0; i < writer->output_count && all; i++)
        all = wb__sink_withdraw(writer->outputs[i].sink);
    for (size_t i = 0; i < writer->output_count && !all; i++)
        wb__sink_leave(writer->outputs[i].sink);
    if (index != NULL && !all)
        wb__sink_leave(index);
}

/* Makes the temporary names durable. Called before hard links give the files their final names. */
static wb_status sync_names(wb__context *context, const wb_writer *writer)
{
    const char *path = writer->outputs[0].path;
    int os_error = wb__directory_sync_of(&context->allocator, path);
    if (os_error == 0)
        return WB_OK;
    context->file = path;
    return wb__fail_os(context, os_error, WB__MSG_WRITE_SYNC_FOLDER);
}

/* Reports an output that appeared during the write, for example from another process. */
static wb_status fail_late(wb__context *context, const wb_writer *writer)
{
    if (context->error->os_error != EEXIST)
        return WB_ERROR_IO;
    return writer->folder != NULL
               ? wb__fail_target(context, writer->folder, WB__FINDING_WRITE_EXISTS,
                                 WB__MSG_WRITE_FOLDER_EXISTS)
               : wb__fail_target(context, writer->outputs[0].path, WB__FINDING_WRITE_EXISTS,
                                 WB__MSG_WRITE_FILE_EXISTS);
}

static wb_status publish(wb__context *context, wb_writer *writer, wb_sink *index)
{
    wb_status status = index == NULL ? WB_OK : wb__sink_join(context, index);
    if (status == WB_OK && wb__writer_is_set(writer) && writer->flags & WB_WRITE_KEEP)
        status = sync_names(context, writer);
    for (size_t i = 0; i < writer->output_count && status == WB_OK; i++)
        status = wb__sink_join(context, writer->outputs[i].sink);
    for (size_t i = writer->output_count; i > 0 && status == WB_OK; i--)
        status = wb__sink_publish(context, writer->outputs[i - 1].sink);
    if (status == WB_OK && index != NULL)
        status = wb__sink_publish(context, index);
    if (status == WB_OK && writer->folder != NULL) {
        context->file = writer->folder;
        status = writer->replaces_folder
                     ? wb__replaced_publish(context, writer)
                     : wb__directory_publish(context, writer->folder_at, writer->folder);
        if (status == WB_OK)
            writer->folder_at = NULL;
    } else if (status != WB_OK && wb__writer_is_set(writer)) {
        withdraw(writer, index);
    }
    return status == WB_ERROR_IO ? fail_late(context, writer) : status;
}

/* Closes all sinks of a committed write and removes remaining temporary names, first of the
 * index file, then of the outputs in order. */
static void discard(wb_writer *writer, wb_sink *index)
{
    wb__sink_discard(index);
    for (size_t i = 0; i < writer->output_count; i++) {
        wb__sink_forget(writer->outputs[i].sink);
        wb__sink_discard(writer->outputs[i].sink);
        writer->outputs[i].sink = NULL;
    }
}

static wb_status commit(wb__context *context, wb_writer *writer)
{
    wb_sink *index = NULL;
    wb_status status = wb__outputs_finish(context, writer);
    if (status == WB_OK)
        status = wb__writer_check_source(context, writer);
    writer->forgets = writer->forgets || status == WB_ERROR_CHANGED;
    if (status == WB_OK && writer->folder_at != NULL && (writer->flags & WB_WRITE_KEEP))
        status = wb__directory_tidy(context, writer);
    if (status == WB_OK && writer->index_path != NULL)
        status = write_index(context, writer, &index);
    if (status == WB_OK)
        status = wb__sidecars_write(context, writer);
    /* For a stream, all bytes have already been reported. */
    if (status == WB_OK && wb__sink_is_file(writer->outputs[0].sink))
        status = wb__writer_hear(context, writer, WB__ALL_BYTES);
    if (status == WB_OK)
        status = publish(context, writer, index);
    if (status == WB_OK)
        discard(writer, index);
    else
        wb__sink_discard(index);
    return status;
}

wb_status wb__writer_commit(wb__context *context, wb_writer *writer)
{
    if (atomic_load(&writer->state) != WB__WRITING)
        return wb__fail_argument(context, WB__MSG_WRITE_COMMIT_STATE);
    if (writer->failure.status != WB_OK) {
        *context->error = writer->failure;
        return writer->failure.status;
    }
    wb_status status = check_complete(context, writer);
    if (status != WB_OK)
        return status;
    status = writer->is_store ? wb__store_commit(context, writer) : commit(context, writer);
    if (status != WB_OK)
        writer->failure = *context->error;
    else
        atomic_store(&writer->state, WB__COMMITTED);
    return status;
}
