/*
 * paths.h: the paths that were named, one after the other.
 *
 * A path with wildcards that is no file itself is matched against files, for those who quote it and
 * for callers without a shell. A file that was opened already as a shard of an earlier path's model
 * is passed over, so that `wb verify folder/[a-z]*.safetensors` looks at a sharded model once.
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

/*
 * Calls one(ctx, path) for each path and returns the worst of the exit codes; ends early when
 * standard output is closed.
 */
int paths_each(const arguments *args, int (*one)(void *ctx, paths *seen, const char *path),
               void *ctx);

/* Notes the files of a model, to pass over them later. */
void paths_cover(paths *seen, const wb_model *model);

/*
 * For commands that take models one by one: puts the path that a pattern matches into its place, of several files of
 * one model the first, which wb edit and wb realign do not take for the whole of it. 0, or the exit code after saying
 * why there is none.
 */
int paths_settle(arguments *args);

/* Opens a path, or standard input for "-". */
wb_status open_path(const char *path, const wb_open_options *options, wb_model **model,
                    wb_error *error) WB_MUST_CHECK;

/* What to call the path in output. */
const char *path_label(const char *path);

/* Whether both are there, and one regular file. */
bool is_same_file(const char *a, const char *b);

/* Whether what is written to the path would take the place of a file of the model, or of one beside its weights. */
bool replaces_model(const char *output, const wb_model *model);

#endif
