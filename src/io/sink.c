#define _GNU_SOURCE /* O_TMPFILE */
#define _FILE_OFFSET_BITS 64
#include "io/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/source_private.h"

#define LINKS_MAX 40   /* symbolic links on the way to a file, as Linux has it */
#define TRIES 100      /* at a temporary name that is free */
#define NAME_BYTES 256 /* the most that file systems have, and a NUL */

struct wb_sink {
    wb_allocator allocator;
    char *label;
    char *path; /* of the file to be; NULL: a stream */
    int fd;
    int folder; /* of `path`, -1 for streams */
    bool borrows_folder;
    bool owned; /* fd is ours to close */
    bool named; /* the temporary file has the name `temporary` */
    bool existing;
    bool keeps_others; /* wb__sink_keep_others, and what it was told */
    uint64_t set, member;
    bool kept; /* wb__sink_open_kept */
    bool published;
    mode_t mode; /* of the existing file, as its owner and group */
    uid_t uid;
    gid_t gid;
    int failure; /* errno of the first failure */
    uint64_t written;
    char temporary[NAME_BYTES];
};

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

static char *copy_text(const wb_allocator *allocator, const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = wb__alloc(allocator, n);
    return copy == NULL ? NULL : memcpy(copy, text, n);
}

static void free_text(const wb_allocator *allocator, char *text)
{
    if (text != NULL)
        wb__free(allocator, text, strlen(text) + 1);
}

void wb__sink_discard(wb_sink *sink)
{
    if (sink == NULL)
        return;
    if (sink->named && sink->folder >= 0 && !sink->kept)
        (void)unlinkat(sink->folder, sink->temporary, 0);
    if (sink->owned && sink->fd >= 0)
        (void)close(sink->fd);
    if (sink->folder >= 0 && !sink->borrows_folder)
        (void)close(sink->folder);
    wb_allocator allocator = sink->allocator;
    free_text(&allocator, sink->label);
    free_text(&allocator, sink->path);
    wb__free(&allocator, sink, sizeof *sink);
}

static wb_status make(wb__context *context, const char *label, wb_sink **out)
{
    wb_sink *sink = wb__alloc_zeroed(&context->allocator, sizeof *sink);
    if (sink == NULL)
        return wb__fail_memory(context);
    sink->allocator = context->allocator;
    sink->fd = sink->folder = -1;
    sink->label = copy_text(&context->allocator, label);
    if (sink->label == NULL) {
        wb__sink_discard(sink);
        return wb__fail_memory(context);
    }
    *out = sink;
    return WB_OK;
}

/* Fails with what the sink remembers from now on. */
static wb_status fail(wb__context *context, wb_sink *sink, int os_error, const char *what)
{
    const char *file = context->file;
    sink->failure = os_error;
    context->file = sink->label;
    wb_status status = wb__fail_os(context, os_error, what);
    context->file = file;
    return status;
}

/*
 * Follows the symbolic links at the end of `path`, also where the last one leads to nothing yet, so
 * that the file they mean is replaced and not the link. NULL with *os_error on failure.
 */
static char *follow(const wb_allocator *allocator, const char *path, int *os_error)
{
    char target[PATH_MAX];
    char *at = copy_text(allocator, path);
    for (int links = 0; at != NULL; links++) {
        ssize_t n = readlink(at, target, sizeof target - 1);
        if (n < 0)
            return at; /* no link; what else may be wrong shows when the file is opened */
        target[n] = '\0';
        size_t folder = target[0] == '/' ? 0 : (size_t)(base_of(at) - at);
        size_t bytes = folder + (size_t)n + 1;
        char *next = links < LINKS_MAX ? wb__alloc(allocator, bytes) : NULL;
        if (next != NULL) {
            memcpy(next, at, folder);
            memcpy(next + folder, target, (size_t)n + 1);
        } else if (links >= LINKS_MAX) {
            *os_error = ELOOP;
        }
        free_text(allocator, at);
        at = next;
        if (links >= LINKS_MAX)
            return NULL;
    }
    *os_error = ENOMEM;
    return NULL;
}

static int open_folder(const wb_allocator *allocator, const char *path)
{
    size_t n = (size_t)(base_of(path) - path);
    if (n == 0)
        return open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char *folder = wb__alloc(allocator, n + 1);
    if (folder == NULL) {
        errno = ENOMEM;
        return -1;
    }
    memcpy(folder, path, n);
    folder[n] = '\0';
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int kept = errno;
    wb__free(allocator, folder, n + 1);
    errno = kept;
    return fd;
}

static void draw_name(wb_sink *sink)
{
    wb__hash_key key = wb__hash_key_draw();
    if (sink->keeps_others)
        wb__temporary_name(sink->temporary, sink->set, sink->member);
    else
        wb__temporary_name(sink->temporary, key.word[0] ^ key.word[1], WB__NO_MEMBER);
}

