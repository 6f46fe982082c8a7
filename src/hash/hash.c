#include "hash/hash.h"
#include "hash/hash_messages.h"

#include <errno.h>
#include <stdlib.h>

/* ---- sort the tensors ---- */

/* A tensor index and the tensor size by which qsort sorts. The comparison function cannot look up
 * the size, because it has no context argument. */
typedef struct sized {
    uint64_t floats;
    uint32_t number;
} sized;

static int by_size(const void *a, const void *b)
{
    const sized *x = a, *y = b;
    if (x->floats != y->floats)
        return x->floats > y->floats ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

static wb_status make_queue(wb__hash_job *job)
{
    const wb__comparables *subjects = &job->hashes->subjects;
    const wb_allocator *allocator = &job->context->allocator;
    sized *list = wb__alloc(allocator, subjects->count * sizeof *list);
    job->queue = wb__alloc(allocator, subjects->count * sizeof *job->queue);
    if (list != NULL && job->queue != NULL) {
        for (size_t i = 0; i < subjects->count; i++)
            list[i] = (sized){subjects->list[i].floats, (uint32_t)i};
        qsort(list, subjects->count, sizeof *list, by_size);
        for (size_t i = 0; i < subjects->count; i++)
            job->queue[i] = list[i].number;
    }
    bool made = list != NULL && job->queue != NULL;
    wb__free(allocator, list, subjects->count * sizeof *list);
    return made ? WB_OK : wb__fail_memory(job->context);
}

/* ---- distribute the work ---- */

/* Task i hashes file i if i is less than the number of files. All other tasks hash tensors until
 * the queue is empty. */
static void body(void *arg, size_t i)
{
    wb__hash_job *job = arg;
    wb__context own = *job->context;
    size_t files = job->hashes->file_count;
    own.error = &job->errors[i];
    own.findings = NULL;
    if (atomic_load(&job->stop))
        return;
    (void)wb__error_reset(own.error, own.error);
    job->results[i] =
        i < files ? wb__hash_file_work(job, &own, i) : wb__hash_values_work(job, &own);
    if (job->results[i] != WB_OK)
        atomic_store(&job->stop, true);
}

static wb_status conclude(const wb__hash_job *job, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (job->results[i] != WB_OK) {
            *job->context->error = job->errors[i];
            return job->results[i];
        }
    }
    if (atomic_load(&job->cancelled))
        return wb__fail(job->context, WB_ERROR_CANCELLED, WB__FINDING_CANCELLED, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_HASH_CANCELLED);
    return WB_OK;
}

static wb_status spread(wb__hash_job *job)
{
    const wb_allocator *allocator = &job->context->allocator;
    const wb_executor *executor = &job->context->executor;
    size_t tensors = job->hashes->subjects.count;
    size_t threads = executor->parallel_for == NULL ? 1 : tensors / 2 + tensors % 2;
    if (threads > WB__HASH_SLOTS)
        threads = WB__HASH_SLOTS;
    size_t n = job->hashes->file_count + (tensors == 0 ? 0 : threads);
    job->errors = wb__alloc(allocator, n * sizeof *job->errors);
    job->results = wb__alloc_zeroed(allocator, n * sizeof *job->results);
    wb_status status = WB_OK;
    if (job->errors == NULL || job->results == NULL) {
        status = wb__fail_memory(job->context);
    } else {
        if (executor->parallel_for != NULL && n > 1)
            executor->parallel_for(executor->ctx, n, body, job);
        else
            for (size_t i = 0; i < n; i++)
                body(job, i);
        status = conclude(job, n);
    }
    wb__free(allocator, job->errors, n * sizeof *job->errors);
    wb__free(allocator, job->results, n * sizeof *job->results);
    return status;
}

/* ---- the digest of all values ---- */

typedef struct message {
    wb__sha256_lane lane;
    uint8_t block[WB__SHA256_BLOCK];
    size_t used;
} message;

static void add(message *m, const void *bytes, size_t n)
{
    const uint8_t *from = bytes;
    for (size_t i = 0; i < n; i++) {
        m->block[m->used++] = from[i];
        if (m->used == sizeof m->block) {
            wb__sha256_lane_add(&m->lane, m->block, 1);
            m->used = 0;
        }
    }
}

