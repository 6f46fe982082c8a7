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
 * During an edit the file is locked against other edits (edit_lock.c).
 */
#ifndef WB_EDIT_EDIT_H
#define WB_EDIT_EDIT_H

#include "weighbridge/edit.h"
#include "write/write.h"

typedef struct wb__edit_job {
    wb__context *context;
    const char *path;
    const wb_edit_options *options;
    wb_model *model;     /* the file before the edit */
    wb_writer *writer;   /* the file after the edit, with one output whose layout is computed */
    uint64_t data_begin; /* offset of the data section before the edit, in bytes */
    uint64_t target;     /* offset of the data section after the edit, in bytes */
    bool data_stays;     /* the edit keeps the offset of each tensor in the data section */
    wb_edited edited;    /* result for the caller */
} wb__edit_job;

static inline wb__output *wb__edit_output(const wb__edit_job *job)
{
    return &job->writer->outputs[0];
}

/* Overwrites the header in place and sets *done to true. If the file system cannot do that,
 * leaves the file unchanged and sets *done to false. */
wb_status wb__edit_in_place(wb__edit_job *job, bool *done);
/* Writes a new file that replaces the old one. */
wb_status wb__edit_new_file(wb__edit_job *job);

/* Locks the file for one edit. Sets *fd to the descriptor for wb__edit_unlock, or to -1 if the
 * file is not locked. */
wb_status wb__edit_lock(wb__context *context, const char *path, int *fd);
void wb__edit_unlock(int fd);

/* Undoes an incomplete edit if the file has a journal, and then sets *undone. The caller of
 * wb__edit_undo holds the lock; wb__edit_recover takes the lock itself. */
wb_status wb__edit_undo(wb__context *context, const char *path, bool *undone);
wb_status wb__edit_recover(wb__context *context, const char *path, bool *undone);

wb_status wb__edit_file(wb__context *context, const char *path, const wb_edit *edits,
                        uint64_t count, const wb_edit_options *options, wb_edited *edited);

#endif
