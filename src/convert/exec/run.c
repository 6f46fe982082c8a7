/* Runs a plan: declares its tensors to a writer, lets the scheduler (scheduler.c) compute them, and
 * commits the output. */
#define _POSIX_C_SOURCE 200809L
#include "convert/exec/scheduler.h"

#include <unistd.h>

#include "bundles/ollama/ollama.h"
#include "convert/convert_messages.h"
#include "convert/plan/input_files.h"
#include "io/io.h"
#include "io/sink.h"

/* ---- declaring tensors ---- */

static void packed_shape(const wb__planned_tensor *row, uint64_t *shape, uint64_t columns)
{
    memcpy(shape, row->shape, row->rank * sizeof *shape);
    shape[row->rank - 1] = columns;
}

static wb_status declare(wb__emit_job *out, wb__str name, int32_t dtype, const uint64_t *shape,
                         uint32_t rank, uint64_t *index)
{
    return wb_writer_add(out->writer, name.ptr, name.len, dtype, shape, rank, index,
                         out->context->error);
}

/* Returns `name` with the suffix ".weight" replaced by `suffix`, which is ".scales" or
 * ".biases". */
static wb__str part_name(wb_conversion *conversion, wb__str name, const char *suffix)
{
    size_t stem = name.len, n = strlen(suffix);
    if (wb__str_ends_with(name, WB__STR(".weight")))
        stem -= sizeof ".weight" - 1;
    char *text = wb__arena_alloc(&conversion->arena, stem + n + 1);
    if (text != NULL) {
        memcpy(text, name.ptr, stem);
        memcpy(text + stem, suffix, n + 1);
    }
    return (wb__str){text, stem + n};
}

/* Returns the name that Ollama uses for a packed encoding. */
static const char *ollama_name(const wb__encoding_spec *spec)
{
    if (spec->scheme == WB__SCHEME_AFFINE)
        return spec->bits == 4 ? "int4" : "int8";
    return wb__scheme_name(spec->scheme);
}

/* Returns the name of the tensor that contains the scales or biases of weight `name`. `mlx` and
 * `ollama` are the suffixes in these formats. */
static wb__str companion(wb_conversion *conversion, wb__str name, const char *mlx,
                         const char *ollama)
{
    size_t n = strlen(ollama);
    if (conversion->target != WB_TARGET_OLLAMA)
        return part_name(conversion, name, mlx);
    char *text = wb__arena_alloc(&conversion->arena, name.len + n + 1);
    if (text != NULL) {
        memcpy(text, name.ptr, name.len);
        memcpy(text + name.len, ollama, n + 1);
    }
    return (wb__str){text, name.len + n};
}

static wb_status declare_packed(wb__emit_job *out, const wb__planned_tensor *row, uint64_t *indices)
{
    wb_conversion *conversion = out->conversion;
    wb__mlx_type type;
    uint64_t *shape = wb__arena_alloc(&conversion->arena, row->rank * sizeof *shape);
    wb__str scales = companion(conversion, row->name, ".scales", ".scale");
    wb__str biases = companion(conversion, row->name, ".biases", ".bias");
    if (shape == NULL || scales.ptr == NULL || biases.ptr == NULL)
        return wb__fail_memory(out->context);
    (void)wb__encoding_spec_mlx(&row->to, &type);
    int32_t dtype = wb__mlx_byte_scales(&type) ? WB_DTYPE_U8 : row->to.dtype;
    packed_shape(row, shape, row->columns / type.group * (wb__mlx_group_bytes(&type) / 4));
    wb_status status =
        declare(out, row->name, WB_DTYPE_U32, shape, row->rank, &indices[WB__PART_VALUES]);
    packed_shape(row, shape, row->columns / type.group);
    if (status == WB_OK)
        status = declare(out, scales, dtype, shape, row->rank, &indices[WB__PART_SCALES]);
    if (status == WB_OK && row->part_bytes[WB__PART_BIASES] > 0)
        status = declare(out, biases, dtype, shape, row->rank, &indices[WB__PART_BIASES]);
    if (status == WB_OK && conversion->target == WB_TARGET_OLLAMA)
        status = wb_writer_set_packing(out->writer, indices[WB__PART_VALUES], ollama_name(&row->to),
                                       row->to.group, out->context->error);
    return status;
}

