/* wb get: writes a tensor, or several tensors fused into one. The bytes are those that the library
 * (wb_provider) supplies to an inference engine.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exit.h"
#include "get_output.h"
#include "messages.h"
#include "options.h"
#include "output.h"
#include "part.h"
#include "paths.h"
#include "report.h"
#include "suggest.h"
#include "terminal.h"
#include "threads.h"
#include "upload.h"

enum { CHUNK_BYTES = 4 << 20 };

typedef struct get_plan {
    const arguments *args;
    const wb_model *model;
    const char *path; /* printable path of the model */
    const char *output;
    const char **names;
    size_t count;
    part_option part;
    wb_policy policy;
    const wb_device *device; /* NULL: host memory */
} get_plan;

/* ---- reporting ---- */

static const char *dtype_text(int32_t dtype, char *room, size_t capacity)
{
    static const struct {
        int32_t code;
        const char *name;
    } packed[] = {{97, "affine1"},  {98, "affine2"},  {99, "affine3"},  {100, "affine4"},
                  {101, "affine8"}, {102, "affine6"}, {103, "affine5"}, {104, "mxfp4"},
                  {105, "mxfp8"},   {106, "nvfp4"}};
    for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++) {
        if (packed[i].code == dtype)
            return packed[i].name;
    }
    const char *name = wb_dtype_name(dtype);
    (void)snprintf(room, capacity, "%ld", (long)dtype);
    return name == NULL ? room : name;
}

static void json_sections(wb_json *json, const wb_buffer *buffer)
{
    wb_json_key(json, "sections", SIZE_MAX);
    wb_json_begin(json, '[');
    for (uint32_t i = 0; i < buffer->sections; i++) {
        const wb_section *section = &buffer->section[i];
        wb_json_begin(json, '{');
        json_text(json, "role", section->role);
        json_text(json, "dtype", wb_dtype_name(section->dtype));
        json_number(json, "offset", section->offset);
        json_number(json, "bytes", section->bytes);
        wb_json_end(json, '}');
    }
    wb_json_end(json, ']');
}

static void json_numbers(wb_json *json, const char *key, const uint64_t *numbers, uint32_t n)
{
    wb_json_key(json, key, SIZE_MAX);
    wb_json_begin(json, '[');
    for (uint32_t i = 0; i < n; i++)
        wb_json_uint(json, numbers[i]);
    wb_json_end(json, ']');
}

static void answer(const get_plan *plan, const wb_buffer *buffer, bool is_written)
{
    char room[16];
    wb_json json = out_json(out_stdout());
    json_answer(&json, "get");
    json_text(&json, "path", plan->args->operands[0]);
    wb_json_key(&json, "tensors", SIZE_MAX);
    wb_json_begin(&json, '[');
    for (size_t i = 0; i < plan->count; i++)
        wb_json_string(&json, plan->names[i], SIZE_MAX);
    wb_json_end(&json, ']');
    json_text(&json, "output", plan->output);
    json_text(&json, "dtype", dtype_text(buffer->dtype, room, sizeof room));
    json_number(&json, "code", (uint64_t)(uint32_t)buffer->dtype);
    json_number(&json, "bits", buffer->bits);
    json_number(&json, "group_size", buffer->group_size);
    json_numbers(&json, "shape", buffer->shape, buffer->rank);
    json_numbers(&json, "part_rows", buffer->part_rows, buffer->parts);
    json_sections(&json, buffer);
    json_number(&json, "bytes", buffer->bytes);
    if (is_written) { /* a dry run converts nothing, so the numbers are unknown */
        json_number(&json, "overflowed", buffer->overflowed);
        json_number(&json, "underflowed", buffer->underflowed);
    }
    wb_json_key(&json, "written", SIZE_MAX);
    wb_json_bool(&json, is_written);
    wb_json_end(&json, '}');
    out_json_end(&json);
}

static void say(const get_plan *plan, const wb_buffer *buffer)
{
    char room[16];
    text t = {0};
    text_adds(&t, "would write ");
    text_add_count(&t, buffer->bytes);
    text_adds(&t, " bytes to ");
    text_add_shown(&t, plan->output, strlen(plan->output));
    text_addf(&t, ": %s ", dtype_text(buffer->dtype, room, sizeof room));
    text_add_shape(&t, buffer->shape, buffer->rank);
    for (uint32_t i = 0; i < buffer->sections && buffer->sections > 1; i++)
        text_addf(&t, "\n  at %llu %s, %s", (unsigned long long)buffer->section[i].offset,
                  buffer->section[i].role, wb_dtype_name(buffer->section[i].dtype));
    text_adds(&t, "\n");
    out_text(out_stdout(), &t);
    text_free(&t);
}

