/*
 * Computes the tensors of a plan in rounds. Within a round, each worker repeatedly takes the next
 * tiles until none remain. Each worker has its own buffers and writes its results to their offsets
 * in the output, in any order. Between rounds, progress is reported, and records are added to the
 * journal if the conversion has one (checkpoint.h). If an earlier run has recorded a tile, the tile
 * is read back from the output, and is computed again only if its digest differs from the record.
 *
 * A worker takes one span at a time. A span consists of adjacent tiles of one tensor. Each tile is
 * computed separately, so that its data fit into the L1 and L2 caches. The whole span is written
 * with one call, because one large write takes only a third of the time of many small writes. Spans
 * become shorter towards the end of a round, so that no worker waits long for the last span.
 */
#include "convert/exec/scheduler.h"
#include "convert/convert_messages.h"

#include <stdatomic.h>

#include "core/clock.h"
#include "cpu/cpu.h"
#include "read/decoder.h"

#define WORKERS_MAX 64
#define ROUND_FIRST 16        /* number of tiles per worker in the first round */
#define ROUND_LEAST 4         /* minimum number of tiles in a round */
#define ROUND_MAX 4096        /* maximum number of tiles in a round */
#define ROUND_SHORT 100000000 /* ns; after a round shorter than this, the next gets more tiles */
#define ROUND_LONG 400000000  /* ns; after a round longer than this, the next gets fewer tiles */
#define SPAN_MAX 64           /* maximum number of tiles in a span */
/* maximum size of a span with more than one tile, in output bytes */
#define SPAN_BYTES ((uint64_t)4 << 20)
/* The maximum span size is at least this number of bytes, because the writer does not use direct
 * I/O for smaller spans. If the memory limit is low, the maximum is smaller anyway. */
#define SPAN_LEAST ((uint64_t)512 << 10)
/* Maximum number of Ollama blobs in a round. Completing a blob is slow, because it waits for the
 * disk. */
#define BLOBS_A_ROUND 256
/* Number of span buffers per worker. The worker fills one buffer while the other buffers are
 * written. */
#define BUFFERS 3
#define READ_BYTES ((uint64_t)2 << 20) /* number of bytes that wb_tensor_read allocates */
/* Memory of a worker in bytes, without the span buffers, if rows have at most WB__TILE_ELEMENTS
 * values. */
#define REST_BYTES (READ_BYTES + WB__READAHEAD_BYTES + 3 * WB__TILE_ELEMENTS * sizeof(float))

/* A tile to compute in the current round. */
typedef struct work {
    size_t row; /* index of the tensor in the plan */
    wb__tile_range range;
    bool known; /* the journal contains a record of the tile */
    wb__checkpoint_record record;
} work;

typedef struct worker {
    uint8_t *memory; /* span buffers and buffers of a tile; NULL: the worker has not started */
    wb_writeback *writeback;
    wb__readahead *ahead;
    uint32_t buffer; /* number of the buffer for the current span */
    wb_error error;
    wb_status status;
    size_t failed_at; /* index in runner.list of the tile that failed */
} worker;

typedef struct runner {
    wb__emit_job *out;
    const wb_conversion *conversion;
    work *list; /* the tiles of the current round */
    size_t count;
    uint64_t done;                  /* number of output bytes of the finished rounds */
    wb__checkpoint *journal;        /* NULL: the conversion has no journal */
    wb__checkpoint_record *written; /* journal records of the current round */
    atomic_size_t taken;            /* number of tiles reused from an earlier run */
    atomic_size_t next;             /* index of the next tile that no worker has taken */
    atomic_bool failed;             /* a tile failed, and the workers stop */
    uint64_t memory;                /* memory limit for all workers together, in bytes */
    uint64_t span_bytes;            /* maximum size of a span, in output bytes */
    /* buffer sizes in bytes: sizes.parts for the largest span, the others for the largest tile */
    wb__tile_sizes sizes;
    size_t worker_bytes; /* memory of a worker, in bytes */
    worker *workers;
    size_t worker_count;
    atomic_size_t left; /* bytes of `memory` that no worker has reserved */
    atomic_size_t busy; /* number of workers that are running */
    atomic_size_t most; /* maximum value of `busy` in the current round */
    /* number of workers that ran in parallel in the last round; worker_count before the first
     * round */
    size_t crew;
    size_t full; /* number of tiles in a complete round; the last round may have fewer */
} runner;

