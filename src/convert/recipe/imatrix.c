#include "convert/recipe/imatrix.h"
#include "convert/convert_messages.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/endian.h"
#include "io/io.h"

#define BUFFER ((size_t)64 << 10)
#define NAME_MAX_BYTES 512 /* maximum length of a tensor name in a .dat file, in bytes */
/* Maximum size of an importance matrix file, in bytes, about ten times the size that the largest
 * models need. Larger files are rejected. */
#define MATRIX_MAX ((uint64_t)16 << 30)

typedef struct entry {
    wb__str name;
    float *values; /* mean square of the input activations, for each expert and column */
    uint64_t count;
} entry;

struct wb__imatrix {
    wb_allocator allocator;
    wb__arena arena;
    wb__list entries; /* list of struct entry */
    entry **sorted;
};

/* ---- lookup ---- */

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

wb_status wb__imatrix_take(const wb__imatrix *matrix, wb__context *context, wb__planned_tensor *row)
{
    const entry *found = matrix == NULL ? NULL : find(matrix, row->name);
    if (found == NULL || row->columns == 0 || row->rows == 0)
        return WB_OK;
    uint64_t stack = row->rank > 2 ? row->shape[row->rank - 3] : 1;
    if (found->count != row->columns * stack) {
        if (wb__str_equal(row->name, WB__STR("token_embd.weight")))
            /* As in llama-quantize, a wrong number of values is not an error for the embedding. The
             * entry is ignored. */
            return WB_OK;
        return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_CONVERT_MATRIX, WB_NO_OFFSET,
                        row->name, WB__MSG_CONVERT_IMATRIX_COLUMNS,
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
                    WB__MSG_CONVERT_IMATRIX, what);
}

/* Returns true if all values are finite and not negative, as encoders require. */
static bool are_sound(const entry *e)
{
    for (uint64_t i = 0; i < e->count; i++) {
        if (!(e->values[i] >= 0 && e->values[i] <= 3.402823466e38f))
            return false;
    }
    return true;
}

/* State of reading a .dat file. The headers of entries are read through a buffer. Large arrays
 * of values are read directly to their destination, so that memory contains them only once. */
typedef struct legacy {
    const wb__source *source;
    wb__context *context;
    /* File offset after the buffered bytes, and number of bytes of the file that are not
     * consumed yet. */
    uint64_t at, left;
    size_t used, filled; /* numbers of consumed and of valid bytes in `buffer` */
    uint8_t *buffer;     /* buffer of BUFFER bytes */
} legacy;

static wb_status fill(legacy *file)
{
    uint64_t rest = wb__source_bytes(file->source) - file->at;
    size_t n = rest < BUFFER ? (size_t)rest : BUFFER;
    wb_status status = wb__source_read(file->source, file->context, file->at, file->buffer, n);
    file->used = 0;
    file->filled = n;
    file->at += n;
    return status;
}

/* Copies the next n bytes of the file to dst. Precondition: n is not greater than file->left. */
static wb_status read_bytes(legacy *file, void *dst, size_t n)
{
    uint8_t *to = dst;
    wb_status status = WB_OK;
    file->left -= n;
    while (n > 0 && status == WB_OK) {
        size_t has = file->filled - file->used, count = has < n ? has : n;
        memcpy(to, file->buffer + file->used, count);
        file->used += count;
        to += count;
        n -= count;
        if (n >= BUFFER) {
            status = wb__source_read(file->source, file->context, file->at, to, n);
            file->at += n;
            n = 0;
        } else if (n > 0) {
            status = fill(file);
        }
    }
    return status;
}

/* Reads an i32 that must not be negative. Sets *value to -1 if the number is negative or the
 * file is too short. */
static wb_status take(legacy *file, int32_t *value)
{
    uint8_t bytes[4];
    *value = -1;
    if (file->left < sizeof bytes)
        return WB_OK;
    wb_status status = read_bytes(file, bytes, sizeof bytes);
    if (status == WB_OK && wb__load_le32(bytes) <= INT32_MAX)
        *value = (int32_t)wb__load_le32(bytes);
    return status;
}

/* Reads the header of an entry. Sets *count to the number of values of the entry, and checks
 * that the file contains all these values. */
