/*
 * Running a plan. Chunks are worked off in rounds: within one, workers take the next chunk until there
 * are none left, each in memory of its own, and put what they made where it belongs in the result, in
 * any order. Between rounds the caller hears how far it is, and the journal is written, if there is one
 * (resume.h): a chunk that it has is read back, and made anew only if it is not what it was.
 */
#include <stdatomic.h>

#include "convert/deliver.h"
#include "convert/resume.h"

#define WORKERS_MAX 64
#define ROUND_MAX 1024                 /* chunks */
#define READ_BYTES ((uint64_t)2 << 20) /* that wb_tensor_read takes beside what it fills */

typedef struct work {
    size_t row;
    uint64_t first, rows;
    bool known; /* the journal has a record of it */
    wb__written record;
} work;

typedef struct worker {
    uint8_t *memory; /* NULL: not needed yet */
    wb_error error;
    wb_status status;
    size_t failed_at; /* the chunk */
} worker;

typedef struct runner {
    wb__delivery *out;
    const wb_conversion *plan;
    work *list; /* of this round */
    size_t count;
    uint64_t done;        /* bytes of the result, of the rounds before */
    wb__journal *journal; /* NULL: none */
    wb__written *written; /* of a round */
    atomic_size_t taken;  /* chunks that a former run had written */
    atomic_size_t next;
    atomic_bool failed;
    wb__chunk_sizes sizes; /* the largest of all chunks */
    size_t worker_bytes;
    worker *workers;
    size_t worker_count;
} runner;

/* ---- declaring ---- */

static void packed_shape(const wb__planned *row, uint64_t *shape, uint64_t columns)
{
    memcpy(shape, row->shape, row->rank * sizeof *shape);
    shape[row->rank - 1] = columns;
}

static wb_status declare(wb__delivery *out, wb__str name, int32_t dtype, const uint64_t *shape,
                         uint32_t rank, uint64_t *index)
{
    return wb_writer_add(out->writer, name.ptr, name.len, dtype, shape, rank, index,
                         out->context->error);
}

/* "x.weight" with ".scales" and ".biases" in the place of its last word. */
static wb__str part_name(wb_conversion *plan, wb__str name, const char *suffix)
{
    size_t stem = name.len, n = strlen(suffix);
    if (wb__str_ends_with(name, WB__STR(".weight")))
        stem -= sizeof ".weight" - 1;
    char *text = wb__arena_alloc(&plan->arena, stem + n + 1);
    if (text != NULL) {
        memcpy(text, name.ptr, stem);
        memcpy(text + stem, suffix, n + 1);
    }
    return (wb__str){text, stem + n};
}

/* What Ollama calls a packing. */
static const char *ollama_name(const wb__form *form)
{
    if (form->scheme == WB__SCHEME_AFFINE)
        return form->bits == 4 ? "int4" : "int8";
    return wb__scheme_name(form->scheme);
}

/* The names of the parts beside the values. */
static wb__str companion(wb_conversion *plan, wb__str name, const char *mlx, const char *ollama)
{
    size_t n = strlen(ollama);
    if (plan->target != WB_TARGET_OLLAMA)
        return part_name(plan, name, mlx);
    char *text = wb__arena_alloc(&plan->arena, name.len + n + 1);
    if (text != NULL) {
        memcpy(text, name.ptr, name.len);
        memcpy(text + name.len, ollama, n + 1);
    }
    return (wb__str){text, name.len + n};
}

