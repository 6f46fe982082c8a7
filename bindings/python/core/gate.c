/*
 * The fork handlers. `inside` is the number of threads between gate_enter and gate_leave. A fork
 * keeps new threads out and waits until `inside` is 0. A read-write lock would not do: overlapping
 * readers could delay a fork forever, and the child would inherit a lock that counts threads of the
 * parent.
 */
#define _POSIX_C_SOURCE 200809L
#include "core.h"

#include <pthread.h>
#include <time.h>

static atomic_size_t inside;
static atomic_bool forking;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER; /* held while `forking` */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int failed;

static void before(void)
{
    const struct timespec moment = {.tv_nsec = 20000};
    (void)pthread_mutex_lock(&turn);
    atomic_store(&forking, true);
    while (atomic_load(&inside) != 0)
        (void)nanosleep(&moment, NULL);
}

static void after(void)
{
    atomic_store(&forking, false);
    (void)pthread_mutex_unlock(&turn);
}

/* The child has only this thread, so no thread is inside the gate or waits for it. */
static void after_in_child(void)
{
    (void)pthread_mutex_init(&turn, NULL);
    atomic_store(&inside, 0);
    atomic_store(&forking, false);
}

static void install(void)
{
    failed = pthread_atfork(before, after, after_in_child);
}

int gate_open(void)
{
    (void)pthread_once(&once, install);
    if (failed != 0)
        (void)PyErr_NoMemory();
    return failed == 0 ? 0 : -1;
}

void gate_enter(void)
{
    for (;;) {
        (void)atomic_fetch_add(&inside, 1);
        if (!atomic_load(&forking))
            return;
        (void)atomic_fetch_sub(&inside, 1);
        (void)pthread_mutex_lock(&turn); /* wait until the fork is done */
        (void)pthread_mutex_unlock(&turn);
    }
}

void gate_leave(void)
{
    (void)atomic_fetch_sub(&inside, 1);
}
