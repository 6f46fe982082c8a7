/*
 * Edits the header of a file in place, protected by a journal. The journal stores the old and the
 * new header durably before the file changes:
 *
 *   offset  bytes  content
 *   0       8      "WBEDIT02"
 *   8       8      length of the file before the edit
 *   16      8      k, number of bytes that the edit inserts at the start of the file
 *   24      8      n, offset of the data section before the edit
 *   32      n      the old header
 *           n + k  the new header
 *           8      checksum of all bytes above
 *
 * All numbers are little-endian. The edit inserts k bytes and syncs the file, writes the new header
 * and syncs again, then removes the journal. While the journal exists, the edit can be undone any
 * number of times. Undoing removes k bytes at the start of the file if the file is k bytes longer
 * than before the edit, and then writes the old header. During an edit, each byte before the data
 * section is a byte of the old header, a byte of the new header, or an inserted zero. If recovery
 * finds any other byte, the file was replaced since the edit began, and recovery does not change
 * it.
 */
#define _GNU_SOURCE /* fallocate */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "edit/edit.h"
#include "edit/edit_messages.h"

#ifndef FALLOC_FL_INSERT_RANGE
#define FALLOC_FL_INSERT_RANGE 0x20
#endif
#ifndef FALLOC_FL_COLLAPSE_RANGE
#define FALLOC_FL_COLLAPSE_RANGE 0x08
#endif

#define FIXED 32
#define CHECK 8
/* Maximum size of a journal, in bytes. A journal contains two headers, and the largest known
 * headers are far smaller than half of this size. */
#define JOURNAL_MAX ((size_t)1 << 30)

static const char magic[] = WB__JOURNAL_MAGIC; /* without the terminating NUL */
#define MAGIC (sizeof magic - 1)

static uint64_t checksum(const void *bytes, size_t n)
{
    static const wb__hash_key key = {{0x7765696768627269, 0x6467652e65646974}};
    return wb__siphash(&key, bytes, n);
}

/* ---- undo ---- */

typedef struct journal {
    uint64_t length, inserted; /* file length before the edit, and number of inserted bytes */
    const uint8_t *before;     /* old header, n bytes */
    const uint8_t *after;      /* new header, n + inserted bytes */
    size_t n;                  /* size of the old header, in bytes */
} journal;

static bool parse(const uint8_t *bytes, size_t n, journal *out)
{
    if (n < FIXED + CHECK || memcmp(bytes, magic, MAGIC) != 0 ||
        wb__load_le64(bytes + n - CHECK) != checksum(bytes, n - CHECK))
        return false;
    uint64_t rest = n - FIXED - CHECK, before = wb__load_le64(bytes + 24);
    out->length = wb__load_le64(bytes + 8);
    out->inserted = wb__load_le64(bytes + 16);
    if (before > rest / 2 || out->inserted != rest - 2 * before || before > out->length ||
        out->length > (uint64_t)INT64_MAX - rest)
        return false;
    out->n = (size_t)before;
    out->before = bytes + FIXED;
    out->after = out->before + out->n;
    return true;
}

/* Returns true if a file of `bytes` bytes already contains the inserted bytes. */
static bool is_longer(const journal *from, uint64_t bytes)
{
    return bytes == from->length + from->inserted;
}

/* Restores the old header and removes inserted bytes. Returns 0 or errno. */
static int undo(int fd, const journal *from)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return errno;
    bool longer = is_longer(from, (uint64_t)st.st_size);
    if (!longer && (uint64_t)st.st_size != from->length)
        return EINVAL; /* the length shows that another program changed the file */
    if (from->inserted != 0 && longer &&
        fallocate(fd, FALLOC_FL_COLLAPSE_RANGE, 0, (off_t)from->inserted) != 0)
        return errno;
    int os_error = from->inserted == 0 ? 0 : wb__write_sync(fd);
    if (os_error == 0)
        os_error = wb__write_at(fd, 0, from->before, from->n);
    return os_error != 0 ? os_error : wb__write_sync(fd);
}

static wb_status fail_undo(wb__context *context, const char *path, int os_error)
{
    context->file = path;
    return wb__fail(context, WB_ERROR_IO, WB__FINDING_EDIT_HALF, WB_NO_OFFSET, WB__STR(""),
                    WB__MSG_EDIT_UNDO, os_error);
}

/* Returns true if each of the n bytes before the data section can result from this edit: a byte
 * of the old header, a byte of the new header, or an inserted zero. `longer` is true if the file
 * contains the inserted bytes. */
static bool are_ours(const journal *from, bool longer, const uint8_t *now, size_t n)
{
    size_t room = (size_t)from->inserted;
    for (size_t i = 0; i < n; i++) {
        bool is_old =
            longer ? i >= room && now[i] == from->before[i - room] : now[i] == from->before[i];
        bool is_new = now[i] == from->after[longer ? i : i + room];
        if (!is_old && !is_new && (!longer || i >= room || now[i] != 0))
            return false;
    }
    return true;
}

