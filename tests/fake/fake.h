/*
 * fake.h: fake drivers, for machines without a device. A fake driver is a shared library that has
 * the name of the real driver and defines the functions that weighbridge calls. It counts the
 * objects that it creates, runs asynchronous work only when the caller waits for it, detects misuse
 * that would crash a real driver (`wrong`), and can make any call fail (`fail_at`).
 *
 * Unit tests find the driver's state with dlsym ("fake_state_of"). The wb command finds the drivers
 * through LD_LIBRARY_PATH. When the process ends, a driver reports unreleased objects on stderr.
 */
#ifndef WB_TESTS_FAKE_H
#define WB_TESTS_FAKE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fake_state {
    size_t calls, /* number of calls so far */
        fail_at;  /* number of the call that fails, counted from 1; 0: none */
    int fail_code;
    const char *failed;    /* name of the function that failed */
    size_t objects,        /* number of unreleased objects of all types, buffers included */
        buffers;           /* number of unreleased device buffers */
    uint64_t bytes,        /* total size of `buffers`, in bytes */
        room;              /* device memory in bytes; 0: unlimited */
    size_t pinned;         /* number of pinned memory blocks */
    size_t pending,        /* number of copies started and not yet waited for */
        most_pending;      /* maximum of `pending` so far */
    uint64_t copied;       /* bytes copied to the device */
    uint64_t streams_used; /* bit set of streams used */
    size_t from_elsewhere; /* number of copies from memory that is not pinned */
    size_t borrowed;       /* number of buffers in host memory that the caller supplied */
    unsigned wrong;
    const char *complaint; /* description of the first misuse */
    unsigned lies; /* simulates a CPU device that copies buffers instead of sharing host memory */
} fake_state;

#define FAKE __attribute__((visibility("default")))

static pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
extern fake_state *const fake_it;

/* Begins a driver call: takes the lock, which fake_leave releases. Returns the code that the call
 * must return, 0 for success. */
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