/* ---- memory ---- */

/* Returns the number of tiles per span if a tile has `bytes` output bytes. */
static uint64_t span_chunks(const runner *r, uint64_t bytes)
{
    uint64_t fit = bytes == 0 ? SPAN_MAX : r->span_bytes / bytes;
    return fit == 0 ? 1 : fit > SPAN_MAX ? SPAN_MAX : fit;
}

static uint64_t sum_of(const uint64_t bytes[WB__PARTS])
{
    uint64_t sum = 0;
    for (int part = 0; part < WB__PARTS; part++)
        sum += bytes[part];
    return sum;
}

static void enlarge(uint64_t *most, uint64_t bytes)
{
    bytes = (bytes + 63) / 64 * 64;
    *most = bytes > *most ? bytes : *most;
}

/* Returns the size of the buffer for a span of `bytes` bytes. The size includes space for
 * alignment, because direct I/O requires that the data have the same offset within an aligned
 * block in memory and in the file. */
static uint64_t buffer_bytes(uint64_t bytes)
{
    return bytes == 0 ? 0 : (bytes / WB_WRITEBACK_ALIGNMENT + 2) * WB_WRITEBACK_ALIGNMENT;
}

/* Returns the index of the source tensor of an output tensor. If there are several source tensors,
 * they have the same encoding, and the index of the first is returned. */
static uint64_t first_source(const wb_conversion *conversion, const wb__planned_tensor *row)
{
    uint64_t numbers = wb__tensors_numbers(&conversion->model->tensors);
    uint64_t source = row->pieces != NULL ? row->pieces[0] : row->source;
    return source < numbers ? source
                            : conversion->semantics->names.views[source - numbers].parts[0];
}

/* Returns the size in bytes of the model's cache of decoded tensors (handle/decode_cache.h) during
 * the run. Some packed tensors can only be decoded completely, and the cache then holds the
 * complete tensor even if only some of its rows are read. */
static uint64_t held_bytes(const wb_conversion *conversion)
{
    uint64_t most = 0;
    for (size_t i = 0; i < conversion->tensors.count; i++) {
        const wb__planned_tensor *row = wb__planned_at(conversion, i);
        const wb__packed *packed = NULL;
        if (row->source != WB__NO_SOURCE && row->by_view)
            (void)wb__tensors_stored(&conversion->model->tensors, first_source(conversion, row),
                                     &packed);
        uint64_t bytes = wb__decoder_holds(packed);
        most = bytes > most ? bytes : most;
    }
    return WB__CACHED_TENSORS * most;
}

static void measure_workers(runner *r)
{
    for (size_t i = 0; i < r->conversion->tensors.count; i++) {
        wb__tile_sizes sizes;
        const wb__planned_tensor *row = wb__planned_at(r->conversion, i);
        wb__tile_range largest = wb__tile_begin(row);
        wb__tile_measure(row, &largest, &sizes);
        uint64_t elements = largest.rows * largest.columns, all = row->rows * row->columns;
        uint64_t tiles = elements == 0 ? 1 : all / elements + (all % elements != 0);
        uint64_t span = span_chunks(r, sum_of(sizes.parts));
        enlarge(&r->sizes.raw, sizes.raw);
        enlarge(&r->sizes.values, sizes.values);
        enlarge(&r->sizes.again, sizes.again);
        for (int part = 0; part < WB__PARTS; part++)
            enlarge(&r->sizes.parts[part], sizes.parts[part] * (tiles < span ? tiles : span));
    }
    for (int part = 0; part < WB__PARTS; part++)
        r->sizes.parts[part] = buffer_bytes(r->sizes.parts[part]);
}

/* Returns the maximum size of a span, in bytes. The size leaves enough memory for one worker per
 * processor, because the number of threads of the executor is not known. */