/* Warns about values that overflowed or underflowed in the conversion. */
static void warn(const wb_buffer *buffer)
{
    const wb_section *last = &buffer->section[buffer->sections - 1];
    if (buffer->overflowed != 0)
        report_line(MSG_VALUES_OVERFLOWED, (unsigned long long)buffer->overflowed,
                    wb_dtype_name(last->dtype));
    if (buffer->underflowed != 0)
        report_line(MSG_VALUES_UNDERFLOWED, (unsigned long long)buffer->underflowed,
                    wb_dtype_name(last->dtype));
}

/* ---- writing ---- */

static int fail(const get_plan *plan, wb_status status, const wb_error *error)
{
    if (error->os_error == EPIPE) /* only the output can be a pipe that its reader has closed */
        return EXIT_CLEAN;
    report_error(plan->path, error);
    return exit_code_of(status);
}

/* Writes the buffer from host memory, or copies it from the device in chunks. */
static wb_status write_bytes(const wb_provider *provider, const wb_buffer *buffer, wb_sink *sink,
                             wb_error *error)
{
    if (buffer->contents != NULL)
        return wb_sink_write(sink, buffer->contents, (size_t)buffer->bytes, error);
    wb_status status = WB_OK;
    void *chunk = need_memory(NULL, CHUNK_BYTES, 1);
    for (uint64_t at = 0; at < buffer->bytes && status == WB_OK && !interrupted();) {
        uint64_t left = buffer->bytes - at;
        size_t n = left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES;
        status = wb_provider_download(provider, buffer, at, chunk, n, error);
        if (status == WB_OK)
            status = wb_sink_write(sink, chunk, n, error);
        at += n;
    }
    free(chunk);
    return status;
}

static int write_buffer(const get_plan *plan, const wb_provider *provider, const wb_buffer *buffer)
{
    wb_error error;
    wb_sink *sink;
    wb_status status = output_is_stdout(plan->output)
                           ? wb_sink_open_fd(STDOUT_FILENO, "standard output", NULL, &sink, &error)
                           : wb_sink_open(plan->output, buffer->bytes, NULL, &sink, &error);
    if (status != WB_OK)
        return fail(plan, status, &error);
    interrupt_defer(!output_is_stream(plan->output));
    status = write_bytes(provider, buffer, sink, &error);
    if (status == WB_OK)
        status = wb_model_check(plan->model, &error);
    bool stop = interrupted();
    if (status == WB_OK && !stop)
        status = wb_sink_commit(sink, &error);
    else
        wb_sink_discard(sink);
    interrupt_defer(false);
    if (stop)
        return EXIT_INTERRUPTED;
    return status == WB_OK ? EXIT_CLEAN : fail(plan, status, &error);
}

/* ---- provider ---- */

static wb_status get(const get_plan *plan, wb_provider *provider, wb_buffer *buffer,
                     wb_error *error)
{
    const part_option *part = &plan->part;
    if (part->of == 0)
        return wb_provider_fuse(provider, plan->names, NULL, plan->count, 0, buffer, error);
    text joined = {0};
    for (size_t i = 0; i < plan->count; i++) {
        text_adds(&joined, i == 0 ? "" : "+");
        text_adds(&joined, plan->names[i]);
    }
    wb_status status = wb_provider_slice(provider, joined.ptr, joined.len, part->axis, part->rank,
                                         part->of, buffer, error);
    text_free(&joined);
    return status;
}

/* ---- --dry-run ---- */

/* Claim callback of a device that reports every buffer as already filled by another process. The
 * provider then reads no data and allocates no memory.
 */
static wb_status claim_nothing(void *ctx, const void *key, uint64_t bytes, void **handle,
                               int *filled)
{
    (void)key, (void)bytes;
    *handle = ctx;
    *filled = 1;
    return WB_OK;
}

static void publish_nothing(void *ctx, void *handle, wb_status status)
{
    (void)ctx, (void)handle, (void)status;
}

static wb_device device_of_nothing(get_plan *plan)
{
    return (wb_device){.size = sizeof(wb_device),
                       .ctx = plan,
                       .free = get_free_nothing,
                       .map = get_map_nothing,
                       .claim = claim_nothing,
                       .publish = publish_nothing};
}

/* ---- command ---- */

/* For the first name that is not in the model, suggests the tensor that the user probably meant. */
static void tell_meant(const get_plan *plan)
{
    uint64_t index;
    for (size_t i = 0; i < plan->count; i++) {
        const char *name = plan->names[i];
        text meant = {0};
        if (wb_tensor_find(plan->model, name, SIZE_MAX, &index) == WB_OK)
            continue;
        text_add_tensor_meant(&meant, plan->model, name, strlen(name));
        if (meant.len > 0)
            report_note("%.900s", meant.ptr + 2); /* without "; " */
        text_free(&meant);
        return;
    }
}

/* Reports why the provider could not supply the buffer. Returns the exit code. */
static int fail_to_get(const get_plan *plan, wb_status status, const wb_error *error)
{
    report_error(plan->path, error);
    if (status == WB_ERROR_NOT_FOUND)
        tell_meant(plan);
    /* An unknown tensor name or an invalid axis is a usage error. */
    return status == WB_ERROR_NOT_FOUND || status == WB_ERROR_ARGUMENT ? EXIT_USAGE
                                                                       : exit_code_of(status);
}

