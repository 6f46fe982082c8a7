/*
 * Computes the digests of files. SHA-256 is sequential, so the pieces of a file are added in order.
 * But a processor can digest two files in little more time than one, so with several files a worker
 * takes two pieces at a time.
 *
 * Every fetched piece becomes a job in one list. A job is ready if its piece is the next one of its
 * file. A worker digests a ready job together with a ready job of another file, if there is one. It
 * continues with jobs of any worker until none is ready, because waking another worker for each
 * job would take too much of the time in which the disk reads a piece. No worker waits forever: a
 * worker with a ready job is woken, or is running this loop.
 */
#include "load/load.h"

typedef struct wb__digest_job {
    struct wb__digest_job *next; /* next job in wb__load.jobs */
    const wb__load_piece *piece;
    bool taken; /* a worker is processing the job */
    bool done;
} wb__digest_job;

/* Adds all blocks of a piece to the digest of its file, except the first `skip` blocks. The last
 * piece of a file completes the digest. */
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

/*
 * Returns a ready job other than `other_than` that no worker processes, or NULL. The job belongs
 * to another file than `other_than`, because only one piece of a file can be the next one to
 * digest.
 */
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

/* Digests job a, and job b if it is not NULL. The caller holds the lock; it is released during the
 * computation. */
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

/* Returns the first of the worker's n jobs that is ready and that no worker processes, or NULL.
 * Sets *open to true if at least one of the n jobs must still be completed. */
static wb__digest_job *find_own(const wb__load *load, wb__digest_job *jobs, size_t n, bool *open)
{
    wb__digest_job *ready = NULL;
    *open = false;
    for (size_t i = n; i-- > 0;) {
        /* After a failure of the load, the worker waits only for jobs that are being processed. */
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
