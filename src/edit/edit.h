/*
 * edit: changes the header of a file.
 *
 * edit.c reads the file and declares its contents, with the edits applied, to a writer. The writer
 * computes the new layout. If the layout of the tensor data does not change, only the header before
 * the data must be replaced. A file is changed in one of two ways:
 *   in place    overwrites the header, protected by a journal. If the header needs more space, the
 *               edit first inserts whole blocks at the start with FALLOC_FL_INSERT_RANGE
 *               (edit_in_place.c)
 *   new file    writes header and data to a new file, which atomically replaces the old file
 *               (edit_rewrite.c)
 *
 * If the file is one of several files of a model, edit_set.c compares the new names of its tensors
 * with those of the other files, and edit_index.c changes the index in the same step. A journal
 * (journal.h, edit_recover.c) makes these steps atomic.
 *
 * During an edit the file is locked against other edits (edit_lock.c).
 */
#ifndef WB_EDIT_EDIT_H
#define WB_EDIT_EDIT_H

#include "bundles/bundle.h"
#include "edit/journal.h"
#include "weighbridge/edit.h"
#include "write/write.h"

/* The other files of the model, and their index. Empty if the edit changes no names of tensors. */
typedef struct wb__edit_set {
    wb__context *context;
    wb__bundle bundle; /* all files of the model, and the old index */
    bool has_bundle;
    const char *folder;
    wb_model *others;        /* the other files of the model, opened; NULL: none */
    const uint32_t *numbers; /* index of each tensor after the edit; UINT32_MAX: dropped */
    bool changes_index;
    wb__str before;   /* the old index */
    wb__buffer after; /* the new index */
    wb_sink *sink;    /* the file of the new index */
    int lock;         /* descriptor that locks the index; -1: not locked */
} wb__edit_set;

typedef struct wb__edit_job {
    wb__context *context;
    const char *path;
    const wb_edit_options *options;
    wb_model *model;     /* the file before the edit */
    wb_writer *writer;   /* the file after the edit, with one output whose layout is computed */
    uint64_t data_begin; /* offset of the data section before the edit, in bytes */
    uint64_t target;     /* offset of the data section after the edit, in bytes */
    bool data_stays;     /* the edit keeps the offset of each tensor in the data section */
    wb__edit_set set;
    wb_edited edited; /* result for the caller */
} wb__edit_job;

static inline wb__output *wb__edit_output(const wb__edit_job *job)
{
    return &job->writer->outputs[0];
}

/* ---- edit_set.c ---- */

/* Checks that no new tensor name occurs in another file of the set, and computes the new index.
 * Precondition: the tensors are declared to the writer. */
wb_status wb__edit_set_plan(wb__edit_job *job);
void wb__edit_set_free(wb__edit_set *set);

/* ---- edit_index.c ---- */

wb_status wb__index_plan(wb__edit_job *job);

/* wb__index_prepare makes the new index durable under a temporary name. wb__index_publish renames
 * it to the name of the index; the caller then syncs the directory. Both do nothing if the edit
 * does not change the index. */
wb_status wb__index_prepare(wb__edit_job *job);
wb_status wb__index_publish(wb__edit_job *job);

/* Replaces the text of the index `name` by `to`, if the text is `from`. The index is in the
 * directory of the journal. */
wb_status wb__index_restore(wb__context *context, const char *journal_at, wb__str name,
                            wb__str from, wb__str to);

/* ---- edit_in_place.c ---- */

/* A journal that has been written. */
typedef struct wb__edit_journal {
    char *at;       /* path of the journal; NULL: there is no journal */
    uint8_t *bytes; /* contents of the journal, n bytes */
    size_t n;
    wb__journal is;
} wb__edit_journal;

/*
 * Writes the journal of the edit. Sets journal->at to NULL if no journal is possible: the journal
 * would be too large, its name would be too long, or the user's secret (wb__journal_key) is not
 * available. The caller calls wb__edit_journal_free after success, whether or not
 * wb__edit_end_journal was called.
 */
wb_status wb__edit_begin_journal(wb__edit_job *job, bool in_place, wb__edit_journal *journal);
void wb__edit_journal_free(const wb__context *context, wb__edit_journal *journal);

/* Overwrites the header in place and sets *done to true. If the file system cannot do that,
 * leaves the file unchanged and sets *done to false. */
wb_status wb__edit_in_place(wb__edit_job *job, bool *done);
/* Writes a new file that replaces the old one. */
wb_status wb__edit_new_file(wb__edit_job *job);

/* Locks the file for one edit. Fails if another edit has locked it. Sets *fd to the descriptor for
 * wb__edit_unlock, or to -1 if the file cannot be opened. The error is then reported when the file
 * is read. */
wb_status wb__edit_lock(wb__context *context, const char *path, int *fd);
void wb__edit_unlock(int fd);

/* ---- edit_recover.c ---- */

/* Restores the old header of a file that is edited in place. */
wb_status wb__edit_undo_in_place(wb__context *context, const char *path, int fd,
                                 const wb__journal *from);

bool wb__edit_journal_fits(const char *journal_at);
wb_status wb__edit_end_journal(wb__context *context, const char *path, const char *journal_at);

/*
 * If the file has a journal, undoes or completes the interrupted edit and sets *undone to true. The
 * caller of wb__edit_undo must hold the lock of the file; wb__edit_recover takes this lock itself.
 */
wb_status wb__edit_undo(wb__context *context, const char *path, bool *undone);
wb_status wb__edit_recover(wb__context *context, const char *path, bool *undone);

wb_status wb__edit_file(wb__context *context, const char *path, const wb_edit *edits,
                        uint64_t count, const wb_edit_options *options, wb_edited *edited);

#endif
