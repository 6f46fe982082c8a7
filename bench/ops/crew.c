#define _GNU_SOURCE
#include "crew.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "../worker.h"

enum { THREADS_MAX = 256 };

typedef struct crew {
    size_t n;
    void (*body)(void *arg, size_t i);
    void *arg;
    atomic_size_t next;
} crew;

size_t crew_count(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return n < 1 ? 1 : n > THREADS_MAX ? THREADS_MAX : (size_t)n;
}

static void *work(void *arg)
{
    crew *c = arg;
    for (size_t i = atomic_fetch_add(&c->next, 1); i < c->n; i = atomic_fetch_add(&c->next, 1))
        c->body(c->arg, i);
    return NULL;
}

static void run(void *ctx, size_t n, void (*body)(void *arg, size_t i), void *arg)
{
    pthread_t ids[THREADS_MAX];
    crew c = {.n = n, .body = body, .arg = arg};
    const size_t *least = ctx;
    size_t threads = crew_count() > *least ? crew_count() : *least;
    for (size_t i = 0; i < threads; i++) {
        if (pthread_create(&ids[i], NULL, work, &c) != 0)
            bench_die("threads", "cannot be started");
    }
    for (size_t i = 0; i < threads; i++)
        (void)pthread_join(ids[i], NULL);
}

static size_t one = 1, four = 4;

const wb_executor crew_executor = {&one, run};
const wb_executor crew_of_four = {&four, run};
