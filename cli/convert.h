/*
 * convert.h: writing a model anew.
 *
 * convert.c reads the command line and decides how to go about it; reshard.c copies tensors as they
 * are stored, to the same format; recast.c has the library make other tensors of them, and
 * recast_tell.c tells what became of them.
 */
#ifndef WB_CLI_CONVERT_H
#define WB_CLI_CONVERT_H

#include "options.h"
#include "weighbridge.h"

typedef struct convert_job {
    const arguments *args;
    const char *in, *out; /* as named */
    const char *to;       /* the format */
    const wb_model *model;
    bool in_is_folder;
    bool out_is_folder;
    bool out_is_stdout;
    bool out_is_stream;        /* standard output, a pipe or a device */
    wb_writer_options options; /* of what is written, as far as the command line says */
} convert_job;

/* 0, or the exit code after saying what is wrong. */
int convert_size_of(option_id option, const char *typed, uint64_t *size);

/* Copies every tensor as it is stored. The exit code. */
int reshard(const convert_job *job);

/* Makes another format of the model, or other types of its tensors. The exit code. */
int recast(const convert_job *job);

/* Tells what was planned, or done. */
void recast_tell(const convert_job *job, const wb_conversion *conversion);
void recast_tell_json(const convert_job *job, const wb_conversion *conversion);

/* Declares what lies beside the weights in the folder that was named. The exit code. */
int convert_add_beside(const convert_job *job, wb_writer *writer);

/* Says what was planned, or written. */
void convert_answer(const convert_job *job, const wb_writer *writer);

/* Begins to write what was planned, or says why not. */
wb_status convert_begin(const convert_job *job, wb_writer *writer, wb_error *error);

/* Says what went wrong; returns the exit code. */
int convert_fail(const convert_job *job, wb_status status, const wb_error *error);

#endif
