/*
 * The digests of files. A file's is a chain, so that its pieces go in one after another; but two
 * files can be digested by one processor in little more time than one. A lane therefore takes two pieces
 * at a time where there are several files. When one of them is next in its file it looks for another
 * piece, its own or another lane's, that is next in another file, and digests both. All that is fetched
 * stands in one list. A lane goes on with it as long as there is a piece that is next, whosesoever, since
 * waking another lane takes longer than the disk would like; who has such a piece is woken, or is in here
 * already: nobody waits for ever.
 */
#include "load/load.h"

typedef struct wb__digest_job {
    struct wb__digest_job *next; /* in wb__load.jobs */
    const wb__load_piece *piece;
    bool taken; /* some lane works on it */
    bool done;
} wb__digest_job;

/* The rest of a piece behind `skip` blocks; with the last piece the digest comes out. */
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

/* A job whose turn it is and nobody works on; of two files their pieces are never the same. */
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

/* Works on one or two jobs. With the lock, which is let go meanwhile. */
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

/* The first of a lane's own jobs that can be begun; *open: whether any is still to be waited for. */
static wb__digest_job *find_own(const wb__load *load, wb__digest_job *jobs, size_t n, bool *open)
{
    wb__digest_job *ready = NULL;
    *open = false;
    for (size_t i = n; i-- > 0;) {
        /* Whoever works on a job has to be waited for, also when all has failed. */
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
