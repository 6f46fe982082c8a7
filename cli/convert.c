/* wb convert: the command line, and code shared by all methods of writing a model. */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include "convert.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exit.h"
#include "messages.h"
#include "output.h"
#include "paths.h"
#include "remote.h"
#include "report.h"
#include "terminal.h"

int convert_size_of(option_id option, const char *typed, uint64_t *size)
{
    static const struct {
        const char *end;
        uint64_t factor;
    } ends[] = {
        {"", 1},
        {"K", 1000},
        {"KB", 1000},
        {"KiB", 1024},
        {"M", 1000000},
        {"MB", 1000000},
        {"MiB", 1 << 20},
        {"G", 1000000000},
        {"GB", 1000000000},
        {"GiB", 1 << 30},
        {"T", 1000000000000},
        {"TB", 1000000000000},
        {"TiB", (uint64_t)1 << 40},
    };
    char *end;
    errno = 0;
    unsigned long long number = strtoull(typed, &end, 10);
    bool is_number = typed[0] >= '0' && typed[0] <= '9' && errno == 0 && number != 0;
    for (size_t i = 0; is_number && i < sizeof ends / sizeof ends[0]; i++) {
        if (strcasecmp(end, ends[i].end) == 0 && number <= UINT64_MAX / ends[i].factor) {
            *size = number * ends[i].factor;
            return 0;
        }
    }
    return report_usage(option == OPTION_MAX_SHARD_TENSORS ? MSG_NUMBER_INVALID : MSG_BYTES_INVALID,
                        option_table[option].name);
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Returns true if the output path means a directory. The formats gguf, ollama and npz and the
 * extension .safetensors always mean a file. Any other path means a directory, unless a file exists
 * there.
 */
static bool means_folder(const char *path, const char *format)
{
    struct stat st;
    if (strcmp(format, "gguf") == 0 || strcmp(format, "ollama") == 0 ||
        strcmp(format, "npz") == 0 || text_ends_with(path, ".safetensors"))
        return false;
    return stat(path, &st) != 0 || S_ISDIR(st.st_mode);
}

static int read_options(convert_job *job)
{
    const arguments *args = job->args;
    wb_writer_options *options = &job->options;
    const struct {
        option_id option;
        uint64_t *value;
    } numbers[] = {{OPTION_MAX_SHARD_SIZE, &options->max_file_bytes},
                   {OPTION_MAX_SHARD_TENSORS, &options->max_file_tensors},
                   {OPTION_ALIGNMENT, &options->alignment}};
    *options = (wb_writer_options){.size = sizeof *options, .format = job->to};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const char *typed = args->value[numbers[i].option];
        int code = typed == NULL ? 0 : convert_size_of(numbers[i].option, typed, numbers[i].value);
        if (code != 0)
            return code;
    }
    options->flags = (job->replaces ? WB_WRITE_FORCE : 0) |
                     (args->given[OPTION_ALIGN_TENSORS] ? WB_WRITE_ALIGN_TENSORS : 0) |
                     (job->out_is_folder ? WB_WRITE_FOLDER : 0);
    return 0;
}

/* ---- results ---- */

int convert_fail(const convert_job *job, wb_status status, const wb_error *error)
{
    progress_clear();
    if (status == WB_ERROR_CANCELLED)
        return EXIT_INTERRUPTED;
    if (replace_agreed(job, error)) {
        *job->agreed = true;
        return EXIT_USAGE;
    }
    if (error->os_error == EPIPE) /* only the output can be a pipe that its reader has closed */
        return EXIT_CLEAN;
    report_error(error->file[0] != '\0' ? error->file : job->in, error);
    return exit_code_of(status);
}

static void add_file(text *line, const wb_file *file)
{
    text_add_shown(line, file->path, strlen(file->path));
    text_adds(line, "  ");
    text_add_size(line, file->bytes);
    text_addf(line, ", %llu %s\n", (unsigned long long)file->tensors,
              file->tensors == 1 ? "tensor" : "tensors");
}

static const char *next_replaced(const void *writer, uint64_t index)
{
    return wb_writer_replaces(writer, index);
}

