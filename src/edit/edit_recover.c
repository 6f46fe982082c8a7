/*
 * Undoes or completes an interrupted edit, from its journal.
 *
 * An edit in place inserts k bytes at the start of the file and syncs the file, writes the new
 * header and syncs again. Undoing removes k bytes at the start of the file if the file is k bytes
 * longer than before the edit, and then writes the old header. During the edit, each byte before
 * the data section is a byte of the old header, a byte of the new header, or an inserted zero. If
 * recovery finds any other byte, the file was replaced since the edit began, and recovery does not
 * change it. An edit that writes a new file needs a journal only for the index: the file has either
 * the old or the new header.
 *
 * The index is replaced after the file, atomically. Recovery replaces it by the old or the new
 * index, to match the file. While the journal exists, recovery can be repeated any number of times.
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

#ifndef FALLOC_FL_COLLAPSE_RANGE
#define FALLOC_FL_COLLAPSE_RANGE 0x08
#endif

/* Returns true if a file of `bytes` bytes already contains the inserted bytes. */
static bool is_longer(const wb__journal *from, uint64_t bytes)
{
    return bytes == from->after;
}

/* Restores the old header and removes inserted bytes. Returns 0 or errno. */
static int restore_header(int fd, const wb__journal *from)
{
    struct stat st;
    size_t inserted = wb__journal_inserted(from);
    if (fstat(fd, &st) != 0)
        return errno;
    bool longer = is_longer(from, (uint64_t)st.st_size);
    if (!longer && (uint64_t)st.st_size != from->before)
        return EINVAL; /* the length shows that another program changed the file */
    if (inserted != 0 && longer && fallocate(fd, FALLOC_FL_COLLAPSE_RANGE, 0, (off_t)inserted) != 0)
        return errno;
    int os_error = inserted == 0 ? 0 : wb__write_sync(fd);
    if (os_error == 0)
        os_error = wb__write_at(fd, 0, from->old_header.ptr, from->old_header.len);
    return os_error != 0 ? os_error : wb__write_sync(fd);
}

static wb_status fail_undo(wb__context *context, const char *path, int os_error)
{
    context->file = path;
    return wb__fail(context, WB_ERROR_IO, WB__FINDING_EDIT_HALF, WB_NO_OFFSET, WB__STR(""),
                    WB__MSG_EDIT_UNDO, os_error);
}

wb_status wb__edit_undo_in_place(wb__context *context, const char *path, int fd,
                                 const wb__journal *from)
{
    int os_error = restore_header(fd, from);
    return os_error == 0 ? WB_OK : fail_undo(context, path, os_error);
}

/* ---- comparing the file with the journal ---- */

typedef enum state {
    OLD,      /* the file has not changed yet */
    COMPLETE, /* the new header is complete, and only the index remains to be replaced */
    HALF,     /* the edit in place is incomplete and must be undone */
    ANOTHER   /* the file is not the one that the journal describes */
} state;

/* Returns true if each of the n bytes before the data section can result from this edit: a byte
 * of the old header, a byte of the new header, or an inserted zero. `longer` is true if the file
 * contains the inserted bytes. */
static bool are_ours(const wb__journal *from, bool longer, const uint8_t *now, size_t n)
{
    size_t room = wb__journal_inserted(from);
    const uint8_t *before = (const uint8_t *)from->old_header.ptr;
    const uint8_t *after = (const uint8_t *)from->new_header.ptr;
    for (size_t i = 0; i < n; i++) {
        bool is_old = longer ? i >= room && now[i] == before[i - room] : now[i] == before[i];
        bool is_new = now[i] == after[longer ? i : i + room];
        if (!is_old && !is_new && (!longer || i >= room || now[i] != 0))
            return false;
    }
    return true;
}

/* Compares the file with the journal. The length of the file is `bytes`, and its first bytes are
 * `now`. */
static state compare(const wb__journal *from, uint64_t bytes, wb__str now)
{
    const wb__str before = from->old_header, after = from->new_header;
    bool is_old = bytes == from->before && wb__str_starts_with(now, before);
    bool is_new = bytes == from->after && wb__str_starts_with(now, after);
    if (is_new && !is_old)
        return COMPLETE;
    if (!from->in_place)
        return is_old ? OLD : ANOTHER;
    bool longer = is_longer(from, bytes);
    size_t n = longer ? after.len : before.len;
    return n <= now.len && are_ours(from, longer, (const uint8_t *)now.ptr, n) ? HALF : ANOTHER;
}

