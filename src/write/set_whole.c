/*
 * Selects the model whose file is copied unchanged. For a split GGUF model, this is a source that
 * presents the parts as one merged file. The merged file is not stored anywhere: its header is in
 * memory, and its tensor data is read from the parts. A writer plans its layout, but never writes.
 */
#include "write/write.h"
#include "write/write_messages.h"

typedef struct merged {
    wb_allocator allocator;
    const wb_model *model;
    wb_writer *plan;
    wb_error error; /* error of the last read that failed */
} merged;

static wb_status declare(wb__context *context, const wb_model *model, wb_writer *plan)
{
    const wb__catalog *catalog = &model->catalog;
    wb_status status = WB_OK;
    for (size_t i = 0; i < catalog->metas.count && status == WB_OK; i++)
        status = wb__writer_copy_meta(context, plan, catalog, wb__list_at(&catalog->metas, i));
    for (uint64_t i = 0; i < wb_tensor_count(model) && status == WB_OK; i++) {
        wb_tensor tensor = {.size = sizeof tensor};
        uint64_t number;
        status = wb_tensor_at(model, i, &tensor, context->error);
        if (status == WB_OK)
            status = wb__writer_add(context, plan, (wb__str){tensor.name, tensor.name_len},
                                    (int32_t)tensor.dtype, tensor.shape, tensor.rank, &number);
    }
    return status == WB_OK ? wb__writer_plan(context, plan, NULL) : status;
}

/* Returns the index, in file order, of the last tensor that begins at or before `offset`. Returns 0
 * for an offset in the header, which precedes all tensors. */
static size_t find_tensor(const wb_writer *plan, uint64_t offset)
{
    size_t low = 0, high = plan->tensors.count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (plan->order[middle]->begin <= offset)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static size_t at_most(size_t n, uint64_t available)
{
    return available < n ? (size_t)available : n;
}

/* Reads from `offset`, which is after the header: the bytes of one tensor, or the zeros that follow
 * the tensor. Sets *got to the number of bytes read. */
static wb_status read_data(const merged *m, wb__context *context, uint64_t offset, void *dst,
                           size_t n, size_t *got)
{
    const wb_writer *plan = m->plan;
    if (plan->tensors.count == 0) {
        *got = at_most(n, plan->outputs[0].layout.bytes - offset);
        memset(dst, 0, *got);
        return WB_OK;
    }
    size_t position = find_tensor(plan, offset);
    const wb__outgoing *tensor = (const wb__outgoing *)(const void *)plan->order[position];
    uint64_t begin = tensor->out.begin, within = offset - begin;
    if (offset >= begin && within < tensor->out.bytes) {
        wb_tensor from = {.size = sizeof from};
        wb_status status = wb_tensor_at(m->model, tensor->number, &from, context->error);
        *got = at_most(n, tensor->out.bytes - within);
        return status == WB_OK ? wb__source_read(m->model->sources[from.file], context,
                                                 from.offset + within, dst, *got)
                               : status;
    }
    bool is_last = position + 1 == plan->tensors.count;
    uint64_t next = offset < begin ? begin
                    : is_last      ? plan->outputs[0].layout.bytes
                                   : plan->order[position + 1]->begin;
    *got = at_most(n, next - offset);
    memset(dst, 0, *got);
    return WB_OK;
}

static wb_status read_merged(void *ctx, uint64_t offset, void *dst, size_t n, size_t *got)
{
    merged *m = ctx;
    const wb__out_file *file = &m->plan->outputs[0].layout;
    const wb__buffer *header = &file->header;
    *got = 0;
    if (offset >= file->bytes)
        return WB_OK;
    if (offset < header->n) {
        *got = at_most(n, header->n - offset);
        memcpy(dst, header->bytes + offset, *got);
        return WB_OK;
    }
    wb__context context = wb__context_of(m->model, wb__error_reset(&m->error, &m->error));
    return read_data(m, &context, offset, dst, n, got);
}

static void explain(void *ctx, wb_error *error)
{
    const merged *m = ctx;
    *error = m->error;
}

static void close_merged(void *ctx)
{
    merged *m = ctx;
    wb_allocator allocator = m->allocator;
    if (m->plan != NULL)
        wb__writer_delete(m->plan);
    wb__free(&allocator, m, sizeof *m);
}

/* Opens a source with the bytes of the merged file. The source uses the model until the source is
 * closed. */
static wb_status open_merged(wb__context *context, const wb_model *model, wb__source **source)
{
    const wb_writer_options options = {.size = sizeof options, .format = "gguf"};
    merged *m = wb__alloc_zeroed(&context->allocator, sizeof *m);
    if (m == NULL)
        return wb__fail_memory(context);
    m->allocator = context->allocator;
    m->model = model;
    wb_status status = wb__writer_make(context, &options, &m->plan);
    if (status == WB_OK)
        status = declare(context, model, m->plan);
    if (status != WB_OK) {
        close_merged(m);
        return status;
    }
    const wb_source caller = {.size = sizeof caller,
                              .ctx = m,
                              .bytes = m->plan->outputs[0].layout.bytes,
                              .read = read_merged,
                              .close = close_merged,
                              .explain = explain};
    return wb__source_open_caller(context, &caller, model->catalog.files[0].path, source);
}

wb_status wb__writer_set_whole(wb__context *context, wb_writer *writer, const wb_model *model)
{
    wb_status status = wb__writer_check_declaring(context, writer, WB__STR(""));
    if (status != WB_OK)
        return status;
    bool is_gguf = model != NULL && strcmp(wb_format(model), "gguf") == 0;
    if (!is_gguf || (model->source_count != 1 && !writer->is_store) || writer->tensors.count != 0 ||
        (writer->format != &wb__format_gguf && !writer->is_store))
        return wb__fail_argument(context, WB__MSG_WRITE_COPY_WHOLE_KIND);
    wb__source_close(writer->merged);
    writer->merged = NULL;
    writer->whole = NULL;
    if (model->source_count != 1)
        status = open_merged(context, model, &writer->merged);
    if (status != WB_OK)
        return status;
    writer->whole = model;
    writer->whole_source = writer->merged != NULL ? writer->merged : model->sources[0];
    return WB_OK;
}