static uint64_t find_span_bytes(uint64_t max_memory)
{
    uint64_t share = max_memory / wb__cpu_count();
    uint64_t span = share > REST_BYTES ? (share - REST_BYTES) / BUFFERS : 0;
    uint64_t least = max_memory / WORKERS_MAX < SPAN_LEAST ? max_memory / WORKERS_MAX : SPAN_LEAST;
    return span < least ? least : span < SPAN_BYTES ? span : SPAN_BYTES;
}

static wb_status make_workers(runner *r)
{
    wb__context *context = r->out->context;
    uint64_t held = held_bytes(r->conversion);
    r->memory = r->conversion->max_memory > held ? r->conversion->max_memory - held : 0;
    r->span_bytes = find_span_bytes(r->memory);
    measure_workers(r);
    uint64_t bytes = WB_WRITEBACK_ALIGNMENT + BUFFERS * sum_of(r->sizes.parts) + r->sizes.raw +
                     r->sizes.values + r->sizes.again;
    if (!wb__to_size(bytes, &r->worker_bytes))
        return wb__fail_memory(context);
    uint64_t fit = r->memory / (bytes + READ_BYTES);
    if (fit == 0) {
        wb_status status =
            wb__plan_note(r->out->conversion, context, WB_WARNING, WB__FINDING_CONVERT_META,
                          WB__STR(""), WB__MSG_CONVERT_MEMORY_LIMIT);
        if (status != WB_OK)
            return status;
    }
    r->worker_count = context->executor.parallel_for == NULL || fit <= 1 ? 1
                      : fit < WORKERS_MAX                                ? (size_t)fit
                                                                         : WORKERS_MAX;
    r->crew = r->worker_count;
    atomic_init(&r->left, r->memory < SIZE_MAX ? (size_t)r->memory : SIZE_MAX);
    r->workers = wb__alloc_zeroed(&r->conversion->allocator, r->worker_count * sizeof *r->workers);
    r->list = wb__alloc(&r->conversion->allocator, ROUND_MAX * sizeof *r->list);
    r->written = wb__alloc(&r->conversion->allocator, ROUND_MAX * sizeof *r->written);
    return r->workers == NULL || r->list == NULL || r->written == NULL ? wb__fail_memory(context)
                                                                       : WB_OK;
}

static void free_workers(runner *r)
{
    for (size_t i = 0; r->workers != NULL && i < r->worker_count; i++) {
        wb_writeback_free(r->workers[i].writeback);
        wb__readahead_close(r->workers[i].ahead);
    }
    for (size_t i = 0; r->workers != NULL && i < r->worker_count; i++)
        wb__free(&r->conversion->allocator, r->workers[i].memory, r->worker_bytes);
    wb__free(&r->conversion->allocator, r->workers, r->worker_count * sizeof *r->workers);
    wb__free(&r->conversion->allocator, r->list, ROUND_MAX * sizeof *r->list);
    wb__free(&r->conversion->allocator, r->written, ROUND_MAX * sizeof *r->written);
}

/* ---- spans ---- */

/* Consecutive tiles of a tensor that are encoded in a buffer and not written yet. */
typedef struct span {
    const wb__planned_tensor *planned;
    size_t row;
    wb__tile_range range; /* first tile of the span */
    uint8_t *parts[WB__PARTS];
    uint64_t bytes[WB__PARTS];
    /* buffers of the current tile, which follow the span buffers in the memory of the worker */
    uint8_t *rest;
} span;

static uint32_t slot_of(uint32_t buffer, int part)
{
    return buffer * WB__PARTS + (uint32_t)part;
}

/* Waits until all writes from a buffer are complete. */
static wb_status wait_for(const worker *w, wb__context *context, uint32_t buffer)
{
    wb_status status = WB_OK;
    for (int part = 0; part < WB__PARTS && status == WB_OK; part++)
        status = wb_writeback_wait(w->writeback, slot_of(buffer, part), context->error);
    return status;
}

static bool is_busy(const worker *w, uint32_t buffer)
{
    bool busy = false;
    for (int part = 0; part < WB__PARTS && !busy; part++)
        busy = wb_writeback_is_busy(w->writeback, slot_of(buffer, part));
    return busy;
}