/* A file to write into, without a name if that works here. 0, or errno. */
static int open_temporary(wb_sink *sink)
{
#ifdef O_TMPFILE
    /* Without /proc an unnamed file could not be given its name later. */
    if (access("/proc/self/fd", X_OK) == 0) {
        sink->fd = openat(sink->folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
        if (sink->fd >= 0)
            return 0;
    }
#endif
    for (int i = 0; i < TRIES; i++) {
        draw_name(sink);
        sink->fd = openat(sink->folder, sink->temporary,
                          O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        sink->named = sink->fd >= 0;
        if (sink->named || errno != EEXIST)
            break;
    }
    return sink->named ? 0 : errno;
}

/* ".NAME.wb-partial"; false if that is too long. */
static bool kept_name(const char *path, char *name)
{
    int n = snprintf(name, NAME_BYTES, ".%s.wb-partial", base_of(path));
    return n > 0 && n < NAME_BYTES;
}

/* Opens the file that a former run may have left. 0, or errno. */
static int open_kept(wb_sink *sink)
{
    struct stat st;
    sink->fd = openat(sink->folder, sink->temporary,
                      O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0666);
    if (sink->fd < 0)
        return errno;
    sink->named = true;
    return fstat(sink->fd, &st) != 0 ? errno : S_ISREG(st.st_mode) ? 0 : EEXIST;
}

/* 0, or errno. */
static int begin_file(wb_sink *sink, uint64_t expected)
{
    struct stat st;
    if (stat(sink->path, &st) == 0) {
        if (S_ISDIR(st.st_mode))
            return EISDIR;
        if (!S_ISREG(st.st_mode)) { /* a device or a named pipe: there is nothing to replace */
            sink->fd = open(sink->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
            sink->owned = sink->fd >= 0;
            free_text(&sink->allocator, sink->path);
            sink->path = NULL;
            return sink->owned ? 0 : errno;
        }
        /* Renaming over a file needs no right to write it, but its owner took that away for a
         * reason. */
        if (faccessat(AT_FDCWD, sink->path, W_OK, AT_EACCESS) != 0)
            return errno;
        sink->existing = true;
        sink->mode = st.st_mode & 07777;
        sink->uid = st.st_uid;
        sink->gid = st.st_gid;
    } else if (errno != ENOENT) {
        return errno;
    }
    if (*base_of(sink->path) == '\0')
        return EISDIR;
    sink->folder = open_folder(&sink->allocator, sink->path);
    if (sink->folder < 0)
        return errno;
    wb__claim(&sink->allocator, sink->folder);
    sink->kept = sink->kept && kept_name(sink->path, sink->temporary);
    int os_error = sink->kept ? open_kept(sink) : open_temporary(sink);
    sink->owned = sink->fd >= 0;
    return os_error != 0 ? os_error : wb__write_reserve(sink->fd, expected);
}

/* A file that nothing could be written into is of no use to the next run. */
static void forget_empty(wb_sink *sink)
{
    struct stat st;
    if (sink->fd >= 0 && fstat(sink->fd, &st) == 0 && st.st_size == 0)
        sink->kept = false;
}

static wb_status open_sink(wb__context *context, const char *path, uint64_t expected, bool kept,
                           wb_sink **out)
{
    int os_error = 0;
    *out = NULL;
    wb_sink *sink = NULL;
    wb_status status = make(context, path, &sink);
    if (sink == NULL)
        return status;
    sink->kept = kept;
    sink->path = follow(&context->allocator, path, &os_error);
    if (sink->path != NULL)
        os_error = begin_file(sink, expected);
    if (os_error != 0) {
        status = fail(context, sink, os_error, "cannot write the file");
        forget_empty(sink);
        wb__sink_discard(sink);
        return status;
    }
    *out = sink;
    return WB_OK;
}

wb_status wb__sink_open(wb__context *context, const char *path, uint64_t expected, wb_sink **out)
{
    return open_sink(context, path, expected, false, out);
}

wb_status wb__sink_open_kept(wb__context *context, const char *path, uint64_t expected,
                             wb_sink **out)
{
    return open_sink(context, path, expected, true, out);
}

void wb__sink_forget(wb_sink *sink)
{
    sink->kept = false;
}

uint64_t wb__sink_kept_bytes(const wb_allocator *allocator, const char *path)
{
    char name[NAME_BYTES];
    struct stat st;
    int os_error = 0;
    char *end = follow(allocator, path, &os_error);
    int folder = end == NULL ? -1 : open_folder(allocator, end);
    uint64_t bytes = 0;
    if (folder >= 0 && kept_name(end, name) &&
        fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
        bytes = (uint64_t)st.st_blocks * 512;
    if (folder >= 0)
        (void)close(folder);
    free_text(allocator, end);
    return bytes;
}

wb_status wb__sink_open_fd(wb__context *context, int fd, const char *label, wb_sink **out)
{
    *out = NULL;
    wb_status status = make(context, label, out);
    if (*out != NULL)
        (*out)->fd = fd;
    return status;
}

wb_status wb__sink_write(wb__context *context, wb_sink *sink, const void *bytes, size_t n)
{
    if (sink->failure == 0)
        sink->failure = wb__write_all(sink->fd, bytes, n);
    if (sink->failure != 0)
        return fail(context, sink, sink->failure, "cannot write the file");
    sink->written += n;
    return WB_OK;
}

/* Gives an unnamed file a temporary name. 0, or errno. */
static int give_name(wb_sink *sink)
{
    char self[32];
    (void)snprintf(self, sizeof self, "/proc/self/fd/%d", sink->fd);
    for (int i = 0; i < TRIES && !sink->named; i++) {
        draw_name(sink);
        sink->named = linkat(AT_FDCWD, self, sink->folder, sink->temporary, AT_SYMLINK_FOLLOW) == 0;
        if (!sink->named && errno != EEXIST)
            break;
    }
    return sink->named ? 0 : errno;
}

static int sync_file(int fd)
{
    while (fsync(fd) != 0) {
        if (errno != EINTR)
            return errno;
    }
    return 0;
}

/* Closes for good; a file system on a network may only now tell what went wrong. 0, or errno. */
static int close_file(wb_sink *sink)
{
    int fd = sink->fd;
    sink->fd = -1;
    return close(fd) == 0 || errno == EINTR ? 0 : errno;
}

/* Puts an existing file's owner and permissions on the one that replaces it. 0, or errno. */
static int dress(const wb_sink *sink)
{
    struct stat st;
    if (!sink->existing)
        return 0;
    if (fstat(sink->fd, &st) != 0)
        return errno;
    /* Only root may give a file away; anyone else then owns the new one, as cp would have it. */
    mode_t mode = sink->mode;
    if ((st.st_uid != sink->uid || st.st_gid != sink->gid) &&
        fchown(sink->fd, sink->uid, sink->gid) != 0)
        mode &= 0777;
    return fchmod(sink->fd, mode) == 0 ? 0 : errno;
}

/*
 * The order is what makes it safe: the bytes are on the disk before the name is, and the name
 * before the caller hears of success.
 */
static int finish(wb_sink *sink)
{
    int os_error = dress(sink);
    if (os_error != 0)
        return os_error;
    if (ftruncate(sink->fd, (off_t)sink->written) != 0) /* returns what was reserved too much */
        return errno;
    if ((os_error = sync_file(sink->fd)) != 0)
        return os_error;
    if (!sink->named && (os_error = give_name(sink)) != 0)
        return os_error;
    return close_file(sink);
}

/* Where nothing may be replaced a second name is given: link never replaces anything, on any file system
 * that has it. The first is taken away when the set is complete. */
static int rename_file(wb_sink *sink)
{
    const char *base = base_of(sink->path);
    if (sink->keeps_others)
        return linkat(sink->folder, sink->temporary, sink->folder, base, 0);
    int result = renameat(sink->folder, sink->temporary, sink->folder, base);
    sink->named = sink->named && result != 0;
    return result;
}

static int publish(wb_sink *sink)
{
    if (rename_file(sink) != 0)
        return errno;
    sink->published = true;
    int os_error = sync_file(sink->folder);
    return os_error == EINVAL ? 0 : os_error; /* a file system that has no such thing for folders */
}

wb_status wb__sink_finish(wb__context *context, wb_sink *sink, uint64_t length)
{
    sink->written = length;
    if (sink->failure == 0 && sink->path != NULL)
        sink->failure = finish(sink);
    else if (sink->failure == 0 && sink->owned)
        sink->failure = close_file(sink);
    return sink->failure == 0 ? WB_OK : fail(context, sink, sink->failure, "cannot write the file");
}

wb_status wb__sink_publish(wb__context *context, wb_sink *sink)
{
    if (sink->failure == 0 && sink->path != NULL)
        sink->failure = publish(sink);
    return sink->failure == 0
               ? WB_OK
               : fail(context, sink, sink->failure, "cannot put the file into its place");
}

wb_status wb__sink_rename(wb__context *context, wb_sink *sink, const char *path)
{
    char *copy = copy_text(&sink->allocator, path);
    char *label = copy_text(&sink->allocator, path);
    if (copy == NULL || label == NULL) {
        free_text(&sink->allocator, copy);
        free_text(&sink->allocator, label);
        return wb__fail_memory(context);
    }
    free_text(&sink->allocator, sink->path);
    free_text(&sink->allocator, sink->label);
    sink->path = copy;
    sink->label = label;
    return WB_OK;
}

void wb__sink_park(wb_sink *sink, int folder)
{
    if (sink->folder < 0 || folder < 0 || sink->borrows_folder)
        return;
    (void)close(sink->folder);
    sink->folder = folder;
    sink->borrows_folder = true;
}

int wb__sink_read(const wb_sink *sink, uint64_t offset, void *dst, size_t n)
{
    uint8_t *to = dst;
    while (n > 0) {
        ssize_t got = pread(sink->fd, to, n, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0 ? EIO : errno;
        to += got;
        offset += (uint64_t)got;
        n -= (size_t)got;
    }
    return 0;
}

void wb__sink_hasten(const wb_sink *sink)
{
#ifdef SYNC_FILE_RANGE_WRITE
    if (sink->fd >= 0) /* what goes wrong shows when the file is finished */
        (void)sync_file_range(sink->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
#else
    (void)sink;
#endif
}

void wb__sink_keep_others(wb_sink *sink, uint64_t id, uint64_t member)
{
    sink->keeps_others = true;
    sink->set = id;
    sink->member = member;
}

wb_status wb__sink_join(wb__context *context, wb_sink *sink)
{
    char name[WB__TEMPORARY_BYTES];
    if (!sink->keeps_others || !sink->named)
        return WB_OK;
    wb__temporary_name(name, sink->set, sink->member);
    if (strcmp(name, sink->temporary) == 0)
        return WB_OK;
    if (renameat(sink->folder, sink->temporary, sink->folder, name) != 0)
        return fail(context, sink, errno, "cannot name the file");
    memcpy(sink->temporary, name, sizeof name);
    sink->kept = false;
    return WB_OK;
}

bool wb__sink_withdraw(wb_sink *sink)
{
    if (sink->published && unlinkat(sink->folder, base_of(sink->path), 0) != 0)
        return false;
    sink->published = false;
    return true;
}

void wb__sink_leave(wb_sink *sink)
{
    sink->named = false;
}

wb_status wb__sink_commit(wb__context *context, wb_sink *sink)
{
    wb_status status = wb__sink_finish(context, sink, sink->written);
    if (status == WB_OK)
        status = wb__sink_publish(context, sink);
    wb__sink_discard(sink);
    return status;
}

/* ---- bytes that do not come in order ---- */

bool wb__sink_is_file(const wb_sink *sink)
{
    return sink->path != NULL;
}

int wb__sink_place(const wb_sink *sink, uint64_t offset, const void *bytes, size_t n)
{
    return wb__write_at(sink->fd, offset, bytes, n);
}

#define COPY_BYTES ((size_t)1 << 20)

/* Through memory. */
static wb_status copy_through(wb__context *context, const wb_sink *sink, uint64_t offset,
                              const wb__source *source, uint64_t from, uint64_t n)
{
    size_t capacity = n < COPY_BYTES ? (size_t)n : COPY_BYTES;
    uint8_t *bytes = wb__alloc(&context->allocator, capacity);
    wb_status status = WB_OK;
    if (bytes == NULL)
        return wb__fail_memory(context);
    for (uint64_t done = 0; done < n && status == WB_OK;) {
        size_t piece = n - done < capacity ? (size_t)(n - done) : capacity;
        status = wb__source_read(source, context, from + done, bytes, piece);
        int os_error = status == WB_OK ? wb__sink_place(sink, offset + done, bytes, piece) : 0;
        if (os_error != 0)
            status = wb__fail_os(context, os_error, "cannot write the file");
        done += piece;
    }
    wb__free(&context->allocator, bytes, capacity);
    return status;
}

wb_status wb__sink_copy(wb__context *context, const wb_sink *sink, uint64_t offset,
                        const wb__source *source, uint64_t from, uint64_t n)
{
    const char *file = context->file;
    uint64_t done = 0;
    wb_status status = WB_OK;
    context->file = sink->label;
    if (n != 0 && wb__source_is_file(source)) {
        int fd = wb__source_borrow_fd(source, context);
        if (fd < 0)
            return context->error->status;
        int os_error = wb__write_range(sink->fd, offset, fd, from, n, &done);
        wb__source_return_fd(source, fd);
        if (os_error != 0)
            status = wb__fail_os(context, os_error, "cannot copy to the file");
    }
    if (status == WB_OK && done < n) /* says where the source ends, if it does */
        status = copy_through(context, sink, offset + done, source, from + done, n - done);
    context->file = file;
    return status;
}
