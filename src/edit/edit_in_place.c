/*
 * Edits the header of a file in place, protected by a journal (journal.h).
 *
 * The order of the steps makes a crash harmless: the journal is durable before the file changes,
 * and the file is durable before the index changes. The journal is removed last.
 */
#define _GNU_SOURCE /* fallocate */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "edit/edit.h"
#include "edit/edit_messages.h"

#ifndef FALLOC_FL_INSERT_RANGE
#define FALLOC_FL_INSERT_RANGE 0x20
#endif

/* ---- journal ---- */

/* Returns the contents of the journal. The pointer to the old header is NULL, because the old
 * header is not in memory. */
static wb__journal describe(const wb__edit_job *job, bool in_place)
{
    const wb__out_file *layout = &wb__edit_output(job)->layout;
    const wb__edit_set *set = &job->set;
    wb__journal journal = {
        .in_place = in_place,
        .before = wb__source_bytes(job->model->sources[0]),
        .after = layout->bytes,
        .old_header = {NULL, (size_t)job->data_begin},
        .new_header = {(const char *)layout->header.bytes, layout->header.n},
    };
    if (in_place)
        journal.after = journal.before + wb__journal_inserted(&journal);
    if (set->changes_index) {
        journal.index = wb__path_base(set->bundle.index_path);
        journal.old_index = set->before;
        journal.new_index = (wb__str){(const char *)set->after.bytes, set->after.n};
    }
    return journal;
}

static wb_status write_file(wb__context *context, const char *at, const uint8_t *bytes, size_t n)
{
    wb_sink *sink;
    wb_status status = wb__sink_open(context, at, n, &sink);
    if (status != WB_OK)
        return status;
    status = wb__sink_write(context, sink, bytes, n);
    if (status != WB_OK) {
        wb__sink_discard(sink);
        return status;
    }
    status = wb__sink_commit(context, sink);
    /* If only the last sync failed, the journal already has its final name: remove it. */
    if (status != WB_OK)
        (void)unlink(at);
    return status;
}

static wb_status fill_journal(const wb__edit_job *job, const wb__hash_key *key,
                              wb__edit_journal *journal)
{
    wb__context *context = job->context;
    wb__journal_put(&journal->is, journal->bytes);
    uint8_t *old = wb__journal_old_header(journal->bytes);
    wb_status status =
        wb__source_read(job->model->sources[0], context, 0, old, journal->is.old_header.len);
    if (status != WB_OK)
        return status;
    journal->is.old_header.ptr = (const char *)old;
    wb__journal_seal(key, journal->bytes, journal->n);
    return write_file(context, journal->at, journal->bytes, journal->n);
}

void wb__edit_journal_free(const wb__context *context, wb__edit_journal *journal)
{
    wb__free(&context->allocator, journal->bytes, journal->n);
    if (journal->at != NULL)
        wb__free(&context->allocator, journal->at, strlen(journal->at) + 1);
    *journal = (wb__edit_journal){.at = NULL};
}

wb_status wb__edit_begin_journal(wb__edit_job *job, bool in_place, wb__edit_journal *journal)
{
    wb__context *context = job->context;
    wb__hash_key key;
    *journal = (wb__edit_journal){.is = describe(job, in_place)};
    size_t n = wb__journal_size(&journal->is);
    journal->at = wb__path_journal(&context->allocator, job->path);
    if (journal->at == NULL)
        return wb__fail_memory(context);
    bool may = n != 0 && wb__edit_journal_fits(journal->at);
    int os_error = may ? wb__journal_key(&context->allocator, true, &key) : 0;
    if (!may || os_error != 0) {
        wb__edit_journal_free(context, journal);
        return os_error == ENOMEM ? wb__fail_memory(context) : WB_OK;
    }
    journal->n = n;
    journal->bytes = wb__alloc(&context->allocator, n);
    wb_status status =
        journal->bytes == NULL ? wb__fail_memory(context) : fill_journal(job, &key, journal);
    if (status != WB_OK)
        wb__edit_journal_free(context, journal);
    return status;
}

/* ---- edit ---- */

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
static wb_status change_or_undo(wb__edit_job *job, int fd, const wb__edit_journal *journal,
                                bool *done)
{
    wb__context *context = job->context;
    int os_error = make_room(job, fd);
    bool untouched = is_no_way(os_error);
    if (os_error == 0)
        os_error = write_header(job, fd);
    *done = os_error == 0;
    if (*done)
        return WB_OK;
    /*
     * If the file system cannot insert blocks, the file is unchanged, and the caller writes a new
     * file instead. The caller requires that the old file stays unchanged, so do not undo: an undo
     * would write to the old file. Otherwise undo, as in recovery after a crash: the length of the
     * file shows whether blocks were inserted.
     */
    wb_status status =
        untouched ? WB_OK : wb__edit_undo_in_place(context, job->path, fd, &journal->is);
    if (status != WB_OK)
        return status; /* the journal stays */
    if (unlink(journal->at) != 0)
        return wb__fail_os(context, errno, WB__MSG_EDIT_JOURNAL_REMOVE);
    (void)wb__directory_sync_of(&context->allocator, job->path);
    context->file = job->path;
    return untouched ? WB_OK : wb__fail_os(context, os_error, WB__MSG_EDIT_WRITE);
}

/* Replaces the index. If that fails, undoes the edit of the file. */
static wb_status finish(wb__edit_job *job, int fd, const wb__edit_journal *journal)
{
    wb__context *context = job->context;
    wb_status status = wb__index_publish(job);
    if (status != WB_OK) {
        const wb_error error = *context->error;
        status = wb__edit_undo_in_place(context, job->path, fd, &journal->is);
        if (status != WB_OK)
            return status; /* the journal stays */
        (void)unlink(journal->at);
        *context->error = error;
        return error.status;
    }
    return wb__edit_end_journal(context, job->path, journal->at);
}

/* Changes the file and the index. Precondition: `fd` is open for writing. */
static wb_status change(wb__edit_job *job, int fd, bool *done)
{
    wb__context *context = job->context;
    wb__edit_journal journal;
    wb_status status = wb__source_check(job->model->sources[0], context);
    if (status == WB_OK)
        status = wb__index_prepare(job);
    if (status == WB_OK)
        status = wb__edit_begin_journal(job, true, &journal);
    if (status != WB_OK || journal.at == NULL)
        return status;
    status = change_or_undo(job, fd, &journal, done);
    if (status == WB_OK && *done)
        status = finish(job, fd, &journal);
    wb__edit_journal_free(context, &journal);
    return status;
}

wb_status wb__edit_in_place(wb__edit_job *job, bool *done)
{
    wb__context *context = job->context;
    *done = false;
    context->file = job->path;
    int fd = open(job->path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return wb__fail_os(context, errno, WB__MSG_EDIT_OPEN);
    wb_status status = change(job, fd, done);
    context->file = job->path;
    if (close(fd) != 0 && status == WB_OK)
        status = wb__fail_os(context, errno, WB__MSG_EDIT_CLOSE);
    return status;
}
