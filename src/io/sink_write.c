#define _GNU_SOURCE /* fallocate */
#define _FILE_OFFSET_BITS 64
#include "io/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define WRITE_MAX ((size_t)1 << 30) /* Linux writes at most 0x7ffff000 bytes at once */

/*
 * The two signals by which writing can end a process. They are held back in this thread only; one
 * that this thread raised meanwhile is taken away before they are let through again, unless the
 * same was waiting already, when it is not ours to take.
 */
typedef struct quiet {
    sigset_t ours;   /* held back, and were not waiting before */
    sigset_t before; /* the mask to go back to */
    bool active;
} quiet;

static void quiet_begin(quiet *q)
{
    static const int signals[] = {SIGPIPE, SIGXFSZ};
    sigset_t waiting;
    (void)sigemptyset(&q->ours);
    q->active = false;
    if (sigpending(&waiting) != 0)
        return;
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        if (sigismember(&waiting, signals[i]) == 0)
            (void)sigaddset(&q->ours, signals[i]);
    }
    q->active = pthread_sigmask(SIG_BLOCK, &q->ours, &q->before) == 0;
}

static void quiet_end(quiet *q)
{
    static const struct timespec now = {0, 0};
    int kept = errno;
    if (q->active) {
        while (sigtimedwait(&q->ours, NULL, &now) > 0 || errno == EINTR)
            continue;
        (void)pthread_sigmask(SIG_SETMASK, &q->before, NULL);
    }
    errno = kept;
}

static int write_loop(int fd, const uint8_t *bytes, size_t n)
{
    while (n > 0) {
        ssize_t done = write(fd, bytes, n < WRITE_MAX ? n : WRITE_MAX);
        if (done > 0) {
            bytes += done;
            n -= (size_t)done;
        } else if (done == 0) {
            return EIO; /* POSIX leaves it open what that means; going on could last for ever */
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            struct pollfd ready = {.fd = fd, .events = POLLOUT};
            if (poll(&ready, 1, -1) < 0 && errno != EINTR)
                return errno;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

int wb__write_all(int fd, const void *bytes, size_t n)
{
    quiet q;
    quiet_begin(&q);
    int os_error = write_loop(fd, bytes, n);
    quiet_end(&q);
    return os_error;
}

int wb__write_reserve(int fd, uint64_t bytes)
{
#ifdef FALLOC_FL_KEEP_SIZE
    quiet q;
    int os_error = 0;
    if (bytes == 0)
        return 0;
    if (bytes > INT64_MAX)
        return EFBIG;
    quiet_begin(&q);
    while (fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes) != 0) {
        os_error = errno;
        if (os_error != EINTR)
            break;
        os_error = 0;
    }
    quiet_end(&q);
    /* Only what writing would run into as well counts; not every file system can reserve. */
    return os_error == ENOSPC || os_error == EDQUOT || os_error == EFBIG || os_error == EIO
               ? os_error
               : 0;
#else
    (void)fd;
    (void)bytes;
    return 0;
#endif
}
