/*
 * model.safetensors.index.json, as written by Hugging Face libraries:
 *
 *     {"metadata": {"total_size": bytes, …}, "weight_map": {tensor: file, …}}
 *
 * The format has no specification. weight_map and metadata.total_size are read, everything else is
 * skipped.
 */
#include "bundles/bundle.h"
#include "bundles/bundles_messages.h"
#include "io/sink.h"
#include "model/padding_tensor.h"

/* ---- parsing an index ---- */

typedef struct index_walk index_walk;

struct index_walk {
    wb__context *context;
    /* Called for each tensor and its file name; `at` is the offset of the file name. */
    wb_status (*pair)(index_walk *walk, wb__str tensor, wb__str file, uint64_t at);
    void (*total)(index_walk *walk, uint64_t bytes, uint64_t at);
    /* Members that the functions `pair` and `total` use. */
    wb_status (*each)(void *ctx, wb__str file);
    void *ctx;
    wb__key_set seen;
    char last_file[256]; /* file name of the last tensor; often that of the next tensor, too */
    size_t last_len;
    const wb__bundle *bundle;
    const wb__catalog *model;
    uint32_t next;                /* index of the tensor after the last one that was found */
    const wb__catalog_file *file; /* file of the last tensor that was found, or NULL */
    wb__str file_name;            /* its name without the directory */
    /* number of tensors of the model that the index lists; padding tensors do not count */
    uint64_t found;
    uint64_t missing; /* number of listed tensors that no file contains */
    uint64_t misplaced;
    uint64_t first_at; /* offset in the index of the first missing or misplaced tensor */
    char first[256];
    bool has_total;
    uint64_t total_bytes, total_at;
};

static wb_status fail_index(wb__context *context, const wb__json *json, const char *what)
{
    if (json->token == WB__JSON_FAULT) {
        if (json->fault == WB__JSON_FAULT_MEMORY)
            return wb__fail_memory(context);
        what = wb__json_fault_text(json->fault);
    }
    return wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_INDEX_JSON, json->at, WB__STR(""), "%s",
                    what);
}

/* Returns true if the text of the token is a part of the index, and thus stays valid. */
static bool is_in_place(const index_walk *walk, const wb__json *json)
{
    uintptr_t begin = (uintptr_t)walk->bundle->index_text, text = (uintptr_t)json->text.ptr;
    return text >= begin && text - begin < walk->bundle->index_bytes;
}

static wb_status walk_pair(index_walk *walk, wb__json *json)
{
    wb__arena arena = {.allocator = &json->allocator};
    wb__str tensor = json->text;
    wb_status status;
    /* A key with escapes is valid only until the next token is read, so it is copied. */
    if (!is_in_place(walk, json))
        tensor.ptr = wb__arena_copy(&arena, json->text.ptr, json->text.len);
    if (tensor.ptr == NULL)
        status = wb__fail_memory(walk->context);
    else if (wb__json_next(json) != WB__JSON_STRING)
        status = fail_index(walk->context, json, WB__MSG_INDEX_MAP_STRING);
    else
        status = walk->pair(walk, tensor, json->text, json->at);
    wb__arena_free(&arena);
    return status;
}

static wb_status walk_weight_map(index_walk *walk, wb__json *json)
{
    wb_status status = WB_OK;
    if (wb__json_next(json) != WB__JSON_OBJECT)
        return fail_index(walk->context, json, WB__MSG_INDEX_MAP_OBJECT);
    while (status == WB_OK && wb__json_next(json) == WB__JSON_KEY)
        status = walk_pair(walk, json);
    if (status == WB_OK && json->token != WB__JSON_OBJECT_END)
        status = fail_index(walk->context, json, "");
    return status;
}

static wb_status walk_metadata(index_walk *walk, wb__json *json)
{
    if (wb__json_next(json) != WB__JSON_OBJECT)
        return wb__json_skip(json) ? WB_OK : fail_index(walk->context, json, "");
    while (wb__json_next(json) == WB__JSON_KEY) {
        bool is_total = wb__str_equal(json->text, WB__STR("total_size"));
        if (wb__json_next(json) == WB__JSON_UINT && is_total && walk->total != NULL)
            walk->total(walk, json->uint, json->at);
        if (!wb__json_skip(json))
            break;
    }
    return json->token == WB__JSON_OBJECT_END ? WB_OK : fail_index(walk->context, json, "");
}