/* Returns true if the worker has a free buffer besides the current one. */
static bool has_another(const worker *w)
{
    bool has = false;
    for (uint32_t i = 1; i < BUFFERS && !has; i++)
        has = !is_busy(w, (w->buffer + i) % BUFFERS);
    return has;
}

/* Begins an empty span in the next buffer, after the writes from this buffer are complete. */
static wb_status begin_span(const runner *r, wb__context *context, worker *w, span *made)
{
    uint64_t before[WB__PARTS];
    uintptr_t past = (uintptr_t)w->memory % WB_WRITEBACK_ALIGNMENT;
    uint8_t *memory = w->memory + (past == 0 ? 0 : WB_WRITEBACK_ALIGNMENT - past);
    for (uint32_t i = 0; i < BUFFERS && (i == 0 || is_busy(w, w->buffer)); i++)
        w->buffer = (w->buffer + 1) % BUFFERS;
    made->rest = memory + BUFFERS * sum_of(r->sizes.parts);
    memory += w->buffer * sum_of(r->sizes.parts);
    wb__tile_before(made->planned, &made->planned->to, &made->range, before);
    for (int part = 0; part < WB__PARTS; part++) {
        wb_tensor tensor = {.size = sizeof tensor};
        made->parts[part] = memory;
        memory += r->sizes.parts[part];
        if (made->planned->part_bytes[part] == 0)
            continue;
        wb_status status = wb_writer_tensor_at(r->out->writer, r->out->indices[made->row][part],
                                               &tensor, context->error);
        if (status != WB_OK)
            return status;
        uint64_t place = tensor.offset + before[part];
        /* Direct I/O requires that the data have the same alignment in memory and in the file. If
         * the file offset is not a multiple of 8, the buffer keeps its own alignment instead,
         * because encoders may require a multiple of 8. */
        if (place % sizeof(uint64_t) == 0)
            made->parts[part] += place % WB_WRITEBACK_ALIGNMENT;
    }
    return wait_for(w, context, w->buffer);
}

/* Sets the buffers of a tile. The scratch buffers are in made->rest. The output buffers begin after
 * the output of the tiles that the span already contains. */
static void lay_out(const runner *r, const span *made, wb__tile *tile)
{
    tile->raw = made->rest;
    tile->values = (float *)(void *)(tile->raw + r->sizes.raw);
    tile->again = (float *)(void *)(tile->raw + r->sizes.raw + r->sizes.values);
    for (int part = 0; part < WB__PARTS; part++)
        tile->parts[part] = made->parts[part] + made->bytes[part];
}

/* Writes the span to the output, and makes it an empty span. The caller must wait until the buffer
 * is written before it adds tiles to the span. If all other buffers are still being written because
 * the disk is slow, the span is written through the page cache, so that the worker does not wait.
 */
static wb_status put(const runner *r, const worker *w, wb__context *context, span *made)
{
    uint64_t before[WB__PARTS];
    wb_status status = WB_OK;
    bool writeback = has_another(w);
    wb__tile_before(made->planned, &made->planned->to, &made->range, before);
    for (int part = 0; part < WB__PARTS && status == WB_OK; part++) {
        uint64_t index = r->out->indices[made->row][part];
        size_t n = (size_t)made->bytes[part];
        if (n > 0)
            status = writeback
                         ? wb_writeback_put(w->writeback, slot_of(w->buffer, part), index,
                                            before[part], made->parts[part], n, context->error)
                         : wb_writer_put(r->out->writer, index, before[part], made->parts[part], n,
                                         context->error);
        made->bytes[part] = 0;
    }
    return status;
}

/* Returns true if an earlier run has written the tile, and the bytes in the output still have
 * the recorded digest. */
static bool is_left(const runner *r, const work *job, wb__tile *tile)
{
    uint64_t before[WB__PARTS], digest = 0;
    const wb__planned_tensor *row = tile->planned;
    (void)wb__encoding_spec_measure(&row->to, job->range.rows, job->range.columns,
                                    tile->part_bytes);
    wb__tile_before(row, &row->to, &job->range, before);
    for (int part = 0; part < WB__PARTS; part++) {
        size_t n = (size_t)tile->part_bytes[part];
        if (n > 0 && wb_writer_left(r->out->writer, r->out->indices[job->row][part], before[part],
                                    tile->parts[part], n, NULL) != WB_OK)
            return false;
        digest = wb__digest_add(digest, tile->parts[part], n);
    }
    return digest == job->record.digest;
}