wb_status wb__emit_tensors(wb__emit_job *out)
{
    wb_conversion *conversion = out->conversion;
    wb_status status = WB_OK;
    for (size_t i = 0; i < conversion->tensors.count && status == WB_OK; i++) {
        const wb__planned_tensor *row = wb__planned_at(conversion, i);
        status = row->to.scheme == WB__SCHEME_PLAIN
                     ? declare(out, row->name, row->to.dtype, row->shape, row->rank,
                               &out->indices[i][WB__PART_VALUES])
                     : declare_packed(out, row, out->indices[i]);
    }
    return status;
}

/* ---- the complete run ---- */

/* Sets ollama.file_type to the name of the output's quantization. */
static wb_status set_file_type(wb__emit_job *out)
{
    const wb__quant *quant = &out->conversion->quant;
    wb__encoding_spec spec;
    if (quant->kind == WB__QUANT_FORM && quant->spec.scheme != WB__SCHEME_PLAIN)
        spec = quant->spec;
    else if (!wb__emit_main_form(out->conversion, &spec))
        return WB_OK;
    return wb_writer_set_string(out->writer, "ollama.file_type", SIZE_MAX, ollama_name(&spec),
                                SIZE_MAX, out->context->error);
}

/* Writer callback that is called when all tensors are written. Reports complete progress to the
 * caller, who can still cancel the conversion. */
static int report_all(void *ctx, uint64_t done, uint64_t total)
{
    const wb__emit_job *out = ctx;
    (void)done;
    (void)total;
    return out->progress->report(out->progress->ctx, out->total, out->total);
}

static wb_status create(wb__emit_job *out)
{
    const wb_conversion *conversion = out->conversion;
    const wb_progress progress = {out, report_all};
    static const char *const formats[] = {"",       "gguf", "safetensors", "safetensors",
                                          "ollama", "npz"};
    bool gguf = conversion->target == WB_TARGET_GGUF,
         store = conversion->target == WB_TARGET_OLLAMA;
    bool npz = conversion->target == WB_TARGET_NPZ;
    out->folder = !gguf && !npz &&
                  !wb__str_ends_with(wb__str_from(out->path, SIZE_MAX), WB__STR(".safetensors"));
    const wb_writer_options options = {
        .size = sizeof options,
        .format = formats[conversion->target],
        .flags = (out->folder && !store ? WB_WRITE_FOLDER : 0) |
                 (conversion->replace ? WB_WRITE_FORCE : 0) | (out->keeps ? WB_WRITE_KEEP : 0) |
                 (store && conversion->feb2026 ? WB_WRITE_FEB2026 : 0),
        .store = conversion->store,
        .max_file_bytes = conversion->max_shard,
        .source = conversion->model,
        .limits = &out->context->limits,
        .allocator = &conversion->allocator,
        .progress = out->progress == NULL ? NULL : &progress,
    };
    wb_status status = wb_writer_create(&options, &out->writer, out->context->error);
    if (status == WB_OK && gguf)
        return wb__emit_keys(out);
    if (status == WB_OK && store)
        status = wb__emit_store_texts(conversion, out->writer, out->context->error);
    if (status == WB_OK && store)
        return set_file_type(out);
    if (status == WB_OK && !npz) /* NPZ files have no metadata */
        status = wb_writer_set_string(out->writer, "format", SIZE_MAX,
                                      conversion->target == WB_TARGET_MLX ? "mlx" : "pt", SIZE_MAX,
                                      out->context->error);
    return status;
}

/* Opens the journal of a model in an Ollama store. The journal is in the directory of the partial
 * output, which this function creates. */