static wb_status walk_object(index_walk *walk, wb__json *json)
{
    bool has_map = false;
    if (wb__json_next(json) != WB__JSON_OBJECT)
        return fail_index(walk->context, json, WB__MSG_INDEX_OBJECT);
    while (wb__json_next(json) == WB__JSON_KEY) {
        wb_status status = WB_OK;
        if (wb__str_equal(json->text, WB__STR("weight_map"))) {
            if (has_map)
                return fail_index(walk->context, json, WB__MSG_INDEX_MAP_TWICE);
            has_map = true;
            status = walk_weight_map(walk, json);
        } else if (wb__str_equal(json->text, WB__STR("metadata"))) {
            status = walk_metadata(walk, json);
        } else if (!wb__json_skip(json)) {
            status = fail_index(walk->context, json, "");
        }
        if (status != WB_OK)
            return status;
    }
    if (json->token != WB__JSON_OBJECT_END)
        return fail_index(walk->context, json, "");
    if (!has_map)
        return fail_index(walk->context, json, WB__MSG_INDEX_NO_MAP);
    return WB_OK;
}

static wb_status walk_index(index_walk *walk, const wb__bundle *bundle)
{
    wb__cursor cursor = wb__cursor_over(bundle->index_text, bundle->index_bytes);
    wb__json json;
    const char *file = walk->context->file;
    walk->context->file = bundle->index_path;
    wb__json_start(&json, &cursor, &bundle->allocator);
    wb_status status = walk_object(walk, &json);
    wb__json_stop(&json);
    walk->context->file = file;
    return status;
}

/* ---- listed files ---- */

/* Returns true if the name cannot leave its directory: no separator, not "." or "..", no NUL. */
static bool is_plain_name(wb__str name)
{
    if (name.len == 0 || name.len > 255 || wb__str_equal(name, WB__STR(".")) ||
        wb__str_equal(name, WB__STR("..")))
        return false;
    return memchr(name.ptr, '/', name.len) == NULL && memchr(name.ptr, '\0', name.len) == NULL;
}

static wb_status collect_file(index_walk *walk, wb__str tensor, wb__str file, uint64_t at)
{
    bool repeated;
    if (file.len != 0 && wb__str_equal(file, (wb__str){walk->last_file, walk->last_len}))
        return WB_OK;
    if (!is_plain_name(file)) {
        char shown[80];
        wb__printable(shown, sizeof shown, file);
        return wb__fail(walk->context, WB_ERROR_FORMAT, WB__FINDING_INDEX_PATH, at, tensor,
                        WB__MSG_INDEX_BAD_FILE_NAME, shown);
    }
    if (!wb__key_set_add(&walk->seen, 0, file, &repeated))
        return wb__fail_memory(walk->context);
    memcpy(walk->last_file, file.ptr, file.len);
    walk->last_len = file.len;
    return repeated ? WB_OK : walk->each(walk->ctx, file);
}

static wb_status load_index(wb__context *context, wb__bundle *bundle, const char *folder,
                            const char *path)
{
    bool is_folder;
    bundle->index_path = wb__arena_copy(&bundle->arena, path, strlen(path));
    if (bundle->index_path == NULL)
        return wb__fail_memory(context);
    wb_status status =
        wb__source_open_in(context, folder, path, WB_ACCESS_READ, &bundle->index, &is_folder);
    if (status != WB_OK)
        return status;
    if (is_folder)
        return wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_NOT_REGULAR, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_INDEX_IS_FOLDER);
    uint64_t bytes = wb__source_bytes(bundle->index);
    if (bytes > context->limits.json_bytes || bytes > SIZE_MAX)
        return wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_INDEX_JSON, WB_NO_OFFSET, WB__STR(""),
                        WB__MSG_INDEX_TOO_LARGE, (unsigned long long)bytes,
                        (unsigned long long)context->limits.json_bytes);
    bundle->index_copy = wb__alloc(&bundle->allocator, (size_t)bytes);
    if (bundle->index_copy == NULL)
        return wb__fail_memory(context);
    bundle->index_bytes = (size_t)bytes;
    bundle->index_text = bundle->index_copy;
    return wb__source_read(bundle->index, context, 0, bundle->index_copy, (size_t)bytes);
}

wb_status wb__index_read(wb__context *context, wb__bundle *bundle, const char *folder,
                         const char *path, wb_status (*each)(void *ctx, wb__str file), void *ctx)
{
    const char *file = context->file;
    context->file = path;
    wb_status status = load_index(context, bundle, folder, path);
    context->file = file;
    if (status != WB_OK)
        return status;
    index_walk walk = {
        .context = context, .pair = collect_file, .each = each, .ctx = ctx, .bundle = bundle};
    wb__key_set_start(&walk.seen, &bundle->allocator);
    status = walk_index(&walk, bundle);
    wb__key_set_stop(&walk.seen);
    return status;
}

