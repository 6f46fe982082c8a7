/*
 * Rewrites model.safetensors.index.json after an edit of one of its files: the entries of renamed
 * tensors get the new names, those of dropped tensors are removed, and the totals in the metadata
 * are reduced by the sizes of the dropped tensors. All other bytes stay unchanged.
 */
#include <errno.h>

#include "edit/edit.h"
#include "edit/edit_messages.h"
#include "json/json.h"

/* State of the rewriting. `text` is the old index, which is valid JSON. */
typedef struct rewriting {
    const wb__edit_job *job;
    wb__str text, own;                  /* `own` is the name of the edited file */
    wb__buffer *out;                    /* the new index */
    size_t done;                        /* number of bytes of `text` that are copied or removed */
    uint64_t lost_bytes, lost_elements; /* totals of the dropped tensors */
    /* State in the current JSON object. `has_kept`: a member was kept. `is_skipping`: members were
     * removed and none was kept, so the text up to the first kept member is not copied. */
    bool has_kept, is_skipping;
    size_t end; /* end of the previous member */
} rewriting;

/* ---- text ---- */

static void copy_to(rewriting *r, size_t end)
{
    wb__buffer_add(r->out, r->text.ptr + r->done, end - r->done);
    r->done = end;
}

static size_t end_of_string(const rewriting *r, size_t at)
{
    for (at++; r->text.ptr[at] != '"'; at++)
        at += r->text.ptr[at] == '\\';
    return at + 1;
}

static size_t end_of_number(const rewriting *r, size_t at)
{
    while (at < r->text.len && r->text.ptr[at] >= '0' && r->text.ptr[at] <= '9')
        at++;
    return at;
}

static bool add_to(void *ctx, const char *text, size_t n)
{
    wb__buffer_add(ctx, text, n);
    return !wb__buffer_failed(ctx);
}

/* Writes a JSON string in place of the old text from `done` to `end`. */
static void put_string(rewriting *r, size_t end, wb__str string)
{
    wb__json_writer json = {.write = add_to, .ctx = r->out};
    wb__json_write_str(&json, string);
    r->done = end;
}

/* Keeps the member from `key` to `end`. */
static void keep_member(rewriting *r, size_t key, size_t end)
{
    if (r->is_skipping)
        r->done = key;
    r->is_skipping = false;
    r->has_kept = true;
    r->end = end;
}

/* Removes the member from `key` to `end`, and one comma: the comma before it, or the comma after it
 * if no earlier member was kept. */
static void remove_member(rewriting *r, size_t key, size_t end)
{
    if (r->has_kept) {
        copy_to(r, r->end);
        r->done = end;
    } else if (!r->is_skipping) {
        copy_to(r, key);
    }
    r->is_skipping = !r->has_kept;
    r->end = end;
}

static void end_object(rewriting *r)
{
    if (r->is_skipping)
        r->done = r->end;
    r->is_skipping = false;
}

/* ---- members ---- */

static wb_status fail_listed(const rewriting *r, wb__str name)
{
    const wb__edit_job *job = r->job;
    job->context->file = job->set.bundle.index_path;
    wb_status status = wb__fail(job->context, WB_ERROR_ARGUMENT, WB__FINDING_WRITE_TWICE,
                                WB_NO_OFFSET, name, WB__MSG_EDIT_INDEX_LISTS);
    job->context->file = job->path;
    return status;
}

/* Returns the tensor of the edited file that has this name after the edit, or NULL. */
static const wb__outgoing *find_after(const rewriting *r, wb__str name)
{
    uint32_t i = wb__name_map_find(&r->job->writer->tensor_names, name);
    return i == UINT32_MAX ? NULL : wb__writer_tensor(r->job->writer, i);
}

/* Returns false if the edit drops the tensor, else sets *name to its name after the edit. */
static bool new_name(const wb__edit_job *job, size_t tensor, wb__str *name)
{
    uint32_t number = job->set.numbers[tensor];
    if (number == UINT32_MAX)
        return false;
    *name = wb__writer_tensor(job->writer, number)->out.name;
    return true;
}

/* Applies the edit to the entry of one tensor. The entry begins with its key at offset `key` and
 * ends at offset `end`. */
