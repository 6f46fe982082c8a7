#define _POSIX_C_SOURCE 200809L
#include "provider/load_pass.h"

#include <pthread.h>
#include <stdlib.h>

#include "dtype/dtype_block.h"

/* Maximum number of threads that fill pieces at the same time. */
#define WORKERS_MAX 64

typedef struct piece {
    uint64_t file, offset; /* position of the first byte of the piece */
    size_t buffer, run;
    uint64_t first, n; /* elements `first` to first + n - 1 of the run */
    bool fills_gaps;   /* first piece of a buffer: its worker also zeroes the gaps */
} piece;

/* State of a pass. The lock protects everything that workers change. */
typedef struct state {
    const wb__pass *pass;
    piece *pieces;
    size_t count;
    pthread_mutex_t lock;
    size_t next;   /* index of the next piece to take */
    size_t failed; /* index of the first piece that failed; `count`: none */
    wb_status status;
} state;

/* ---- pieces ---- */

static size_t pieces_of(const wb__run *run)
{
    uint64_t step = wb__fill_step(run);
    return step == 0 ? 0 : (size_t)((run->elements + step - 1) / step);
}

/* Returns the file offset of an element of a run. For a decoded run, which is always read at once,
 * returns the offset of the run. */
static uint64_t offset_of(const wb__run *run, uint64_t element)
{
    const wb_plan_range *range = &run->range;
    uint64_t at = run->is_decoded ? 0 : wb__dtype_bytes(wb__dtype_get(run->from), element);
    return range->bytes == 0
               ? range->offset
               : range->offset + at / range->bytes * range->stride + at % range->bytes;
}

/* Appends the pieces of a buffer to `to`, if it is not NULL. Returns their number. */
static size_t add_pieces(const wb__pass_buffer *of, size_t buffer, piece *to)
{
    const wb__list *runs = &of->layout->runs;
    size_t count = 0;
    for (size_t i = 0; i < runs->count;) {
        const wb__run *run = wb__list_at(runs, i);
        uint64_t step = wb__fill_step(run);
        size_t n = pieces_of(run);
        for (size_t k = 0; k < n && to != NULL; k++) {
            uint64_t first = k * step, left = run->elements - first;
            to[count + k] = (piece){.file = run->range.file,
                                    .offset = offset_of(run, first),
                                    .buffer = buffer,
                                    .run = i,
                                    .first = first,
                                    .n = left < step ? left : step,
                                    .fills_gaps = count + k == 0};
        }
        count += n;
        i += run->interleaved_runs;
    }
    return count;
}

static int in_file_order(const void *a, const void *b)
{
    const piece *x = a, *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    if (x->buffer != y->buffer)
        return x->buffer < y->buffer ? -1 : 1;
    return x->run < y->run ? -1 : x->run > y->run;
}

/* ---- workers ---- */

static bool take(state *s, size_t *index)
{
    (void)pthread_mutex_lock(&s->lock);
    *index = s->next;
    bool more = s->next < s->failed; /* later pieces need not be filled after a failure */
    s->next += more;
    (void)pthread_mutex_unlock(&s->lock);
    return more;
}

/* Records that a piece was filled. */
static void finish(state *s, size_t index, const wb__lost *lost)
{
    size_t number = s->pieces[index].buffer;
    wb__pass_buffer *buffer = &s->pass->buffers[number];
    (void)pthread_mutex_lock(&s->lock);
    buffer->lost.overflowed += lost->overflowed;
    buffer->lost.underflowed += lost->underflowed;
    bool complete = --buffer->left == 0;
    (void)pthread_mutex_unlock(&s->lock);
    if (complete)
        s->pass->filled(s->pass->ctx, number);
}

static void fail(state *s, size_t index, wb_status status, const wb_error *error)
{
    (void)pthread_mutex_lock(&s->lock);
    if (index < s->failed) {
        s->failed = index;
        s->status = status;
        *s->pass->context->error = *error;
    }
    (void)pthread_mutex_unlock(&s->lock);
}

