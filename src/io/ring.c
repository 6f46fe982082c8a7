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

#include "core/memory.h"

/* Of the library only what its header does not do inline. */
struct wb__ring {
    wb_allocator allocator;
    struct io_uring ring;
    bool broken; /* a read was put in that could not be begun, and would be with the next one */
    int (*init)(unsigned entries, struct io_uring *ring, unsigned flags);
    void (*exit)(struct io_uring *ring);
    int (*submit)(struct io_uring *ring);
    int (*wait)(struct io_uring *ring, struct io_uring_cqe **cqe, unsigned n,
                struct __kernel_timespec *timeout, sigset_t *mask);
};

/* ISO C has no conversion from an object's pointer to a function's; POSIX promises that it works. */
static bool find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

/* The library stays: opening it again costs more than having it. */
static bool find_functions(wb__ring *ring)
{
    void *library = dlopen("liburing.so.2", RTLD_NOW | RTLD_LOCAL);
    return library != NULL && find(library, "io_uring_queue_init", &ring->init) &&
           find(library, "io_uring_queue_exit", &ring->exit) &&
           find(library, "io_uring_submit", &ring->submit) &&
           find(library, "io_uring_wait_cqes", &ring->wait);
}

wb__ring *wb__ring_open(const wb_allocator *allocator, unsigned depth)
{
    wb__ring *ring = wb__alloc_zeroed(allocator, sizeof *ring);
    if (ring == NULL)
        return NULL;
    ring->allocator = *allocator;
    /* Of a read that is done the thread hears when it asks, and is not interrupted; since Linux 6.1. */
    unsigned quiet = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
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
    ring->exit(&ring->ring);
    wb__free(&allocator, ring, sizeof *ring);
}

bool wb__ring_begin(wb__ring *ring, const wb__direct *direct, uint64_t offset, void *dst, size_t n,
                    unsigned tag)
{
    struct io_uring_sqe *entry = ring->broken ? NULL : io_uring_get_sqe(&ring->ring);
    if (entry == NULL || n > INT32_MAX)
        return false;
    io_uring_prep_read(entry, direct->fd, dst, (unsigned)n, offset);
    io_uring_sqe_set_data64(entry, tag);
    int begun;
    do {
        begun = ring->submit(&ring->ring);
    } while (begun == -EINTR);
    ring->broken = begun != 1;
    WB__INITIALISED(dst, n);
    return begun == 1;
}

size_t wb__ring_take(wb__ring *ring, wb__ring_done *done, size_t most)
{
    struct io_uring_cqe *entry;
    unsigned head;
    size_t n = 0;
    int waited;
    do {
        waited = ring->wait(&ring->ring, &entry, 1, NULL, NULL);
    } while (waited == -EINTR || waited == -EAGAIN);
    ring->broken = ring->broken || waited != 0;
    if (waited != 0)
        return 0;
    io_uring_for_each_cqe(&ring->ring, head, entry)
    {
        if (n == most)
            break;
        done[n++] = (wb__ring_done){(unsigned)entry->user_data, entry->res};
    }
    io_uring_cq_advance(&ring->ring, (unsigned)n);
    return n;
}

#else

wb__ring *wb__ring_open(const wb_allocator *allocator, unsigned depth)
{
    (void)allocator;
    (void)depth;
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

size_t wb__ring_take(wb__ring *ring, wb__ring_done *done, size_t most)
{
    (void)ring;
    (void)done;
    (void)most;
    return 0;
}

#endif
