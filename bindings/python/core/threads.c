/*
 * The executor that the module passes to the library. It starts threads for each parallel_for and
 * joins them at its end, so no idle threads exist that a fork could lose. The threads never call
 * Python.
 */
#define _GNU_SOURCE /* for sched_getaffinity */
#include "core.h"

#include <pthread.h>
#ifdef __linux__
#include <sched.h>
#else
#include <unistd.h>
#endif

enum { THREADS_MAX = 256 };

static atomic_uint chosen; /* 0: one thread for each processor */

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

static unsigned processors(void)
{
#ifdef __linux__
    cpu_set_t set;
    long count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
#else
    long count = sysconf(_SC_NPROCESSORS_ONLN);
#endif
    return count < 1 ? 1 : count > THREADS_MAX ? THREADS_MAX : (unsigned)count;
}

static unsigned threads_count(void)
{
    unsigned count = atomic_load(&chosen);
    return count == 0 ? processors() : count;
}

/*
 * If a thread cannot be started, the other threads, which include the calling thread, do its work.
 */
static void parallel_for(void *ctx, size_t n, void (*body)(void *arg, size_t i), void *arg)
{
    (void)ctx;
    crew all = {.n = n, .body = body, .arg = arg};
    pthread_t threads[THREADS_MAX];
    unsigned wanted = threads_count(), started = 0;
    while (started + 1 < wanted && started + 1 < n &&
           pthread_create(&threads[started], NULL, work, &all) == 0)
        started++;
    (void)work(&all);
    for (unsigned i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
}

const wb_executor *threads_executor(void)
{
    static const wb_executor executor = {.parallel_for = parallel_for};
    return &executor;
}

PyObject *core_get_threads(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyLong_FromUnsignedLong(threads_count());
}

PyObject *core_set_threads(PyObject *module, PyObject *number)
{
    (void)module;
    long count = PyLong_AsLong(number);
    if (count == -1 && PyErr_Occurred())
        return NULL;
    if (count < 0 || count > THREADS_MAX) {
        PyErr_Format(PyExc_ValueError, "the number of threads is 0 (one for each processor) to %d",
                     THREADS_MAX);
        return NULL;
    }
    atomic_store(&chosen, (unsigned)count);
    Py_RETURN_NONE;
}
