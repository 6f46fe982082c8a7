/*
 * Checks that an output is not written into the directory of its source.
 */
#define _GNU_SOURCE /* realpath */
#include <limits.h>
#include <stdlib.h>

#include "write/write.h"
#include "write/write_messages.h"

/* Returns true if `path` is the directory `folder` or is inside it. Both paths are absolute and
 * contain no symbolic links. */
static bool is_in(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    return strncmp(path, folder, n) == 0 && (path[n] == '/' || path[n] == '\0' || n == 1);
}

wb_status wb__writer_check_outside(wb__context *context, const wb_writer *writer)
{
    char inside[PATH_MAX], outside[PATH_MAX];
    const wb_model *source = writer->source;
    const char *path = writer->folder != NULL ? writer->folder : writer->outputs[0].path;
    if (source == NULL || !source->is_folder || writer->is_store || wb__path_is_stream(path) ||
        (writer->folder == NULL &&
         strcmp(source->catalog.files[0].format, writer->format->name) != 0))
        return WB_OK;
    char *there = wb__directory_there(&context->allocator, path);
    if (there == NULL)
        return wb__fail_memory(context);
    bool is_inside = realpath(source->folder, inside) != NULL && realpath(there, outside) != NULL &&
                     is_in(outside, inside);
    wb__free(&context->allocator, there, strlen(there) + 1);
    if (!is_inside)
        return WB_OK;
    context->file = path;
    wb_status status = wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_WRITE_SOURCE, WB_NO_OFFSET,
                                WB__STR(""), WB__MSG_WRITE_INSIDE_SOURCE);
    context->file = "";
    return status;
}
