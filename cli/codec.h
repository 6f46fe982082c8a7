/*
 * codec.h: what the parts of `wb codec` share.
 *
 * Raw binary32 on one side and encoded bytes on the other, a batch of rows at a time, so that memory is
 * bounded whatever the length. The output comes into being when all of it is right.
 */
#ifndef WB_CLI_CODEC_H
#define WB_CLI_CODEC_H

#include "options.h"
#include "out.h"

/* What --type names: a dtype, or a mode of MLX. */
typedef struct codec_type {
    char name[24];
    bool is_mlx;
    int32_t dtype; /* where it is not of MLX */
    wb_mlx_type mlx;
} codec_type;

typedef struct codec_job {
    const arguments *args;
    codec_type type;
    const char *input;  /* "-": standard input */
    const char *output; /* "-": standard output */
    const char *label;  /* of the input, to show */
    uint64_t columns;
    bool is_encoding;
    float *importance; /* NULL: none */
    wb_open_options options;
    wb_limits limits;

    /* What became of it: */
    uint64_t rows;
    uint64_t bytes; /* written */

    int fd;         /* of the input */
    uint64_t total; /* bytes of the input, 0: not known */
    wb_sink *sink;
    wb_error error;
} codec_job;

/* In the place of an exit code: nobody reads the output any more, and that is no failure. */
#define CODEC_CLOSED (-1)

/* Rows that make a batch. */
size_t codec_batch(const codec_job *job);

/* Opens and closes the input. An exit code. With `whole`, a stream is put into a temporary file first,
 * so that `total` is known. */
int codec_open_input(codec_job *job, bool whole);
void codec_close_input(codec_job *job);

/* Reads up to n bytes, fewer only at the end. An exit code. */
int codec_read(codec_job *job, void *to, size_t n, size_t *got);

/* Opens the output, or says that it is none; nothing is written with --dry-run. An exit code. */
int codec_open_output(codec_job *job, uint64_t expected);
int codec_write(codec_job *job, const void *bytes, size_t n);

/* Puts the output in place if `code` is 0. Returns the exit code. */
int codec_close_output(codec_job *job, int code);

/* Says what `error` says; for a broken pipe nothing. */
int codec_fail(codec_job *job, const char *path, wb_status status);

/* A number of rows that is none. */
int codec_fail_rows(const codec_job *job, uint64_t bytes, uint64_t row_bytes);

int codec_blocks(codec_job *job); /* dtypes, both ways */
int codec_mlx_encode(codec_job *job);
int codec_mlx_decode(codec_job *job);

int codec_list(const arguments *args);

#endif
