/* wb codec: input and output. */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec.h"
#include "exit.h"
#include "messages.h"
#include "output.h"
#include "paths.h"
#include "report.h"
#include "terminal.h"

#define BATCH_VALUES ((size_t)1 << 18)

size_t codec_batch(const codec_job *job)
{
    return job->columns >= BATCH_VALUES ? 1 : BATCH_VALUES / (size_t)job->columns;
}

/* ---- input ---- */

static int fail_input(const codec_job *job)
{
    return report_path(EXIT_IO, job->label, MSG_CANNOT_READ, strerror(errno));
}

/* Copies the input, a stream, to an unnamed temporary file. job->fd is then this file. */
static int spool(codec_job *job)
{
    static char buffer[1 << 16];
    FILE *file = tmpfile();
    size_t got = sizeof buffer;
    if (file == NULL)
        return fail_input(job);
    int fd = dup(fileno(file));
    (void)fclose(file);
    while (fd >= 0 && got == sizeof buffer) {
        int code = codec_read(job, buffer, sizeof buffer, &got);
        if (code != 0 || (got > 0 && write(fd, buffer, got) != (ssize_t)got)) {
            (void)close(fd);
            return code != 0 ? code : fail_input(job);
        }
        job->total += got;
    }
    codec_close_input(job);
    job->fd = fd;
    return fd < 0 || lseek(fd, 0, SEEK_SET) != 0 ? fail_input(job) : 0;
}

int codec_open_input(codec_job *job, bool whole)
{
    struct stat st;
    bool is_stdin = strcmp(job->input, "-") == 0;
    job->fd = is_stdin ? dup(STDIN_FILENO) : open(job->input, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (job->fd < 0 || fstat(job->fd, &st) != 0)
        return fail_input(job);
    if (S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return fail_input(job);
    }
    off_t at = S_ISREG(st.st_mode) ? lseek(job->fd, 0, SEEK_CUR) : -1;
    if (at >= 0)
        job->total = st.st_size > at ? (uint64_t)(st.st_size - at) : 0;
    return at < 0 && whole ? spool(job) : 0;
}

void codec_close_input(codec_job *job)
{
    if (job->fd >= 0)
        (void)close(job->fd);
    job->fd = -1;
}

int codec_read(codec_job *job, void *to, size_t n, size_t *got)
{
    *got = 0;
    while (*got < n) {
        ssize_t done = read(job->fd, (char *)to + *got, n - *got);
        if (interrupted())
            return EXIT_INTERRUPTED;
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return fail_input(job);
        if (done == 0)
            break;
        *got += (size_t)done;
    }
    return 0;
}

/* ---- output ---- */

static bool is_stdout(const codec_job *job)
{
    return output_is_stdout(job->output);
}

/* Returns true if the output would overwrite an input file. */
static bool replaces_input(const codec_job *job)
{
    const char *matrix = job->args->value[OPTION_IMATRIX];
    return !is_stdout(job) &&
           ((strcmp(job->input, "-") != 0 && is_same_file(job->input, job->output)) ||
            (matrix != NULL && is_same_file(matrix, job->output)));
}

int codec_open_output(codec_job *job, uint64_t expected)
{
    bool is_terminal = is_stdout(job) && isatty(STDOUT_FILENO);
    if (job->args->given[OPTION_DRY_RUN])
        return 0;
    if (is_terminal)
        return report_usage(MSG_TERMINAL_RAW_FILE);
    if (replaces_input(job))
        return report_usage(MSG_OUTPUT_IS_INPUT);
    wb_status status =
        is_stdout(job)
            ? wb_sink_open_fd(STDOUT_FILENO, "standard output", NULL, &job->sink, &job->error)
            : wb_sink_open(job->output, expected, NULL, &job->sink, &job->error);
    if (status != WB_OK)
        return codec_fail(job, job->output, status);
    interrupt_defer(!output_is_stream(job->output));
    return 0;
}

int codec_write(codec_job *job, const void *bytes, size_t n)
{
    job->bytes += n;
    if (job->sink == NULL)
        return 0;
    wb_status status = wb_sink_write(job->sink, bytes, n, &job->error);
    return status == WB_OK ? 0 : codec_fail(job, job->output, status);
}

int codec_close_output(codec_job *job, int code)
{
    progress_clear();
    if (job->sink != NULL && code == 0) {
        wb_status status = wb_sink_commit(job->sink, &job->error);
        code = status == WB_OK ? 0 : codec_fail(job, job->output, status);
    } else {
        wb_sink_discard(job->sink);
    }
    job->sink = NULL;
    interrupt_defer(false);
    return code == CODEC_CLOSED ? EXIT_CLEAN : code;
}

/* ---- failures ---- */

int codec_fail(codec_job *job, const char *path, wb_status status)
{
    progress_clear();
    /* Only the output can be a pipe that its reader has closed. */
    if (path == job->output && job->error.os_error == EPIPE)
        return CODEC_CLOSED;
    report_error(path, &job->error);
    return exit_code_of(status);
}

int codec_fail_rows(const codec_job *job, uint64_t bytes, uint64_t row_bytes)
{
    return report_path(EXIT_BAD_INPUT, job->label, MSG_PARTIAL_ROW, (unsigned long long)bytes,
                       (unsigned long long)job->columns, job->is_encoding ? "F32" : job->type.name,
                       (unsigned long long)row_bytes);
}
