/* wb convert to the same format: copies tensors without decoding, so memory use does not depend on
 * the model size.
 */
#include <pthread.h>
#include <stdlib.h>

#include "convert.h"
#include "exit.h"
#include "report.h"
#include "terminal.h"
#include "threads.h"

/* List of stored tensors. A quantized tensor contributes each of its parts. */
typedef struct stored_list {
    uint64_t *index;
    size_t count;
    size_t capacity;
} stored_list;

static void add_stored(stored_list *list, uint64_t index)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 256 : 2 * list->capacity;
        list->index = need_memory(list->index, list->capacity, sizeof *list->index);
    }
    list->index[list->count++] = index;
}

static bool lies_before(const wb_model *model, uint64_t index, uint64_t other)
{
    wb_tensor a = WB_TENSOR_INIT, b = WB_TENSOR_INIT;
    return wb_tensor_at(model, index, &a, NULL) == WB_OK &&
           wb_tensor_at(model, other, &b, NULL) == WB_OK && a.file == b.file && a.offset < b.offset;
}

/* Adds the parts of a tensor, in the order of their offsets in the file. */
static wb_status list_parts(const wb_model *model, uint64_t index, uint32_t count,
                            stored_list *list, wb_error *error)
{
    size_t first = list->count;
    wb_status status = WB_OK;
    for (uint32_t k = 0; k < count && status == WB_OK; k++) {
        wb_part part = WB_PART_INIT;
        status = wb_tensor_part(model, index, k, &part, error);
        if (status != WB_OK)
            break;
        add_stored(list, part.index);
        for (size_t at = list->count - 1; at > first; at--) {
            uint64_t *pair = &list->index[at - 1];
            if (!lies_before(model, pair[1], pair[0]))
                break;
            uint64_t other = pair[0];
            pair[0] = pair[1];
            pair[1] = other;
        }
    }
    return status;
}

static wb_status list_stored(const wb_model *model, stored_list *list, wb_error *error)
{
    uint64_t count = wb_tensor_count(model);
    wb_status status = WB_OK;
    for (uint64_t i = 0; i < count && status == WB_OK; i++) {
        wb_encoding encoding = WB_ENCODING_INIT;
        status = wb_tensor_encoding(model, i, &encoding, error);
        if (status == WB_OK && encoding.parts <= 1)
            add_stored(list, i);
        if (status == WB_OK && encoding.parts > 1)
            status = list_parts(model, i, encoding.parts, list, error);
    }
    return status;
}

static wb_status declare(const convert_job *job, wb_writer *writer, stored_list *list,
                         wb_error *error)
{
    wb_status status = WB_OK;
    uint64_t metas = wb_meta_count(job->model);
    for (uint64_t i = 0; i < metas && status == WB_OK; i++) {
        wb_meta meta = WB_META_INIT;
        status = wb_meta_at(job->model, i, &meta, error);
        /* Entries with WB_NO_FILE are derived from sidecar files, and are not copied. */
        if (status == WB_OK && meta.file != WB_NO_FILE)
            status = wb_writer_copy_meta(writer, job->model, i, error);
    }
    size_t kept = 0;
    for (size_t i = 0; i < list->count && status == WB_OK; i++) {
        wb_tensor tensor = WB_TENSOR_INIT;
        status = wb_tensor_at(job->model, list->index[i], &tensor, error);
        if (status != WB_OK ||
            wb_tensor_is_padding(&tensor)) /* the writer creates padding tensors where needed */
            continue;
        list->index[kept++] = list->index[i];
        status = wb_writer_add(writer, tensor.name, tensor.name_len, (int32_t)tensor.dtype,
                               tensor.shape, tensor.rank, NULL, error);
    }
    list->count = kept;
    return status;
}

/* ---- copying ---- */

/* Files are copied in parallel. Within one file, parallel writes gain nothing, because the kernel
 * locks the inode during a write.
 */
typedef struct copying {
    const convert_job *job;
    wb_writer *writer;
    const stored_list *list;
    uint64_t *first; /* position of each file's first tensor in the writer's order */
    pthread_mutex_t lock;
    uint64_t done, total;
    wb_status status; /* status of the first copy that failed */
    wb_error error;
} copying;