static wb_status read_head(legacy *file, char name[NAME_MAX_BYTES], int32_t *n, int32_t *calls,
                           int32_t *count)
{
    wb__context *context = file->context;
    wb_status status = take(file, n);
    if (status != WB_OK)
        return status;
    if (*n <= 0 || (uint64_t)*n > file->left)
        return fail_damaged(context, WB__MSG_CONVERT_IMATRIX_NAME_END);
    if (*n > NAME_MAX_BYTES)
        return fail_damaged(context, WB__MSG_CONVERT_IMATRIX_NAME_LONG);
    status = read_bytes(file, name, (size_t)*n);
    if (status == WB_OK)
        status = take(file, calls);
    if (status == WB_OK)
        status = take(file, count);
    if (status == WB_OK && (*calls < 0 || *count <= 0 || (uint64_t)*count > file->left / 4))
        return fail_damaged(context, WB__MSG_CONVERT_IMATRIX_ENTRY_END);
    return status;
}

static wb_status read_legacy_entry(wb__imatrix *matrix, legacy *file)
{
    char name[NAME_MAX_BYTES];
    int32_t n = 0, calls = 0, count = 0;
    entry *e = NULL;
    wb_status status = read_head(file, name, &n, &calls, &count);
    if (status == WB_OK)
        status = add(matrix, file->context, (wb__str){name, (size_t)n}, (uint64_t)count, &e);
    if (status != WB_OK)
        return status;
    status = read_bytes(file, e->values, (size_t)count * sizeof *e->values);
    for (int32_t i = 0; i < count && status == WB_OK; i++) {
        uint32_t bits = wb__load_le32(&e->values[i]);
        memcpy(&e->values[i], &bits, sizeof bits);
        if (calls > 0)
            e->values[i] /= (float)calls;
    }
    if (status == WB_OK && !are_sound(e))
        return fail_damaged(file->context, WB__MSG_CONVERT_IMATRIX_NEGATIVE);
    return status;
}

static wb_status read_legacy(wb__imatrix *matrix, wb__context *context, const wb__source *source)
{
    legacy file = {.source = source, .context = context, .left = wb__source_bytes(source)};
    int32_t count = 0;
    if (file.left > MATRIX_MAX)
        return wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_CONVERT_MATRIX, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_CONVERT_IMATRIX_SIZE, (unsigned long long)file.left,
                        (unsigned long long)MATRIX_MAX);
    file.buffer = wb__alloc(&context->allocator, BUFFER);
    if (file.buffer == NULL)
        return wb__fail_memory(context);
    wb_status status = take(&file, &count);
    if (status == WB_OK && count <= 0)
        status = fail_damaged(context, WB__MSG_CONVERT_IMATRIX_EMPTY);
    for (int32_t i = 0; i < count && status == WB_OK; i++)
        status = read_legacy_entry(matrix, &file);
    wb__free(&context->allocator, file.buffer, BUFFER);
    return status;
}

static wb_status read_counts(const wb_model *model, wb__context *context, wb__str name,
                             float *counts, uint64_t experts)
{
    char full[256];
    uint64_t index;
    (void)snprintf(full, sizeof full, "%.*s.counts", (int)name.len, name.ptr);
    if (wb_tensor_find(model, full, SIZE_MAX, &index) != WB_OK)
        return fail_damaged(context, WB__MSG_CONVERT_IMATRIX_COUNTS);
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
        return fail_damaged(context, WB__MSG_CONVERT_IMATRIX_VALUES);
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
        return fail_damaged(context, WB__MSG_CONVERT_IMATRIX_NEGATIVE);
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
        status = fail_damaged(context, WB__MSG_CONVERT_IMATRIX_SUMS);
    return status;
}

/* Reads a .dat file or a GGUF file. If the magic number is that of GGUF, the file is opened as a
 * model. */
static wb_status read_any(wb__imatrix *matrix, wb__context *context, const char *path)
{
    wb__source *source;
    bool is_folder;
    char magic[4] = "";
    context->file = path;
    wb_status status = wb__source_open(context, path, WB_ACCESS_READ, &source, &is_folder);
    if (status == WB_ERROR_NOT_FOUND)
        return wb__fail(context, WB_ERROR_NOT_FOUND, WB__FINDING_NOT_FOUND, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_CONVERT_NO_FILE);
    if (status == WB_OK && is_folder)
        return wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_NOT_REGULAR, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_CONVERT_IS_FOLDER);
    if (status != WB_OK)
        return status;
    if (wb__source_bytes(source) >= sizeof magic)
        status = wb__source_read(source, context, 0, magic, sizeof magic);
    bool is_gguf = memcmp(magic, "GGUF", sizeof magic) == 0;
    if (status == WB_OK && !is_gguf)
        status = read_legacy(matrix, context, source);
    wb__source_close(source);
    return status == WB_OK && is_gguf ? read_gguf(matrix, context, path) : status;
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