typedef enum state {
    COMPLETE, /* the new header is complete, and only the journal remains to be removed */
    HALF,     /* the edit is incomplete and must be undone */
    ANOTHER   /* the file is not the one that the journal describes */
} state;

/* Compares the file with the journal and sets *found. Returns 0 or errno. */
static int look(wb__context *context, int fd, const journal *from, state *found)
{
    struct stat st;
    *found = ANOTHER;
    if (fstat(fd, &st) != 0)
        return errno;
    bool longer = is_longer(from, (uint64_t)st.st_size);
    size_t n = from->n + (longer ? (size_t)from->inserted : 0);
    if (!longer && (uint64_t)st.st_size != from->length)
        return 0;
    uint8_t *now = wb__alloc(&context->allocator, n);
    if (now == NULL)
        return ENOMEM;
    int os_error = wb__read_back(fd, 0, now, n) == n ? 0 : EIO;
    if (os_error == 0 && longer && memcmp(now, from->after, n) == 0)
        *found = COMPLETE;
    else if (os_error == 0 && are_ours(from, longer, now, n))
        *found = HALF;
    wb__free(&context->allocator, now, n);
    return os_error;
}

static wb_status undo_file(wb__context *context, const char *path, const journal *from)
{
    state found = ANOTHER;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    int os_error = fd < 0 ? errno : look(context, fd, from, &found);
    if (os_error == 0 && found != ANOTHER)
        os_error = found == COMPLETE ? wb__write_sync(fd) : undo(fd, from);
    if (fd >= 0 && close(fd) != 0 && os_error == 0)
        os_error = errno;
    if (os_error != 0)
        return fail_undo(context, path, os_error);
    context->file = path;
    return found != ANOTHER ? WB_OK
                            : wb__fail(context, WB_ERROR_IO, WB__FINDING_EDIT_ANOTHER, WB_NO_OFFSET,
                                       WB__STR(""), WB__MSG_EDIT_JOURNAL_FOREIGN);
}

/* Returns true if the path of the journal would exceed NAME_MAX or PATH_MAX. A file with
 * such a long path is never edited in place, so it has no journal. */
static bool is_too_long(const char *journal_at)
{
    return wb__path_base(journal_at).len > NAME_MAX || strlen(journal_at) >= PATH_MAX;
}

static wb_status recover_from(wb__context *context, const char *path, const char *journal_at,
                              bool *undone)
{
    wb__source *source;
    bool is_folder;
    if (is_too_long(journal_at))
        return WB_OK;
    wb_status status = wb__source_open(context, journal_at, WB_ACCESS_READ, &source, &is_folder);
    if (status != WB_OK && context->error->os_error == ENOENT) {
        (void)wb__error_reset(context->error, context->error);
        return WB_OK;
    }
    if (status != WB_OK || is_folder)
        return is_folder ? WB_OK : status;
    journal from;
    bool is_large = wb__source_bytes(source) > JOURNAL_MAX;
    size_t n = is_large ? 0 : (size_t)wb__source_bytes(source);
    uint8_t *bytes = wb__alloc(&context->allocator, n);
    status =
        bytes == NULL ? wb__fail_memory(context) : wb__source_read(source, context, 0, bytes, n);
    wb__source_close(source);
    /* The journal gets its final name only after it is complete. A malformed file with this name
     * was therefore not written by an edit. */
    if (status == WB_OK && !parse(bytes, n, &from))
        status = fail_undo(context, journal_at, EINVAL);
    else if (status == WB_OK)
        status = undo_file(context, path, &from);
    wb__free(&context->allocator, bytes, n);
    if (status != WB_OK)
        return status;
    *undone = true;
    if (unlink(journal_at) != 0)
        return wb__fail_os(context, errno, WB__MSG_EDIT_JOURNAL_REMOVE);
    int os_error = wb__directory_sync_of(&context->allocator, path);
    return os_error == 0 ? WB_OK : wb__fail_os(context, os_error, WB__MSG_EDIT_SYNC_FOLDER);
}

wb_status wb__edit_undo(wb__context *context, const char *path, bool *undone)
{
    char *at = wb__path_journal(&context->allocator, path);
    *undone = false;
    if (at == NULL)
        return wb__fail_memory(context);
    wb_status status = recover_from(context, path, at, undone);
    wb__free(&context->allocator, at, strlen(at) + 1);
    return status;
}

wb_status wb__edit_recover(wb__context *context, const char *path, bool *undone)
{
    int lock;
    *undone = false;
    wb_status status = wb__edit_lock(context, path, &lock);
    if (status == WB_OK)
        status = wb__edit_undo(context, path, undone);
    wb__edit_unlock(lock);
    return status;
}

/* ---- edit ---- */

