/* The executor. Each thread takes the next index until none are left, so that all threads stay busy
 * even if the calls of `body` take different times. If a thread cannot be started, the others do
 * its work. The calling thread always takes part.
 */
#define _GNU_SOURCE /* for sched_getaffinity */
#include "threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

typedef struct crew {
    atomic_size_t next;
    size_t n;
    void (*body)(void *arg, size_t i);
    void *arg;
} crew;

static void *work(void *arg)
{
    crew *all = arg;
    size_t i = 0;
    while ((i = atomic_fetch_add_explicit(&all->next, 1, memory_order_relaxed)) < all->n)
        all->body(all->arg, i);
    return NULL;
}

static unsigned limit; /* number of threads given by --jobs; 0: none */

void threads_set(unsigned count)
{
    limit = count;
}

unsigned threads_count(void)
{
    cpu_set_t set;
    if (limit != 0)
        return limit;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    int count = CPU_COUNT(&set);
    return count < 1 ? 1 : count > THREADS_MAX ? THREADS_MAX : (unsigned)count;
}

/* Callback of the executors of threads_executor and threads_waiting. ctx points to the minimum
 * number of threads, which applies only without --jobs.
 */
static void parallel_for(void *ctx, size_t n, void (*body)(void *arg, size_t i), void *arg)
{
    const unsigned *least = ctx;
    crew all = {.n = n, .body = body, .arg = arg};
    pthread_t threads[THREADS_MAX];
    unsigned wanted = limit != 0 || threads_count() > *least ? threads_count() : *least;
    unsigned started = 0;
    while (started + 1 < wanted && started + 1 < n &&
           pthread_create(&threads[started], NULL, work, &all) == 0)
        started++;
    work(&all);
    for (unsigned i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
}

const wb_executor *threads_executor(void)
{
    static unsigned least = 1;
    static const wb_executor executor = {.ctx = &least, .parallel_for = parallel_for};
    return &executor;
}

const wb_executor *threads_waiting(void)
{
    static unsigned least = THREADS_WAITING;
    static const wb_executor executor = {.ctx = &least, .parallel_for = parallel_for};
    return &executor;
}
