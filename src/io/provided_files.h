/*
 * io/provided_files.h: the files that the caller provides in wb_open_options.files.
 *
 * wb__source_open and wb__directory_list call these functions for paths that belong to such files.
 * Other modules call wb__files_own before they pass a path to a system call, because the operating
 * system does not know the paths of such files.
 */
#ifndef WB_IO_PROVIDED_FILES_H
#define WB_IO_PROVIDED_FILES_H

#include <stdbool.h>

#include "core/core.h"
#include "io/io.h"

/* Returns true if the caller's files include the path. */
bool wb__files_own(const wb__context *context, const char *path);

/* Informs the caller, by its function files.expect, that these paths will be opened. */
void wb__files_expect(const wb__context *context, const char *const *paths, size_t count);

/* Opens a file or directory that wb__files_own accepts: sets *source, or *is_folder. */
wb_status wb__provided_open(wb__context *context, const char *path, wb_source *source,
                            bool *is_folder);

/* As wb__directory_list, for a path that wb__files_own accepts. The names are in the order in which
 * the caller's function lists them. */
wb_status wb__directory_list_provided(wb__context *context, const char *path,
                                      wb_status (*each)(void *ctx, const char *name), void *ctx);

#endif
