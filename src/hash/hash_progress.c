/*
 * Counts hashed bytes and reports progress to the caller.
 */
#include "hash/hash.h"

#include <errno.h>

bool wb__hash_advance(wb__hash_job *job, size_t bytes)
{
    size_t done = atomic_fetch_add(&job->done, bytes / 1024) + bytes / 1024;
    if (atomic_load(&job->stop))
        return false;
    if (job->progress != NULL && job->home == (const void *)&errno) {
        uint64_t reported = (uint64_t)done * 1024;
        if (job->progress->report(job->progress->ctx, reported < job->total ? reported : job->total,
                                  job->total) != 0) {
            atomic_store(&job->cancelled, true);
            atomic_store(&job->stop, true);
        }
    }
    return !atomic_load(&job->stop);
}