static wb_status take(const runner *r, wb__context *context, const work *job, const wb__tile *tile)
{
    uint64_t before[WB__PARTS];
    wb_status status = WB_OK;
    wb__tile_before(tile->planned, &tile->planned->to, &job->range, before);
    for (int part = 0; part < WB__PARTS && status == WB_OK; part++)
        status = wb_writer_take(r->out->writer, r->out->indices[job->row][part], before[part],
                                tile->part_bytes[part], context->error);
    return status;
}

/* Processes the next tile of a span: keeps the data that an earlier run has written, or computes
 * the tile and appends it to the span. */
static wb_status do_chunk(runner *r, wb__context *context, const worker *w, work *job, span *made)
{
    wb__tile tile = {.planned = made->planned, .ahead = w->ahead, .range = job->range};
    lay_out(r, made, &tile);
    if (job->known && is_left(r, job, &tile)) {
        atomic_fetch_add_explicit(&r->taken, 1, memory_order_relaxed);
        wb_status status = put(r, w, context, made);
        made->range = job->range;
        wb__tile_next(made->planned, &made->range);
        if (status == WB_OK)
            status = wait_for(w, context, w->buffer);
        return status == WB_OK ? take(r, context, job, &tile) : status;
    }
    wb_status status = wb__tile_run(r->conversion, context, &tile);
    if (status != WB_OK)
        return status;
    job->record = (wb__checkpoint_record){.error_stats = tile.error_stats};
    for (int part = 0; part < WB__PARTS; part++) {
        if (r->journal != NULL)
            job->record.digest =
                wb__digest_add(job->record.digest, tile.parts[part], (size_t)tile.part_bytes[part]);
        made->bytes[part] += tile.part_bytes[part];
    }
    return WB_OK;
}

/* Consecutive tiles in the list of a round, all of one tensor. */
typedef struct range {
    size_t first, count;
} range;

static wb_status do_span(runner *r, wb__context *context, worker *w, range tiles)
{
    work *jobs = &r->list[tiles.first];
    span made = {.planned = wb__planned_at(r->conversion, jobs->row),
                 .row = jobs->row,
                 .range = jobs->range};
    w->failed_at = tiles.first;
    wb_status status = begin_span(r, context, w, &made);
    for (size_t i = 0; i < tiles.count && status == WB_OK; i++) {
        w->failed_at = tiles.first + i;
        status = do_chunk(r, context, w, &jobs[i], &made);
    }
    return status == WB_OK ? put(r, w, context, &made) : status;
}

/* ---- rounds ---- */

/* Returns the number of tiles that a worker takes at index `at` of the list. All these tiles
 * belong to one tensor. The number decreases towards the end of the round. */
static size_t span_length(const runner *r, size_t at)
{
    uint64_t bytes[WB__PARTS];
    const work *first = &r->list[at];
    const wb__planned_tensor *row = wb__planned_at(r->conversion, first->row);
    wb__tile_range largest = wb__tile_begin(row);
    (void)wb__encoding_spec_measure(&row->to, largest.rows, largest.columns, bytes);
    size_t n = 1, most = (size_t)span_chunks(r, sum_of(bytes));
    size_t share = (r->count - at) / (r->crew == 1 ? 1 : 2 * r->crew);
    most = share < most ? share : most;
    while (n < most && r->list[at + n].row == first->row)
        n++;
    return n;
}

/* Takes the next tiles of the round. Returns a range with count 0 if no tiles remain. */
static range take_span(runner *r)
{
    size_t n, next = atomic_load_explicit(&r->next, memory_order_relaxed);
    do {
        if (next >= r->count)
            return (range){0};
        n = span_length(r, next);
    } while (!atomic_compare_exchange_weak_explicit(&r->next, &next, next + n, memory_order_relaxed,
                                                    memory_order_relaxed));
    return (range){next, n};
}

