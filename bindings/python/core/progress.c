/*
 * Long calls: progress, signals and cancellation. The library calls report() without the GIL.
 * report() takes the GIL, lets Python handle signals, and calls the callback of the user. An
 * exception of a signal handler or of the callback stops the call. At most one report is made per
 * 50 ms, which keeps the cost low.
 */
#define _POSIX_C_SOURCE 200809L
#include "core.h"

#include <time.h>

enum { INTERVAL_NS = 50000000 };

static int64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool call_back(const watch *self, uint64_t done, uint64_t total)
{
    if (PyErr_Occurred() || PyErr_CheckSignals() < 0)
        return false;
    if (self->callback == NULL || self->callback == Py_None)
        return true;
    PyObject *result = PyObject_CallFunction(self->callback, "KK", (unsigned long long)done,
                                             (unsigned long long)total);
    Py_XDECREF(result);
    return result != NULL;
}

static int report(void *ctx, uint64_t done, uint64_t total)
{
    watch *self = ctx;
    /* Only the calling thread reports: the executor's threads have no Python thread state. */
    if (!pthread_equal(self->thread, pthread_self()))
        return 0;
    int64_t now = now_ns();
    bool finished = done >= total && !self->finished;
    if (!finished && now - self->last < INTERVAL_NS)
        return 0;
    self->last = now;
    self->finished = done >= total;
    PyEval_RestoreThread(self->state);
    bool good = call_back(self, done, total);
    self->state = PyEval_SaveThread();
    return good ? 0 : 1;
}

void watch_begin(watch *self, PyObject *callback)
{
    *self = (watch){.callback = callback, .thread = pthread_self(), .last = now_ns()};
    self->progress = (wb_progress){.ctx = self, .report = report};
    self->state = PyEval_SaveThread();
}

void watch_end(watch *self)
{
    PyEval_RestoreThread(self->state);
}
