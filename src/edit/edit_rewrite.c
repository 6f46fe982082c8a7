/*
 * Writes the edited file as a new file. If the edit keeps the layout of the data section, the data
 * section is copied as one range. If the offset of this range also keeps its remainder modulo the
 * block size and the file system supports reflinks, both files share the data blocks.
 */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "edit/edit.h"
#include "edit/edit_messages.h"

#define BLOCK 4096u

static wb_status copy_data(wb__edit_job *job, const wb_sink *sink)
{
    const wb__source *source = job->model->sources[0];
    uint64_t n = wb__source_bytes(source) - job->data_begin;
    /* number of bytes before the first block boundary; they are copied separately, because only
     * whole blocks can be shared by both files */
    uint64_t front = (BLOCK - job->data_begin % BLOCK) % BLOCK;
    if (front > n)
        front = n;
    wb_status status =
        wb__sink_copy(job->context, sink, job->target, source, job->data_begin, front);
    if (status == WB_OK)
        status = wb__sink_copy(job->context, sink, job->target + front, source,
                               job->data_begin + front, n - front);
    return status;
}

static wb_status copy_tensors(wb__edit_job *job, const wb_sink *sink)
{
    const wb__catalog *in = &job->model->catalog;
    wb_status status = WB_OK;
    for (size_t i = 0; i < job->writer->tensors.count && status == WB_OK; i++) {
        const wb__outgoing *tensor = wb__writer_tensor(job->writer, i);
        status = wb__sink_copy(job->context, sink, tensor->out.begin, job->model->sources[0],
                               wb__catalog_offset_of(in, tensor->from), tensor->out.bytes);
    }
    return status;
}

/* Renames the new index to its final name, and removes the journal. Precondition: the new file
 * already has its final name. */
static wb_status publish_index(wb__edit_job *job, const wb__edit_journal *journal)
{
    wb__context *context = job->context;
    if (wb__index_publish(job) != WB_OK) {
        context->file = job->path;
        return wb__fail(context, WB_ERROR_IO, WB__FINDING_EDIT_HALF, WB_NO_OFFSET, WB__STR(""),
                        WB__MSG_EDIT_INDEX_LEFT);
    }
    if (journal->at != NULL)
        return wb__edit_end_journal(context, job->path, journal->at);
    int os_error = wb__directory_sync_of(&context->allocator, job->path);
    context->file = job->path;
    return os_error == 0 ? WB_OK : wb__fail_os(context, os_error, WB__MSG_EDIT_SYNC_FOLDER);
}

/* Renames the new file and the new index to their final names. Without a journal, a crash between
 * the two renames leaves the old index, which `wb verify` reports. */
static wb_status publish_both(wb__edit_job *job, wb_sink *sink)
{
    wb__context *context = job->context;
    wb__edit_journal journal = {.at = NULL};
    wb_status status = wb__index_prepare(job);
    if (status == WB_OK)
        status = wb__edit_begin_journal(job, false, &journal);
    if (status != WB_OK)
        return status;
    status = wb__sink_publish(context, sink);
    if (status == WB_OK) {
        status = publish_index(job, &journal);
    } else if (wb__sink_is_published(sink)) {
        /* Only the sync failed. The file is already replaced, so replace the index, too. */
        const wb_error error = *context->error;
        status = publish_index(job, &journal);
        *context->error = status == WB_OK ? error : *context->error;
        status = context->error->status;
    } else if (journal.at != NULL) {
        (void)unlink(journal.at);
    }
    wb__edit_journal_free(context, &journal);
    return status;
}

wb_status wb__edit_new_file(wb__edit_job *job)
{
    const wb__out_file *layout = &wb__edit_output(job)->layout;
    wb_sink *sink;
    /* No disk space is reserved for data that both files may share. If the data is copied
     * instead, the copy reports a full disk. */
    wb_status status =
        wb__sink_open(job->context, job->path, job->data_stays ? 0 : layout->bytes, &sink);
    if (status != WB_OK)
        return status;
    int os_error = wb__sink_place(sink, 0, layout->header.bytes, layout->header.n);
    if (os_error != 0)
        status = wb__fail_os(job->context, os_error, WB__MSG_EDIT_NEW_FILE);
    if (status == WB_OK)
        status = job->data_stays ? copy_data(job, sink) : copy_tensors(job, sink);
    if (status == WB_OK)
        status = wb__source_check(job->model->sources[0], job->context);
    if (status == WB_OK)
        status = wb__sink_finish(job->context, sink, layout->bytes);
    if (status == WB_OK)
        status =
            job->set.changes_index ? publish_both(job, sink) : wb__sink_publish(job->context, sink);
    wb__sink_discard(sink);
    return status;
}