/* Reserves the memory of a worker. Returns false if the memory limit does not allow it. The
 * first worker always gets its memory. */
static bool take_memory(runner *r, const worker *w)
{
    if (wb__memory_take(&r->left, r->worker_bytes + (size_t)READ_BYTES))
        return true;
    if (w == r->workers)
        atomic_store(&r->left, 0);
    return w == r->workers;
}

/* Allocates the buffers of a worker when it starts for the first time. w->memory remains NULL if
 * the memory limit allows no further worker. */
static wb_status equip(runner *r, wb__context *context, worker *w)
{
    if (w->memory != NULL || !take_memory(r, w))
        return WB_OK;
    w->memory = wb__alloc(&r->conversion->allocator, r->worker_bytes);
    w->ahead = wb__readahead_open(&r->conversion->allocator, &r->left);
    if (w->memory == NULL || w->ahead == NULL)
        return wb__fail_memory(context);
    return wb_writeback_open(r->out->writer, BUFFERS * WB__PARTS, &w->writeback, context->error);
}

/* Takes a span and announces its input for read-ahead. Tiles that an earlier run has written
 * need no input. */
static range claim(runner *r, const worker *w)
{
    wb__byte_range place;
    range tiles = take_span(r);
    for (size_t i = tiles.first; i < tiles.first + tiles.count; i++) {
        const work *job = &r->list[i];
        const wb__planned_tensor *planned = wb__planned_at(r->conversion, job->row);
        if (!job->known && wb__tile_place(r->conversion, planned, &job->range, &place))
            wb__readahead_expect(w->ahead, &place);
    }
    return tiles;
}

/* Waits until all writes of the worker are complete. The journal may then record the written
 * tiles. */
static wb_status finish_all(wb__context *context, const worker *w)
{
    wb_status status = WB_OK;
    for (uint32_t buffer = 0; buffer < BUFFERS && status == WB_OK; buffer++)
        status = wait_for(w, context, buffer);
    return status;
}

/* Processes spans until none remain. While read-ahead is active, the worker takes the next span
 * before it computes the current one, so that the input of the next span is read meanwhile. */
static wb_status do_spans(runner *r, wb__context *context, worker *w)
{
    wb_status status = WB_OK;
    range now = claim(r, w);
    while (now.count > 0 && status == WB_OK &&
           !atomic_load_explicit(&r->failed, memory_order_relaxed)) {
        range next = wb__readahead_begin(w->ahead) ? claim(r, w) : (range){0};
        status = do_span(r, context, w, now);
        now = next.count > 0 ? next : claim(r, w);
    }
    return status == WB_OK ? finish_all(context, w) : status;
}

static bool has_work(const runner *r)
{
    return atomic_load_explicit(&r->next, memory_order_relaxed) < r->count &&
           !atomic_load_explicit(&r->failed, memory_order_relaxed);
}

static void body(void *arg, size_t i)
{
    runner *r = arg;
    worker *w = &r->workers[i];
    wb_error spare;
    wb__context context = *r->out->context;
    size_t busy = 1 + atomic_fetch_add_explicit(&r->busy, 1, memory_order_relaxed);
    size_t most = atomic_load_explicit(&r->most, memory_order_relaxed);
    context.executor = (wb_executor){0};
    context.error = wb__error_reset(&w->error, &spare);
    while (busy > most && !atomic_compare_exchange_weak_explicit(
                              &r->most, &most, busy, memory_order_relaxed, memory_order_relaxed))
        continue;
    w->failed_at = atomic_load_explicit(&r->next, memory_order_relaxed);
    if (has_work(r))
        w->status = equip(r, &context, w);
    if (w->status == WB_OK && w->memory != NULL)
        w->status = do_spans(r, &context, w);
    if (w->status != WB_OK)
        atomic_store_explicit(&r->failed, true, memory_order_relaxed);
    atomic_fetch_sub_explicit(&r->busy, 1, memory_order_relaxed);
}

/* Returns the error of the failed tile that is first in plan order. */
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