/* Pieces that a worker has filled, but whose uploads may be in progress: at most two, because a
 * filler has two staging buffers. The third element is for the piece that is being filled. */
typedef struct uploads {
    size_t count;
    size_t index[3];
    wb__lost lost[3];
} uploads;

/* Finishes the pieces whose uploads have ended. */
static void finish_ended(state *s, const wb__filler *filler, uploads *u)
{
    size_t kept = 0;
    for (size_t i = 0; i < u->count; i++) {
        if (wb__fill_ended(filler, u->index[i])) {
            finish(s, u->index[i], &u->lost[i]);
            continue;
        }
        u->index[kept] = u->index[i];
        u->lost[kept++] = u->lost[i];
    }
    u->count = kept;
}

static wb_status fill(state *s, wb__filler *filler, size_t index, wb__lost *lost)
{
    const piece *p = &s->pieces[index];
    const wb__pass_buffer *buffer = &s->pass->buffers[p->buffer];
    *lost = (wb__lost){0, 0};
    filler->current = index;
    wb_status status = wb__filler_select(filler, buffer->layout, buffer->handle, lost);
    if (status == WB_OK && p->fills_gaps)
        status = wb__fill_gaps(filler);
    return status == WB_OK ? wb__fill_piece(filler, p->run, p->first, p->n) : status;
}

static void work(void *arg, size_t worker)
{
    state *s = arg;
    const wb__pass *pass = s->pass;
    wb_error error;
    wb__context context = *pass->context;
    wb__filler filler;
    uploads u = {.count = 0};
    size_t index;
    wb_status status = WB_OK;
    (void)worker;
    context.error = wb__error_reset(NULL, &error);
    if (!take(s, &index))
        return;
    wb__filler_open(&filler, &context, pass->model, pass->files, pass->device);
    do {
        status = fill(s, &filler, index, &u.lost[u.count]);
        u.index[u.count] = index;
        u.count += status == WB_OK;
        finish_ended(s, &filler, &u);
    } while (status == WB_OK && take(s, &index));
    wb_status waited = wb__fill_wait(&filler, status);
    if (waited != WB_OK) /* report the piece that failed, or one whose upload failed */
        fail(s, status != WB_OK || u.count == 0 ? index : u.index[0], waited, &error);
    else
        finish_ended(s, &filler, &u);
    wb__filler_close(&filler);
}

static void run_workers(state *s)
{
    const wb_executor *executor = &s->pass->context->executor;
    size_t n = s->count < WORKERS_MAX ? s->count : WORKERS_MAX;
    if (executor->parallel_for != NULL && n > 1)
        executor->parallel_for(executor->ctx, n, work, s);
    else
        work(s, 0);
}

wb_status wb__pass_run(const wb__pass *pass)
{
    state s = {.pass = pass, .status = WB_OK};
    for (size_t i = 0; i < pass->count; i++) {
        pass->buffers[i].left = add_pieces(&pass->buffers[i], i, NULL);
        s.count += pass->buffers[i].left;
    }
    s.pieces = wb__alloc(&pass->context->allocator, s.count * sizeof *s.pieces);
    if (s.pieces == NULL && s.count != 0)
        return wb__fail_memory(pass->context);
    if (pthread_mutex_init(&s.lock, NULL) != 0) {
        wb__free(&pass->context->allocator, s.pieces, s.count * sizeof *s.pieces);
        return wb__fail_memory(pass->context);
    }
    size_t at = 0;
    for (size_t i = 0; i < pass->count; i++) {
        if (pass->buffers[i].left == 0)
            pass->filled(pass->ctx, i); /* an empty buffer; the callback may free its layout */
        else
            at += add_pieces(&pass->buffers[i], i, s.pieces + at);
    }
    qsort(s.pieces, s.count, sizeof *s.pieces, in_file_order);
    s.failed = s.count;
    if (s.count != 0)
        run_workers(&s);
    (void)pthread_mutex_destroy(&s.lock);
    wb__free(&pass->context->allocator, s.pieces, s.count * sizeof *s.pieces);
    return s.status;
}
