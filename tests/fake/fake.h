/*
 * fake.h: drivers that are none, for machines without a device. Each is a shared library under the name of
 * the real one, with the functions the library calls. They keep count of what they gave out, do what
 * is to go on by itself only when it is waited for, notice what a real driver would trip over (`wrong`),
 * and let any call fail.
 *
 * A test finds their state with dlsym, "fake_state_of"; the command is given them in LD_LIBRARY_PATH, and what
 * was not given back when the process ends is told on stderr.
 */
#ifndef WB_TESTS_FAKE_H
#define WB_TESTS_FAKE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fake_state {
    size_t calls, fail_at; /* the call that fails, counted from 1; 0: none */
    int fail_code;
    const char *failed;           /* the name of the one that did */
    size_t objects, buffers;      /* given out and not given back: all, and memory of the device */
    uint64_t bytes, room;         /* of these buffers; of the device, 0: any number */
    size_t pinned;                /* blocks of pinned memory */
    size_t pending, most_pending; /* copies that were begun and not waited for */
    uint64_t copied;              /* bytes, to the device */
    uint64_t streams_used;        /* a bit for each */
    size_t from_elsewhere;        /* copies from memory that is not pinned */
    size_t borrowed;              /* buffers in memory of the process, by the process's wish */
    unsigned wrong;
    const char *complaint; /* the first of them */
    unsigned lies;         /* a processor that keeps its buffers to itself all the same */
} fake_state;

#define FAKE __attribute__((visibility("default")))

static pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
extern fake_state *const fake_it;

/* The code that a call is to return, 0 mostly. With the lock, which the caller lets go. */
static inline int fake_enter(const char *name)
{
    (void)pthread_mutex_lock(&fake_lock);
    if (++fake_it->calls != fake_it->fail_at)
        return 0;
    fake_it->failed = name;
    return fake_it->fail_code;
}

static inline int fake_leave(int code)
{
    (void)pthread_mutex_unlock(&fake_lock);
    return code;
}

static inline void fake_complain(const char *complaint)
{
    if (fake_it->wrong++ == 0)
        fake_it->complaint = complaint;
}

#endif
