#include "convert/imatrix.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/endian.h"

typedef struct entry {
    wb__str name;
    float *values; /* the mean of squares of what comes in, a row for each expert */
    uint64_t count;
} entry;

struct wb__imatrix {
    wb_allocator allocator;
    wb__arena arena;
    wb__list entries; /* of entry */
    entry **sorted;
};

/* ---- finding ---- */

static int by_name(const void *a, const void *b)
{
    const entry *const *x = a, *const *y = b;
    return wb__str_compare((*x)->name, (*y)->name);
}

static wb_status sort(wb__imatrix *matrix, wb__context *context)
{
    size_t n = matrix->entries.count;
    matrix->sorted = wb__arena_alloc(&matrix->arena, (n + 1) * sizeof(entry *));
    if (matrix->sorted == NULL)
        return wb__fail_memory(context);
    for (size_t i = 0; i < n; i++)
        matrix->sorted[i] = wb__list_at(&matrix->entries, i);
    qsort(matrix->sorted, n, sizeof(entry *), by_name);
    return WB_OK;
}

static const entry *find(const wb__imatrix *matrix, wb__str name)
{
    size_t low = 0, high = matrix->entries.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = wb__str_compare(matrix->sorted[middle]->name, name);
        if (order == 0)
            return matrix->sorted[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

wb_status wb__imatrix_take(const wb__imatrix *matrix, wb__context *context, wb__planned *row)
{
    const entry *found = matrix == NULL ? NULL : find(matrix, row->name);
    if (found == NULL || row->columns == 0 || row->rows == 0)
        return WB_OK;
    uint64_t stack = row->rank > 2 ? row->shape[row->rank - 3] : 1;
    if (found->count != row->columns * stack) {
        if (wb__str_equal(row->name, WB__STR("token_embd.weight")))
            return WB_OK; /* of the output, where both are one */
        return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_CONVERT_MATRIX, WB_NO_OFFSET,
                        row->name,
                        "the importance matrix has %llu values for this tensor of %llu columns",
                        (unsigned long long)found->count, (unsigned long long)row->columns);
    }
    row->importance = found->values;
    row->rows_an_importance = row->rows / stack;
    return WB_OK;
}

/* ---- reading ---- */

static wb_status add(wb__imatrix *matrix, wb__context *context, wb__str name, uint64_t count,
                     entry **added)
{
    entry *made = wb__list_append(&matrix->entries);
    size_t bytes;
    if (made == NULL)
        return wb__fail_memory(context);
    *made = (entry){.name = {wb__arena_copy(&matrix->arena, name.ptr, name.len), name.len},
                    .count = count};
    if (!wb__to_size(count * sizeof(float), &bytes) ||
        (made->values = wb__arena_alloc(&matrix->arena, bytes)) == NULL || made->name.ptr == NULL)
        return wb__fail_memory(context);
    *added = made;
    return WB_OK;
}

static wb_status fail_damaged(wb__context *context, const char *what)
{
    return wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_CONVERT_MATRIX, WB_NO_OFFSET, WB__STR(""),
                    "this is no importance matrix: %s", what);
}

/* Weights below 0, or none, would make the search for scales meaningless. */
static bool are_sound(const entry *e)
{
    for (uint64_t i = 0; i < e->count; i++) {
        if (!(e->values[i] >= 0 && e->values[i] <= 3.402823466e38f))
            return false;
    }
    return true;
}

typedef struct legacy {
    const uint8_t *at, *end;
} legacy;

static bool take(legacy *file, int32_t *value)
{
    if (file->end - file->at < 4)
        return false;
    uint32_t bits = wb__load_le32(file->at);
    *value = bits > INT32_MAX ? -1 : (int32_t)bits;
    file->at += 4;
    return *value >= 0;
}

static wb_status read_legacy_entry(wb__imatrix *matrix, wb__context *context, legacy *file)
{
    int32_t n, calls, count;
    entry *e = NULL;
    if (!take(file, &n) || n == 0 || n > file->end - file->at)
        return fail_damaged(context, "a name ends behind the file");
    wb__str name = {(const char *)file->at, (size_t)n};
    file->at += n;
    if (!take(file, &calls) || !take(file, &count) || count == 0 ||
        count > (file->end - file->at) / 4)
        return fail_damaged(context, "an entry ends behind the file");
    wb_status status = add(matrix, context, name, (uint64_t)count, &e);
    for (int32_t i = 0; i < count && status == WB_OK; i++, file->at += 4) {
        uint32_t bits = wb__load_le32(file->at);
        memcpy(&e->values[i], &bits, sizeof bits);
        if (calls > 0)
            e->values[i] /= (float)calls;
    }
    if (status == WB_OK && !are_sound(e))
        return fail_damaged(context, "it has weights that are not from 0 on");
    return status;
}

static wb_status read_legacy(wb__imatrix *matrix, wb__context *context, const char *text, size_t n)
{
    legacy file = {(const uint8_t *)text, (const uint8_t *)text + n};
    int32_t count = 0;
    if (!take(&file, &count) || count == 0)
        return fail_damaged(context, "it has no entries");
    wb_status status = WB_OK;
    for (int32_t i = 0; i < count && status == WB_OK; i++)
        status = read_legacy_entry(matrix, context, &file);
    return status;
}

