/*
 * Hashes tensors. A thread hashes two tensors in parallel, one in each of two lanes
 * (crypto/sha256.h). When a tensor is complete, the next tensor in the queue replaces it. The
 * largest tensors come first in the queue, so that no thread ends long after the others.
 */
#include "hash/hash.h"

#define BUFFER_BYTES ((size_t)128 << 10) /* two buffers fit into the level 2 cache */

typedef struct lane {
    wb__sha256_lane sha;
    wb__reader reader;
    const wb__comparable *subject; /* NULL: the lane is idle */
    wb__value_hash *result;
    uint64_t words;  /* number of 8-byte words (rank, dimensions) already written to `buffer` */
    uint64_t floats; /* number of values already read into `buffer` */
    uint8_t *buffer;
    size_t begin, end; /* range of the buffer that is not hashed yet */
} lane;

typedef struct worker {
    wb__hash_job *job;
    wb__context *context;
    wb_status status;
    lane lanes[2];
} worker;

static size_t blocks_of(const lane *l)
{
    return (l->end - l->begin) / WB__SHA256_BLOCK;
}

/* Replaces all NaNs by one fixed NaN, and counts NaN and infinite values. */
static void normalise(float *floats, size_t n, wb__value_hash *hash)
{
    uint8_t *bytes = (uint8_t *)floats;
    uint32_t any = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, bytes + 4 * i, sizeof bits);
        any |= (bits & 0x7F800000) == 0x7F800000 ? 1 : 0;
    }
    if (any == 0)
        return;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, bytes + 4 * i, sizeof bits);
        uint32_t magnitude = bits & 0x7FFFFFFF;
        hash->infinite += magnitude == 0x7F800000;
        if (magnitude > 0x7F800000) {
            hash->nan++;
            bits = 0x7FC00000;
            memcpy(bytes + 4 * i, &bits, sizeof bits);
        }
    }
}

#if !WB__LITTLE_ENDIAN
static void to_little_endian(float *floats, size_t n)
{
    uint8_t *bytes = (uint8_t *)floats;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, bytes + 4 * i, sizeof bits);
        wb__store_le32(bytes + 4 * i, bits);
    }
}
#else
static void to_little_endian(float *floats, size_t n)
{
    (void)floats;
    (void)n;
}
#endif

static bool take_next(worker *w, lane *l)
{
    wb__hash_job *job = w->job;
    size_t next = atomic_fetch_add(&job->next, 1);
    if (next >= job->hashes->subjects.count)
        return false;
    size_t number = job->queue[next];
    l->subject = &job->hashes->subjects.list[number];
    l->result = &job->hashes->values[number];
    l->words = l->floats = 0;
    l->begin = l->end = 0;
    wb__sha256_lane_start(&l->sha);
    w->status = wb__reader_open(&l->reader, job->hashes->model, w->context, l->subject);
    return w->status == WB_OK;
}

static bool is_read(const lane *l)
{
    return l->words == (uint64_t)l->subject->kind->rank + 1 && l->floats == l->subject->floats;
}

/* Fills the buffer. Precondition: it contains less than one SHA-256 block. Returns false after an
 * error, or if the job must stop. */
static bool fill(worker *w, lane *l)
{
    const wb__kind *kind = l->subject->kind;
    memmove(l->buffer, l->buffer + l->begin, l->end - l->begin);
    l->end -= l->begin;
    l->begin = 0;
    for (; l->words <= kind->rank && BUFFER_BYTES - l->end >= 8; l->end += 8, l->words++)
        wb__store_le64(l->buffer + l->end, l->words == 0 ? kind->rank : kind->shape[l->words - 1]);
    uint64_t left = l->subject->floats - l->floats;
    size_t n = (BUFFER_BYTES - l->end) / sizeof(float);
    if (left < n)
        n = (size_t)left;
    if (l->words <= kind->rank || n == 0)
        return true;
    /* aligned to 4 bytes, because all earlier data are words of 8 bytes and floats */
    float *to = (float *)(void *)(l->buffer + l->end);
    w->status = wb__reader_read(&l->reader, l->floats, n, to);
    if (w->status != WB_OK)
        return false;
    normalise(to, n, l->result);
    to_little_endian(to, n);
    l->floats += n;
    l->end += n * sizeof *to;
    return wb__hash_advance(w->job, n * sizeof *to);
}

/*
 * Ensures that the buffer of a lane contains at least one SHA-256 block. Finishes a tensor that
 * has no more blocks and starts the next one. Returns false if no tensor is left or an error
 * occurred.
 */
static bool make_ready(worker *w, lane *l)
{
    for (;;) {
        if (l->subject == NULL && !take_next(w, l))
            return false;
        if (blocks_of(l) > 0)
            return true;
        if (!is_read(l)) {
            if (!fill(w, l))
                return false;
        } else {
            wb__sha256_lane_finish(&l->sha, l->buffer + l->begin, l->end - l->begin,
                                   l->result->digest.bytes);
            l->subject = NULL;
        }
    }
}

static void work(worker *w)
{
    lane *a = &w->lanes[0], *b = &w->lanes[1];
    while (w->status == WB_OK && !atomic_load(&w->job->stop)) {
        bool has_a = make_ready(w, a);
        bool has_b = w->status == WB_OK && make_ready(w, b);
        if (w->status != WB_OK || (!has_a && !has_b))
            return;
        if (has_a && has_b) {
            size_t n = blocks_of(a) < blocks_of(b) ? blocks_of(a) : blocks_of(b);
            wb__sha256_lanes_add(&a->sha, a->buffer + a->begin, &b->sha, b->buffer + b->begin, n);
            a->begin += n * WB__SHA256_BLOCK;
            b->begin += n * WB__SHA256_BLOCK;
        } else {
            lane *l = has_a ? a : b;
            size_t n = blocks_of(l);
            wb__sha256_lane_add(&l->sha, l->buffer + l->begin, n);
            l->begin += n * WB__SHA256_BLOCK;
        }
    }
}

wb_status wb__hash_values_work(wb__hash_job *job, wb__context *context)
{
    worker w = {.job = job, .context = context};
    for (size_t i = 0; i < 2 && w.status == WB_OK; i++) {
        w.status = wb__sha256_lane_open(&w.lanes[i].sha, context);
        w.lanes[i].buffer = wb__alloc(&context->allocator, BUFFER_BYTES);
        if (w.status == WB_OK && w.lanes[i].buffer == NULL)
            w.status = wb__fail_memory(context);
    }
    if (w.status == WB_OK)
        work(&w);
    for (size_t i = 0; i < 2; i++) {
        wb__sha256_lane_close(&w.lanes[i].sha);
        wb__reader_close(&w.lanes[i].reader);
        wb__free(&context->allocator, w.lanes[i].buffer, BUFFER_BYTES);
    }
    return w.status;
}
