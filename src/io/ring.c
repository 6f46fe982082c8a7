#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "io/ring.h"

#if defined(__linux__) && defined(__has_include)
#if __has_include(<liburing.h>)
#define HAS_LIBURING 1
#endif
#endif

#ifdef HAS_LIBURING

#include <dlfcn.h>
#include <errno.h>
#include <liburing.h>
#include <time.h>

#include "core/memory.h"

/* The function pointers are those functions of liburing that its header does not define inline. */
struct wb__ring {
    wb_allocator allocator;
    struct io_uring ring;
    unsigned depth;
    unsigned flags;     /* submission flags for each read and write */
    unsigned under_way; /* number of submitted operations whose completion was not returned yet */
    bool broken;        /* the kernel rejected a call: no more operations are submitted */
    int (*init)(unsigned entries, struct io_uring *ring, unsigned flags);
    void (*exit)(struct io_uring *ring);
    int (*submit)(struct io_uring *ring);
    int (*wait)(struct io_uring *ring, struct io_uring_cqe **cqe, unsigned n,
                struct __kernel_timespec *timeout, sigset_t *mask);
};

/* ISO C does not define object-to-function pointer conversion; POSIX guarantees that it works. */
static bool find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

/* The library is never closed: reopening it costs more than keeping it loaded. */
static bool find_functions(wb__ring *ring)
{
    void *library = dlopen("liburing.so.2", RTLD_NOW | RTLD_LOCAL);
    return library != NULL && find(library, "io_uring_queue_init", &ring->init) &&
           find(library, "io_uring_queue_exit", &ring->exit) &&
           find(library, "io_uring_submit", &ring->submit) &&
           find(library, "io_uring_wait_cqes", &ring->wait);
}

wb__ring *wb__ring_open(const wb_allocator *allocator, unsigned depth, bool remote)
{
    wb__ring *ring = wb__alloc_zeroed(allocator, sizeof *ring);
    if (ring == NULL)
        return NULL;
    ring->allocator = *allocator;
    ring->depth = depth;
    ring->flags = remote ? IOSQE_ASYNC : 0;
    /*
     * IORING_SETUP_COOP_TASKRUN (since Linux 5.19) avoids interrupting a computing thread on every
     * completion. Completions become visible after any system call of the thread. With
     * IORING_SETUP_DEFER_TASKRUN they would require a system call on the ring itself, which a
     * sandbox may reject while reads are pending.
     */
    unsigned quiet = IORING_SETUP_COOP_TASKRUN;
    if (find_functions(ring) &&
        (ring->init(depth, &ring->ring, quiet) == 0 || ring->init(depth, &ring->ring, 0) == 0))
        return ring;
    wb__free(allocator, ring, sizeof *ring);
    return NULL;
}

void wb__ring_close(wb__ring *ring)
{
    if (ring == NULL)
        return;
    wb_allocator allocator = ring->allocator;
    wb__ring_done done;
    while (wb__ring_take(ring, &done, 1) != 0)
        ;
    ring->exit(&ring->ring);
    wb__free(&allocator, ring, sizeof *ring);
}

static struct io_uring_sqe *find_entry(wb__ring *ring, size_t n)
{
    bool free = !ring->broken && ring->under_way < ring->depth && n <= INT32_MAX;
    return free ? io_uring_get_sqe(&ring->ring) : NULL;
}

static bool begin(wb__ring *ring, struct io_uring_sqe *entry, unsigned tag)
{
    io_uring_sqe_set_flags(entry, ring->flags);
    io_uring_sqe_set_data64(entry, tag);
    int begun;
    do {
        begun = ring->submit(&ring->ring);
    } while (begun == -EINTR);
    /* A rejected entry stays in the queue, and the kernel would execute it with the next
     * submission. Therefore no more operations are submitted. */
    ring->broken = begun != 1;
    ring->under_way += begun == 1;
    return begun == 1;
}

bool wb__ring_begin(wb__ring *ring, const wb__direct *direct, uint64_t offset, void *dst, size_t n,
                    unsigned tag)
{
    struct io_uring_sqe *entry = find_entry(ring, n);
    if (entry == NULL)
        return false;
    io_uring_prep_read(entry, direct->fd, dst, (unsigned)n, offset);
    WB__INITIALISED(dst, n);
    return begin(ring, entry, tag);
}

bool wb__ring_begin_write(wb__ring *ring, const wb__direct *direct, uint64_t offset,
                          const void *src, size_t n, unsigned tag)
{
    struct io_uring_sqe *entry = find_entry(ring, n);
    if (entry == NULL)
        return false;
    io_uring_prep_write(entry, direct->fd, src, (unsigned)n, offset);
    return begin(ring, entry, tag);
}

/*
 * Waits until a completion is available. The completion queue can hold all pending operations and
 * is in memory shared with the kernel. If the kernel rejects waiting (a sandbox was activated
 * meanwhile), the function polls the queue every millisecond.
 */
static void wait_for_one(wb__ring *ring)
{
    static const struct timespec a_millisecond = {0, 1000000};
    struct io_uring_cqe *entry;
    while (io_uring_cq_ready(&ring->ring) == 0) {
        int waited = ring->wait(&ring->ring, &entry, 1, NULL, NULL);
        if (waited == 0 || waited == -EINTR)
            continue;
        ring->broken = ring->broken || waited != -EAGAIN;
        (void)nanosleep(&a_millisecond, NULL);
    }
}

size_t wb__ring_look(wb__ring *ring, wb__ring_done *done, size_t most)
{
    struct io_uring_cqe *entry;
    unsigned head;
    unsigned n = 0;
    io_uring_for_each_cqe(&ring->ring, head, entry)
    {
        if (n == most)
            break;
        done[n++] = (wb__ring_done){(unsigned)entry->user_data, entry->res};
    }
    io_uring_cq_advance(&ring->ring, n);
    ring->under_way -= n;
    return n;
}

size_t wb__ring_take(wb__ring *ring, wb__ring_done *done, size_t most)
{
    if (ring->under_way == 0)
        return 0;
    wait_for_one(ring);
    return wb__ring_look(ring, done, most);
}

#else

wb__ring *wb__ring_open(const wb_allocator *allocator, unsigned depth, bool remote)
{
    (void)allocator;
    (void)depth;
    (void)remote;
    return NULL;
}

void wb__ring_close(wb__ring *ring)
{
    (void)ring;
}

bool wb__ring_begin(wb__ring *ring, const wb__direct *direct, uint64_t offset, void *dst, size_t n,
                    unsigned tag)
{
    (void)ring;
    (void)direct;
    (void)offset;
    (void)dst;
    (void)n;
    (void)tag;
    return false;
}

bool wb__ring_begin_write(wb__ring *ring, const wb__direct *direct, uint64_t offset,
                          const void *src, size_t n, unsigned tag)
{
    (void)ring;
    (void)direct;
    (void)offset;
    (void)src;
    (void)n;
    (void)tag;
    return false;
}

size_t wb__ring_look(wb__ring *ring, wb__ring_done *done, size_t most)
{
    (void)ring;
    (void)done;
    (void)most;
    return 0;
}

size_t wb__ring_take(wb__ring *ring, wb__ring_done *done, size_t most)
{
    (void)ring;
    (void)done;
    (void)most;
    return 0;
}

#endif
