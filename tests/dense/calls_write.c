/* Operations that write files: conversions, writers, edits. */
#include "dense.h"

/* Maximum number of tensors of a conversion to Ollama, which stores each tensor in its own file.
 * Larger conversions are only planned. */
#define MOST_BLOBS 1000

/* ---- conversions ---- */

static wb_status convert(subject *s, wb_target target, const char *name, bool run)
{
    wb_convert_policy policy = WB_CONVERT_POLICY_INIT;
    wb_conversion *conversion = NULL;
    wb_converted row = WB_CONVERTED_INIT;
    wb_model *model;
    char *path = text_of("%s/%s", s->scratch, name);
    if (target == WB_TARGET_OLLAMA) {
        policy.store = s->scratch;
        strcpy(path, "ollama://m");
    }
    wb_status status = open_it(s, &model);
    if (status == WB_OK)
        status = wb_convert_plan(model, target, &policy, &conversion, &s->error);
    if (status == WB_OK)
        status = wb_convert_check(conversion, path, &s->error);
    if (status == WB_OK && target == WB_TARGET_OLLAMA && wb_tensor_count(model) > MOST_BLOBS)
        run = false;
    if (status == WB_OK && run)
        status = wb_convert(conversion, path, NULL, &s->error);
    for (uint64_t i = 0; status == WB_OK && i < wb_conversion_count(conversion); i++)
        status = wb_conversion_at(conversion, i, &row, &s->error);
    if (status == WB_OK)
        (void)wb_findings_count(wb_conversion_findings(conversion));
    wb_conversion_free(conversion);
    wb_close(model);
    free(path);
    return status;
}

static wb_status plan_gguf(subject *s)
{
    return convert(s, WB_TARGET_GGUF, "out.gguf", false);
}

static wb_status to_gguf(subject *s)
{
    return convert(s, WB_TARGET_GGUF, "out.gguf", true);
}

static wb_status plan_safetensors(subject *s)
{
    return convert(s, WB_TARGET_SAFETENSORS, "out", false);
}

static wb_status to_safetensors(subject *s)
{
    return convert(s, WB_TARGET_SAFETENSORS, "out", true);
}

static wb_status to_mlx(subject *s)
{
    return convert(s, WB_TARGET_MLX, "out", true);
}

static wb_status to_ollama(subject *s)
{
    return convert(s, WB_TARGET_OLLAMA, "a name that is long enough", true);
}

static wb_status to_npz(subject *s)
{
    return convert(s, WB_TARGET_NPZ, "out.npz", true);
}

/* ---- writers ---- */

static wb_status add_all(subject *s, const wb_model *model, wb_writer *writer)
{
    wb_status status = wb_writer_set_string(writer, "general.name", SIZE_MAX, "x", 1, &s->error);
    for (uint64_t i = 0; status == WB_OK && i < wb_meta_count(model); i++) {
        wb_error error; /* ignored: a format may refuse some types of metadata */
        if (wb_writer_copy_meta(writer, model, i, &error) == WB_ERROR_MEMORY)
            status = WB_ERROR_MEMORY;
    }
    for (uint64_t i = 0; status == WB_OK && i < wb_tensor_count(model); i++) {
        wb_tensor tensor = WB_TENSOR_INIT;
        uint64_t index;
        status = wb_tensor_at(model, i, &tensor, &s->error);
        if (status == WB_OK)
            status = wb_writer_add(writer, tensor.name, tensor.name_len, (int32_t)tensor.dtype,
                                   tensor.shape, tensor.rank, &index, &s->error);
    }
    return status;
}

static wb_status put_all(subject *s, const wb_model *model, wb_writer *writer)
{
    wb_status status = WB_OK;
    for (uint64_t i = 0; status == WB_OK && i < wb_tensor_count(model); i++) {
        uint64_t index;
        wb_tensor tensor = WB_TENSOR_INIT;
        status = wb_writer_order(writer, i, &index, &s->error);
        if (status == WB_OK)
            status = wb_writer_copy(writer, index, model, index, &s->error);
        if (status == WB_OK)
            status = wb_writer_tensor_at(writer, i, &tensor, &s->error);
    }
    return status;
}

