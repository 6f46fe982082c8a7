/*
 * Creates the outputs of a plan, and plans an output that is one file copied unchanged.
 */
#include "write/write.h"

wb_status wb__writer_make_outputs(wb__context *context, wb_writer *writer, size_t count)
{
    size_t tensors = writer->tensors.count;
    wb__output *outputs = wb__arena_alloc(&writer->arena, count * sizeof *outputs);
    writer->order = wb__arena_alloc(&writer->arena, tensors * sizeof *writer->order);
    if (outputs == NULL || writer->order == NULL)
        return wb__fail_memory(context);
    memset(outputs, 0, count * sizeof *outputs);
    for (size_t i = 0; i < count; i++)
        outputs[i].layout.header.allocator = &writer->allocator;
    writer->outputs = outputs;
    writer->output_count = count;
    for (size_t i = 0; i < tensors; i++) {
        wb__outgoing *tensor = wb__writer_tensor(writer, i);
        wb__output *output = &outputs[tensor->file];
        if (output->layout.tensor_count++ == 0)
            output->first = i;
        /* This sum may overflow, but then the layout of the file fails before the sum is used. */
        output->left += tensor->out.bytes;
        writer->order[i] = &tensor->out;
    }
    return WB_OK;
}

wb_status wb__writer_plan_whole(wb__context *context, wb_writer *writer)
{
    wb__output *output = wb__arena_alloc(&writer->arena, sizeof *output);
    if (output == NULL)
        return wb__fail_memory(context);
    memset(output, 0, sizeof *output);
    output->layout.header.allocator = &writer->allocator;
    output->layout.bytes = wb__source_bytes(writer->whole_source);
    output->layout.tensor_count = (size_t)writer->whole->tensors.count;
    writer->outputs = output;
    writer->output_count = 1;
    return WB_OK;
}
