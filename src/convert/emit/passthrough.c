/* Copies a GGUF file unchanged into or out of an Ollama store. A split model is merged into one
 * blob, because Ollama reads only one. The plan has a row for each tensor, but these rows are used
 * only for the report to the caller. */
#include <stdio.h>

#include "convert/emit/deliver.h"
#include "convert/recipe/imatrix.h"
#include "weighbridge/experimental.h"

/* Returns true if an Ollama store can contain the file. Ollama does not read big-endian GGUF
 * files. */
static bool fits_store(const wb_model *model)
{
    wb_file file = {.size = sizeof file};
    return wb_file_at(model, 0, &file, NULL) == WB_OK && !file.big_endian;
}

bool wb__passthrough_applies(const wb_conversion *conversion)
{
    uint64_t index;
    const wb_model *model = conversion->model;
    bool from_store = wb_meta_find(model, "ollama.config", SIZE_MAX, &index) == WB_OK;
    bool asked = conversion->target == WB_TARGET_OLLAMA ||
                 (conversion->target == WB_TARGET_GGUF && from_store);
    bool merges = conversion->target == WB_TARGET_OLLAMA && !from_store;
    return asked && strcmp(wb_format(model), "gguf") == 0 && (model->source_count == 1 || merges) &&
           conversion->quant.kind == WB__QUANT_NONE && conversion->rules == NULL &&
           conversion->matrix == NULL && conversion->lora_count == 0 &&
           conversion->max_shard == 0 &&
           (conversion->target != WB_TARGET_OLLAMA || fits_store(model));
}

static wb_status add_tensor(wb_conversion *conversion, wb__context *context, uint64_t i)
{
    wb_tensor tensor = {.size = sizeof tensor};
    wb_status status = wb_tensor_at(conversion->model, i, &tensor, context->error);
    if (status != WB_OK)
        return status;
    wb__planned_tensor *row = wb__list_append(&conversion->tensors);
    wb__str name = wb__plan_text(conversion, (wb__str){tensor.name, tensor.name_len});
    if (row == NULL || name.ptr == NULL)
        return wb__fail_memory(context);
    *row = (wb__planned_tensor){.name = name,
                                .source_name = name,
                                .source = i,
                                .shape = tensor.shape,
                                .rank = tensor.rank,
                                .factor = 1,
                                .from = {.dtype = (int32_t)tensor.dtype},
                                .to = {.dtype = (int32_t)tensor.dtype},
                                .wanted = -1,
                                .bytes = tensor.bytes,
                                .known_exact = true,
                                .done = true};
    return WB_OK;
}

wb_status wb__passthrough_plan(wb_conversion *conversion, wb__context *context)
{
    uint64_t n = wb_tensor_count(conversion->model);
    wb_status status = WB_OK;
    conversion->whole = true;
    for (uint64_t i = 0; i < n && status == WB_OK; i++)
        status = add_tensor(conversion, context, i);
    if (status != WB_OK)
        return status;
    conversion->order =
        wb__arena_alloc(&conversion->arena, (size_t)(n + 1) * sizeof(wb__planned_tensor *));
    if (conversion->order == NULL)
        return wb__fail_memory(context);
    for (size_t i = 0; i < n; i++)
        conversion->order[i] = wb__list_at(&conversion->tensors, i);
    return WB_OK;
}

/* ---- Ollama metadata ---- */

wb_status wb__emit_store_texts(const wb_conversion *conversion, wb_writer *writer, wb_error *error)
{
    static const char *const keys[] = {"ollama.template", "ollama.system", "ollama.license",
                                       "ollama.params", "ollama.messages"};
    wb_status status = WB_OK;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0] && status == WB_OK; i++) {
        uint64_t index;
        if (wb_meta_find(conversion->model, keys[i], SIZE_MAX, &index) == WB_OK)
            status = wb_writer_copy_meta(writer, conversion->model, index, error);
    }
    return status;
}

/* Prints the number of parameters in the format of Ollama, for example "7.6B" or "134.52M". */
static void print_count(uint64_t n, char *out, size_t capacity)
{
    if (n >= 1000000000)
        (void)snprintf(out, capacity, n % 1000000000 == 0 ? "%.0fB" : "%.1fB", (double)n / 1e9);
    else if (n >= 1000000)
        (void)snprintf(out, capacity, n % 1000000 == 0 ? "%.0fM" : "%.2fM", (double)n / 1e6);
    else if (n >= 1000)
        (void)snprintf(out, capacity, "%.0fK", (double)n / 1e3);
    else
        (void)snprintf(out, capacity, "%llu", (unsigned long long)n);
}

static wb_status describe(const wb_conversion *conversion, wb_writer *writer, wb_error *error)
{
    const char *family = "";
    size_t family_len = 0;
    uint64_t elements = 0;
    int64_t number = -1;
    char count[32];
    for (uint64_t i = 0; i < wb_tensor_count(conversion->model); i++) {
        wb_tensor tensor = {.size = sizeof tensor};
        if (wb_tensor_at(conversion->model, i, &tensor, NULL) == WB_OK)
            elements += tensor.elements;
    }
    print_count(elements, count, sizeof count);
    if (wb_meta_get_string(conversion->model, "general.architecture", SIZE_MAX, &family,
                           &family_len, NULL) != WB_OK)
        family = "";
    if (wb_meta_get_int(conversion->model, "general.file_type", SIZE_MAX, &number, NULL) != WB_OK)
        number = -1;
    const wb__file_type *type = number < 0 ? NULL : wb__file_type_numbered((uint64_t)number);
    const char *name = type == NULL ? "unknown" : type->name;
    wb_status status =
        wb_writer_set_string(writer, "ollama.model_family", SIZE_MAX, family, family_len, error);
    if (status == WB_OK)
        status =
            wb_writer_set_string(writer, "ollama.model_type", SIZE_MAX, count, SIZE_MAX, error);
    if (status == WB_OK)
        status = wb_writer_set_string(writer, "ollama.file_type", SIZE_MAX, name, SIZE_MAX, error);
    return status;
}

wb_status wb__emit_passthrough(wb__emit_job *out)
{
    const wb_conversion *conversion = out->conversion;
    wb_error *error = out->context->error;
    uint64_t config;
    bool store = conversion->target == WB_TARGET_OLLAMA;
    const wb_writer_options options = {.size = sizeof options,
                                       .format = store ? "ollama" : "gguf",
                                       .flags = (conversion->replace ? WB_WRITE_FORCE : 0) |
                                                (out->keeps ? WB_WRITE_KEEP : 0),
                                       .store = conversion->store,
                                       .source = conversion->model,
                                       .limits = &out->context->limits,
                                       .allocator = &conversion->allocator,
                                       .progress = out->progress};
    wb_status status = wb_writer_create(&options, &out->writer, error);
    if (status == WB_OK)
        status = wb_writer_set_whole(out->writer, conversion->model, error);
    if (status == WB_OK && store)
        status = wb__emit_store_texts(conversion, out->writer, error);
    if (status == WB_OK && store)
        status = wb_meta_find(conversion->model, "ollama.config", SIZE_MAX, &config) == WB_OK
                     ? wb_writer_copy_meta(out->writer, conversion->model, config, error)
                     : describe(conversion, out->writer, error);
    return status;
}

wb_status wb__emit_passthrough_file(wb__emit_job *out, bool known, bool *taken)
{
    uint64_t bytes;
    wb_status status = wb_writer_copy_whole(out->writer, !known, &bytes, out->context->error);
    *taken = bytes > 0;
    return status;
}
