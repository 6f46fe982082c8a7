/*
 * Splits the values of each pair into segments and computes separate sums for each segment. The
 * sums are added in segment order after all segments are done, so the result does not depend on the
 * number of threads. A pair that can only be read as a whole is a single segment.
 */
#include "diff/diff.h"
#include "diff/diff_messages.h"

#include <errno.h>
#include <stdatomic.h>

#define SEGMENT_FLOATS ((uint64_t)1 << 20)
#define PIECE_FLOATS ((size_t)16 << 10) /* floats per read, a multiple of LANES (distance.c) */
#define SLOTS 64                        /* maximum number of threads */

typedef struct job {
    wb_diff *diff;
    wb__context *context; /* the caller's context; each thread has its own copy */
    const wb_progress *progress;
    const void *home; /* address of errno in the calling thread, which identifies the thread */
    wb__sums *segments;
    size_t segment_count;
    atomic_size_t next;
    atomic_size_t done; /* number of finished segments */
    atomic_bool stop, cancelled;
    wb_error *errors;
    wb_status *results;
} job;

typedef struct worker {
    job *job;
    wb__context *context;
    const wb__pair *pair;
    wb__reader a, b;
    float *pieces; /* two buffers of PIECE_FLOATS floats, one for each tensor of the pair */
} worker;

static uint64_t segment_floats(const wb_diff *diff, const wb__pair *pair)
{
    bool whole =
        wb__comparable_is_whole(diff->a, pair->a) || wb__comparable_is_whole(diff->b, pair->b);
    return whole ? UINT64_MAX : SEGMENT_FLOATS;
}

static uint64_t count_segments(const wb_diff *diff, const wb__pair *pair)
{
    if (!pair->compared)
        return 0;
    uint64_t size = segment_floats(diff, pair);
    return pair->a->floats / size + (pair->a->floats % size != 0);
}

/* Returns the pair to which the segment belongs. */
static const wb__pair *pair_of(const wb_diff *diff, size_t segment)
{
    size_t low = 0, high = diff->pair_count;
    while (high - low > 1) { /* binary search for the last pair with first_segment <= segment */
        size_t middle = low + (high - low) / 2;
        if (diff->pairs[middle].first_segment <= segment)
            low = middle;
        else
            high = middle;
    }
    return &diff->pairs[low];
}

static bool advance(job *j)
{
    size_t done = atomic_fetch_add(&j->done, 1) + 1;
    if (atomic_load(&j->stop))
        return false;
    if (j->progress != NULL && j->home == (const void *)&errno) {
        uint64_t unit = SEGMENT_FLOATS * 2 * sizeof(float);
        if (j->progress->report(j->progress->ctx, done * unit, j->segment_count * unit) != 0) {
            atomic_store(&j->cancelled, true);
            atomic_store(&j->stop, true);
        }
    }
    return !atomic_load(&j->stop);
}

static wb_status take_pair(worker *w, const wb__pair *pair)
{
    if (w->pair == pair)
        return WB_OK;
    w->pair = pair;
    wb_status status = wb__reader_open(&w->a, w->job->diff->a, w->context, pair->a);
    return status == WB_OK ? wb__reader_open(&w->b, w->job->diff->b, w->context, pair->b) : status;
}

static wb_status compare_segment(worker *w, size_t segment)
{
    const wb_diff *diff = w->job->diff;
    const wb__pair *pair = pair_of(diff, segment);
    uint64_t size = segment_floats(diff, pair);
    uint64_t at = (segment - pair->first_segment) * (size == UINT64_MAX ? 0 : size);
    uint64_t left = pair->a->floats - at < size ? pair->a->floats - at : size;
    float *a = w->pieces, *b = w->pieces + PIECE_FLOATS;
    wb_status status = take_pair(w, pair);
    while (left > 0 && status == WB_OK && !atomic_load(&w->job->stop)) {
        size_t n = left < PIECE_FLOATS ? (size_t)left : PIECE_FLOATS;
        status = wb__reader_read(&w->a, at, n, a);
        if (status == WB_OK)
            status = wb__reader_read(&w->b, at, n, b);
        if (status == WB_OK)
            wb__sums_add(&w->job->segments[segment], a, b, n);
        at += n;
        left -= n;
    }
    return status;
}