static wb_status write_as(subject *s, const char *format, const char *name)
{
    wb_writer_options options = WB_WRITER_OPTIONS_INIT;
    wb_writer *writer = NULL;
    wb_model *model;
    char *path = text_of("%s/%s", s->scratch, name);
    options.format = format;
    options.allocator = &s->allocator;
    wb_status status = open_it(s, &model);
    if (status == WB_OK)
        status = wb_writer_create(&options, &writer, &s->error);
    if (status == WB_OK)
        status = add_all(s, model, writer);
    if (status == WB_OK)
        status = wb_writer_plan(writer, path, &s->error);
    if (status == WB_OK)
        status = wb_writer_check(writer, &s->error);
    if (status == WB_OK)
        status = wb_writer_begin(writer, &s->error);
    if (status == WB_OK)
        status = put_all(s, model, writer);
    if (status == WB_OK)
        status = wb_writer_commit(writer, &s->error);
    if (status == WB_OK) {
        wb_file file = WB_FILE_INIT;
        status = wb_writer_file_count(writer) == 0 ? WB_OK
                                                   : wb_writer_file_at(writer, 0, &file, &s->error);
    }
    wb_writer_free(writer);
    wb_close(model);
    free(path);
    return status;
}

static wb_status write_gguf_file(subject *s)
{
    return write_as(s, "gguf", "out.gguf");
}

static wb_status write_safetensors_file(subject *s)
{
    return write_as(s, "safetensors", "out.safetensors");
}

static wb_status write_npz_file(subject *s)
{
    return write_as(s, "npz", "out.npz");
}

/* ---- edits ---- */

/* Applies the edits to a copy of the file: first as a dry run, then for real. */
static wb_status edit(subject *s, const wb_edit *edits, uint64_t count)
{
    wb_edit_options options = WB_EDIT_OPTIONS_INIT;
    wb_edited edited = WB_EDITED_INIT;
    size_t n;
    if (s->file == NULL)
        return WB_OK;
    unsigned char *bytes = read_file(s->file, &n);
    char *copy = text_of("%s/%s", s->scratch, strrchr(s->file, '/') + 1);
    write_file(copy, bytes, n);
    free(bytes);
    options.allocator = &s->allocator;
    options.flags = WB_EDIT_DRY_RUN;
    wb_status status = wb_edit_file(copy, edits, count, &options, &edited, &s->error);
    options.flags = 0;
    if (status == WB_OK)
        status = wb_edit_file(copy, edits, count, &options, &edited, &s->error);
    int undone;
    if (status == WB_OK)
        status = wb_edit_recover(copy, &undone, &s->error);
    free(copy);
    return status;
}

static wb_status edit_key(subject *s)
{
    const wb_value value = {
        .size = sizeof value, .type = WB_META_STRING, .text = "v", .text_len = 1};
    const wb_edit edits[] = {{.size = sizeof(wb_edit),
                              .kind = WB_EDIT_SET,
                              .name = "new key",
                              .name_len = SIZE_MAX,
                              .value = &value}};
    return edit(s, edits, 1);
}

static wb_status edit_value(subject *s)
{
    const wb_value value = {
        .size = sizeof value, .type = WB_META_STRING, .text = "v", .text_len = 1};
    const wb_edit edits[] = {{.size = sizeof(wb_edit),
                              .kind = WB_EDIT_SET,
                              .name = "1",
                              .name_len = SIZE_MAX,
                              .value = &value}};
    return edit(s, edits, 1);
}

static wb_status edit_name(subject *s)
{
    const wb_edit edits[] = {{.size = sizeof(wb_edit),
                              .kind = WB_EDIT_RENAME,
                              .name = "1",
                              .name_len = SIZE_MAX,
                              .to = "another name",
                              .to_len = SIZE_MAX}};
    return edit(s, edits, 1);
}

/* Bounds that the public header promises: bytes of memory for each byte of the files. */
enum { PLAN_FACTOR = 40, CONVERT_FACTOR = 60, WRITE_FACTOR = 24, EDIT_FACTOR = 24 };

const operation write_operations[] = {
    {"plan a conversion to gguf", plan_gguf, PLAN_FACTOR, 0},
    {"convert to gguf", to_gguf, CONVERT_FACTOR, 0},
    {"plan a conversion to safetensors", plan_safetensors, PLAN_FACTOR, 0},
    {"convert to safetensors", to_safetensors, CONVERT_FACTOR, 0},
    {"convert to mlx", to_mlx, CONVERT_FACTOR, 0},
    {"convert to ollama", to_ollama, CONVERT_FACTOR, 0},
    {"convert to npz", to_npz, CONVERT_FACTOR, 0},
    {"write gguf", write_gguf_file, WRITE_FACTOR, 0},
    {"write safetensors", write_safetensors_file, WRITE_FACTOR, 0},
    {"write npz", write_npz_file, WRITE_FACTOR, 0},
    {"edit: add a key", edit_key, EDIT_FACTOR, 0},
    {"edit: change a value", edit_value, EDIT_FACTOR, 0},
    {"edit: rename a tensor", edit_name, EDIT_FACTOR, 0},
    {NULL, NULL, 0, 0},
};