static wb_status declare_packed(wb__delivery *out, const wb__planned *row, uint64_t *indices)
{
    wb_conversion *plan = out->plan;
    wb__mlx_type type;
    uint64_t *shape = wb__arena_alloc(&plan->arena, row->rank * sizeof *shape);
    wb__str scales = companion(plan, row->name, ".scales", ".scale");
    wb__str biases = companion(plan, row->name, ".biases", ".bias");
    if (shape == NULL || scales.ptr == NULL || biases.ptr == NULL)
        return wb__fail_memory(out->context);
    (void)wb__form_mlx(&row->to, &type);
    int32_t dtype = wb__mlx_byte_scales(&type) ? WB_DTYPE_U8 : row->to.dtype;
    packed_shape(row, shape, row->columns / type.group * (wb__mlx_group_bytes(&type) / 4));
    wb_status status =
        declare(out, row->name, WB_DTYPE_U32, shape, row->rank, &indices[WB__PART_VALUES]);
    packed_shape(row, shape, row->columns / type.group);
    if (status == WB_OK)
        status = declare(out, scales, dtype, shape, row->rank, &indices[WB__PART_SCALES]);
    if (status == WB_OK && row->part_bytes[WB__PART_BIASES] > 0)
        status = declare(out, biases, dtype, shape, row->rank, &indices[WB__PART_BIASES]);
    if (status == WB_OK && plan->target == WB_TARGET_OLLAMA)
        status = wb_writer_set_packing(out->writer, indices[WB__PART_VALUES], ollama_name(&row->to),
                                       row->to.group, out->context->error);
    return status;
}

wb_status wb__deliver_tensors(wb__delivery *out)
{
    wb_conversion *plan = out->plan;
    wb_status status = WB_OK;
    for (size_t i = 0; i < plan->tensors.count && status == WB_OK; i++) {
        const wb__planned *row = wb__planned_at(plan, i);
        status = row->to.scheme == WB__SCHEME_PLAIN
                     ? declare(out, row->name, row->to.dtype, row->shape, row->rank,
                               &out->indices[i][WB__PART_VALUES])
                     : declare_packed(out, row, out->indices[i]);
    }
    return status;
}

/* ---- memory ---- */

static void enlarge(uint64_t *most, uint64_t bytes)
{
    bytes = (bytes + 63) / 64 * 64;
    *most = bytes > *most ? bytes : *most;
}

static void measure_workers(runner *r)
{
    for (size_t i = 0; i < r->plan->tensors.count; i++) {
        wb__chunk_sizes sizes;
        const wb__planned *row = wb__planned_at(r->plan, i);
        uint64_t rows = wb__chunk_rows(row);
        wb__chunk_measure(row, rows < row->rows ? rows : row->rows, &sizes);
        enlarge(&r->sizes.raw, sizes.raw);
        enlarge(&r->sizes.values, sizes.values);
        enlarge(&r->sizes.again, sizes.again);
        for (int part = 0; part < WB__PARTS; part++)
            enlarge(&r->sizes.parts[part], sizes.parts[part]);
    }
}

static wb_status make_workers(runner *r)
{
    wb__context *context = r->out->context;
    measure_workers(r);
    uint64_t bytes = r->sizes.raw + r->sizes.values + r->sizes.again;
    for (int part = 0; part < WB__PARTS; part++)
        bytes += r->sizes.parts[part];
    if (!wb__to_size(bytes, &r->worker_bytes))
        return wb__fail_memory(context);
    uint64_t fit = r->plan->max_memory / (bytes + READ_BYTES);
    if (fit == 0) {
        wb_status status = wb__plan_note(
            r->out->plan, context, WB_WARNING, WB__FINDING_CONVERT_META, WB__STR(""),
            "the rows of the largest tensor need more memory than was allowed; they get it");
        if (status != WB_OK)
            return status;
    }
    r->worker_count = context->executor.parallel_for == NULL || fit <= 1 ? 1
                      : fit < WORKERS_MAX                                ? (size_t)fit
                                                                         : WORKERS_MAX;
    r->workers = wb__alloc_zeroed(&r->plan->allocator, r->worker_count * sizeof *r->workers);
    r->list = wb__alloc(&r->plan->allocator, ROUND_MAX * sizeof *r->list);
    r->written = wb__alloc(&r->plan->allocator, ROUND_MAX * sizeof *r->written);
    return r->workers == NULL || r->list == NULL || r->written == NULL ? wb__fail_memory(context)
                                                                       : WB_OK;
}

static void free_workers(runner *r)
{
    for (size_t i = 0; r->workers != NULL && i < r->worker_count; i++)
        wb__free(&r->plan->allocator, r->workers[i].memory, r->worker_bytes);
    wb__free(&r->plan->allocator, r->workers, r->worker_count * sizeof *r->workers);
    wb__free(&r->plan->allocator, r->list, ROUND_MAX * sizeof *r->list);
    wb__free(&r->plan->allocator, r->written, ROUND_MAX * sizeof *r->written);
}