static wb_status write_journal(wb__edit_job *job, const char *at, uint8_t *bytes, size_t n)
{
    wb_sink *sink;
    wb__source *source = job->model->sources[0];
    const wb__buffer *header = &wb__edit_output(job)->layout.header;
    size_t before = (size_t)job->data_begin;
    memcpy(bytes, magic, MAGIC);
    wb__store_le64(bytes + 8, wb__source_bytes(source));
    wb__store_le64(bytes + 16, job->edited.inserted);
    wb__store_le64(bytes + 24, before);
    memcpy(bytes + FIXED + before, header->bytes, header->n);
    wb_status status = wb__source_read(source, job->context, 0, bytes + FIXED, before);
    if (status != WB_OK)
        return status;
    wb__store_le64(bytes + n - CHECK, checksum(bytes, n - CHECK));
    status = wb__sink_open(job->context, at, n, &sink);
    if (status != WB_OK)
        return status;
    status = wb__sink_write(job->context, sink, bytes, n);
    if (status != WB_OK) {
        wb__sink_discard(sink);
        return status;
    }
    status = wb__sink_commit(job->context, sink);
    /* The journal may already have its final name even if a sync failed. */
    if (status != WB_OK)
        (void)unlink(at);
    return status;
}

/* Inserts the blocks that the new header needs. Returns 0 or errno. */
static int make_room(const wb__edit_job *job, int fd)
{
    uint64_t inserted = job->edited.inserted;
    return inserted == 0 || fallocate(fd, FALLOC_FL_INSERT_RANGE, 0, (off_t)inserted) == 0 ? 0
                                                                                           : errno;
}

/* Writes the new header and syncs the file. Precondition: make_room has inserted the blocks.
 * Returns 0 or errno. */
static int write_header(wb__edit_job *job, int fd)
{
    const wb__buffer *header = &wb__edit_output(job)->layout.header;
    /* Without this sync, the header could reach the disk before the inserted blocks do. */
    int os_error = job->edited.inserted == 0 ? 0 : wb__write_sync(fd);
    if (os_error == 0)
        os_error = wb__write_at(fd, 0, header->bytes, header->n);
    return os_error != 0 ? os_error : wb__write_sync(fd);
}

/* Returns true if the error means that the file system cannot insert blocks. The file is
 * unchanged after such an error. */
static bool is_no_way(int os_error)
{
    return os_error == EOPNOTSUPP || os_error == ENOSYS || os_error == EINVAL ||
           os_error == EPERM || os_error == ETXTBSY;
}

/* Changes the file, or restores it after an error. Precondition: `fd` is open for writing and
 * the journal is durable. */
static wb_status change_or_undo(wb__edit_job *job, int fd, const char *at, const uint8_t *bytes,
                                size_t n, bool *done)
{
    wb__context *context = job->context;
    journal from;
    int os_error = make_room(job, fd);
    bool untouched = is_no_way(os_error);
    if (os_error == 0)
        os_error = write_header(job, fd);
    *done = os_error == 0;
    /* An unchanged file needs no undo. An undo would write to the file, and the caller's fallback
     * to a new file would then fail, because the fallback requires an unchanged file. */
    if (!*done && !untouched) {
        /* The length of the file shows whether blocks were inserted, as in recovery after a
         * crash. */
        int undone = parse(bytes, n, &from) ? undo(fd, &from) : EINVAL;
        if (undone != 0)
            return fail_undo(context, job->path, undone);
    }
    if (unlink(at) != 0)
        return wb__fail_os(context, errno, WB__MSG_EDIT_JOURNAL_REMOVE);
    int synced = wb__directory_sync_of(&context->allocator, job->path);
    if (*done && synced != 0)
        return wb__fail_os(context, synced, WB__MSG_EDIT_SYNC_FOLDER);
    if (*done || untouched)
        return WB_OK;
    context->file = job->path;
    return wb__fail_os(context, os_error, WB__MSG_EDIT_WRITE);
}

wb_status wb__edit_in_place(wb__edit_job *job, bool *done)
{
    wb__context *context = job->context;
    size_t n = wb__edit_output(job)->layout.header.n; /* size of the new header, in bytes */
    *done = false;
    if (n > (JOURNAL_MAX - FIXED - CHECK) / 2)
        return WB_OK;
    n += FIXED + (size_t)job->data_begin + CHECK;
    char *at = wb__path_journal(&context->allocator, job->path);
    uint8_t *bytes = wb__alloc(&context->allocator, n);
    wb_status status = at == NULL || bytes == NULL ? wb__fail_memory(context) : WB_OK;
    int fd = -1;
    bool may = status == WB_OK && !is_too_long(at);
    if (may) {
        fd = open(job->path, O_RDWR | O_CLOEXEC);
        context->file = job->path;
        if (fd < 0)
            status = wb__fail_os(context, errno, WB__MSG_EDIT_OPEN);
    }
    if (may && status == WB_OK)
        status = wb__source_check(job->model->sources[0], context);
    if (may && status == WB_OK)
        status = write_journal(job, at, bytes, n);
    if (may && status == WB_OK)
        status = change_or_undo(job, fd, at, bytes, n, done);
    if (fd >= 0 && close(fd) != 0 && status == WB_OK)
        status = wb__fail_os(context, errno, WB__MSG_EDIT_CLOSE);
    wb__free(&context->allocator, bytes, n);
    wb__free(&context->allocator, at, at == NULL ? 0 : strlen(at) + 1);
    return status;
}