static wb_status read_counts(const wb_model *model, wb__context *context, wb__str name,
                             float *counts, uint64_t experts)
{
    char full[256];
    uint64_t index;
    (void)snprintf(full, sizeof full, "%.*s.counts", (int)name.len, name.ptr);
    if (wb_tensor_find(model, full, SIZE_MAX, &index) != WB_OK)
        return fail_damaged(context, "a tensor has no counts");
    return wb_tensor_read(model, index, NULL, WB_DTYPE_F32, counts, experts * sizeof(float),
                          context->error);
}

static wb_status read_gguf_entry(wb__imatrix *matrix, wb__context *context, const wb_model *model,
                                 uint64_t index, const wb_tensor *tensor)
{
    wb__str name = {tensor->name, tensor->name_len - (sizeof ".in_sum2" - 1)};
    uint64_t columns = tensor->rank == 0 ? 0 : tensor->shape[tensor->rank - 1];
    uint64_t experts = columns == 0 ? 0 : tensor->elements / columns;
    entry *e = NULL;
    if (experts == 0 || experts > 65536 || name.len > 200)
        return fail_damaged(context, "a tensor has no values");
    wb_status status = add(matrix, context, name, tensor->elements, &e);
    float *counts =
        status == WB_OK ? wb__arena_alloc(&matrix->arena, (size_t)experts * sizeof(float)) : NULL;
    if (counts == NULL)
        return status != WB_OK ? status : wb__fail_memory(context);
    status = wb_tensor_read(model, index, NULL, WB_DTYPE_F32, e->values,
                            tensor->elements * sizeof(float), context->error);
    if (status == WB_OK)
        status = read_counts(model, context, name, counts, experts);
    for (uint64_t i = 0; i < e->count && status == WB_OK; i++)
        e->values[i] = counts[i / columns] > 0 ? e->values[i] / counts[i / columns] : 1.0f;
    if (status == WB_OK && !are_sound(e))
        return fail_damaged(context, "it has weights that are not from 0 on");
    return status;
}

static wb_status read_gguf(wb__imatrix *matrix, wb__context *context, const char *path)
{
    wb_model *model;
    const wb_open_options options = {.size = sizeof options,
                                     .access = WB_ACCESS_READ,
                                     .limits = &context->limits,
                                     .allocator = &context->allocator};
    wb_status status = wb_open(path, &options, &model, context->error);
    if (status != WB_OK)
        return status;
    for (uint64_t i = 0; i < wb_tensor_count(model) && status == WB_OK; i++) {
        wb_tensor tensor = {.size = sizeof tensor};
        status = wb_tensor_at(model, i, &tensor, context->error);
        if (status == WB_OK &&
            wb__str_ends_with((wb__str){tensor.name, tensor.name_len}, WB__STR(".in_sum2")))
            status = read_gguf_entry(matrix, context, model, i, &tensor);
    }
    wb_close(model);
    if (status == WB_OK && matrix->entries.count == 0)
        status = fail_damaged(context, "no tensor of it is called *.in_sum2");
    return status;
}

static wb_status read_any(wb__imatrix *matrix, wb__context *context, const char *path)
{
    char *text;
    size_t n;
    context->file = path;
    wb_status status = wb__read_text(context, path, &text, &n);
    if (status != WB_OK)
        return status;
    if (text == NULL)
        return wb__fail(context, WB_ERROR_NOT_FOUND, WB__FINDING_NOT_FOUND, WB_NO_OFFSET,
                        WB__STR(""), "there is no such file");
    bool is_gguf = n >= 4 && memcmp(text, "GGUF", 4) == 0;
    if (!is_gguf)
        status = read_legacy(matrix, context, text, n);
    wb__free(&context->allocator, text, n + 1);
    return is_gguf ? read_gguf(matrix, context, path) : status;
}

wb_status wb__imatrix_read(wb__context *context, const char *path, wb__imatrix **matrix)
{
    *matrix = NULL;
    wb__imatrix *made = wb__alloc(&context->allocator, sizeof *made);
    if (made == NULL)
        return wb__fail_memory(context);
    *made = (wb__imatrix){.allocator = context->allocator};
    made->arena.allocator = &made->allocator;
    made->entries = (wb__list){.arena = &made->arena, .item_size = sizeof(entry)};
    wb_status status = read_any(made, context, path);
    if (status == WB_OK)
        status = sort(made, context);
    if (status == WB_OK)
        *matrix = made;
    else
        wb__imatrix_free(made);
    return status;
}

void wb__imatrix_free(wb__imatrix *matrix)
{
    if (matrix == NULL)
        return;
    wb_allocator allocator = matrix->allocator;
    wb__list_free(&matrix->entries);
    wb__arena_free(&matrix->arena);
    wb__free(&allocator, matrix, sizeof *matrix);
}