/* ---- work ---- */

static void lay_out(const runner *r, uint8_t *memory, wb__chunk *chunk)
{
    chunk->raw = memory;
    memory += r->sizes.raw;
    chunk->values = (float *)(void *)memory;
    memory += r->sizes.values;
    chunk->again = (float *)(void *)memory;
    memory += r->sizes.again;
    for (int part = 0; part < WB__PARTS; part++) {
        chunk->parts[part] = memory;
        memory += r->sizes.parts[part];
    }
}

static wb_status put(const runner *r, wb__context *context, const work *job, const wb__chunk *chunk)
{
    wb_status status = WB_OK;
    for (int part = 0; part < WB__PARTS && status == WB_OK; part++) {
        uint64_t before[WB__PARTS];
        if (chunk->part_bytes[part] == 0)
            continue;
        (void)wb__form_measure(&chunk->planned->to, chunk->first, chunk->planned->columns, before);
        status = wb_writer_put(r->out->writer, r->out->indices[job->row][part], before[part],
                               chunk->parts[part], (size_t)chunk->part_bytes[part], context->error);
    }
    return status;
}

/* Whether a former run wrote the chunk, and its bytes are still what they were. */
static bool is_left(const runner *r, const work *job, wb__chunk *chunk)
{
    uint64_t before[WB__PARTS], digest = 0;
    const wb__planned *row = chunk->planned;
    (void)wb__form_measure(&row->to, job->rows, row->columns, chunk->part_bytes);
    (void)wb__form_measure(&row->to, job->first, row->columns, before);
    for (int part = 0; part < WB__PARTS; part++) {
        size_t n = (size_t)chunk->part_bytes[part];
        if (n > 0 && wb_writer_left(r->out->writer, r->out->indices[job->row][part], before[part],
                                    chunk->parts[part], n, NULL) != WB_OK)
            return false;
        digest = wb__digest_add(digest, chunk->parts[part], n);
    }
    return digest == job->record.digest;
}

static wb_status take(const runner *r, wb__context *context, const work *job,
                      const wb__chunk *chunk)
{
    uint64_t before[WB__PARTS];
    wb_status status = WB_OK;
    (void)wb__form_measure(&chunk->planned->to, job->first, chunk->planned->columns, before);
    for (int part = 0; part < WB__PARTS && status == WB_OK; part++)
        status = wb_writer_take(r->out->writer, r->out->indices[job->row][part], before[part],
                                chunk->part_bytes[part], context->error);
    return status;
}

static wb_status do_chunk(runner *r, wb__context *context, const worker *w, work *job)
{
    wb__chunk chunk = {
        .planned = wb__planned_at(r->plan, job->row), .first = job->first, .rows = job->rows};
    lay_out(r, w->memory, &chunk);
    if (job->known && is_left(r, job, &chunk)) {
        atomic_fetch_add_explicit(&r->taken, 1, memory_order_relaxed);
        return take(r, context, job, &chunk);
    }
    wb_status status = wb__chunk_do(r->plan, context, &chunk);
    if (status == WB_OK)
        status = put(r, context, job, &chunk);
    job->record = (wb__written){.fidelity = chunk.fidelity};
    for (int part = 0; part < WB__PARTS && r->journal != NULL; part++)
        job->record.digest =
            wb__digest_add(job->record.digest, chunk.parts[part], (size_t)chunk.part_bytes[part]);
    return status;
}

static void body(void *arg, size_t i)
{
    runner *r = arg;
    worker *w = &r->workers[i];
    size_t at;
    while (!atomic_load_explicit(&r->failed, memory_order_relaxed) &&
           (at = atomic_fetch_add_explicit(&r->next, 1, memory_order_relaxed)) < r->count) {
        wb_error spare;
        wb__context context = *r->out->context;
        context.executor = (wb_executor){0};
        context.error = wb__error_reset(&w->error, &spare);
        if (w->memory == NULL)
            w->memory = wb__alloc(&r->plan->allocator, r->worker_bytes);
        w->status =
            w->memory == NULL ? wb__fail_memory(&context) : do_chunk(r, &context, w, &r->list[at]);
        w->failed_at = at;
        if (w->status != WB_OK)
            atomic_store_explicit(&r->failed, true, memory_order_relaxed);
    }
}

