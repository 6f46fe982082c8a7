/* codec.h: declarations shared by the source files of `wb codec`.
 *
 * The command converts between raw binary32 values and encoded bytes. Data is processed in batches
 * of rows, so memory use does not depend on the length of the input (except for MLX encoding, see
 * codec_mlx.c). An output file appears only after all of its data was written successfully.
 */
#ifndef WB_CLI_CODEC_H
#define WB_CLI_CODEC_H

#include "options.h"
#include "out.h"

/* The type given by --type: a dtype or an MLX mode. */
typedef struct codec_type {
    char name[24];
    bool is_mlx;
    int32_t dtype; /* valid if !is_mlx */
    wb_mlx_type mlx;
} codec_type;

typedef struct codec_job {
    const arguments *args;
    codec_type type;
    const char *input;  /* path, or "-" for standard input */
    const char *output; /* path, or "-" for standard output */
    const char *label;  /* printable name of the input */
    uint64_t columns;
    bool is_encoding;
    float *importance; /* importance matrix, one row; NULL: none */
    wb_open_options options;
    wb_limits limits;

    /* Results: */
    uint64_t rows;
    uint64_t bytes; /* number of bytes written to the output */

    int fd;         /* file descriptor of the input */
    uint64_t total; /* size of the input in bytes, 0: unknown */
    wb_sink *sink;
    wb_error error;
} codec_job;

/* Used in place of an exit code: the reader closed the output pipe. This is not an error. */
#define CODEC_CLOSED (-1)

/* Returns the number of rows per batch. */
size_t codec_batch(const codec_job *job);

/* Open and close the input. codec_open_input returns 0 or an exit code. If `whole` is true, input
 * that is not a regular file is first copied to a temporary file, so that `total` is known.
 */
int codec_open_input(codec_job *job, bool whole);
void codec_close_input(codec_job *job);

/* Reads up to n bytes and stores the number of bytes read in *got; *got is less than n only at the
 * end of the input. Returns 0 or an exit code.
 */
int codec_read(codec_job *job, void *to, size_t n, size_t *got);

/* Opens the output, which will have about `expected` bytes. Opens nothing with --dry-run. Returns
 * 0, or an exit code after reporting the error.
 */
int codec_open_output(codec_job *job, uint64_t expected);
int codec_write(codec_job *job, const void *bytes, size_t n);

/* Commits the output if `code` is 0, else discards it. Returns the exit code. */
int codec_close_output(codec_job *job, int code);

/* Reports job->error and returns the exit code. For a broken output pipe, reports nothing and
 * returns CODEC_CLOSED.
 */
int codec_fail(codec_job *job, const char *path, wb_status status);

/* Reports that `bytes` bytes of input are not a multiple of the row size. Returns the exit code. */
int codec_fail_rows(const codec_job *job, uint64_t bytes, uint64_t row_bytes);

int codec_blocks(codec_job *job); /* all types except MLX modes, in both directions */
int codec_mlx_encode(codec_job *job);
int codec_mlx_decode(codec_job *job);

int codec_list(const arguments *args);

#endif