static void body(void *arg, size_t i)
{
    job *j = arg;
    wb__context own = *j->context;
    worker w = {.job = j, .context = &own};
    size_t bytes = 2 * PIECE_FLOATS * sizeof *w.pieces;
    wb_status status = WB_OK;
    own.error = &j->errors[i];
    own.findings = NULL;
    (void)wb__error_reset(own.error, own.error);
    if (atomic_load(&j->stop) || atomic_load(&j->next) >= j->segment_count)
        return;
    w.pieces = wb__alloc(&own.allocator, bytes);
    if (w.pieces == NULL)
        status = wb__fail_memory(&own);
    while (status == WB_OK && !atomic_load(&j->stop)) {
        size_t segment = atomic_fetch_add(&j->next, 1);
        if (segment >= j->segment_count)
            break;
        status = compare_segment(&w, segment);
        if (status == WB_OK && !advance(j))
            break;
    }
    wb__reader_close(&w.a);
    wb__reader_close(&w.b);
    wb__free(&own.allocator, w.pieces, bytes);
    j->results[i] = status;
    if (status != WB_OK)
        atomic_store(&j->stop, true);
}

static wb_status run(job *j)
{
    const wb_executor *executor = &j->context->executor;
    size_t n = executor->parallel_for == NULL ? 1 : SLOTS;
    const wb_allocator *allocator = &j->context->allocator;
    wb_status status = WB_OK;
    if (n > j->segment_count)
        n = j->segment_count;
    j->errors = wb__alloc(allocator, n * sizeof *j->errors);
    j->results = wb__alloc_zeroed(allocator, n * sizeof *j->results);
    if (j->errors == NULL || j->results == NULL)
        status = wb__fail_memory(j->context);
    else if (n > 1)
        executor->parallel_for(executor->ctx, n, body, j);
    else if (n == 1)
        body(j, 0);
    for (size_t i = 0; i < n && status == WB_OK; i++) {
        status = j->results[i];
        if (status != WB_OK)
            *j->context->error = j->errors[i];
    }
    if (status == WB_OK && atomic_load(&j->cancelled))
        status = wb__fail(j->context, WB_ERROR_CANCELLED, WB__FINDING_CANCELLED, WB_NO_OFFSET,
                          WB__STR(""), WB__MSG_DIFF_CANCELLED);
    wb__free(allocator, j->errors, n * sizeof *j->errors);
    wb__free(allocator, j->results, n * sizeof *j->results);
    return status;
}

static void join(wb_diff *diff, const wb__sums *segments)
{
    for (size_t i = 0; i < diff->pair_count; i++) {
        wb__pair *pair = &diff->pairs[i];
        for (uint64_t s = 0; s < count_segments(diff, pair); s++)
            wb__sums_join(&pair->sums, &segments[pair->first_segment + s]);
        if (!pair->compared)
            continue;
        pair->nmse = wb__sums_distance(&pair->sums).nmse;
        if (pair->sums.different > 0)
            pair->differs |= WB_DIFF_VALUES;
        wb__sums_join(&diff->total, &pair->sums);
    }
}

wb_status wb__diff_values(wb_diff *diff, wb__context *context, const wb_progress *progress)
{
    job j = {.diff = diff, .context = context, .progress = progress, .home = &errno};
    uint64_t segments = 0;
    for (size_t i = 0; i < diff->pair_count; i++) {
        wb__pair *pair = &diff->pairs[i];
        pair->compared = pair->a != NULL && pair->b != NULL && pair->a->floats == pair->b->floats &&
                         wb__same_shape(pair->a->kind, pair->b->kind);
        pair->first_segment = (size_t)segments;
        segments += count_segments(diff, pair);
        if (segments > SIZE_MAX / sizeof *j.segments)
            return wb__fail_memory(context);
    }
    j.segment_count = (size_t)segments;
    j.segments = wb__alloc_zeroed(&context->allocator, j.segment_count * sizeof *j.segments);
    if (j.segments == NULL)
        return wb__fail_memory(context);
    wb_status status = run(&j);
    if (status == WB_OK)
        join(diff, j.segments);
    wb__free(&context->allocator, j.segments, j.segment_count * sizeof *j.segments);
    return status;
}