/* The failure of the first chunk that failed. */
static wb_status failure(const runner *r)
{
    const worker *first = NULL;
    for (size_t i = 0; i < r->worker_count; i++) {
        const worker *w = &r->workers[i];
        if (w->status != WB_OK && (first == NULL || w->failed_at < first->failed_at))
            first = w;
    }
    if (first == NULL)
        return WB_OK;
    *r->out->context->error = first->error;
    return first->status;
}

/* The records of the round that the journal does not have yet. */
static wb_status write_down(runner *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->count; i++) {
        if (!r->list[i].known)
            r->written[n++] = r->list[i].record;
    }
    return wb__journal_append(r->out->context, r->journal, r->written, n);
}

static wb_status do_round(runner *r, const wb_progress *progress, uint64_t total)
{
    const wb_executor *executor = &r->out->context->executor;
    atomic_store(&r->next, 0);
    if (r->worker_count > 1)
        executor->parallel_for(executor->ctx, r->worker_count, body, r);
    else
        body(r, 0);
    wb_status status = failure(r);
    if (status == WB_OK && r->journal != NULL)
        status = write_down(r);
    for (size_t i = 0; i < r->count && status == WB_OK; i++) {
        wb__planned *row = wb__planned_at(r->plan, r->list[i].row);
        uint64_t bytes[WB__PARTS];
        wb__fidelity_add(&row->fidelity, &r->list[i].record.fidelity);
        (void)wb__form_measure(&row->to, r->list[i].rows, row->columns, bytes);
        for (int part = 0; part < WB__PARTS; part++)
            r->done += bytes[part];
    }
    r->count = 0;
    if (status == WB_OK && progress != NULL && progress->report(progress->ctx, r->done, total) != 0)
        status = wb__fail(r->out->context, WB_ERROR_CANCELLED, WB__FINDING_CANCELLED, WB_NO_OFFSET,
                          WB__STR(""), "converting was cancelled");
    return status;
}

/* Rounds are long enough to keep everybody busy, and short enough to hear of. */
static size_t round_chunks(const runner *r)
{
    if (r->worker_count == 1) /* nobody waits for anybody */
        return 16;
    size_t chunks = r->worker_count * 128;
    return chunks > ROUND_MAX ? ROUND_MAX : chunks;
}

/* How many rows a chunk that begins there has; a piece ends one. */
static uint64_t rows_from(const wb__planned *row, uint64_t at)
{
    uint64_t step = wb__chunk_rows(row), left = row->rows - at;
    if (row->pieces != NULL && row->piece_rows - at % row->piece_rows < left)
        left = row->piece_rows - at % row->piece_rows;
    return left < step ? left : step;
}

static wb_status do_all(runner *r, const wb_progress *progress)
{
    uint64_t total = 0;
    size_t full = round_chunks(r);
    wb_status status = WB_OK;
    for (size_t i = 0; i < r->plan->tensors.count; i++)
        total += wb__planned_at(r->plan, i)->bytes;
    for (size_t i = 0; i < r->plan->tensors.count && status == WB_OK; i++) {
        const wb__planned *row = wb__planned_at(r->plan, i);
        for (uint64_t at = 0; at < row->rows && row->columns > 0 && status == WB_OK;
             at += rows_from(row, at)) {
            work *job = &r->list[r->count++];
            *job = (work){.row = i, .first = at, .rows = rows_from(row, at)};
            job->known = r->journal != NULL && wb__journal_next(r->journal, &job->record);
            if (r->count == full)
                status = do_round(r, progress, total);
        }
    }
    if (status == WB_OK && r->count > 0)
        status = do_round(r, progress, total);
    for (size_t i = 0; i < r->plan->tensors.count && status == WB_OK; i++)
        wb__planned_at(r->plan, i)->done = true;
    return status;
}

/* ---- from beginning to end ---- */

/* What Ollama says a model is quantized to. */
static wb_status set_file_type(wb__delivery *out)
{
    const wb__quant *quant = &out->plan->quant;
    wb__form form;
    if (quant->kind == WB__QUANT_FORM && quant->form.scheme != WB__SCHEME_PLAIN)
        form = quant->form;
    else if (!wb__deliver_main_form(out->plan, &form))
        return WB_OK;
    return wb_writer_set_string(out->writer, "ollama.file_type", SIZE_MAX, ollama_name(&form),
                                SIZE_MAX, out->context->error);
}

