/*
 * Checks all preconditions of a write before its first byte is written, and creates the files.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/call_options.h"
#include "handle/semantics.h"
#include "write/write.h"
#include "write/write_messages.h"

/*
 * Returns true if a killed run gave the final name `path` to a file of an incomplete set. This run
 * will remove that name (partial_files.c). Such a file also has its partial name, and the anchor of
 * the set (the index, or else the first file) does not exist.
 */
static bool is_taken_back(const wb_writer *writer, const char *path)
{
    struct stat named, kept;
    const char *anchor = writer->index_path != NULL ? writer->index_path : writer->outputs[0].path;
    if (!(writer->flags & WB_WRITE_KEEP) || lstat(anchor, &kept) == 0)
        return false;
    char *other = wb__partial_path(&writer->allocator, path);
    bool is = other != NULL && lstat(path, &named) == 0 && lstat(other, &kept) == 0 &&
              named.st_dev == kept.st_dev && named.st_ino == kept.st_ino;
    if (other != NULL)
        wb__free(&writer->allocator, other, strlen(other) + 1);
    return is;
}

static wb_status check_file(wb__context *context, wb_writer *writer, const char *path)
{
    struct stat st;
    bool is_source = false;
    wb_status status =
        writer->source == NULL ? WB_OK : wb__model_reads(writer->source, context, path, &is_source);
    if (status != WB_OK)
        return status;
    if (is_source)
        return wb__fail_target(context, path, WB__FINDING_WRITE_SOURCE,
                               WB__MSG_WRITE_OUTPUT_IS_INPUT);
    if (wb__writer_is_set(writer) && lstat(path, &st) == 0 && !is_taken_back(writer, path))
        return wb__fail_target(context, path, WB__FINDING_WRITE_EXISTS, WB__MSG_WRITE_SET_EXISTS);
    if (wb__writer_is_set(writer) || stat(path, &st) != 0 || wb__path_is_stream(path))
        return WB_OK;
    if (S_ISDIR(st.st_mode))
        return wb__fail_target(context, path, WB__FINDING_WRITE_TARGET,
                               WB__MSG_WRITE_FILE_IS_FOLDER);
    if (!(writer->flags & WB_WRITE_FORCE))
        return wb__fail_target(context, path, WB__FINDING_WRITE_EXISTS, WB__MSG_WRITE_FILE_EXISTS);
    return wb__replaced_add(context, writer, path);
}

/* ---- free space ---- */

static wb_status check_room(wb__context *context, const wb_writer *writer)
{
    const char *target = writer->folder != NULL ? writer->folder : writer->outputs[0].path;
    uint64_t need = writer->index_len;
    if (wb__path_is_stream(target))
        return WB_OK; /* a pipe needs no disk space */
    for (size_t i = 0; i < writer->output_count; i++) {
        if (!wb__add(need, writer->outputs[i].layout.bytes, &need))
            need = UINT64_MAX - 1;
    }
    wb_status status = wb__sidecars_measure(context, writer, &need);
    if (status != WB_OK)
        return status;
    uint64_t kept = wb__partial_bytes(writer);
    need -= kept < need ? kept : need;
    /* Query the nearest existing directory, because the target directory may not exist yet. */
    char *folder = wb__directory_there(&context->allocator, target);
    if (folder == NULL)
        return wb__fail_memory(context);
    uint64_t room = wb__write_room(folder);
    wb__free(&context->allocator, folder, strlen(folder) + 1);
    if (room >= need)
        return WB_OK;
    context->file = writer->is_store ? writer->store : target;
    status = wb__fail(context, WB_ERROR_IO, WB__FINDING_WRITE_ROOM, WB_NO_OFFSET, WB__STR(""),
                      WB__MSG_WRITE_NO_SPACE, (unsigned long long)need, (unsigned long long)room);
    context->error->os_error = ENOSPC;
    context->file = "";
    return status;
}

/* ---- files ---- */

/* Opens and locks the output directory once for all sinks, and draws the random number that is
 * in the temporary names of all files of the set. */