void convert_answer(const convert_job *job, const wb_writer *writer)
{
    uint64_t count = wb_writer_file_count(writer), bytes = 0;
    bool as_json = job->args->given[OPTION_JSON];
    text line = {0};
    wb_json json = out_json(out_stdout());
    if (!as_json && !job->args->given[OPTION_DRY_RUN])
        return;
    if (as_json) {
        json_answer(&json, "copy");
        json_text(&json, "path", job->out);
        json_text(&json, "format", job->to);
        wb_json_key(&json, "files", SIZE_MAX);
        wb_json_begin(&json, '[');
    }
    for (uint64_t i = 0; i < count; i++) {
        wb_file file = WB_FILE_INIT;
        if (wb_writer_file_at(writer, i, &file, NULL) != WB_OK)
            continue;
        if (job->out_is_stdout)
            file.path = job->out;
        bytes += file.bytes;
        if (!as_json) {
            add_file(&line, &file);
            continue;
        }
        wb_json_begin(&json, '{');
        json_text(&json, "path", file.path);
        json_number(&json, "bytes", file.bytes);
        json_number(&json, "tensors", file.tensors);
        wb_json_end(&json, '}');
    }
    if (as_json) {
        wb_json_end(&json, ']');
        json_number(&json, "bytes", bytes);
        json_replaced(&json, next_replaced, writer);
        wb_json_end(&json, '}');
        out_json_end(&json);
    } else {
        out_text(out_stdout(), &line);
        print_replaced(next_replaced, writer);
    }
    text_free(&line);
}

wb_status convert_begin(const convert_job *job, wb_writer *writer, wb_error *error)
{
    return job->out_is_stdout ? wb_writer_begin_fd(writer, STDOUT_FILENO, "standard output", error)
                              : wb_writer_begin(writer, error);
}

/* ---- command ---- */

/* Returns true if a conversion to safetensors would rename or split tensors, but change no type.
 * This is the case for an MLX directory: MLX stores the experts of a layer as one stacked tensor,
 * Hugging Face as one tensor per expert. */
static bool has_stacks(const convert_job *job)
{
    wb_conversion *conversion = NULL;
    wb_converted tensor = WB_CONVERTED_INIT;
    bool renames = false, same = true;
    if (strcmp(job->to, "safetensors") != 0 || !job->out_is_folder ||
        wb_convert_plan(job->model, WB_TARGET_SAFETENSORS, NULL, &conversion, NULL) != WB_OK)
        return false;
    for (uint64_t i = 0; i < wb_conversion_count(conversion); i++) {
        if (wb_conversion_at(conversion, i, &tensor, NULL) != WB_OK)
            continue;
        renames |= strcmp(tensor.name, tensor.source) != 0;
        same &= strcmp(tensor.from, tensor.to) == 0;
    }
    wb_conversion_free(conversion);
    return renames && same;
}

/* Returns true if the tensors and the format do not change. */
static bool is_copy(const convert_job *job)
{
    const arguments *args = job->args;
    bool kept = !args->given[OPTION_QUANT] && !args->given[OPTION_RULE] &&
                !args->given[OPTION_IMATRIX] && !args->given[OPTION_LORA];
    uint64_t index;
    bool in_store = wb_meta_find(job->model, "ollama.config", SIZE_MAX, &index) == WB_OK;
    bool split = args->given[OPTION_MAX_SHARD_SIZE] || args->given[OPTION_MAX_SHARD_TENSORS] ||
                 args->given[OPTION_ALIGNMENT] || job->out_is_stream;
    if (strcmp(job->to, "gguf") == 0 && in_store && !split)
        return false; /* use wb_convert, which copies the blob unchanged */
    if (in_store && job->out_is_folder)
        return false; /* use wb_convert, which knows the sidecar files in an Ollama store */
    return kept && strcmp(wb_format(job->model), job->to) == 0 && (split || !has_stacks(job));
}

/* Returns true if the output would overwrite the importance matrix or a LoRA file. The paths are
 * compared here; the library checks other input files after it has opened them.
 */
static bool replaces_input(const convert_job *job)
{
    const arguments *args = job->args;
    const char *matrix = args->value[OPTION_IMATRIX];
    for (size_t i = 0; i < args->lora_count; i++) {
        if (is_same_file(args->loras[i], job->out))
            return true;
    }
    return matrix != NULL && is_same_file(matrix, job->out);
}

