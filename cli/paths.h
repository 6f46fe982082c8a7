/* paths.h: processes the path operands of a command one by one.
 *
 * A path with wildcards that does not exist as a file is expanded as a pattern. This serves quoted
 * patterns and callers without a shell. A path to a file that was already opened as a shard of a
 * model is skipped, so that `wb verify folder/[a-z]*.safetensors` checks a sharded model once.
 */
#ifndef WB_CLI_PATHS_H
#define WB_CLI_PATHS_H

#include <stdbool.h>

#include "options.h"
#include "weighbridge.h"
#include "weighbridge/experimental.h"

#define STDIN_PATH "-"
#define STDIN_LABEL "standard input"

typedef struct paths paths;

/* Calls one(ctx, path) for each path and returns the highest exit code. Stops early if the reader
 * of standard output has closed it.
 */
int paths_each(const arguments *args, int (*one)(void *ctx, paths *seen, const char *path),
               void *ctx);

/* Records the files of a model, so that later paths to the same files are skipped. */
void paths_cover(paths *seen, const wb_model *model);

/* For commands that take single models: replaces each pattern operand with the path that it
 * matches. If the pattern matches several files of one model, uses the first file; wb edit and wb
 * realign require exactly one match. Returns 0, or an exit code after reporting the error.
 */
int paths_settle(arguments *args);

/* Opens a path, or standard input if the path is "-". */
wb_status open_path(const char *path, const wb_open_options *options, wb_model **model,
                    wb_error *error) WB_MUST_CHECK;

/* Returns the text that stands for the path in output: the path, or a name for "-". */
const char *path_label(const char *path);

/* Returns true if both paths exist and refer to the same regular file. */
bool is_same_file(const char *a, const char *b);

/* Returns true if writing to the path would overwrite a weight file or a sidecar file of the model.
 */
bool replaces_model(const char *output, const wb_model *model);

#endif