static wb_status claim_folder(wb__context *context, wb_writer *writer)
{
    wb__hash_key key = wb__hash_key_draw();
    const char *path = writer->folder != NULL ? writer->folder : writer->outputs[0].path;
    writer->set = key.word[0] ^ key.word[1];
    return wb__claim_path(context, path, true, &writer->claims[0]);
}

/*
 * Checks that the output files may be written into an existing directory. If `settles` is set,
 * first recovers partial files of an earlier run. Does nothing if the output is a whole directory
 * or a model in an Ollama store.
 */
static wb_status check_files(wb__context *context, wb_writer *writer, bool settles)
{
    wb_status status = WB_OK;
    if (writer->folder != NULL || writer->is_store)
        return WB_OK;
    if (settles && (writer->flags & WB_WRITE_KEEP))
        status = wb__partial_settle(context, writer);
    for (size_t i = 0; i < writer->output_count && status == WB_OK; i++)
        status = check_file(context, writer, writer->outputs[i].path);
    return status == WB_OK && writer->index_path != NULL
               ? check_file(context, writer, writer->index_path)
               : status;
}

/* Creates the directory in which files are written until commit, if this kind of output needs
 * one. */
static wb_status make_folder(wb__context *context, wb_writer *writer)
{
    bool keeps = (writer->flags & WB_WRITE_KEEP) != 0;
    const char *target = writer->folder != NULL ? writer->folder : writer->kept_beside;
    if (target == NULL)
        return WB_OK;
    wb_status status = (keeps ? wb__directory_make_partial : wb__directory_make)(
        context, &writer->arena, target, &writer->folder_at);
    return status == WB_OK && keeps && !writer->is_store ? wb__partial_rename_back(context, writer)
                                                         : status;
}

static wb_status check_planned(wb__context *context, wb_writer *writer)
{
    if (atomic_load(&writer->state) != WB__PLANNED)
        return wb__fail_argument(context, WB__MSG_WRITE_BEGIN_STATE);
    writer->replaced.count = 0;
    return WB_OK;
}

/* Checks that the parent directory of `path` exists and permits the creation of a file. */
static wb_status check_parent(wb__context *context, const char *path)
{
    int os_error = 0;
    char *end = wb__path_follow(&context->allocator, path, &os_error);
    wb__str parent = end == NULL ? WB__STR("") : wb__path_folder(end);
    char *folder = end == NULL ? NULL : wb__path_join(&context->allocator, "", parent);
    if (end != NULL && folder == NULL)
        os_error = ENOMEM;
    else if (end != NULL)
        os_error = wb__directory_look(folder);
    if (folder != NULL)
        wb__free(&context->allocator, folder, strlen(folder) + 1);
    if (end != NULL)
        wb__free(&context->allocator, end, strlen(end) + 1);
    context->file = path;
    wb_status status = os_error == 0 ? WB_OK
                       : os_error == ENOMEM
                           ? wb__fail_memory(context)
                           : wb__fail_os(context, os_error, WB__MSG_WRITE_OUTPUT_FOLDER);
    context->file = "";
    return status;
}

static wb_status check_place(wb__context *context, const char *path)
{
    int os_error = wb__sink_look(path);
    if (os_error == 0)
        return WB_OK;
    context->file = path;
    return wb__fail_os(context, os_error, WB__MSG_WRITE_FILE);
}

/* Checks that the outputs can be written into an existing directory. */
static wb_status check_beside(wb__context *context, wb_writer *writer)
{
    wb_status status = check_files(context, writer, false);
    if (status != WB_OK || wb__path_is_stream(writer->outputs[0].path))
        return status;
    status = check_parent(context, writer->outputs[0].path);
    for (size_t i = 0; i < writer->output_count && status == WB_OK; i++)
        status = check_place(context, writer->outputs[i].path);
    if (status == WB_OK && writer->index_path != NULL)
        status = check_place(context, writer->index_path);
    return status;
}

/* Reports the errors that would occur if wb__directories_make created the directory of `path` and
 * files were written into it. */