static const wb__value_hash *hash_of(const wb_hashes *hashes, const char *name)
{
    const wb__comparable *subject =
        wb__comparables_find(&hashes->subjects, wb__str_from(name, SIZE_MAX));
    return subject == NULL ? NULL : &hashes->values[subject - hashes->subjects.list];
}

bool wb__hash_counts(const wb_hashes *hashes, size_t i)
{
    const wb__comparable *subject = &hashes->subjects.list[i];
    const wb__value_hash *embedding = hash_of(hashes, "token_embedding.weight");
    if (subject->is_spare)
        return false;
    return embedding == NULL || !wb__str_equal(subject->name, WB__STR("output.weight")) ||
           memcmp(&hashes->values[i].digest, &embedding->digest, sizeof(wb__digest)) != 0;
}

static wb_status join_values(wb_hashes *hashes, wb__context *context)
{
    message m = {.used = 0};
    wb_status status = wb__sha256_lane_open(&m.lane, context);
    for (size_t i = 0; i < hashes->subjects.count && status == WB_OK; i++) {
        wb__str name = hashes->subjects.list[i].name;
        uint8_t length[8];
        if (!wb__hash_counts(hashes, i))
            continue;
        wb__store_le64(length, name.len);
        add(&m, length, sizeof length);
        add(&m, name.ptr, name.len);
        add(&m, &hashes->values[i].digest, sizeof(wb__digest));
    }
    if (status == WB_OK)
        wb__sha256_lane_finish(&m.lane, m.block, m.used, hashes->all_values.bytes);
    wb__sha256_lane_close(&m.lane);
    return status;
}

/* ---- run the job ---- */

static wb_status prepare_files(wb_hashes *hashes, wb__hash_job *job)
{
    const wb_model *model = hashes->model;
    hashes->files =
        wb__alloc_zeroed(&hashes->allocator, model->source_count * sizeof *hashes->files);
    if (hashes->files == NULL)
        return wb__fail_memory(job->context);
    hashes->file_count = model->source_count;
    for (size_t i = 0; i < hashes->file_count; i++) {
        wb_status status = WB_OK;
        job->total += wb__source_bytes(model->sources[i]);
        if (hashes->flags & WB_HASH_CHUNKS)
            status = wb__file_parts_make(&hashes->files[i], model, job->context, i);
        if (status != WB_OK)
            return status;
    }
    return WB_OK;
}

static wb_status prepare_values(wb_hashes *hashes, wb__hash_job *job)
{
    wb_status status = wb__comparables_make(&hashes->subjects, hashes->model, job->context);
    if (status != WB_OK) {
        wb__comparables_free(&hashes->subjects);
        return status;
    }
    hashes->values =
        wb__alloc_zeroed(&hashes->allocator, hashes->subjects.count * sizeof *hashes->values);
    if (hashes->values == NULL)
        return wb__fail_memory(job->context);
    for (size_t i = 0; i < hashes->subjects.count; i++)
        job->total += hashes->subjects.list[i].floats * sizeof(float);
    return make_queue(job);
}

wb_status wb__hash_all(wb_hashes *hashes, wb__context *context, const wb_progress *progress)
{
    wb__hash_job job = {.hashes = hashes, .context = context, .progress = progress, .home = &errno};
    wb_status status = WB_OK;
    if (hashes->flags & WB_HASH_FILES)
        status = prepare_files(hashes, &job);
    if (status == WB_OK && hashes->flags & WB_HASH_VALUES)
        status = prepare_values(hashes, &job);
    if (status == WB_OK)
        status = spread(&job);
    wb__free(&context->allocator, job.queue, hashes->subjects.count * sizeof *job.queue);
    if (status == WB_OK && hashes->flags & WB_HASH_VALUES)
        status = join_values(hashes, context);
    for (size_t i = 0; i < hashes->model->source_count && status == WB_OK; i++)
        status = wb__source_check(hashes->model->sources[i], context);
    return status;
}