/* Appends records of the tiles that this round has computed to the journal. */
static wb_status write_down(runner *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->count; i++) {
        if (!r->list[i].known)
            r->written[n++] = r->list[i].record;
    }
    return wb__checkpoint_append(r->out->context, r->journal, r->written, n);
}

/* Adapts the number of tiles per round to the duration of the last round. A round must be long
 * enough to keep all workers busy, and short enough for frequent progress reports. A fixed number
 * of tiles is unsuitable, because the speeds of encodings differ by a factor of up to 1000. */
static void fit_rounds(runner *r, uint64_t took)
{
    if (took > ROUND_LONG) {
        r->full /= (size_t)(took / ROUND_LONG + 1);
        r->full = r->full > ROUND_LEAST ? r->full : ROUND_LEAST;
    } else if (took < ROUND_SHORT && r->count == r->full && r->full * 2 <= ROUND_MAX) {
        r->full *= 2;
    }
}

static wb_status do_round(runner *r)
{
    uint64_t begun = wb__now();
    const wb_progress *progress = r->out->progress;
    const wb_executor *executor = &r->out->context->executor;
    atomic_store(&r->next, 0);
    atomic_store(&r->most, 1);
    if (r->worker_count > 1)
        executor->parallel_for(executor->ctx, r->worker_count, body, r);
    else
        body(r, 0);
    r->crew = atomic_load(&r->most);
    wb_status status = failure(r);
    if (status == WB_OK && r->journal != NULL)
        status = write_down(r);
    for (size_t i = 0; i < r->count && status == WB_OK; i++) {
        wb__planned_tensor *row = wb__planned_at(r->conversion, r->list[i].row);
        uint64_t bytes[WB__PARTS];
        wb__error_stats_add(&row->error_stats, &r->list[i].record.error_stats);
        const wb__tile_range *tile = &r->list[i].range;
        (void)wb__encoding_spec_measure(&row->to, tile->rows, tile->columns, bytes);
        r->done += sum_of(bytes);
    }
    fit_rounds(r, wb__now() - begun);
    r->count = 0;
    if (status == WB_OK && progress != NULL &&
        progress->report(progress->ctx, r->done, r->out->total) != 0)
        status = wb__fail(r->out->context, WB_ERROR_CANCELLED, WB__FINDING_CANCELLED, WB_NO_OFFSET,
                          WB__STR(""), WB__MSG_CONVERT_CANCELLED);
    return status;
}

static wb_status do_all(runner *r)
{
    bool in_store = r->conversion->target == WB_TARGET_OLLAMA;
    wb_status status = WB_OK;
    for (size_t i = 0; i < r->conversion->tensors.count; i++)
        r->out->total += wb__planned_at(r->conversion, i)->bytes;
    for (size_t i = 0; i < r->conversion->tensors.count && status == WB_OK; i++) {
        const wb__planned_tensor *row = wb__planned_at(r->conversion, i);
        wb__tile_range tile = wb__tile_begin(row);
        for (; tile.rows > 0 && status == WB_OK; wb__tile_next(row, &tile)) {
            work *job = &r->list[r->count++];
            *job = (work){.row = i, .range = tile};
            job->known = r->journal != NULL && wb__checkpoint_next(r->journal, &job->record);
            if (r->count >= r->full)
                status = do_round(r);
        }
        if (status == WB_OK && in_store && i % BLOBS_A_ROUND == BLOBS_A_ROUND - 1 && r->count > 0)
            status = do_round(r);
    }
    if (status == WB_OK && r->count > 0)
        status = do_round(r);
    for (size_t i = 0; i < r->conversion->tensors.count && status == WB_OK; i++)
        wb__planned_at(r->conversion, i)->done = true;
    return status;
}

wb_status wb__scheduler_run(wb__emit_job *out, wb__checkpoint *journal, bool *taken)
{
    runner r = {.out = out, .conversion = out->conversion, .journal = journal};
    wb_status status = make_workers(&r);
    unsigned processors = wb__cpu_count();
    r.full = (r.worker_count < processors ? r.worker_count : processors) * ROUND_FIRST;
    if (status == WB_OK)
        status = do_all(&r);
    *taken = atomic_load(&r.taken) > 0;
    free_workers(&r);
    return status;
}