static wb_status copy_one(copying *c, uint64_t position, wb_error *error)
{
    uint64_t index;
    wb_tensor tensor = WB_TENSOR_INIT;
    wb_status status = wb_writer_order(c->writer, position, &index, error);
    if (status == WB_OK)
        status = wb_writer_copy(c->writer, index, c->job->model, c->list->index[index], error);
    if (status == WB_OK)
        status = wb_writer_tensor_at(c->writer, index, &tensor, error);
    if (status == WB_OK && interrupted())
        status = WB_ERROR_CANCELLED;
    (void)pthread_mutex_lock(&c->lock);
    c->done += tensor.bytes;
    progress_show(c->job->out, c->done, c->total);
    if (status != WB_OK && c->status == WB_OK) {
        c->status = status;
        c->error = *error;
    }
    status = c->status;
    (void)pthread_mutex_unlock(&c->lock);
    return status;
}

static void copy_file(void *arg, size_t file)
{
    copying *c = arg;
    wb_error error = {.status = WB_OK};
    wb_status status = WB_OK;
    for (uint64_t i = c->first[file]; i < c->first[file + 1] && status == WB_OK; i++)
        status = copy_one(c, i, &error);
}

static wb_status copy_tensors(const convert_job *job, wb_writer *writer, const stored_list *list,
                              wb_error *error)
{
    uint64_t files = wb_writer_file_count(writer);
    copying c = {.job = job, .writer = writer, .list = list};
    c.first = need_memory(NULL, (size_t)files + 1, sizeof *c.first);
    c.first[0] = 0;
    for (uint64_t i = 0; i < files; i++) {
        wb_file file = WB_FILE_INIT;
        if (wb_writer_file_at(writer, i, &file, NULL) == WB_OK)
            c.total += file.bytes;
        c.first[i + 1] = c.first[i] + file.tensors;
    }
    (void)pthread_mutex_init(&c.lock, NULL);
    const wb_executor *executor = threads_executor();
    executor->parallel_for(executor->ctx, (size_t)files, copy_file, &c);
    (void)pthread_mutex_destroy(&c.lock);
    free(c.first);
    if (c.status != WB_OK)
        *error = c.error;
    return c.status;
}

static int write_model(const convert_job *job, wb_writer *writer, stored_list *list)
{
    wb_error error;
    wb_status status = list_stored(job->model, list, &error);
    if (status == WB_OK)
        status = declare(job, writer, list, &error);
    if (status != WB_OK)
        return convert_fail(job, status, &error);
    int code = convert_add_beside(job, writer);
    if (code != 0)
        return code;
    status = wb_writer_plan(writer, job->out_is_stdout ? NULL : job->out, &error);
    if (status == WB_OK && job->args->given[OPTION_DRY_RUN]) {
        status = wb_writer_check(writer, &error);
        if (status != WB_OK)
            return convert_fail(job, status, &error);
        convert_answer(job, writer);
        return EXIT_CLEAN;
    }
    interrupt_defer(!job->out_is_stream);
    if (status == WB_OK)
        status = convert_begin(job, writer, &error);
    if (status == WB_OK)
        status = copy_tensors(job, writer, list, &error);
    if (status == WB_OK)
        status = wb_writer_commit(writer, &error);
    progress_clear();
    if (status != WB_OK)
        return convert_fail(job, status, &error);
    convert_answer(job, writer);
    return EXIT_CLEAN;
}

/* Progress callback of the commit, after all data was copied: only checks for an interrupt. */
static int report_commit(void *ctx, uint64_t done, uint64_t total)
{
    (void)ctx;
    (void)done;
    (void)total;
    return interrupted();
}

int reshard(const convert_job *job)
{
    static const wb_progress progress = {NULL, report_commit};
    wb_writer_options options = job->options;
    wb_writer *writer;
    wb_error error;
    wb_file file = WB_FILE_INIT;
    stored_list list = {0};
    wb_status status = wb_file_at(job->model, 0, &file, &error);
    if (status == WB_OK && file.big_endian)
        options.flags |= WB_WRITE_BIG_ENDIAN;
    options.progress = &progress;
    if (status == WB_OK)
        status = wb_writer_create(&options, &writer, &error);
    if (status != WB_OK)
        return convert_fail(job, status, &error);
    int code = write_model(job, writer, &list);
    wb_writer_free(writer);
    interrupt_defer(false);
    free(list.index);
    return code;
}
