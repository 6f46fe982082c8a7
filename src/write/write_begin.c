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

static wb_status fail_target(wb__context *context, const char *path, wb__finding_id id,
                             const char *what)
{
    context->file = path;
    wb_status status =
        wb__fail(context, WB_ERROR_ARGUMENT, id, WB_NO_OFFSET, WB__STR(""), "%s", what);
    context->file = "";
    return status;
}

/*
 * Returns true if `path` is the final name of a file that also has its partial name, and the anchor
 * of the set does not exist (partial_files.c). A killed run left such a final name, and this run
 * will remove it.
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

static wb_status check_file(wb__context *context, const wb_writer *writer, const char *path)
{
    struct stat st;
    bool is_source = false;
    wb_status status =
        writer->source == NULL ? WB_OK : wb__model_reads(writer->source, context, path, &is_source);
    if (status != WB_OK)
        return status;
    if (is_source)
        return fail_target(context, path, WB__FINDING_WRITE_SOURCE, WB__MSG_WRITE_OUTPUT_IS_INPUT);
    if (wb__writer_is_set(writer) && lstat(path, &st) == 0 && !is_taken_back(writer, path))
        return fail_target(context, path, WB__FINDING_WRITE_EXISTS, WB__MSG_WRITE_SET_EXISTS);
    return WB_OK;
}

/* ---- replacement of an existing directory ---- */

typedef struct content {
    wb__context *context;
    const char *folder;
    const wb_model *source; /* NULL: the source is not known */
} content;

/*
 * Checks one entry of a directory that will be replaced, which removes its contents. Fails if the
 * entry is a subdirectory or a file of the source. A hard link to a file of the source counts as
 * that file.
 */
static wb_status check_content(void *ctx, const char *name)
{
    content *c = ctx;
    struct stat st;
    bool is_source = false;
    wb_status status = WB_OK;
    char *path = wb__path_join(&c->context->allocator, c->folder, wb__str_from(name, SIZE_MAX));
    if (path == NULL)
        return wb__fail_memory(c->context);
    if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
        status =
            fail_target(c->context, path, WB__FINDING_WRITE_EXISTS, WB__MSG_WRITE_FOLDER_NESTED);
    else if (c->source != NULL)
        status = wb__model_reads(c->source, c->context, path, &is_source);
    if (status == WB_OK && is_source)
        status = fail_target(c->context, c->folder, WB__FINDING_WRITE_SOURCE,
                             WB__MSG_WRITE_FOLDER_IS_INPUT);
    wb__free(&c->context->allocator, path, strlen(path) + 1);
    return status;
}

/* If writer->folder is a symbolic link, sets it to the target of the link, because that directory
 * is created or replaced. The paths of the files are not changed. */
static wb_status follow_folder(wb__context *context, wb_writer *writer)
{
    int os_error = 0;
    char *end = wb__path_follow(&context->allocator, writer->folder, &os_error);
    if (end == NULL) {
        context->file = writer->folder;
        return os_error == ENOMEM ? wb__fail_memory(context)
                                  : wb__fail_os(context, os_error, WB__MSG_WRITE_OUTPUT_STAT);
    }
    writer->folder = wb__arena_copy(&writer->arena, end, strlen(end));
    wb__free(&context->allocator, end, strlen(end) + 1);
    return writer->folder == NULL ? wb__fail_memory(context) : WB_OK;
}

static wb_status check_folder(wb__context *context, wb_writer *writer)
{
    struct stat st;
    const char *path = writer->folder;
    writer->replaces_folder = false;
    if (lstat(path, &st) != 0) {
        if (errno == ENOENT)
            return WB_OK;
        context->file = path;
        return wb__fail_os(context, errno, WB__MSG_WRITE_OUTPUT_STAT);
    }
    if (!(writer->flags & WB_WRITE_FORCE) || !S_ISDIR(st.st_mode))
        return fail_target(context, path, WB__FINDING_WRITE_EXISTS,
                           S_ISDIR(st.st_mode) ? WB__MSG_WRITE_FOLDER_EXISTS
                                               : WB__MSG_WRITE_FOLDER_IS_FILE);
    content c = {context, path, writer->source};
    writer->replaces_folder = true;
    return wb__directory_list(context, path, check_content, &c);
}

typedef struct tidying {
    wb__context *context;
    const wb_writer *writer;
} tidying;

static bool is_base(wb__str name, const char *path)
{
    const char *slash = path == NULL ? NULL : strrchr(path, '/');
    return slash != NULL && wb__str_equal(name, wb__str_from(slash + 1, SIZE_MAX));
}

static bool is_of_model(const wb_writer *writer, wb__str name)
{
    const wb__str end = WB__STR(WB__KEPT_END);
    wb__str whole = name;
    if (wb__str_ends_with(name, end) && name.len > end.len)
        whole = (wb__str){name.ptr + 1, name.len - 1 - end.len};
    for (size_t i = 0; i < writer->output_count; i++) {
        if (is_base(whole, writer->outputs[i].path))
            return true;
    }
    for (size_t i = 0; i < writer->extras.count; i++) {
        const wb__sidecar *extra = wb__list_at(&writer->extras, i);
        if (wb__str_equal(name, extra->name))
            return true;
    }
    return is_base(name, writer->index_path);
}

static wb_status tidy(void *ctx, const char *name)
{
    tidying *t = ctx;
    wb__context *context = t->context;
    if (is_of_model(t->writer, wb__str_from(name, SIZE_MAX)))
        return WB_OK;
    char *path =
        wb__path_join(&context->allocator, t->writer->folder_at, wb__str_from(name, SIZE_MAX));
    if (path == NULL)
        return wb__fail_memory(context);
    wb_status status =
        unlink(path) == 0 ? WB_OK : wb__fail_os(context, errno, WB__MSG_WRITE_REMOVE);
    wb__free(&context->allocator, path, strlen(path) + 1);
    return status;
}

wb_status wb__directory_tidy(wb__context *context, const wb_writer *writer)
{
    tidying t = {context, writer};
    return wb__directory_list(context, writer->folder_at, tidy, &t);
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

/* Opens and locks the output directory once for all sinks, and draws the random number of the
 * set. */
static wb_status claim_folder(wb__context *context, wb_writer *writer)
{
    wb__hash_key key = wb__hash_key_draw();
    const char *path = writer->folder != NULL ? writer->folder : writer->outputs[0].path;
    writer->set = key.word[0] ^ key.word[1];
    return wb__claim_path(context, path, true, &writer->claims[0]);
}

/*
 * Checks that the files of an existing directory may be written. If `settles` is set, first
 * recovers partial files of an earlier run.
 */
static wb_status check_files(wb__context *context, const wb_writer *writer, bool settles)
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

static wb_status check_planned(wb__context *context, const wb_writer *writer)
{
    if (atomic_load(&writer->state) != WB__PLANNED)
        return wb__fail_argument(context, WB__MSG_WRITE_BEGIN_STATE);
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
static wb_status check_beside(wb__context *context, const wb_writer *writer)
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
 * less free space. */
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
        status = follow_folder(context, writer);
    if (status == WB_OK && writer->folder != NULL)
        status = check_folder(context, writer);
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
        status = follow_folder(context, writer);
    if (status == WB_OK && writer->folder != NULL)
        status = check_folder(context, writer);
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
