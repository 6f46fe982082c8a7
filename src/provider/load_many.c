#define _POSIX_C_SOURCE 200809L
#include "provider/load_many.h"

#include <stdlib.h>

#include "provider/buffer_load.h"
#include "provider/load_pass.h"

/* Limits of a batch, which bound the memory for layouts and pieces. */
#define BATCH_ENTRIES 512
#define BATCH_RUNS 16384

/* An entry to load, and the file position of its first tensor, by which entries are sorted. */
typedef struct wanted {
    uint64_t file, offset;
    size_t index; /* index in the caller's list */
    wb__entry *entry;
    bool is_used;     /* a use was added for the caller */
    bool is_deferred; /* another thread loads the entry */
} wanted;

typedef struct many {
    wb_provider *provider;
    wb__context *context;
    bool uses;
    wanted *list;
    size_t count;
    wb_status status; /* WB_OK, or the reported failure; protected by the lock of the provider */
    size_t failed;    /* index in `list` of the entry whose failure is reported */
} many;

/* An entry of a batch. The entries of a batch are filled together. */
typedef struct job {
    wb__load_job load;
    size_t wanted; /* index in many.list */
    bool is_done;  /* the load has ended */
} job;

typedef struct batch {
    many *all;
    wb__context context; /* must outlive the layouts of the jobs, which use its allocator */
    wb_error error;      /* of `context` */
    size_t count, capacity;
    uint64_t runs;
    job *jobs;
    wb__pass_buffer *buffers; /* one for each job */
} batch;

