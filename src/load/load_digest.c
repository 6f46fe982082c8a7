/*
 * Computes the digests of files. SHA-256 is sequential, so the pieces of a file are added in order,
 * but a processor can digest two files in little more time than one. With several files a worker
 * therefore takes two pieces at a time. All fetched pieces are jobs in one list. If a job is the
 * next piece of its file, a worker looks for a second job that is the next piece of another file,
 * and digests both. The worker continues with jobs of any worker until none is next, because waking
 * another worker takes too long compared with the disk. No worker waits forever: the worker that
 * owns a next piece is either woken or already running this loop.
 */
#include "load/load.h"

typedef struct wb__digest_job {
    struct wb__digest_job *next; /* next job in wb__load.jobs */
    const wb__load_piece *piece;
    bool taken; /* a worker is processing the job */
    bool done;
} wb__digest_job;

/* Adds all blocks of a piece except the first `skip` blocks. The last piece of a file completes the
 * digest. */
static void digest_rest(const wb__load_piece *piece, size_t skip)
{
    wb__load_file *file = piece->file;
    const uint8_t *data = piece->data + skip * WB__SHA256_BLOCK;
    size_t n = (size_t)(piece->end - piece->begin) - skip * WB__SHA256_BLOCK;
    wb__sha256_lane_add(&file->sha256, data, n / WB__SHA256_BLOCK);
    if (piece->end == file->end)
        wb__sha256_lane_finish(&file->sha256, data + (n - n % WB__SHA256_BLOCK),
                               n % WB__SHA256_BLOCK, file->digest);
}

static void digest_two(const wb__load_piece *a, const wb__load_piece *b)
{
    uint64_t a_bytes = a->end - a->begin;
    uint64_t b_bytes = b->end - b->begin;
    size_t blocks = (size_t)((a_bytes < b_bytes ? a_bytes : b_bytes) / WB__SHA256_BLOCK);
    wb__sha256_lanes_add(&a->file->sha256, a->data, &b->file->sha256, b->data, blocks);
    digest_rest(a, blocks);
    digest_rest(b, blocks);
}

/* Returns a job whose piece is the next one of its file and that no worker processes, or NULL.
 * Skips the job other_than, which belongs to another file, because only one piece of a file can be
 * next. */
static wb__digest_job *find_job(const wb__load *load, const wb__digest_job *other_than)
{
    for (wb__digest_job *job = load->jobs; job != NULL; job = job->next) {
        if (job != other_than && !job->taken && job->piece->file->digested == job->piece->begin)
            return job;
    }
    return NULL;
}

static void remove_job(wb__load *load, const wb__digest_job *job)
{
    wb__digest_job **at = &load->jobs;
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
}

/* Digests one or two jobs. The lock is held, and released during the computation. */
static void work(wb__lane *lane, wb__digest_job *a, wb__digest_job *b)
{
    wb__load *load = lane->load;
    a->taken = true;
    if (b != NULL)
        b->taken = true;
    (void)pthread_mutex_unlock(&load->lock);
    uint64_t start = wb__now();
    if (b != NULL)
        digest_two(a->piece, b->piece);
    else
        digest_rest(a->piece, 0);
    lane->spent.digest_ns += wb__now() - start;
    (void)pthread_mutex_lock(&load->lock);
    a->piece->file->digested = a->piece->end;
    a->done = true;
    if (b != NULL) {
        b->piece->file->digested = b->piece->end;
        b->done = true;
    }
    (void)pthread_cond_broadcast(&load->turn);
}

/* Returns the worker's first job whose piece is the next one of its file and that no worker
 * processes, or NULL. Sets *open if a job of the worker is not done. */
static wb__digest_job *find_own(const wb__load *load, wb__digest_job *jobs, size_t n, bool *open)
{
    wb__digest_job *ready = NULL;
    *open = false;
    for (size_t i = n; i-- > 0;) {
        /* The worker must wait for a job that is being processed, also after a failure of the load.
         */
        if (jobs[i].done || (load->failed && !jobs[i].taken))
            continue;
        *open = true;
        if (!jobs[i].taken && jobs[i].piece->file->digested == jobs[i].piece->begin)
            ready = &jobs[i];
    }
    return ready;
}

void wb__load_digest(wb__lane *lane, wb__load_piece *const *pieces, size_t n)
{
    wb__load *load = lane->load;
    wb__digest_job jobs[WB__LOAD_HAND];
    bool open;
    (void)pthread_mutex_lock(&load->lock);
    for (size_t i = 0; i < n; i++) {
        jobs[i] = (wb__digest_job){.next = load->jobs, .piece = pieces[i]};
        load->jobs = &jobs[i];
    }
    for (;;) {
        wb__digest_job *ready = find_own(load, jobs, n, &open);
        if (ready == NULL && !load->failed)
            ready = find_job(load, NULL);
        if (ready != NULL)
            work(lane, ready, find_job(load, ready));
        else if (open)
            (void)pthread_cond_wait(&load->turn, &load->lock);
        else
            break;
    }
    for (size_t i = 0; i < n; i++)
        remove_job(load, &jobs[i]);
    (void)pthread_mutex_unlock(&load->lock);
}