/* Rejects options that have no effect on the target format, instead of ignoring them. */
static int refuse_idle(const convert_job *job)
{
    static const struct {
        option_id option;
        const char *format;
    } only[] = {{OPTION_IMATRIX, "gguf"},
                {OPTION_GENERATION, "ollama"},
                {OPTION_ALIGN_TENSORS, "safetensors"}};
    for (size_t i = 0; i < sizeof only / sizeof only[0]; i++) {
        if (job->args->given[only[i].option] && strcmp(job->to, only[i].format) != 0)
            return report_usage(MSG_OPTION_HAS_NO_EFFECT, option_table[only[i].option].name,
                                job->to, only[i].format);
    }
    return 0;
}

/* Checks that standard output is used for only one purpose. */
static int check_stdout(const convert_job *job)
{
    bool is_dry = job->args->given[OPTION_DRY_RUN];
    if (!job->out_is_stdout || is_dry)
        return 0;
    if (job->args->given[OPTION_JSON])
        return report_usage(MSG_JSON_AND_STDOUT);
    return isatty(STDOUT_FILENO) ? report_usage(MSG_TERMINAL_MODEL) : 0;
}

static int convert(convert_job *job)
{
    int code = read_options(job);
    if (code == 0)
        code = refuse_idle(job);
    if (code == 0)
        code = check_stdout(job);
    if (code != 0)
        return code;
    if (replaces_input(job))
        return report_usage(MSG_OUTPUT_IS_READ);
    job->options.source = job->model;
    return is_copy(job) ? reshard(job) : recast(job);
}

const char *convert_format(const arguments *args, const char *path)
{
    const char *to = args->value[OPTION_TO];
    return to != NULL                             ? to
           : text_ends_with(path, ".gguf")        ? "gguf"
           : text_ends_with(path, ".safetensors") ? "safetensors"
           : text_ends_with(path, ".npz")         ? "npz"
                                                  : NULL;
}

wb_target convert_target(const char *to)
{
    return strcmp(to, "gguf") == 0     ? WB_TARGET_GGUF
           : strcmp(to, "mlx") == 0    ? WB_TARGET_MLX
           : strcmp(to, "ollama") == 0 ? WB_TARGET_OLLAMA
           : strcmp(to, "npz") == 0    ? WB_TARGET_NPZ
                                       : WB_TARGET_SAFETENSORS;
}

/* The operands of wb convert --discard are either only the output, or the same as those of the
 * interrupted command. The last operand is the output in both cases. */
static int discard(const arguments *args)
{
    convert_job job = {.args = args, .out = args->operands[args->count - 1]};
    job.to = convert_format(args, job.out);
    if (job.to == NULL)
        job.to = "safetensors"; /* a partial result in a directory has the same name for every
                                 * format */
    return partial_discard(&job);
}

int command_convert(const arguments *args)
{
    wb_open_options options = WB_OPEN_OPTIONS_INIT;
    wb_limits limits;
    wb_error error;
    wb_model *model;
    bool agreed = false;
    convert_job job = {
        .args = args, .in = args->operands[0], .out = args->operands[1], .agreed = &agreed};
    int code = open_options_of(args, &options, &limits);
    if (code != 0)
        return code;
    if (args->given[OPTION_DISCARD])
        return discard(args);
    job.to = convert_format(args, job.out);
    if (job.to == NULL)
        return report_usage(MSG_OUTPUT_FORMAT_UNKNOWN);
    if (job.out[0] == '\0')
        return report_usage(MSG_OUTPUT_NAME_EMPTY);
    options.access = WB_ACCESS_READ;
    wb_status status = open_path(job.in, &options, &model, &error);
    if (status != WB_OK) {
        report_error(path_label(job.in), &error);
        return exit_code_of_opening(status);
    }
    job.model = model;
    job.in_is_folder = is_folder(job.in) || remote_is_folder(job.in);
    job.out_is_stdout = output_is_stdout(job.out);
    job.out_is_stream = strcmp(job.to, "ollama") != 0 && output_is_stream(job.out);
    job.out_is_folder = !job.out_is_stdout && means_folder(job.out, job.to);
    job.replaces = args->given[OPTION_FORCE];
    code = convert(&job);
    if (agreed) {
        job.replaces = true;
        code = convert(&job);
    }
    wb_close(model);
    return code;
}
