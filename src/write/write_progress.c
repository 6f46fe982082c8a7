/*
 * Reports the progress of a writer, and checks that the files of its source model are unchanged.
 */
#include "write/write.h"
#include "write/write_messages.h"

wb_status wb__writer_hear(wb__context *context, const wb_writer *writer, uint64_t done)
{
    const wb_progress *progress = &writer->progress;
    uint64_t total = 0;
    if (progress->report == NULL)
        return WB_OK;
    for (size_t i = 0; i < writer->output_count; i++)
        total += writer->outputs[i].layout.bytes;
    if (progress->report(progress->ctx, done < total ? done : total, total) == 0)
        return WB_OK;
    return wb__fail(context, WB_ERROR_CANCELLED, WB__FINDING_CANCELLED, WB_NO_OFFSET, WB__STR(""),
                    WB__MSG_WRITE_CANCELLED);
}

/* Fails if a source file has changed since it was opened, because the output would mix data of
 * two models. */
wb_status wb__writer_check_source(wb__context *context, const wb_writer *writer)
{
    const wb_model *source = writer->source;
    wb_status status = WB_OK;
    for (size_t i = 0; source != NULL && i < source->source_count && status == WB_OK; i++)
        status = wb__source_check(source->sources[i], context);
    return status;
}
