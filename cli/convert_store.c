/*
 * wb convert --to ollama: a model in safetensors becomes one in an Ollama store, its tensors as they are
 * stored. Quantized ones get the names Ollama has for their parts; experts that are stored one by one
 * become one tensor, as Ollama stores them today.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert.h"
#include "exit.h"
#include "report.h"
#include "terminal.h"

/* A stored tensor that becomes part of the result. */
typedef struct piece {
    uint64_t index;       /* in the model */
    uint64_t number;      /* of the expert */
    wb_mlx_global global; /* of a global scale: what it means */
} piece;

/* A tensor of the result. */
typedef struct entry {
    text name;
    wb_tensor tensor; /* one of its pieces */
    bool is_stack;
    piece *pieces;
    size_t count, capacity;
    const char *packing; /* NULL: plain, or no packed values */
    bool is_scale;
    bool is_retyped; /* as in stored_as */
    uint32_t group;
} entry;

typedef struct store_import {
    const convert_job *job;
    entry *entries;
    size_t count, capacity;
    const char *file_type;
    wb_error error;
} store_import;

/* ---- names ---- */

static size_t find(const char *name, size_t len, const char *part)
{
    size_t n = strlen(part);
    for (size_t i = 0; i + n <= len; i++) {
        if (memcmp(name + i, part, n) == 0)
            return i + n;
    }
    return 0;
}

/* Takes "….experts.7.up_proj.weight" apart: the front with its dot, 7, and the rest with its dot. */
static bool split_expert(const char *name, size_t len, size_t *front, uint64_t *number,
                         size_t *rest)
{
    static const char *const markers[] = {".mlp.experts.", ".mlp.switch_mlp.", ".moe.experts.",
                                          ".mixer.experts."};
    *front = 0;
    *number = 0;
    for (size_t i = 0; i < sizeof markers / sizeof markers[0] && *front == 0; i++)
        *front = find(name, len, markers[i]);
    size_t at = *front;
    while (*front != 0 && at < len && name[at] >= '0' && name[at] <= '9' && at < *front + 6) {
        *number = *number * 10 + (uint64_t)(name[at] - '0');
        at++;
    }
    *rest = at + 1;
    return *front != 0 && at > *front && at < len && name[at] == '.';
}

static entry *entry_named(store_import *in, const char *name, size_t len)
{
    /* Experts of a layer stand together, so that the newest are looked at first. */
    for (size_t back = 1; back <= in->count && back <= 4096; back++) {
        entry *e = &in->entries[in->count - back];
        if (e->name.len == len && memcmp(e->name.ptr, name, len) == 0)
            return e;
    }
    if (in->count == in->capacity) {
        in->capacity = in->capacity == 0 ? 64 : 2 * in->capacity;
        in->entries = need_memory(in->entries, in->capacity, sizeof *in->entries);
    }
    entry *made = &in->entries[in->count++];
    *made = (entry){0};
    text_add(&made->name, name, len);
    return made;
}

static entry *add_piece(store_import *in, const text *name, const wb_tensor *tensor, uint64_t index,
                        const wb_encoding *encoding, wb_mlx_global global)
{
    size_t front, rest;
    uint64_t number;
    bool feb = in->job->args->given[OPTION_GENERATION];
    bool is_stack = !feb && split_expert(name->ptr, name->len, &front, &number, &rest);
    text full = {0};
    text_add(&full, name->ptr, is_stack ? front : name->len);
    if (is_stack)
        text_add(&full, name->ptr + rest, name->len - rest);
    entry *e = entry_named(in, full.ptr, full.len);
    text_free(&full);
    if (e->count == e->capacity) {
        e->capacity = e->capacity == 0 ? 1 : 2 * e->capacity;
        e->pieces = need_memory(e->pieces, e->capacity, sizeof *e->pieces);
    }
    e->pieces[e->count++] = (piece){index, is_stack ? number : 0, global};
    e->is_stack = is_stack;
    e->tensor = *tensor;
    if (encoding != NULL) {
        e->packing = encoding->type;
        e->group = encoding->group_size;
    }
    return e;
}