static int in_file_order(const void *a, const void *b)
{
    const wanted *x = a, *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

/* Records an error. If there are several, reports that of the first entry in file order. */
static void fail(many *m, size_t index, wb_status status, const wb_error *error)
{
    if (m->status != WB_OK && m->failed < index)
        return;
    m->status = status;
    m->failed = index;
    if (error != m->context->error)
        *m->context->error = *error;
}

/* ---- a batch ---- */

/* Ends a job. On success, counts a use of the buffer if the caller wants one (many.uses). */
static void end(batch *b, job *of, wb_status status)
{
    wanted *w = &b->all->list[of->wanted];
    of->is_done = true;
    w->is_used = status == WB_OK && b->all->uses;
    wb__load_end(b->all->provider, &of->load, status, w->is_used);
}

static void filled(void *ctx, size_t index)
{
    batch *b = ctx;
    b->jobs[index].load.lost = b->buffers[index].lost;
    end(b, &b->jobs[index], WB_OK);
}

/* Prepares the entry at list[index], which is marked as loading, and adds it to the batch unless it
 * needs no filling. Returns false if the budget has too little space for the entry. The caller then
 * fills the batch, which ends its reservations, and tries again. */
static bool prepare(batch *b, size_t index)
{
    many *m = b->all;
    job *next = &b->jobs[b->count];
    (void)wb__error_reset(NULL, &b->error);
    next->wanted = index;
    next->is_done = false;
    wb_status status =
        wb__load_prepare(m->provider, &b->context, m->list[index].entry, &next->load);
    if (status == WB_OK && !next->load.is_borrowed)
        status = wb__load_allocate(m->provider, &b->context, &next->load);
    if (status == WB_OK && !next->load.is_borrowed) {
        b->runs += next->load.layout.runs.count;
        b->buffers[b->count++] =
            (wb__pass_buffer){.layout = &next->load.layout, .handle = next->load.buffer.handle};
        return true;
    }
    end(b, next, status);
    if (status == WB_ERROR_LIMIT && b->count != 0)
        return false;
    if (status != WB_OK)
        fail(m, index, status, &b->error);
    return true;
}

/* Returns true if the caller must load the entry, which is then marked as loading. */
static bool claim_entry(many *m, wanted *w)
{
    (void)pthread_mutex_lock(&m->provider->lock);
    bool is_ready = m->uses ? wb__entry_use(m->provider, w->entry)
                            : (atomic_load(&w->entry->state) & WB__READY) != 0;
    w->is_used = is_ready && m->uses;
    w->is_deferred = !is_ready && w->entry->loading;
    bool is_free = !is_ready && !w->is_deferred;
    if (is_free)
        w->entry->loading = true;
    (void)pthread_mutex_unlock(&m->provider->lock);
    return is_free;
}

/* Fills the buffers of a batch in one pass, and ends all its jobs. */
static void run(batch *b)
{
    many *m = b->all;
    (void)wb__error_reset(NULL, &b->error);
    const wb__pass pass = {.context = &b->context,
                           .model = m->provider->model,
                           .files = &m->provider->files,
                           .device = &m->provider->device,
                           .buffers = b->buffers,
                           .count = b->count,
                           .filled = filled,
                           .ctx = b};
    wb_status status = b->count == 0 ? WB_OK : wb__pass_run(&pass);
    for (size_t i = 0; i < b->count; i++) {
        if (b->jobs[i].is_done)
            continue;
        fail(m, b->jobs[i].wanted, status, &b->error);
        end(b, &b->jobs[i], status);
    }
    b->count = 0;
    b->runs = 0;
}

/* Loads the entries that no other thread loads. */
static void load_batches(many *m, batch *b)
{
    for (size_t i = 0; i < m->count && m->status == WB_OK; i++) {
        if (!claim_entry(m, &m->list[i]))
            continue;
        if (!prepare(b, i)) {
            run(b);
            i--; /* try this entry again: run() has emptied the batch */
            continue;
        }
        if (b->count == b->capacity || b->runs >= BATCH_RUNS)
            run(b);
    }
    run(b);
}

/* ---- one by one ---- */

/* Loads the entry at list[index] by itself, or waits for the thread that loads it. */
static void load_one(void *arg, size_t index)
{
    many *m = arg;
    wanted *w = &m->list[index];
    wb_error error;
    wb__context context = *m->context;
    context.error = wb__error_reset(NULL, &error);
    (void)pthread_mutex_lock(&m->provider->lock);
    wb_status status = WB_OK;
    if (w->is_deferred && m->status == WB_OK) {
        status = wb__entry_get(m->provider, &context, w->entry);
        w->is_used = status == WB_OK;
    }
    if (status != WB_OK)
        fail(m, index, status, &error);
    (void)pthread_mutex_unlock(&m->provider->lock);
}

static wb_status load_apart(many *m)
{
    const wb_executor *executor = &m->provider->executor;
    for (size_t i = 0; i < m->count; i++)
        m->list[i].is_deferred = true;
    if (executor->parallel_for != NULL)
        executor->parallel_for(executor->ctx, m->count, load_one, m);
    for (size_t i = 0; executor->parallel_for == NULL && i < m->count; i++)
        load_one(m, i);
    return m->status;
}

/* ---- all of it ---- */

static wb_status locate(many *m, wb__entry *const *entries)
{
    for (size_t i = 0; i < m->count; i++) {
        wb_tensor tensor = {.size = sizeof tensor};
        uint64_t number = entries[i]->keys[0] & (((uint64_t)1 << WB__KEY_PART_SHIFT) - 1);
        wb_status status = wb_tensor_at(m->provider->model, number, &tensor, m->context->error);
        if (status != WB_OK)
            return status;
        m->list[i] =
            (wanted){.file = tensor.file, .offset = tensor.offset, .index = i, .entry = entries[i]};
    }
    if (m->count > 1)
        qsort(m->list, m->count, sizeof *m->list, in_file_order);
    return WB_OK;
}

static wb_status load_together(many *m)
{
    const wb_allocator *allocator = &m->provider->allocator;
    batch b = {.all = m,
               .context = *m->context,
               .capacity = m->count < BATCH_ENTRIES ? m->count : BATCH_ENTRIES};
    b.context.error = &b.error;
    b.jobs = wb__alloc(allocator, b.capacity * sizeof *b.jobs);
    b.buffers = wb__alloc(allocator, b.capacity * sizeof *b.buffers);
    wb_status status = WB_OK;
    if (b.jobs != NULL && b.buffers != NULL)
        load_batches(m, &b);
    else if (m->count != 0)
        status = wb__fail_memory(m->context);
    wb__free(allocator, b.jobs, b.capacity * sizeof *b.jobs);
    wb__free(allocator, b.buffers, b.capacity * sizeof *b.buffers);
    for (size_t i = 0; i < m->count && status == WB_OK; i++)
        load_one(m, i); /* waits for entries that other threads load */
    return status != WB_OK ? status : m->status;
}

wb_status wb__load_many(wb_provider *provider, wb__context *context, wb__entry *const *entries,
                        size_t n, wb_buffer *buffers)
{
    many m = {.provider = provider, .context = context, .uses = buffers != NULL, .count = n};
    m.list = wb__alloc(&provider->allocator, n * sizeof *m.list);
    if (m.list == NULL && n != 0)
        return wb__fail_memory(context);
    wb_status status = locate(&m, entries);
    if (status == WB_OK && provider->device.claim == NULL)
        status = load_together(&m);
    else if (status == WB_OK)
        status = load_apart(&m);
    for (size_t i = 0; i < n; i++) {
        const wanted *w = &m.list[i];
        if (!w->is_used)
            continue;
        if (status == WB_OK && buffers != NULL)
            buffers[w->index] = w->entry->buffer;
        else
            wb__provider_release(provider, &w->entry->buffer);
    }
    wb__free(&provider->allocator, m.list, n * sizeof *m.list);
    return status;
}
