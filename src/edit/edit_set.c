/*
 * Edits of one file of a set of shards. Before the file changes, the new names of its tensors are
 * compared with the tensors of the other files, and the index, if there is one, is rewritten.
 */
#include <errno.h>

#include "edit/edit.h"
#include "edit/edit_messages.h"
#include "open/open.h"

#define WHOLE_INDEX "model.safetensors.index.json"

/* ---- the files of the set ---- */

static wb_status add_listed(void *ctx, wb__str file)
{
    wb__edit_set *set = ctx;
    return wb__bundle_add(set->context, &set->bundle, set->folder, file);
}

/* Returns true if the bundle has a file with this name. */
static bool has_file(const wb__bundle *bundle, wb__str name)
{
    for (size_t i = 0; i < bundle->count; i++) {
        if (wb__str_equal(wb__str_from(bundle->names[i], SIZE_MAX), name))
            return true;
    }
    return false;
}

/*
 * Called if the name of the edited file is not a shard name. Looks for WHOLE_INDEX in the directory
 * of the file. Clears the bundle if this index does not list the file.
 */
static wb_status find_index(wb__edit_set *set, wb__str name)
{
    wb__context *context = set->context;
    char *path = wb__path_join(&context->allocator, set->folder, WB__STR(WHOLE_INDEX));
    if (path == NULL)
        return wb__fail_memory(context);
    wb_status status = wb__index_read(context, &set->bundle, set->folder, path, add_listed, set);
    bool is_missing = status == WB_ERROR_NOT_FOUND;
    wb__free(&context->allocator, path, strlen(path) + 1);
    if (is_missing)
        (void)wb__error_reset(context->error, context->error);
    if (is_missing || (status == WB_OK && !has_file(&set->bundle, name))) {
        set->bundle.count = 0;
        set->bundle.index_text = NULL;
    }
    return is_missing ? WB_OK : status;
}

/* Finds the files and the index of the model to which the file `path` belongs. */
static wb_status find_files(wb__edit_set *set, const char *path)
{
    wb__context *context = set->context;
    wb__str folder = wb__path_folder(path);
    wb__bundle_init(&set->bundle, &context->allocator);
    set->has_bundle = true;
    set->folder = wb__arena_copy(&set->bundle.arena, folder.ptr, folder.len);
    if (set->folder == NULL)
        return wb__fail_memory(context);
    wb_status status = wb__bundle_of_shard(context, path, &set->bundle);
    return status == WB_OK && set->bundle.count == 0 ? find_index(set, wb__path_base(path))
                                                     : status;
}

/* Opens the other files of the model, of which only the headers are read. `own` is the name of the
 * edited file. */
static wb_status open_others(wb__edit_set *set, wb__str own)
{
    wb__context *context = set->context;
    wb_status status = WB_OK;
    for (size_t i = 0; i < set->bundle.count && status == WB_OK; i++) {
        wb__str name = wb__str_from(set->bundle.names[i], SIZE_MAX);
        if (wb__str_equal(name, own))
            continue;
        if (set->others == NULL)
            set->others = wb__model_new(context, WB_ACCESS_READ);
        context->findings = NULL;
        char *path = set->others == NULL
                         ? NULL
                         : wb__path_join(&context->allocator, set->bundle.folder, name);
        if (path == NULL)
            return wb__fail_memory(context);
        status = wb__open_file(set->others, context, set->bundle.folder, path);
        wb__free(&context->allocator, path, strlen(path) + 1);
    }
    return status;
}

/* ---- names ---- */

static bool is_renamed(const wb__edit_job *job, const wb__outgoing *tensor)
{
    const wb__table *table = &job->model->catalog.table;
    return !wb__str_equal(tensor->out.name, wb__table_name(table, tensor->from));
}

/* Returns true if the edit renames or drops a tensor. */
static bool changes_names(const wb__edit_job *job)
{
    size_t n = job->writer->tensors.count;
    bool changes = n != job->model->catalog.table.count;
    for (size_t i = 0; i < n && !changes; i++)
        changes = is_renamed(job, wb__writer_tensor(job->writer, i));
    return changes;
}

static wb_status check_names(const wb__edit_job *job, const wb__edit_set *set)
{
    const wb__catalog *others = set->others == NULL ? NULL : &set->others->catalog;
    for (size_t i = 0; i < job->writer->tensors.count && others != NULL; i++) {
        const wb__outgoing *tensor = wb__writer_tensor(job->writer, i);
        if (!is_renamed(job, tensor))
            continue;
        uint32_t found = wb__table_find(&others->table, tensor->out.name);
        if (found == WB__NO_TENSOR)
            continue;
        job->context->file = others->files[wb__catalog_file_of(others, found)].path;
        wb_status status = wb__fail(job->context, WB_ERROR_ARGUMENT, WB__FINDING_WRITE_TWICE,
                                    WB_NO_OFFSET, tensor->out.name, WB__MSG_EDIT_OTHER_SHARD);
        job->context->file = job->path;
        return status;
    }
    return WB_OK;
}

/* Sets job->set.numbers to the index of each tensor after the edit. */
static wb_status number_tensors(wb__edit_job *job)
{
    size_t n = job->model->catalog.table.count;
    uint32_t *numbers = wb__arena_alloc(&job->writer->arena, (n + 1) * sizeof *numbers);
    if (numbers == NULL)
        return wb__fail_memory(job->context);
    for (size_t i = 0; i < n; i++)
        numbers[i] = UINT32_MAX;
    for (size_t i = 0; i < job->writer->tensors.count; i++)
        numbers[wb__writer_tensor(job->writer, i)->from] = (uint32_t)i;
    job->set.numbers = numbers;
    return WB_OK;
}

wb_status wb__edit_set_plan(wb__edit_job *job)
{
    wb__edit_set *set = &job->set;
    wb__str own = wb__path_base(job->path);
    set->context = job->context;
    if (!changes_names(job))
        return WB_OK;
    wb_status status = number_tensors(job);
    if (status == WB_OK)
        status = find_files(set, job->path);
    if (status == WB_OK)
        status = open_others(set, own);
    if (status == WB_OK)
        status = check_names(job, set);
    if (status == WB_OK && set->bundle.index_text != NULL)
        status = wb__index_plan(job);
    return status;
}

void wb__edit_set_free(wb__edit_set *set)
{
    wb__sink_discard(set->sink);
    wb__edit_unlock(set->lock);
    wb__buffer_free(&set->after);
    wb__model_delete(set->others);
    if (set->has_bundle)
        wb__bundle_free(&set->bundle);
}
