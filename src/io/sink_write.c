#define _GNU_SOURCE /* for fallocate */
#define _FILE_OFFSET_BITS 64
#include "io/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define WRITE_MAX ((size_t)1 << 30) /* Linux writes at most 0x7ffff000 bytes per call */

/*
 * Blocks SIGPIPE and SIGXFSZ, which writing can raise, in the calling thread. Before the signal
 * mask is restored, signals that were raised meanwhile are discarded. A signal that was already
 * pending before stays pending.
 */
typedef struct quiet {
    sigset_t ours;   /* blocked signals that were not pending before */
    sigset_t before; /* the previous signal mask */
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

#define IN_ORDER UINT64_MAX /* offset value for writing at the current file position */

static int write_loop(int fd, uint64_t offset, const uint8_t *bytes, size_t n)
{
    while (n > 0) {
        size_t piece = n < WRITE_MAX ? n : WRITE_MAX;
        ssize_t done =
            offset == IN_ORDER ? write(fd, bytes, piece) : pwrite(fd, bytes, piece, (off_t)offset);
        if (done > 0) {
            bytes += done;
            n -= (size_t)done;
            offset += offset == IN_ORDER ? 0 : (uint64_t)done;
        } else if (done == 0) {
            return EIO; /* POSIX leaves a result of 0 unspecified; retrying could loop forever */
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
    int os_error = write_loop(fd, IN_ORDER, bytes, n);
    quiet_end(&q);
    return os_error;
}

int wb__write_sync(int fd)
{
    while (fsync(fd) != 0) {
        if (errno != EINTR)
            return errno;
    }
    return 0;
}

int wb__write_at(int fd, uint64_t offset, const void *bytes, size_t n)
{
    quiet q;
    if (offset > INT64_MAX)
        return EFBIG;
    quiet_begin(&q);
    int os_error = write_loop(fd, offset, bytes, n);
    quiet_end(&q);
    return os_error;
}

size_t wb__read_back(int fd, uint64_t offset, void *to, size_t n)
{
    size_t done = 0;
    while (done < n) {
        ssize_t got = pread(fd, (uint8_t *)to + done, n - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}

int wb__write_extend(int fd, uint64_t length)
{
    quiet q;
    struct stat st;
    if (length > INT64_MAX)
        return EFBIG;
    if (fstat(fd, &st) != 0)
        return errno;
    if ((uint64_t)st.st_size >= length)
        return 0;
    quiet_begin(&q);
    int os_error = ftruncate(fd, (off_t)length) == 0 ? 0 : errno;
    quiet_end(&q);
    return os_error;
}

#ifdef __linux__
#define RANGE_BYTES ((size_t)8 << 20) /* number of bytes to copy before write-back is started */

/* Returns true if the error means that these two files cannot be copied inside the kernel. */
static bool is_no_way(int os_error)
{
    return os_error == EXDEV || os_error == ENOSYS || os_error == EOPNOTSUPP ||
           os_error == EINVAL || os_error == EPERM || os_error == EBADF || os_error == ETXTBSY;
}
#endif

int wb__write_range(int to, uint64_t at, int from, uint64_t offset, uint64_t n, uint64_t *done)
{
    int os_error = 0;
    *done = 0;
#ifdef __linux__
    quiet q;
    if (at > INT64_MAX || offset > INT64_MAX)
        return EFBIG;
    quiet_begin(&q);
    while (*done < n && os_error == 0) {
        off_t in = (off_t)(offset + *done), out = (off_t)(at + *done);
        uint64_t left = n - *done;
        ssize_t got = copy_file_range(from, &in, to, &out,
                                      left < RANGE_BYTES ? (size_t)left : RANGE_BYTES, 0);
        if (got > 0) {
            /*
             * Start write-back now, or fsync would have to write everything. Ignore errors of
             * sync_file_range, because fsync reports them.
             */
            if ((size_t)got >= RANGE_BYTES / 8)
                (void)sync_file_range(to, (off_t)(at + *done), got, SYNC_FILE_RANGE_WRITE);
            *done += (uint64_t)got;
        } else if (got == 0) /* end of file, or a /proc file that reports length 0 */
            break;
        else if (errno != EINTR)
            os_error = errno;
    }
    quiet_end(&q);
    return is_no_way(os_error) ? 0 : os_error;
#else
    (void)to;
    (void)at;
    (void)from;
    (void)offset;
    (void)n;
    return os_error;
#endif
}

uint64_t wb__write_room(const char *path)
{
    struct statvfs fs;
    uint64_t bytes;
    if (statvfs(path, &fs) != 0 || !wb__mul(fs.f_bavail, fs.f_frsize, &bytes))
        return UINT64_MAX;
    return bytes;
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
    /* Ignore errors that writing would not cause: some file systems cannot reserve space. */
    return os_error == ENOSPC || os_error == EDQUOT || os_error == EFBIG || os_error == EIO
               ? os_error
               : 0;
#else
    (void)fd;
    (void)bytes;
    return 0;
#endif
}
