/* convert.h: declarations shared by the source files of `wb convert`.
 *
 * convert.c parses the command line and selects the method. reshard.c copies tensors unchanged to
 * the same format. recast.c converts to another format or other types through the library, and
 * recast_tell.c prints the results of such a conversion. convert_replace.c lists the existing files
 * that the output replaces. convert_sidecars.c finds the sidecar files of the model.
 */
#ifndef WB_CLI_CONVERT_H
#define WB_CLI_CONVERT_H

#include "options.h"
#include "weighbridge.h"
#include "weighbridge/experimental.h"

typedef struct convert_job {
    const arguments *args;
    const char *in, *out; /* paths as given on the command line */
    const char *to;       /* name of the target format */
    const wb_model *model;
    bool in_is_folder;
    bool out_is_folder;
    bool out_is_stdout;
    bool out_is_stream;        /* the output is standard output, a pipe or a device */
    bool replaces;             /* existing files may be replaced: --force, or the user agreed
                                * (--interactive) */
    bool *agreed;              /* set when the user agrees to replace the output */
    wb_writer_options options; /* writer options from the command line */
} convert_job;

/* Parses the value of an option such as --max-shard-size. Returns 0, or an exit code after
 * reporting the error.
 */
int convert_size_of(option_id option, const char *typed, uint64_t *size);

/* Copies all tensors unchanged to the same format. Returns the exit code. */
int reshard(const convert_job *job);

/* Converts the model to another format or its tensors to other types. Returns the exit code. */
int recast(const convert_job *job);

/* Prints the planned or completed conversion as text or JSON. */
void recast_tell(const convert_job *job, const wb_conversion *conversion);
void recast_tell_json(const convert_job *job, const wb_conversion *conversion);

/* Declares the sidecar files in the input directory to the writer. Returns 0 or an exit code. */
int convert_add_beside(const convert_job *job, wb_writer *writer);

/* Write the paths of existing files that the output replaces: as lines of the dry run, or as the
 * JSON member "replaces". `next` returns the path for each index from 0, and NULL after the last.
 */
typedef const char *next_path(const void *of, uint64_t index);
void print_replaced(next_path *next, const void *of);
void json_replaced(wb_json *json, next_path *next, const void *of);

/* Returns true if the error is that the output exists, and the user agrees on the terminal to
 * replace it (--interactive).
 */
bool replace_agreed(const convert_job *job, const wb_error *error);

/* Reports on standard error which partial result an interrupted or failed conversion left, and how
 * to continue or remove it. Does nothing if there is no partial result.
 */
void partial_tell(const convert_job *job);

/* wb convert --discard: removes the partial result. Returns the exit code. */
int partial_discard(const convert_job *job);

/* Returns the target format of the output, from --to or from its extension. Returns NULL if neither
 * gives one.
 */
const char *convert_format(const arguments *args, const char *path);

/* Returns the library's number of a target format. */
wb_target convert_target(const char *to);

/* Prints the files that are planned or written. */
void convert_answer(const convert_job *job, const wb_writer *writer);

/* Starts writing the planned output. */
wb_status convert_begin(const convert_job *job, wb_writer *writer, wb_error *error);

/* Reports the error and returns the exit code. */
int convert_fail(const convert_job *job, wb_status status, const wb_error *error);

#endif