/* ---- what the model has ---- */

/* Ollama's word for how values are packed; NULL: it has none. */
static const char *packing_of(const wb_encoding *encoding)
{
    static const char *const same[] = {"int4", "int8", "mxfp4", "mxfp8", "nvfp4"};
    if (strcmp(encoding->type, "affine") == 0)
        return encoding->bits == 4 ? "int4" : encoding->bits == 8 ? "int8" : NULL;
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        if (strcmp(encoding->type, same[i]) == 0)
            return same[i];
    }
    return NULL;
}

/* Of the name of packed values, without what compressed-tensors adds to it. */
static size_t stem_length(const wb_tensor *tensor)
{
    static const char whole[] = ".weight_packed";
    size_t n = sizeof whole - 1, end = sizeof "_packed" - 1;
    bool has = tensor->name_len > n && memcmp(tensor->name + tensor->name_len - n, whole, n) == 0;
    return tensor->name_len - (has ? end : 0);
}

static wb_status add_parts(store_import *in, uint64_t index, const wb_tensor *main,
                           wb_encoding encoding)
{
    static const struct {
        const char *role, *end;
    } ends[] = {{"values", ""},
                {"scales", ".scale"},
                {"biases", ".bias"},
                {"global_scale", ".global_scale"}};
    wb_status status = WB_OK;
    encoding.type = packing_of(&encoding);
    in->file_type = in->file_type == NULL ? encoding.type : in->file_type;
    for (uint32_t k = 0; k < encoding.parts && status == WB_OK; k++) {
        wb_part part = {.size = sizeof part};
        wb_tensor tensor = {.size = sizeof tensor};
        status = wb_tensor_part(in->job->model, index, k, &part, &in->error);
        if (status == WB_OK)
            status = wb_tensor_at(in->job->model, part.index, &tensor, &in->error);
        for (size_t i = 0; i < sizeof ends / sizeof ends[0] && status == WB_OK; i++) {
            if (strcmp(part.role, ends[i].role) != 0)
                continue;
            text name = {0};
            text_add(&name, main->name, stem_length(main));
            text_adds(&name, ends[i].end);
            entry *e =
                add_piece(in, &name, &tensor, part.index, k == 0 ? &encoding : NULL,
                          strcmp(part.role, "global_scale") == 0 ? (wb_mlx_global)encoding.global
                                                                 : WB_MLX_GLOBAL_NONE);
            e->is_scale = strcmp(part.role, "scales") == 0;
            text_free(&name);
        }
    }
    return status;
}

static int fail_tensor(const store_import *in, const wb_tensor *tensor, const wb_encoding *encoding)
{
    text line = {0};
    text_add_shown(&line, tensor->name, tensor->name_len);
    text_addf(&line, "\" is %s of %u bits, which Ollama has no blob for", encoding->type,
              encoding->bits);
    report_line("%s: \"%.900s", in->job->in, line.ptr);
    text_free(&line);
    return EXIT_UNSUPPORTED;
}

static int collect(store_import *in)
{
    const wb_model *model = in->job->model;
    for (uint64_t i = 0; i < wb_tensor_count(model); i++) {
        wb_tensor tensor = {.size = sizeof tensor};
        wb_encoding encoding = {.size = sizeof encoding};
        wb_status status = wb_tensor_at(model, i, &tensor, &in->error);
        if (status == WB_OK)
            status = wb_tensor_encoding(model, i, &encoding, &in->error);
        if (status == WB_OK && encoding.parts > 1) {
            if (packing_of(&encoding) == NULL)
                return fail_tensor(in, &tensor, &encoding);
            status = add_parts(in, i, &tensor, encoding);
        } else if (status == WB_OK) {
            text name = {0};
            text_add(&name, tensor.name, tensor.name_len);
            (void)add_piece(in, &name, &tensor, i, NULL, WB_MLX_GLOBAL_NONE);
            text_free(&name);
        }
        if (status != WB_OK)
            return convert_fail(in->job, status, &in->error);
    }
    return 0;
}

