/*
 * Runs the tasks that parse the pieces of a large header (pieces.h).
 */
#include "formats/safetensors/pieces.h"

/* A smaller piece costs more per byte. The text, the names and the records of a larger piece would
 * not stay in a cache of 512 KiB. */
const wb__st_division wb__st_usual_division = {.header_min = 4 << 20, .bytes = 128 << 10};

/* Takes the next piece. Returns NULL if there is none, or if memory runs out. */
static wb__st_piece *take_piece(wb__st_job *job, wb__st_parser *parser)
{
    wb__st_piece *piece = parser->spare;
    if (piece == NULL) {
        piece = wb__st_piece_new(job);
        if (piece == NULL)
            return NULL;
        piece->next = NULL;
    }
    (void)pthread_mutex_lock(&job->lock);
    bool has = !job->stopped && job->next < job->count;
    piece->index = job->next;
    job->next += has;
    (void)pthread_mutex_unlock(&job->lock);
    parser->spare = has ? piece->next : piece;
    piece->parser = parser;
    return has ? piece : NULL;
}

static bool has_work(wb__st_job *job)
{
    (void)pthread_mutex_lock(&job->lock);
    bool has = !job->stopped && job->next < job->count;
    (void)pthread_mutex_unlock(&job->lock);
    return has;
}

static void fail_read(wb__st_job *job)
{
    (void)pthread_mutex_lock(&job->lock);
    job->failed = job->stopped = true;
    (void)pthread_mutex_unlock(&job->lock);
}

static void run_task(void *arg, size_t number)
{
    wb__st_job *job = arg;
    wb__st_parser *parser = has_work(job) ? wb__st_parser_new(job) : NULL;
    if (parser == NULL)
        return;
    job->parsers[number] = parser;
    wb__st_job_map(job);
    wb__st_piece *piece;
    while ((piece = take_piece(job, parser)) != NULL) {
        if (!wb__st_piece_parse(job, piece))
            fail_read(job);
        wb__st_piece_give(job, piece);
    }
    wb__st_parser_end(job, parser);
}

bool wb__st_pieces_pay(const wb__st_reader *reader)
{
    const wb__cursor *cursor = reader->cursor;
    return reader->context->executor.parallel_for != NULL && reader->fast != NULL &&
           (cursor->read_at != NULL || cursor->fill == NULL) &&
           wb__cursor_at(cursor) >= reader->parallel_from &&
           wb__cursor_left(cursor) >= reader->division.header_min;
}

static void run(wb__st_job *job)
{
    const wb_executor *executor = &job->reader->context->executor;
    size_t tasks = job->count < WB__ST_TASKS ? job->count : WB__ST_TASKS;
    if (pthread_mutex_init(&job->lock, NULL) != 0)
        return;
    executor->parallel_for(executor->ctx, tasks, run_task, job);
    (void)pthread_mutex_destroy(&job->lock);
    for (size_t i = 0; i < job->count; i++)
        wb__st_piece_free(job, job->parsed[i]);
    for (size_t i = 0; i < tasks; i++)
        wb__st_parser_free(job, job->parsers[i]);
}

/* Makes the placed pieces a part of the table. */
static void adopt(const wb__st_job *job)
{
    wb__st_reader *reader = job->reader;
    reader->table->count = job->tensors;
    reader->table->names_used = job->names_used;
    reader->expected = job->expected;
    reader->irregular = job->irregular;
    wb__cursor_skip_to(reader->cursor, job->taken);
}

bool wb__st_take_pieces(wb__st_reader *reader)
{
    const wb_allocator *a = &reader->context->allocator;
    uint64_t at = wb__cursor_at(reader->cursor);
    uintptr_t names = (uintptr_t)reader->table->names;
    uintptr_t page = names - names % WB__ST_MAP_BYTES;
    wb__st_job job = {.reader = reader,
                      .begin = at,
                      .count =
                          (size_t)(wb__cursor_left(reader->cursor) / reader->division.bytes) + 1,
                      .key = at,
                      .taken = at,
                      .tensors = reader->table->count,
                      .names_used = reader->table->names_used,
                      .expected = reader->expected,
                      .irregular = reader->irregular,
                      .mapped_begin = page,
                      .mapped_end = page};
    job.parsed = wb__alloc_zeroed(a, job.count * sizeof *job.parsed);
    if (job.parsed != NULL)
        run(&job);
    wb__free(a, job.parsed, job.count * sizeof *job.parsed);
    /* If a read failed, the reader without pieces reads the same bytes again, and reports the error
     * if there still is one. */
    if (job.failed || job.parsed == NULL) {
        reader->parallel_from = UINT64_MAX;
        return false;
    }
    if (job.taken != at)
        adopt(&job);
    /* The tasks may have parsed pieces in vain. Before tasks start again, the usual reader parses
     * at least as many bytes as these pieces have, so that the total time stays linear. */
    reader->parallel_from = wb__cursor_at(reader->cursor) +
                            (uint64_t)(job.next - job.placed + 1) * reader->division.bytes;
    return job.taken != at;
}
