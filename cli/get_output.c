#define _POSIX_C_SOURCE 200809L
#include "get_output.h"

#include <stddef.h>

#include "terminal.h"

/* Opens the file. `bytes` is the size of the buffer. */
static wb_status open_file(get_output *output, uint64_t bytes)
{
    output->status = wb_sink_open(output->path, bytes, NULL, &output->sink, &output->error);
    interrupt_defer(output->status == WB_OK);
    return output->status;
}

static wb_status alloc_file(void *ctx, uint64_t bytes, void **handle)
{
    *handle = ctx;
    return open_file(ctx, bytes);
}

void get_free_nothing(void *ctx, void *handle, uint64_t bytes)
{
    (void)ctx, (void)handle, (void)bytes;
}

void *get_map_nothing(void *ctx, void *handle)
{
    (void)ctx, (void)handle;
    return NULL;
}

static wb_status upload_piece(void *ctx, void *handle, uint64_t offset, const void *src, uint64_t n,
                              void **event)
{
    get_output *output = handle;
    (void)ctx, (void)event;
    (void)pthread_mutex_lock(&output->lock);
    if (output->status == WB_OK && interrupted())
        output->status = WB_ERROR_CANCELLED;
    if (output->status == WB_OK)
        output->status = wb_sink_write_at(output->sink, offset, src, (size_t)n, &output->error);
    wb_status status = output->status;
    (void)pthread_mutex_unlock(&output->lock);
    return status;
}

wb_device get_output_open(get_output *output, const char *path)
{
    *output = (get_output){.path = path, .lock = PTHREAD_MUTEX_INITIALIZER};
    /* The buffer is the output file, which get_output_close closes. */
    return (wb_device){.size = sizeof(wb_device),
                       .ctx = output,
                       .alloc = alloc_file,
                       .free = get_free_nothing,
                       .map = get_map_nothing,
                       .upload = upload_piece};
}

wb_status get_output_close(get_output *output, wb_status status)
{
    if (output->status == WB_OK && status == WB_OK && output->sink == NULL)
        (void)open_file(output, 0); /* alloc_file was not called: the tensor is empty */
    if (output->status != WB_OK)
        status = output->status;
    if (status == WB_OK && interrupted())
        status = WB_ERROR_CANCELLED;
    if (status == WB_OK)
        status = output->status = wb_sink_commit(output->sink, &output->error);
    else
        wb_sink_discard(output->sink);
    output->sink = NULL;
    interrupt_defer(false);
    return status;
}