/* ---- listed tensors ---- */

/* Returns the index of the tensor, or WB__NO_TENSOR. An index usually lists the tensors in the order
 * of the files, so the tensor after the last one is tried before the hash table. */
static uint32_t find_tensor(index_walk *walk, wb__str tensor)
{
    const wb__table *table = &walk->model->table;
    uint32_t number = walk->next;
    if (number >= table->count || !wb__str_equal(wb__table_name(table, number), tensor))
        number = wb__table_find(table, tensor);
    walk->next = number == WB__NO_TENSOR ? walk->next : number + 1;
    return number;
}

/* Returns true if the tensor is in the file of this name. */
static bool is_in_file(index_walk *walk, uint32_t number, wb__str name)
{
    const wb__catalog_file *file = walk->file;
    if (file == NULL || number - file->first_tensor >= file->tensor_count) {
        file = &walk->model->files[wb__catalog_file_of(walk->model, number)];
        walk->file = file;
        walk->file_name = wb__path_base(file->path);
    }
    return wb__str_equal(walk->file_name, name);
}

static wb_status compare_tensor(index_walk *walk, wb__str tensor, wb__str file, uint64_t at)
{
    uint32_t number = find_tensor(walk, tensor);
    bool bad = false;
    if (number == WB__NO_TENSOR) {
        walk->missing++;
        bad = true;
    } else {
        walk->found += !wb__is_padding_tensor(tensor);
        bad = !is_in_file(walk, number, file);
        walk->misplaced += bad;
    }
    if (bad && walk->missing + walk->misplaced == 1) {
        walk->first_at = at;
        wb__printable(walk->first, sizeof walk->first, tensor);
    }
    return WB_OK;
}

static void keep_total(index_walk *walk, uint64_t bytes, uint64_t at)
{
    walk->has_total = true;
    walk->total_bytes = bytes;
    walk->total_at = at;
}

/*
 * Returns the number of tensors that the index should list: all but padding tensors. Sets *bytes to
 * the total size of these tensors, and *fillers to the total size of the padding tensors, which
 * total_size of an index may or may not include.
 */
static uint64_t indexed(const wb__catalog *model, uint64_t *bytes, uint64_t *fillers)
{
    uint64_t count = 0;
    *bytes = *fillers = 0;
    for (size_t i = 0; i < model->table.count; i++) {
        bool is_filler = wb__is_padding_tensor(wb__table_name(&model->table, i));
        count += !is_filler;
        /* No overflow: the total is at most the sum of the file lengths. */
        *(is_filler ? fillers : bytes) += wb__table_kind_of(&model->table, i)->bytes;
    }
    return count;
}

static wb_status note_index(index_walk *walk)
{
    wb__context *context = walk->context;
    const wb__catalog *model = walk->model;
    uint64_t bad = walk->missing + walk->misplaced;
    uint64_t bytes, fillers;
    uint64_t count = indexed(model, &bytes, &fillers);
    wb_status status = WB_OK;
    if (bad > 0)
        status = wb__note(context, WB_WARNING, WB__FINDING_INDEX_STALE, walk->first_at,
                          wb__str_from(walk->first, SIZE_MAX), WB__MSG_INDEX_WRONG_FILES,
                          (unsigned long long)bad, (unsigned long long)walk->missing);
    if (status == WB_OK && walk->found < count)
        status = wb__note(context, WB_WARNING, WB__FINDING_INDEX_STALE, WB_NO_OFFSET, WB__STR(""),
                          WB__MSG_INDEX_INCOMPLETE, (unsigned long long)(count - walk->found),
                          (unsigned long long)count);
    if (status == WB_OK && walk->has_total && walk->total_bytes != bytes &&
        walk->total_bytes != bytes + fillers)
        status = wb__note(context, WB_INFO, WB__FINDING_INDEX_TOTAL, walk->total_at, WB__STR(""),
                          WB__MSG_INDEX_TOTAL, (unsigned long long)walk->total_bytes,
                          (unsigned long long)bytes);
    return status;
}

wb_status wb__bundle_check(wb__context *context, const wb__bundle *bundle, const wb__catalog *model)
{
    if (bundle->index_text == NULL)
        return WB_OK;
    index_walk walk = {.context = context,
                       .pair = compare_tensor,
                       .total = keep_total,
                       .bundle = bundle,
                       .model = model};
    wb_status status = walk_index(&walk, bundle);
    if (status != WB_OK)
        return status;
    const char *file = context->file;
    context->file = bundle->index_path;
    status = note_index(&walk);
    context->file = file;
    return status;
}