static wb_status create(wb__delivery *out)
{
    const wb_conversion *plan = out->plan;
    static const char *const formats[] = {"",       "gguf", "safetensors", "safetensors",
                                          "ollama", "npz"};
    bool gguf = plan->target == WB_TARGET_GGUF, store = plan->target == WB_TARGET_OLLAMA;
    bool npz = plan->target == WB_TARGET_NPZ;
    out->folder = !gguf && !npz &&
                  !wb__str_ends_with(wb__str_from(out->path, SIZE_MAX), WB__STR(".safetensors"));
    const wb_writer_options options = {
        .size = sizeof options,
        .format = formats[plan->target],
        .flags = (out->folder && !store ? WB_WRITE_FOLDER : 0) |
                 (plan->replace ? WB_WRITE_FORCE : 0) | (out->keeps ? WB_WRITE_KEEP : 0) |
                 (store && plan->feb2026 ? WB_WRITE_FEB2026 : 0),
        .store = plan->store,
        .max_file_bytes = plan->max_shard,
        .source = plan->model,
        .limits = &out->context->limits,
        .allocator = &plan->allocator,
    };
    wb_status status = wb_writer_create(&options, &out->writer, out->context->error);
    if (status == WB_OK && gguf)
        return wb__deliver_keys(out);
    if (status == WB_OK && store)
        status = wb__deliver_store_texts(plan, out->writer, out->context->error);
    if (status == WB_OK && store)
        return set_file_type(out);
    if (status == WB_OK && !npz) /* which has no metadata */
        status = wb_writer_set_string(out->writer, "format", SIZE_MAX,
                                      plan->target == WB_TARGET_MLX ? "mlx" : "pt", SIZE_MAX,
                                      out->context->error);
    return status;
}

static wb_status write_all(wb__delivery *out, runner *r, const wb_progress *progress)
{
    wb_status status = WB_OK;
    if (out->plan->resume && out->plan->target != WB_TARGET_OLLAMA)
        status = wb__journal_open(out->context, out->plan, out->path, &r->journal);
    out->keeps = r->journal != NULL;
    if (status == WB_OK)
        status = create(out);
    if (status == WB_OK)
        status = wb__deliver_tensors(out);
    if (status == WB_OK && out->folder)
        status = wb__deliver_beside(out);
    if (status == WB_OK)
        status = wb_writer_plan(out->writer, out->path, out->context->error);
    if (status == WB_OK)
        status = wb_writer_begin(out->writer, out->context->error);
    if (status == WB_OK)
        status = make_workers(r);
    if (status == WB_OK)
        status = do_all(r, progress);
    if (status == WB_OK && atomic_load(&r->taken) > 0)
        status =
            wb__plan_note(out->plan, out->context, WB_INFO, WB__FINDING_CONVERT_RESUMED,
                          WB__STR(""), "what an earlier run had written was verified and taken up");
    return status == WB_OK ? wb_writer_commit(out->writer, out->context->error) : status;
}

wb_status wb__plan_run(wb_conversion *plan, wb__context *context, const char *path,
                       const wb_progress *progress)
{
    if (plan->whole)
        return wb__whole_run(plan, context, path);
    wb__delivery out = {.plan = plan, .context = context, .path = path};
    runner r = {.out = &out, .plan = plan};
    size_t n = plan->tensors.count;
    for (size_t i = 0; i < n; i++) {
        wb__planned_at(plan, i)->fidelity = (wb__fidelity){0};
        wb__planned_at(plan, i)->done = false;
    }
    out.indices = wb__alloc_zeroed(&plan->allocator, (n + 1) * sizeof *out.indices);
    if (out.indices == NULL)
        return wb__fail_memory(context);
    wb_status status = write_all(&out, &r, progress);
    free_workers(&r);
    wb_writer_free(out.writer);
    wb__journal_close(r.journal, status == WB_OK || status == WB_ERROR_CHANGED);
    wb__free(&plan->allocator, out.indices, (n + 1) * sizeof *out.indices);
    return status;
}
