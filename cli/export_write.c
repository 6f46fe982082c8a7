/* wb export: writes the elements in chunks, so that memory use does not depend on the tensor size.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exit.h"
#include "export.h"
#include "output.h"
#include "paths.h"
#include "report.h"
#include "terminal.h"

#define CHUNK_BYTES ((size_t)1 << 20)
#define TEXT_CHUNK ((size_t)1 << 15) /* elements per chunk of text output */
#define WRAPPER_BYTES 256

typedef struct writer {
    export_plan *plan;
    wb_sink *sink;
    wb_error error;
    size_t slice;    /* index of the current slice */
    uint64_t before; /* number of elements in the preceding slices */
    uint8_t *chunk;  /* WRAPPER_BYTES bytes for a safetensors header, then the chunk */
    float *floats;   /* values after rounding to the output dtype, for text output */
    text lines;
} writer;

/* Text output only: converts a chunk of n elements of the output dtype to F32, if values_add cannot
 * format that dtype (--dtype f16 of an F32 tensor, for example). The library converts only tensors
 * of a model, so the chunk is opened as a safetensors model in memory.
 */
static wb_status widen(writer *w, size_t n, size_t bytes)
{
    char header[WRAPPER_BYTES];
    int32_t dtype = w->plan->content.dtype;
    size_t length = sizeof header - 8;
    wb_model *model;
    memset(header, ' ', sizeof header);
    memset(header, 0, 8);
    header[0] = (char)length;
    int used = snprintf(header + 8, length,
                        "{\"\":{\"dtype\":\"%s\",\"shape\":[%llu],"
                        "\"data_offsets\":[0,%llu]}}",
                        wb_dtype_name(dtype), (unsigned long long)n, (unsigned long long)bytes);
    header[8 + used] = ' '; /* replaces the NUL that snprintf wrote */
    memcpy(w->chunk, header, sizeof header);
    wb_status status =
        wb_open_memory(w->chunk, sizeof header + bytes, "rounded values", NULL, &model, &w->error);
    if (status == WB_OK)
        status = wb_tensor_read(model, 0, NULL, WB_DTYPE_F32, w->floats, n * sizeof *w->floats,
                                &w->error);
    wb_close(model);
    return status;
}

static wb_dtype_info describe(int32_t dtype)
{
    wb_dtype_info info = WB_DTYPE_INFO_INIT;
    if (wb_dtype_describe(dtype, &info) != WB_OK) /* cannot fail: the dtype belongs to a tensor */
        info = (wb_dtype_info){.block_size = 1, .block_bits = 64};
    return info;
}

/* Returns the size in bytes of n elements. Precondition: n elements fill whole bytes and whole
 * blocks.
 */
static size_t bytes_of(int32_t dtype, size_t n)
{
    wb_dtype_info info = describe(dtype);
    return (size_t)((uint64_t)n * info.block_bits / info.block_size / 8);
}

/* Returns the number of elements per chunk. It is a multiple of 8, so that 4-bit and 6-bit elements
 * fill whole bytes.
 */
static size_t chunk_elements(int32_t dtype)
{
    wb_dtype_info info = describe(dtype);
    return CHUNK_BYTES * 8 / info.block_bits * info.block_size / 8 * 8;
}

static wb_status read_chunk(writer *w, uint64_t first, size_t n, int32_t dtype, size_t *bytes)
{
    export_plan *plan = w->plan;
    wb_slice slice = plan->slices[w->slice];
    slice.first = first - w->before;
    slice.count = n;
    *bytes = bytes_of(dtype, n);
    return wb_tensor_read(plan->model, plan->index, &slice, dtype, w->chunk + WRAPPER_BYTES, *bytes,
                          &w->error);
}

static wb_status write_values(writer *w, uint64_t first, size_t n)
{
    const export_content *content = &w->plan->content;
    int32_t shown = values_dtype(content->dtype);
    bool is_rounded = shown != content->dtype && content->dtype != (int32_t)w->plan->tensor.dtype;
    const uint8_t *elements = w->chunk + WRAPPER_BYTES;
    size_t bytes;
    wb_status status = read_chunk(w, first, n, is_rounded ? content->dtype : shown, &bytes);
    if (status == WB_OK && is_rounded) {
        status = widen(w, n, bytes);
        elements = (const uint8_t *)w->floats;
    }
    if (status != WB_OK)
        return status;
    text_clear(&w->lines);
    values_add(&w->lines, content, first, elements, n);
    return wb_sink_write(w->sink, w->lines.ptr, w->lines.len, &w->error);
}

static wb_status write_elements(writer *w, uint64_t first, size_t n)
{
    size_t bytes;
    wb_status status = read_chunk(w, first, n, w->plan->content.dtype, &bytes);
    if (status != WB_OK)
        return status;
    return wb_sink_write(w->sink, w->chunk + WRAPPER_BYTES, bytes, &w->error);
}

static wb_status write_all(writer *w)
{
    const export_plan *plan = w->plan;
    bool is_text = plan->format == FORMAT_TEXT;
    uint64_t count = plan->content.elements;
    size_t most = is_text ? TEXT_CHUNK : chunk_elements(plan->content.dtype);
    wb_status status = wb_sink_write(w->sink, plan->header.ptr, plan->header.len, &w->error);
    uint64_t first = 0, end = plan->slice_elements[0];
    while (first < count && status == WB_OK) {
        while (first == end) {
            w->before = end;
            end += plan->slice_elements[++w->slice];
        }
        size_t n = end - first < most ? (size_t)(end - first) : most;
        status = is_text ? write_values(w, first, n) : write_elements(w, first, n);
        first += n;
        progress_show(plan->output, bytes_of(plan->content.dtype, (size_t)first),
                      bytes_of(plan->content.dtype, (size_t)count));
        if (interrupted())
            return WB_ERROR_CANCELLED;
    }
    return status == WB_OK ? wb_model_check(plan->model, &w->error) : status;
}

static int fail(const export_plan *plan, wb_status status, const wb_error *error)
{
    progress_clear();
    if (status == WB_ERROR_CANCELLED)
        return EXIT_INTERRUPTED;
    if (error->os_error == EPIPE) /* only the output can be a pipe that its reader has closed */
        return EXIT_CLEAN;
    report_error(plan->path, error);
    return exit_code_of(status);
}

int export_write(export_plan *plan)
{
    writer w = {.plan = plan};
    wb_status status =
        output_is_stdout(plan->output)
            ? wb_sink_open_fd(STDOUT_FILENO, "standard output", NULL, &w.sink, &w.error)
            : wb_sink_open(plan->output, plan->bytes, NULL, &w.sink, &w.error);
    if (status != WB_OK)
        return fail(plan, status, &w.error);
    interrupt_defer(!output_is_stream(plan->output));
    w.chunk = need_memory(NULL, WRAPPER_BYTES + CHUNK_BYTES, 1);
    w.floats = need_memory(NULL, TEXT_CHUNK, sizeof *w.floats);
    status = write_all(&w);
    if (status == WB_OK)
        status = wb_sink_commit(w.sink, &w.error);
    else
        wb_sink_discard(w.sink);
    interrupt_defer(false);
    progress_clear();
    free(w.chunk);
    free(w.floats);
    text_free(&w.lines);
    return status == WB_OK ? EXIT_CLEAN : fail(plan, status, &w.error);
}