static wb_status open_journal_in_store(wb__emit_job *out, wb__checkpoint **journal)
{
    wb_conversion *conversion = out->conversion;
    wb__context *context = out->context;
    char *target;
    wb_status status = wb__ollama_kept_path(context, conversion->store,
                                            wb__str_from(out->path, SIZE_MAX), &target);
    if (status != WB_OK || target == NULL)
        return status;
    status = wb__directories_make(context, target);
    if (status == WB_OK)
        status = wb__directory_make_partial(context, &conversion->arena, target, &out->kept);
    wb__free(&conversion->allocator, target, strlen(target) + 1);
    if (status != WB_OK)
        return status;
    char *path = wb__path_join(&conversion->allocator, out->kept, WB__STR("blobs"));
    if (path == NULL)
        return wb__fail_memory(context);
    status = wb__checkpoint_open(context, conversion, path, journal);
    wb__free(&conversion->allocator, path, strlen(path) + 1);
    return status;
}

static wb_status open_journal(wb__emit_job *out, wb__checkpoint **journal)
{
    if (!out->conversion->resume)
        return WB_OK;
    return out->conversion->target == WB_TARGET_OLLAMA
               ? open_journal_in_store(out, journal)
               : wb__checkpoint_open(out->context, out->conversion, out->path, journal);
}

/* Replaces an I/O error by WB_ERROR_CHANGED if a source file has changed during the run, because
 * the change may have caused the error. */
static wb_status blame_source(const wb__emit_job *out, wb_status status)
{
    wb_error error;
    wb__context context = *out->context;
    const wb_model *model = out->conversion->model;
    context.error = wb__error_reset(&error, &error);
    for (size_t i = 0; i < model->source_count && status == WB_ERROR_IO; i++) {
        if (wb__source_check(model->sources[i], &context) == WB_ERROR_CHANGED) {
            *out->context->error = error;
            status = WB_ERROR_CHANGED;
        }
    }
    return status;
}

/* Returns true if the writer rejected the output because the output already exists, and if no
 * partial data remain. In this case an earlier run was interrupted after its commit, so the journal
 * is no longer needed. */
static bool is_settled(const wb__emit_job *out, wb_status status)
{
    const wb_allocator *allocator = &out->conversion->allocator;
    wb_file file = {.size = sizeof file};
    if (status != WB_ERROR_ARGUMENT || out->begun || out->kept != NULL ||
        wb_writer_file_at(out->writer, 0, &file, NULL) != WB_OK)
        return false;
    bool has = out->folder && wb__directory_is_partial(allocator, out->path);
    for (uint64_t i = 0; !has && wb_writer_file_at(out->writer, i, &file, NULL) == WB_OK; i++)
        has = wb__sink_kept_bytes(allocator, file.path) != 0;
    return !has;
}

/* Copies the paths of the replaced files to the plan, because the caller can query them after the
 * writer is freed. */
static wb_status take_replaced(wb__emit_job *out)
{
    wb_conversion *conversion = out->conversion;
    const char *path;
    conversion->replaced.count = 0;
    for (uint64_t i = 0; (path = wb_writer_replaces(out->writer, i)) != NULL; i++) {
        const char **entry = wb__list_append(&conversion->replaced);
        if (entry != NULL)
            *entry = wb__plan_text(conversion, wb__str_from(path, SIZE_MAX)).ptr;
        if (entry == NULL || *entry == NULL)
            return wb__fail_memory(out->context);
    }
    return WB_OK;
}

/* Declares all tensors, metadata and sidecar files of the output to the writer. */
static wb_status declare_all(wb__emit_job *out)
{
    if (out->conversion->whole)
        return wb__emit_passthrough(out);
    wb_status status = create(out);
    if (status == WB_OK)
        status = wb__emit_tensors(out);
    return status == WB_OK && out->folder ? wb__emit_sidecars(out) : status;
}

