/*
 * executor.h: an executor for tests, with a given number of threads.
 */
#ifndef WB_TESTS_EXECUTOR_H
#define WB_TESTS_EXECUTOR_H

#include "support.h"

#include <pthread.h>
#include <stdatomic.h>

#define CREW_MOST 8

typedef struct crew {
    size_t n;
    void (*body)(void *arg, size_t i);
    void *arg;
    atomic_size_t taken;
} crew;

/* Calls `body` with the indices in descending order, because the library must not rely on their
 * order. */
static inline void *crew_work(void *arg)
{
    crew *c = arg;
    for (size_t i; (i = atomic_fetch_add(&c->taken, 1)) < c->n;)
        c->body(c->arg, c->n - 1 - i);
    return NULL;
}

static inline void crew_run(void *ctx, size_t n, void (*body)(void *arg, size_t i), void *arg)
{
    size_t threads = *(const size_t *)ctx;
    pthread_t ids[CREW_MOST];
    crew c = {.n = n, .body = body, .arg = arg};
    for (size_t i = 0; i < threads; i++)
        assert_int_equal(pthread_create(&ids[i], NULL, crew_work, &c), 0);
    for (size_t i = 0; i < threads; i++)
        assert_int_equal(pthread_join(ids[i], NULL), 0);
}

/* Returns an executor with *threads threads, at most CREW_MOST. `threads` must stay valid. */
static inline wb_executor crew_executor(size_t *threads)
{
    return (wb_executor){threads, crew_run};
}

#endif