/* Compares the file with the journal, and sets *found to the result. Returns 0 or errno. */
static int look(wb__context *context, int fd, const wb__journal *from, state *found)
{
    struct stat st;
    *found = ANOTHER;
    if (fstat(fd, &st) != 0)
        return errno;
    uint64_t bytes = (uint64_t)st.st_size;
    if (bytes != from->before && bytes != from->after)
        return 0;
    size_t n =
        from->old_header.len > from->new_header.len ? from->old_header.len : from->new_header.len;
    uint8_t *now = wb__alloc(&context->allocator, n);
    if (now == NULL)
        return ENOMEM;
    size_t got = wb__read_back(fd, 0, now, n < bytes ? n : (size_t)bytes);
    *found = compare(from, bytes, (wb__str){(const char *)now, got});
    wb__free(&context->allocator, now, n);
    return got == (n < bytes ? n : bytes) ? 0 : EIO;
}

/* ---- recovery ---- */

/* Undoes an incomplete edit of the file, but not of the index. Sets *found to the state of the file
 * before this undo. */
static wb_status undo_file(wb__context *context, const char *path, const wb__journal *from,
                           state *found)
{
    *found = ANOTHER;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    int os_error = fd < 0 ? errno : look(context, fd, from, found);
    if (os_error == 0 && *found == HALF)
        os_error = restore_header(fd, from);
    else if (os_error == 0 && *found != ANOTHER)
        os_error = wb__write_sync(fd);
    if (fd >= 0 && close(fd) != 0 && os_error == 0)
        os_error = errno;
    if (os_error != 0)
        return fail_undo(context, path, os_error);
    context->file = path;
    return *found != ANOTHER ? WB_OK
                             : wb__fail(context, WB_ERROR_IO, WB__FINDING_EDIT_ANOTHER,
                                        WB_NO_OFFSET, WB__STR(""), WB__MSG_EDIT_JOURNAL_FOREIGN);
}

/* Returns false if the path of the journal would exceed NAME_MAX or PATH_MAX. A file with such a
 * long path has no journal. */
bool wb__edit_journal_fits(const char *journal_at)
{
    return wb__path_base(journal_at).len <= NAME_MAX && strlen(journal_at) < PATH_MAX;
}

static wb_status recover_parsed(wb__context *context, const char *path, const char *journal_at,
                                const wb__journal *from)
{
    state found;
    wb_status status = undo_file(context, path, from, &found);
    if (status != WB_OK || from->index.len == 0)
        return status;
    bool is_new = found == COMPLETE;
    return wb__index_restore(context, journal_at, from->index,
                             is_new ? from->old_index : from->new_index,
                             is_new ? from->new_index : from->old_index);
}

static wb_status recover_from(wb__context *context, const char *path, const char *journal_at,
                              bool *undone)
{
    wb__source *source;
    wb__hash_key key;
    bool is_folder;
    if (!wb__edit_journal_fits(journal_at))
        return WB_OK;
    wb_status status = wb__source_open(context, journal_at, WB_ACCESS_READ, &source, &is_folder);
    if (status != WB_OK && context->error->os_error == ENOENT) {
        (void)wb__error_reset(context->error, context->error);
        return WB_OK;
    }
    if (status != WB_OK || is_folder)
        return is_folder ? WB_OK : status;
    wb__journal from;
    bool is_large = wb__source_bytes(source) > WB__JOURNAL_MAX;
    size_t n = is_large ? 0 : (size_t)wb__source_bytes(source);
    uint8_t *bytes = wb__alloc(&context->allocator, n);
    status =
        bytes == NULL ? wb__fail_memory(context) : wb__source_read(source, context, 0, bytes, n);
    wb__source_close(source);
    /* The journal gets its final name only after it is complete. A file with this name whose
     * checksum is wrong was therefore not written by an edit of this user. */
    context->file = journal_at;
    int os_error = status == WB_OK ? wb__journal_key(&context->allocator, false, &key) : 0;
    bool has_key = os_error == 0;
    if (!has_key && os_error != ENOENT && os_error != EPERM)
        status = wb__fail_os(context, os_error, WB__MSG_EDIT_JOURNAL_KEY);
    else if (status == WB_OK && !(has_key && wb__journal_parse(&key, bytes, n, &from)))
        status = wb__fail(context, WB_ERROR_IO, WB__FINDING_EDIT_ANOTHER, WB_NO_OFFSET, WB__STR(""),
                          WB__MSG_EDIT_JOURNAL_UNKNOWN);
    else if (status == WB_OK)
        status = recover_parsed(context, path, journal_at, &from);
    wb__free(&context->allocator, bytes, n);
    context->file = path;
    if (status != WB_OK)
        return status;
    *undone = true;
    return wb__edit_end_journal(context, path, journal_at);
}

wb_status wb__edit_end_journal(wb__context *context, const char *path, const char *journal_at)
{
    context->file = path;
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
