/*
 * fake.h: fake drivers, for machines without a device. Each is a shared library with the name of
 * the real driver and the functions that the library calls. Fake drivers count the objects they
 * hand out, run asynchronous work only when the caller waits for it, detect misuse that would
 * crash a real driver (`wrong`), and can let any call fail.
 *
 * Unit tests find the driver's state with dlsym ("fake_state_of"). The command finds the drivers
 * through LD_LIBRARY_PATH; objects still allocated when the process ends are reported on stderr.
 */
#ifndef WB_TESTS_FAKE_H
#define WB_TESTS_FAKE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fake_state {
    size_t calls,
        fail_at; /* calls so far; number of the call that fails, counted from 1, 0: none */
    int fail_code;
    const char *failed;      /* name of the function that failed */
    size_t objects, buffers; /* objects not released: all objects, and device buffers */
    uint64_t bytes, room; /* size of these buffers in bytes; device memory in bytes, 0: unlimited */
    size_t pinned;        /* number of pinned memory blocks */
    size_t pending,
        most_pending;      /* copies started and not yet waited for; the maximum of this number */
    uint64_t copied;       /* bytes copied to the device */
    uint64_t streams_used; /* bit set of streams used */
    size_t from_elsewhere; /* copies from memory that is not pinned */
    size_t borrowed;       /* buffers in host memory supplied by the caller */
    unsigned wrong;
    const char *complaint; /* description of the first misuse */
    unsigned lies; /* simulates a CPU device that copies buffers instead of sharing host memory */
} fake_state;

#define FAKE __attribute__((visibility("default")))

static pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
extern fake_state *const fake_it;

/* Returns the code that a call must return, 0 for success. Takes the lock; the caller releases
 * it. */
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