/* ---- what is written ---- */

static int by_number(const void *left, const void *right)
{
    uint64_t a = ((const piece *)left)->number, b = ((const piece *)right)->number;
    return (a > b) - (a < b);
}

/* All experts, once each and of one shape. */
static int check_stack(const store_import *in, entry *e)
{
    qsort(e->pieces, e->count, sizeof *e->pieces, by_number);
    for (size_t i = 0; i < e->count; i++) {
        wb_tensor tensor = {.size = sizeof tensor};
        bool fits = wb_tensor_at(in->job->model, e->pieces[i].index, &tensor, NULL) == WB_OK &&
                    e->pieces[i].number == i && tensor.dtype == e->tensor.dtype &&
                    tensor.rank == e->tensor.rank &&
                    memcmp(tensor.shape, e->tensor.shape, tensor.rank * sizeof *tensor.shape) == 0;
        if (!fits) {
            text line = {0};
            text_add_shown(&line, e->name.ptr, e->name.len);
            report_line("%s: the experts of \"%.900s\" are not all there, or differ in shape or "
                        "dtype, so that they are no one tensor",
                        in->job->in, line.ptr);
            text_free(&line);
            return EXIT_UNSUPPORTED;
        }
    }
    return 0;
}

/* The same bytes in the dtypes that Ollama has for them: values four to a U32, scales of 8 bits as U8. */
static int32_t stored_as(const entry *e, uint64_t *last)
{
    wb_dtype dtype = (wb_dtype)e->tensor.dtype;
    if (e->is_scale && (dtype == WB_DTYPE_F8_E4M3 || dtype == WB_DTYPE_F8_E8M0))
        return WB_DTYPE_U8;
    if (e->packing == NULL || dtype != WB_DTYPE_U8 || *last % 4 != 0)
        return (int32_t)dtype;
    *last /= 4;
    return WB_DTYPE_U32;
}

static int declare(store_import *in, wb_writer *writer)
{
    for (size_t i = 0; i < in->count; i++) {
        entry *e = &in->entries[i];
        uint32_t rank = e->tensor.rank + (e->is_stack ? 1 : 0);
        uint64_t *shape = need_memory(NULL, rank + 1, sizeof *shape), index;
        shape[0] = e->count;
        memcpy(shape + (e->is_stack ? 1 : 0), e->tensor.shape, e->tensor.rank * sizeof *shape);
        int32_t dtype = stored_as(e, &shape[rank == 0 ? 0 : rank - 1]);
        int code = e->is_stack ? check_stack(in, e) : 0;
        e->is_retyped = dtype != (int32_t)e->tensor.dtype;
        wb_status status = code != 0 ? WB_OK
                                     : wb_writer_add(writer, e->name.ptr, e->name.len, dtype, shape,
                                                     rank, &index, &in->error);
        if (code == 0 && status == WB_OK && e->packing != NULL)
            status = wb_writer_set_packing(writer, index, e->packing, e->group, &in->error);
        free(shape);
        if (status != WB_OK)
            return convert_fail(in->job, status, &in->error);
        if (code != 0)
            return code;
    }
    /* What a model out of a store says of itself beyond its weights. */
    static const char *const keys[] = {"ollama.template", "ollama.system", "ollama.license",
                                       "ollama.params", "ollama.messages"};
    wb_status status = WB_OK;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0] && status == WB_OK; i++) {
        uint64_t index;
        if (wb_meta_find(in->job->model, keys[i], SIZE_MAX, &index) == WB_OK)
            status = wb_writer_copy_meta(writer, in->job->model, index, &in->error);
    }
    if (status == WB_OK && in->file_type != NULL)
        status = wb_writer_set_string(writer, "ollama.file_type", SIZE_MAX, in->file_type, SIZE_MAX,
                                      &in->error);
    return status == WB_OK ? 0 : convert_fail(in->job, status, &in->error);
}