static wb_status write_all(wb__emit_job *out, wb__checkpoint **journal)
{
    bool taken = false;
    wb_status status = open_journal(out, journal);
    out->keeps = *journal != NULL;
    if (status == WB_OK)
        status = declare_all(out);
    if (status == WB_OK)
        status = wb_writer_plan(out->writer, out->path, out->context->error);
    if (status == WB_OK)
        status = wb_writer_begin(out->writer, out->context->error);
    out->begun = status == WB_OK;
    if (status == WB_OK)
        status = take_replaced(out);
    if (status == WB_OK)
        status = out->conversion->whole
                     ? wb__emit_passthrough_file(out, wb__checkpoint_is_known(*journal), &taken)
                     : wb__scheduler_run(out, *journal, &taken);
    if (out->begun)
        status = blame_source(out, status);
    if (status == WB_OK && taken)
        status = wb__plan_note(out->conversion, out->context, WB_INFO, WB__FINDING_CONVERT_RESUMED,
                               WB__STR(""), WB__MSG_CONVERT_RESUMED);
    return status == WB_OK ? wb_writer_commit(out->writer, out->context->error) : status;
}

/* Checks the output path before any file in its directory is changed. The name of an Ollama
 * model is not a path and is not checked here. */
static wb_status check_path(const wb_conversion *conversion, wb__context *context, const char *path)
{
    if (conversion->target == WB_TARGET_OLLAMA)
        return WB_OK;
    if (wb__path_is_stream(path)) {
        context->file = path;
        wb_status status = wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_WRITE_STREAM,
                                    WB_NO_OFFSET, WB__STR(""), WB__MSG_CONVERT_STREAM);
        context->file = "";
        return status;
    }
    return wb__inputs_spare(conversion, context, path);
}

/* Prepares a run or a check of the output. Removes notes that an earlier run or check of the
 * same plan has added, because they would be duplicated. */
static wb_status prepare(wb__emit_job *out)
{
    wb_conversion *conversion = out->conversion;
    size_t n = conversion->tensors.count;
    conversion->notes.count = conversion->planned_notes;
    wb_status status = check_path(conversion, out->context, out->path);
    if (status != WB_OK)
        return status;
    out->indices = wb__alloc_zeroed(&conversion->allocator, (n + 1) * sizeof *out->indices);
    return out->indices == NULL ? wb__fail_memory(out->context) : WB_OK;
}

static void free_delivery(wb__emit_job *out)
{
    wb_writer_free(out->writer);
    wb__free(&out->conversion->allocator, out->indices,
             (out->conversion->tensors.count + 1) * sizeof *out->indices);
}

wb_status wb__plan_check(wb_conversion *conversion, wb__context *context, const char *path)
{
    wb__emit_job out = {
        .conversion = conversion, .context = context, .path = path, .keeps = conversion->resume};
    wb_status status = prepare(&out);
    if (status != WB_OK)
        return status;
    status = declare_all(&out);
    if (status == WB_OK)
        status = wb_writer_plan(out.writer, path, context->error);
    if (status == WB_OK)
        status = wb_writer_check(out.writer, context->error);
    if (status == WB_OK)
        status = take_replaced(&out);
    free_delivery(&out);
    return status;
}

wb_status wb__plan_run(wb_conversion *conversion, wb__context *context, const char *path,
                       const wb_progress *progress)
{
    wb__emit_job out = {
        .conversion = conversion, .context = context, .path = path, .progress = progress};
    wb__checkpoint *journal = NULL;
    size_t n = conversion->tensors.count;
    for (size_t i = 0; i < n && !conversion->whole; i++) {
        wb__planned_at(conversion, i)->error_stats = (wb__error_stats){0};
        wb__planned_at(conversion, i)->done = false;
    }
    wb_status status = prepare(&out);
    if (status != WB_OK)
        return status;
    status = write_all(&out, &journal);
    bool finished = status == WB_OK || status == WB_ERROR_CHANGED ||
                    (!out.begun && wb__checkpoint_is_empty(journal)) || is_settled(&out, status);
    free_delivery(&out);
    wb__checkpoint_close(journal, finished);
    if (out.kept != NULL)
        (void)rmdir(out.kept); /* fails unless the directory is empty */
    return status;
}
