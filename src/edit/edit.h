/*
 * edit/edit.h: the header of a file, changed.
 *
 * edit.c reads the file and makes of it and the edits what a writer would be told; the format lays that
 * out as ever. Where the data then lies as it did, all that has to change is what stands before it:
 *
 *   in place    the header is written over, if need be after whole blocks were inserted in front of the
 *               file (FALLOC_FL_INSERT_RANGE), under a journal (edit_place.c)
 *   new file    header and data go into a new file, which replaces the old one at once (edit_new.c)
 *
 * Meanwhile the file is locked against other edits (edit_lock.c).
 */
#ifndef WB_EDIT_EDIT_H
#define WB_EDIT_EDIT_H

#include "weighbridge/edit.h"
#include "write/write.h"

typedef struct wb__edit_job {
    wb__context *context;
    const char *path;
    const wb_edit_options *options;
    wb_model *model;     /* the file, as it is */
    wb_writer *writer;   /* as it shall be; one output, which is laid out */
    uint64_t data_begin; /* in the file as it is */
    uint64_t target;     /* where data shall begin */
    bool data_stays;     /* in the same order and distances */
    wb_edited edited;
} wb__edit_job;

static inline wb__output *wb__edit_output(const wb__edit_job *job)
{
    return &job->writer->outputs[0];
}

/* Writes the header where it stands; *done is false where that is not possible, and nothing happened. */
wb_status wb__edit_in_place(wb__edit_job *job, bool *done);
wb_status wb__edit_new_file(wb__edit_job *job);

/* Holds the file for one edit; *fd, for wb__edit_unlock, is -1 where there is nothing to be held. */
wb_status wb__edit_lock(wb__context *context, const char *path, int *fd);
void wb__edit_unlock(int fd);

/* Undoes what is half done, if there is a journal. The caller holds the file. */
wb_status wb__edit_undo(wb__context *context, const char *path, bool *undone);
wb_status wb__edit_recover(wb__context *context, const char *path, bool *undone);

wb_status wb__edit_file(wb__context *context, const char *path, const wb_edit *edits,
                        uint64_t count, const wb_edit_options *options, wb_edited *edited);

#endif