static int finish(const get_plan *plan, const wb_buffer *buffer, bool is_written)
{
    warn(buffer);
    if (plan->args->given[OPTION_JSON])
        answer(plan, buffer, is_written);
    else if (!is_written)
        say(plan, buffer);
    return EXIT_CLEAN;
}

/* Gets the buffer from a provider that keeps it in memory or on a device, and writes it. */
static int get_whole(get_plan *plan, const wb_device *device)
{
    wb_error error;
    wb_provider *provider;
    wb_buffer buffer = WB_BUFFER_INIT;
    bool is_dry = plan->args->given[OPTION_DRY_RUN];
    int code = EXIT_CLEAN;
    wb_status status = wb_provider_create(plan->model, device, &plan->policy, &provider, &error);
    if (status == WB_OK)
        status = get(plan, provider, &buffer, &error);
    if (status != WB_OK)
        code = fail_to_get(plan, status, &error);
    else if (!is_dry)
        code = write_buffer(plan, provider, &buffer);
    if (code == EXIT_CLEAN)
        code = finish(plan, &buffer, !is_dry);
    wb_provider_destroy(provider);
    return code;
}

/* Gets the buffer in pieces, which are written to a file. */
static int get_pieces(get_plan *plan)
{
    wb_error error;
    wb_provider *provider;
    wb_buffer buffer = WB_BUFFER_INIT;
    get_output output;
    const wb_device device = get_output_open(&output, plan->output);
    int code;
    wb_status status = wb_provider_create(plan->model, &device, &plan->policy, &provider, &error);
    if (status == WB_OK)
        status = get(plan, provider, &buffer, &error);
    if (status == WB_OK)
        status = wb_model_check(plan->model, &error);
    status = get_output_close(&output, status);
    if (status == WB_ERROR_CANCELLED)
        code = EXIT_INTERRUPTED;
    else if (output.status != WB_OK)
        code = fail(plan, status, &output.error);
    else if (status != WB_OK)
        code = fail_to_get(plan, status, &error);
    else
        code = finish(plan, &buffer, true);
    wb_provider_destroy(provider);
    return code;
}

static int get_from(get_plan *plan)
{
    const wb_device nothing = device_of_nothing(plan);
    if (plan->args->given[OPTION_DRY_RUN])
        return get_whole(plan, &nothing);
    if (plan->device != NULL || output_is_stream(plan->output))
        return get_whole(plan, plan->device);
    return get_pieces(plan);
}

static wb_policy policy_of(const char *word)
{
    wb_policy policy = {.size = sizeof policy, .executor = threads_executor()};
    if (word == NULL || strcmp(word, "f16") == 0)
        return policy;
    policy.plain = WB_PLAIN_DTYPE;
    policy.dtype = wb_dtype_find(word, SIZE_MAX);
    if (strcmp(word, "keep") == 0) {
        policy.plain = WB_PLAIN_KEEP;
        policy.flags = WB_POLICY_KEEP_SCALES;
    }
    return policy;
}

int command_get(const arguments *args)
{
    wb_open_options options;
    wb_limits limits;
    wb_model *model;
    wb_error error;
    get_plan plan = {.args = args,
                     .path = path_label(args->operands[0]),
                     .output = args->value[OPTION_OUTPUT],
                     .names = (const char **)(void *)(args->operands + 1),
                     .count = args->count - 1,
                     .policy = policy_of(args->value[OPTION_POLICY])};
    int code = open_options_of(args, &options, &limits);
    if (code == 0)
        code = part_parse(args->value[OPTION_PART], &plan.part);
    if (code != 0)
        return code;
    bool is_dry = args->given[OPTION_DRY_RUN];
    if (plan.output == NULL || plan.output[0] == '\0')
        return report_usage(MSG_O_MISSING);
    bool is_stdout = output_is_stdout(plan.output);
    if (args->given[OPTION_JSON] && !is_dry && is_stdout)
        return report_usage(MSG_JSON_AND_O_STDOUT);
    if (is_stdout && !is_dry && isatty(STDOUT_FILENO))
        return report_usage(MSG_TERMINAL_RAW_O);
    wb_status status = open_path(args->operands[0], &options, &model, &error);
    if (status != WB_OK) {
        report_error(plan.path, &error);
        return exit_code_of_opening(status);
    }
    plan.model = model;
    wb_device device = {.size = 0};
    const char *word = args->value[OPTION_DEVICE];
    if (word != NULL && strcmp(word, "host") != 0) {
        code = device_open(word, &device);
        plan.device = &device;
    }
    if (code != 0) {
        wb_close(model);
        return code;
    }
    code = !is_stdout && replaces_model(plan.output, model) ? report_usage(MSG_OUTPUT_IS_MODEL)
                                                            : get_from(&plan);
    wb_device_close(&device);
    wb_close(model);
    return code;
}