static wb_status rewrite_entry(rewriting *r, wb__str tensor, wb__str file, size_t key, size_t end)
{
    const wb__edit_job *job = r->job;
    const wb__table *table = &job->model->catalog.table;
    uint32_t from = wb__str_equal(file, r->own) ? wb__table_find(table, tensor) : WB__NO_TENSOR;
    const wb__outgoing *named = find_after(r, tensor);
    if (from == WB__NO_TENSOR) {
        /* The entry belongs to another file, or its tensor does not exist. */
        if (named != NULL && !wb__str_equal(wb__table_name(table, named->from), tensor))
            return fail_listed(r, tensor);
        keep_member(r, key, end);
        return WB_OK;
    }
    wb__str name;
    if (!new_name(job, from, &name)) {
        remove_member(r, key, end);
        return WB_OK;
    }
    keep_member(r, key, end);
    if (!wb__str_equal(name, tensor)) {
        copy_to(r, key);
        put_string(r, end_of_string(r, key), name);
    }
    return WB_OK;
}

static wb_status rewrite_map(rewriting *r, wb__json *json)
{
    wb_status status = WB_OK;
    wb__arena arena = {.allocator = &json->allocator};
    r->has_kept = r->is_skipping = false;
    (void)wb__json_next(json);
    while (status == WB_OK && wb__json_next(json) == WB__JSON_KEY) {
        size_t key = (size_t)json->at;
        wb__str tensor = {wb__arena_copy(&arena, json->text.ptr, json->text.len), json->text.len};
        if (tensor.ptr == NULL || wb__json_next(json) != WB__JSON_STRING)
            status = wb__fail_memory(r->job->context);
        else
            status = rewrite_entry(r, tensor, json->text, key, end_of_string(r, (size_t)json->at));
        wb__arena_free(&arena);
    }
    end_object(r);
    return status;
}

/* Reduces a number in the metadata by `lost`. Does nothing if the value is not a number, or less
 * than `lost`. */
static void reduce(rewriting *r, const wb__json *json, uint64_t lost)
{
    if (json->token != WB__JSON_UINT || lost == 0 || json->uint < lost)
        return;
    copy_to(r, (size_t)json->at);
    wb__buffer_uint(r->out, json->uint - lost);
    r->done = end_of_number(r, (size_t)json->at);
}

static void rewrite_metadata(rewriting *r, wb__json *json)
{
    if (wb__json_next(json) != WB__JSON_OBJECT) {
        (void)wb__json_skip(json);
        return;
    }
    while (wb__json_next(json) == WB__JSON_KEY) {
        bool is_size = wb__str_equal(json->text, WB__STR("total_size"));
        bool is_count = wb__str_equal(json->text, WB__STR("total_parameters"));
        (void)wb__json_next(json);
        if (is_size || is_count)
            reduce(r, json, is_size ? r->lost_bytes : r->lost_elements);
        if (!wb__json_skip(json))
            return;
    }
}

/* wb__index_read has parsed the index before, so parsing can only fail if memory runs out. */
static wb_status rewrite(rewriting *r)
{
    wb__context *context = r->job->context;
    wb__cursor cursor = wb__cursor_over(r->text.ptr, r->text.len);
    wb__json json;
    wb_status status = WB_OK;
    wb__json_start(&json, &cursor, &context->allocator);
    (void)wb__json_next(&json);
    while (status == WB_OK && wb__json_next(&json) == WB__JSON_KEY) {
        bool is_metadata = wb__str_equal(json.text, WB__STR("metadata"));
        if (wb__str_equal(json.text, WB__STR("weight_map")))
            status = rewrite_map(r, &json);
        else if (is_metadata)
            rewrite_metadata(r, &json);
        else
            (void)wb__json_skip(&json);
    }
    copy_to(r, r->text.len);
    if (status == WB_OK && (json.token == WB__JSON_FAULT || wb__buffer_failed(r->out)))
        status = wb__fail_memory(context);
    wb__json_stop(&json);
    return status;
}

/* Adds up the bytes and elements of the tensors that the edit drops. */
static void count_lost(rewriting *r)
{
    const wb__table *table = &r->job->model->catalog.table;
    wb__str name;
    for (size_t i = 0; i < table->count; i++) {
        const wb__kind *kind = wb__table_kind_of(table, i);
        if (new_name(r->job, i, &name))
            continue;
        r->lost_bytes += kind->bytes;
        r->lost_elements += kind->elements;
    }
}

/* ---- the file ---- */