static wb_status check_folders(wb__context *context, const char *path)
{
    char *there = wb__directory_there(&context->allocator, path);
    if (there == NULL)
        return wb__fail_memory(context);
    int os_error = wb__directory_look(there);
    wb__free(&context->allocator, there, strlen(there) + 1);
    context->file = path;
    wb_status status =
        os_error == 0 ? WB_OK : wb__fail_os(context, os_error, WB__MSG_WRITE_OUTPUT_PARENTS);
    context->file = "";
    return status;
}

static wb_status check_store(wb__context *context, wb_writer *writer)
{
    wb_status status = wb__store_check(context, writer);
    if (status == WB_OK)
        status = check_folders(context, writer->blobs);
    if (status == WB_OK)
        status = check_folders(context, writer->manifest_path);
    return status == WB_OK ? check_place(context, writer->manifest_path) : status;
}

/* Returns true if a directory with partial files of an earlier run exists. The write then needs
 * less free space than the size of its files. */
static bool has_kept_folder(const wb_writer *writer)
{
    const char *target = writer->folder != NULL ? writer->folder : writer->kept_beside;
    return (writer->flags & WB_WRITE_KEEP) != 0 && target != NULL &&
           wb__directory_is_partial(&writer->allocator, target);
}

wb_status wb__writer_check(wb__context *context, wb_writer *writer)
{
    wb_status status = check_planned(context, writer);
    if (status == WB_OK && !writer->has_paths)
        return WB_OK;
    if (status == WB_OK && writer->folder != NULL)
        status = wb__replaced_follow(context, writer);
    if (status == WB_OK && writer->folder != NULL)
        status = wb__replaced_check(context, writer);
    if (status == WB_OK)
        status = wb__writer_check_outside(context, writer);
    if (status == WB_OK && writer->is_store)
        status = check_store(context, writer);
    else if (status == WB_OK)
        status = writer->folder != NULL ? check_parent(context, writer->folder)
                                        : check_beside(context, writer);
    return status == WB_OK && !has_kept_folder(writer) ? check_room(context, writer) : status;
}

wb_status wb__writer_begin(wb__context *context, wb_writer *writer)
{
    wb_status status = check_planned(context, writer);
    if (status == WB_OK && !writer->has_paths)
        status = wb__fail_argument(context, WB__MSG_WRITE_NO_PATH);
    if (status == WB_OK && writer->folder != NULL)
        status = wb__replaced_follow(context, writer);
    if (status == WB_OK && writer->folder != NULL)
        status = wb__replaced_check(context, writer);
    if (status == WB_OK)
        status = wb__writer_check_outside(context, writer);
    if (status == WB_OK && writer->is_store)
        status = wb__store_begin(context, writer);
    if (status == WB_OK)
        status = claim_folder(context, writer);
    if (status == WB_OK)
        status = check_files(context, writer, true);
    if (status == WB_OK)
        status = make_folder(context, writer);
    if (status == WB_OK)
        status = check_room(context, writer);
    if (status == WB_OK && writer->folder_at != NULL)
        status = wb__claim_path(context, writer->folder_at, false, &writer->claims[1]);
    if (status == WB_OK)
        status = wb__output_open(context, writer, &writer->outputs[0]);
    if (status == WB_OK)
        atomic_store(&writer->state, WB__WRITING);
    return status;
}

wb_status wb__writer_begin_fd(wb__context *context, wb_writer *writer, int fd, const char *label)
{
    wb_status status = atomic_load(&writer->state) == WB__DECLARING
                           ? wb__writer_plan(context, writer, NULL)
                           : check_planned(context, writer);
    if (status == WB_OK && writer->output_count > 1)
        status = wb__fail_argument(context, WB__MSG_WRITE_DESCRIPTOR_FILES);
    if (status != WB_OK)
        return status;
    wb__output *output = &writer->outputs[0];
    output->path = NULL;
    status = wb__sink_open_fd(context, fd, label, &output->sink);
    if (status == WB_OK)
        status = wb__output_write_header(context, writer, output);
    if (status == WB_OK)
        atomic_store(&writer->state, WB__WRITING);
    return status;
}