/* Whether Ollama, which multiplies with it, has another number for a global scale. */
static bool is_other_scale(wb_mlx_global global)
{
    return global == WB_MLX_GLOBAL_DIVISOR || global == WB_MLX_GLOBAL_AMAX;
}

/* What is not copied as it is: the bytes of another dtype, and scales that become others. */
static wb_status put_piece(store_import *in, wb_writer *writer, uint64_t index, uint64_t offset,
                           const piece *from, uint64_t bytes)
{
    size_t n = bytes < SIZE_MAX ? (size_t)bytes : SIZE_MAX - 1;
    unsigned char *stored = need_memory(NULL, n + 1, 1);
    wb_status status =
        wb_tensor_read(in->job->model, from->index, NULL, -1, stored, bytes, &in->error);
    for (size_t i = 0; i + sizeof(float) <= n && is_other_scale(from->global); i += sizeof(float)) {
        float scale;
        memcpy(&scale, stored + i, sizeof scale);
        scale = from->global == WB_MLX_GLOBAL_AMAX ? scale / 2688.0f : 1.0f / scale;
        memcpy(stored + i, &scale, sizeof scale);
    }
    if (status == WB_OK)
        status = wb_writer_put(writer, index, offset, stored, n, &in->error);
    free(stored);
    return status;
}

static wb_status copy_all(store_import *in, wb_writer *writer)
{
    wb_status status = WB_OK;
    for (uint64_t i = 0; i < in->count && status == WB_OK; i++) {
        uint64_t index;
        status = wb_writer_order(writer, i, &index, &in->error);
        if (status != WB_OK)
            return status;
        const entry *e = &in->entries[index];
        for (size_t k = 0; k < e->count && status == WB_OK; k++) {
            const piece *from = &e->pieces[k];
            uint64_t offset = k * e->tensor.bytes;
            status = is_other_scale(from->global) || e->is_retyped
                         ? put_piece(in, writer, index, offset, from, e->tensor.bytes)
                         : wb_writer_copy_into(writer, index, offset, in->job->model, from->index,
                                               &in->error);
        }
        progress_show(in->job->out, i, in->count);
        if (status == WB_OK && interrupted())
            status = WB_ERROR_CANCELLED;
    }
    return status;
}

static int write_model(store_import *in, wb_writer *writer)
{
    int code = declare(in, writer);
    if (code == 0)
        code = convert_add_beside(in->job, writer);
    if (code != 0)
        return code;
    wb_status status = wb_writer_plan(writer, in->job->out, &in->error);
    if (status == WB_OK && in->job->args->given[OPTION_DRY_RUN]) {
        convert_answer(in->job, writer);
        return EXIT_CLEAN;
    }
    interrupt_defer(true);
    if (status == WB_OK)
        status = wb_writer_begin(writer, &in->error);
    if (status == WB_OK)
        status = copy_all(in, writer);
    if (status == WB_OK)
        status = wb_writer_commit(writer, &in->error);
    progress_clear();
    return status == WB_OK ? EXIT_CLEAN : convert_fail(in->job, status, &in->error);
}

int convert_into_store(const convert_job *job)
{
    store_import in = {.job = job};
    wb_writer *writer = NULL;
    wb_writer_options options = job->options;
    if (strcmp(wb_format(job->model), "safetensors") != 0) {
        report_line("%s: into a store go models in safetensors; convert this one to safetensors "
                    "first",
                    job->in);
        return EXIT_UNSUPPORTED;
    }
    options.store = job->args->value[OPTION_STORE];
    if (job->args->given[OPTION_GENERATION])
        options.flags |= WB_WRITE_FEB2026;
    int code = collect(&in);
    if (code == 0) {
        wb_status status = wb_writer_create(&options, &writer, &in.error);
        code = status == WB_OK ? write_model(&in, writer) : convert_fail(job, status, &in.error);
    }
    wb_writer_free(writer);
    interrupt_defer(false);
    for (size_t i = 0; i < in.count; i++) {
        text_free(&in.entries[i].name);
        free(in.entries[i].pieces);
    }
    free(in.entries);
    return code;
}