wb_status wb__index_plan(wb__edit_job *job)
{
    wb__context *context = job->context;
    wb__edit_set *set = &job->set;
    wb__bundle *bundle = &set->bundle;
    /* Another edit may have replaced the index between reading and locking, so check it again. */
    if (!(job->options->flags & WB_EDIT_DRY_RUN)) {
        wb_status status = wb__edit_lock(context, bundle->index_path, &set->lock);
        if (status == WB_OK)
            status = wb__source_check(bundle->index, context);
        if (status != WB_OK)
            return status;
    }
    context->file = job->path;
    set->before = (wb__str){bundle->index_text, bundle->index_bytes};
    set->after = (wb__buffer){.allocator = &context->allocator, .ceiling = WB__JOURNAL_MAX};
    rewriting r = {
        .job = job, .text = set->before, .own = wb__path_base(job->path), .out = &set->after};
    count_lost(&r);
    wb_status status = rewrite(&r);
    set->changes_index =
        status == WB_OK && (set->after.n != set->before.len ||
                            memcmp(set->after.bytes, set->before.ptr, set->before.len) != 0);
    return status;
}

wb_status wb__index_prepare(wb__edit_job *job)
{
    wb__edit_set *set = &job->set;
    if (!set->changes_index || set->sink != NULL)
        return WB_OK;
    wb_status status =
        wb__sink_open(job->context, set->bundle.index_path, set->after.n, &set->sink);
    if (status == WB_OK)
        status = wb__sink_write(job->context, set->sink, set->after.bytes, set->after.n);
    if (status == WB_OK)
        status = wb__sink_finish(job->context, set->sink, set->after.n);
    return status;
}

/* ---- recovery ---- */

/* Replaces the index by the text `to`, if its text is `from`. Any other text means that another
 * program has changed the index, which then stays unchanged. */
static wb_status restore(wb__context *context, const char *path, const wb__source *index,
                         wb__str from, wb__str to)
{
    wb_sink *sink;
    if (wb__source_bytes(index) != from.len)
        return WB_OK;
    char *now = wb__alloc(&context->allocator, from.len);
    wb_status status =
        now == NULL ? wb__fail_memory(context) : wb__source_read(index, context, 0, now, from.len);
    bool is_from = status == WB_OK && memcmp(now, from.ptr, from.len) == 0;
    wb__free(&context->allocator, now, from.len);
    if (!is_from)
        return status;
    status = wb__sink_open(context, path, to.len, &sink);
    if (status != WB_OK)
        return status;
    status = wb__sink_write(context, sink, to.ptr, to.len);
    if (status == WB_OK)
        return wb__sink_commit(context, sink);
    wb__sink_discard(sink);
    return status;
}

/* As `restore`, but opens the index at `path` first. Precondition: the index is locked. */
static wb_status restore_locked(wb__context *context, const char *path, wb__str from, wb__str to)
{
    bool is_folder;
    wb__source *index = NULL;
    context->file = path;
    wb_status status = wb__source_open(context, path, WB_ACCESS_READ, &index, &is_folder);
    if (status == WB_OK && !is_folder)
        status = restore(context, path, index, from, to);
    wb__source_close(index);
    return status;
}

static wb_status restore_at(wb__context *context, const char *path, wb__str from, wb__str to)
{
    int lock;
    wb_status status = wb__edit_lock(context, path, &lock);
    if (status != WB_OK)
        return status;
    status = restore_locked(context, path, from, to);
    wb__edit_unlock(lock);
    if (status != WB_ERROR_NOT_FOUND)
        return status;
    (void)wb__error_reset(context->error, context->error); /* no index to restore */
    return WB_OK;
}

wb_status wb__index_restore(wb__context *context, const char *journal_at, wb__str name,
                            wb__str from, wb__str to)
{
    wb__str parent = wb__path_folder(journal_at);
    char *folder = wb__path_join(&context->allocator, "", parent);
    char *path = folder == NULL ? NULL : wb__path_join(&context->allocator, folder, name);
    wb_status status =
        path == NULL ? wb__fail_memory(context) : restore_at(context, path, from, to);
    if (path != NULL)
        wb__free(&context->allocator, path, strlen(path) + 1);
    if (folder != NULL)
        wb__free(&context->allocator, folder, strlen(folder) + 1);
    context->file = "";
    return status;
}

wb_status wb__index_publish(wb__edit_job *job)
{
    const wb__edit_set *set = &job->set;
    if (!set->changes_index)
        return WB_OK;
    wb_status status = wb__sink_publish(job->context, set->sink);
    if (status == WB_OK)
        return WB_OK;
    /*
     * The file has already changed. If only the sync of the directory failed, the index has also
     * changed, and the sync is repeated at the end of the edit. Otherwise, try once more to replace
     * the index.
     */
    if (!wb__sink_is_published(set->sink))
        status = restore_locked(job->context, set->bundle.index_path, set->before,
                                (wb__str){(const char *)set->after.bytes, set->after.n});
    else
        status = WB_OK;
    if (status == WB_OK)
        (void)wb__error_reset(job->context->error, job->context->error);
    return status;
}
