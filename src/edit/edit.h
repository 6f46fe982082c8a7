/*
 * edit: changes the header of a file.
 *
 * edit.c reads the file and declares its contents, with the edits applied, to a writer. The format
 * then computes the new layout. If the layout of the tensor data does not change, only the header
 * before the data has to be replaced:
 *   in place    overwrites the header under a journal, after inserting whole blocks at the start of
 *               the file if needed (FALLOC_FL_INSERT_RANGE) (edit_in_place.c)
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
    wb_writer *writer;   /* the file after the edit: one output, already laid out */
    uint64_t data_begin; /* offset of the tensor data before the edit */
    uint64_t target;     /* offset of the tensor data after the edit */
    bool data_stays;     /* order and distances of the tensors do not change */
    wb_edited edited;
} wb__edit_job;

static inline wb__output *wb__edit_output(const wb__edit_job *job)
{
    return &job->writer->outputs[0];
}

/* Overwrites the header in place. If that is impossible, sets *done to false and changes
 * nothing. */
wb_status wb__edit_in_place(wb__edit_job *job, bool *done);
wb_status wb__edit_new_file(wb__edit_job *job);

/* Locks the file for one edit. Pass *fd to wb__edit_unlock; *fd is -1 if no lock is needed. */
wb_status wb__edit_lock(wb__context *context, const char *path, int *fd);
void wb__edit_unlock(int fd);

/* Undoes an incomplete edit if a journal exists. The caller holds the lock. */
wb_status wb__edit_undo(wb__context *context, const char *path, bool *undone);
wb_status wb__edit_recover(wb__context *context, const char *path, bool *undone);

wb_status wb__edit_file(wb__context *context, const char *path, const wb_edit *edits,
                        uint64_t count, const wb_edit_options *options, wb_edited *edited);

#endif
