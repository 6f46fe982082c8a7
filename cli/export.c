/* wb export: selects the tensor, the slice, the output dtype and the output file. */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include "export.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "exit.h"
#include "messages.h"
#include "options.h"
#include "output.h"
#include "part.h"
#include "paths.h"
#include "report.h"
#include "suggest.h"

/* ---- tensor selection ---- */

/* Parses "@12" as a tensor number. Used only if no tensor has this name. */
static bool find_by_number(const wb_model *model, const char *typed, uint64_t *index)
{
    uint64_t value = 0;
    if (typed[0] != '@' || typed[1] == '\0' || strlen(typed) > 19)
        return false;
    for (const char *p = typed + 1; *p != '\0'; p++) {
        if (*p < '0' || *p > '9')
            return false;
        value = value * 10 + (uint64_t)(*p - '0');
    }
    /* Parts of quantized tensors are numbered after all tensors. */
    wb_tensor tensor = WB_TENSOR_INIT;
    *index = value;
    return wb_tensor_at(model, value, &tensor, NULL) == WB_OK;
}

static int fail_tensor(const export_plan *plan, const char *typed)
{
    text line = {0};
    text_add_shown(&line, plan->path, strlen(plan->path));
    text_adds(&line, ": no tensor has the name \"");
    text_add_shown(&line, typed, strlen(typed));
    text_adds(&line, "\"");
    text_add_tensor_meant(&line, plan->model, typed, strlen(typed));
    report_line("%.900s\n    'wb inspect' lists the tensors.", line.ptr);
    text_free(&line);
    return EXIT_USAGE;
}

static int find_tensor(export_plan *plan, const char *typed)
{
    if (wb_tensor_find(plan->model, typed, SIZE_MAX, &plan->index) != WB_OK &&
        !find_by_number(plan->model, typed, &plan->index))
        return fail_tensor(plan, typed);
    wb_error error;
    plan->tensor.size = sizeof plan->tensor;
    wb_status status = wb_tensor_at(plan->model, plan->index, &plan->tensor, &error);
    if (status != WB_OK)
        report_error(plan->path, &error);
    return exit_code_of(status);
}

/* ---- dtype and format ---- */

static bool ends_with(const char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);
    return n > m && strcasecmp(path + n - m, end) == 0;
}

static void choose_format(export_plan *plan, const char *asked)
{
    static const struct {
        const char *end;
        export_format format;
    } ends[] = {
        {".npy", FORMAT_NPY}, {".raw", FORMAT_RAW}, {".bin", FORMAT_RAW}, {".txt", FORMAT_TEXT}};
    plan->format = FORMAT_NPY;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (ends_with(plan->output, ends[i].end))
            plan->format = ends[i].format;
    }
    for (size_t i = 0; asked != NULL && export_formats[i] != NULL; i++) {
        if (strcmp(asked, export_formats[i]) == 0)
            plan->format = (export_format)i;
    }
}

static wb_encoding encoding_of(const export_plan *plan)
{
    wb_encoding encoding = WB_ENCODING_INIT;
    if (wb_tensor_encoding(plan->model, plan->index, &encoding, NULL) != WB_OK)
        encoding = (wb_encoding){.type = "plain"};
    return encoding;
}

/* Reports that a multi-part quantized tensor has no single block of stored bytes: packed values are
 * meaningless without their scales.
 */
static int fail_parts(const export_plan *plan, const wb_encoding *encoding)
{
    text line = {0};
    text_addf(&line, "the tensor is stored in %u parts (%s): give --dtype f32 or another for its ",
              encoding->parts, encoding->type);
    text_adds(&line, "values, or name a part:");
    for (uint32_t i = 0; i < encoding->parts && i < 4; i++) {
        wb_part part = WB_PART_INIT;
        wb_tensor tensor = WB_TENSOR_INIT;
        if (wb_tensor_part(plan->model, plan->index, i, &part, NULL) != WB_OK ||
            wb_tensor_at(plan->model, part.index, &tensor, NULL) != WB_OK)
            continue;
        text_addf(&line, " @%llu ", (unsigned long long)part.index);
        text_add_shown(&line, tensor.name, tensor.name_len);
    }
    int code = report_usage("%.900s", line.ptr);
    text_free(&line);
    return code;
}

static int fail_dtype(const char *asked)
{
    text shown = {0};
    text_add_shown(&shown, asked, strlen(asked));
    const char *meant = suggest_dtype(asked);
    int code = meant == NULL
                   ? report_usage(MSG_EXPORT_DTYPE_UNKNOWN, shown.ptr)
                   : report_usage(MSG_EXPORT_DTYPE_UNKNOWN "; did you mean %s?", shown.ptr, meant);
    text_free(&shown);
    return code;
}

static bool is_plain(int32_t dtype)
{
    wb_dtype_info info = WB_DTYPE_INFO_INIT;
    return wb_dtype_describe(dtype, &info) == WB_OK && info.block_size == 1;
}

static int fail_npy(const export_plan *plan)
{
    report_line(MSG_NPY_SUBBYTE, wb_dtype_name(plan->content.dtype));
    return EXIT_UNSUPPORTED;
}

static int choose_dtype(export_plan *plan, const char *asked)
{
    int32_t stored = (int32_t)plan->tensor.dtype;
    wb_encoding encoding = encoding_of(plan);
    bool is_quantized = encoding.group_size != 0;
    plan->content.dtype = stored;
    if (asked != NULL) {
        plan->content.dtype = wb_dtype_find(asked, SIZE_MAX);
        if (plan->content.dtype < 0)
            return fail_dtype(asked);
    } else if (plan->format == FORMAT_RAW && is_quantized && encoding.parts > 1) {
        return fail_parts(plan, &encoding);
    } else if ((plan->format != FORMAT_RAW && is_quantized) ||
               (plan->format == FORMAT_NPY && !npy_has(stored))) {
        plan->content.dtype = WB_DTYPE_F32;
    }
    if (plan->format == FORMAT_RAW || is_plain(plan->content.dtype))
        return plan->format != FORMAT_NPY || npy_descr(plan->content.dtype) != NULL
                   ? 0
                   : fail_npy(plan);
    report_line(MSG_NPY_BLOCKS, wb_dtype_name(plan->content.dtype));
    return EXIT_UNSUPPORTED;
}

/* ---- slices ---- */

/* Parses the slice. `axes` and `shape` can hold as many entries as the tensor has dimensions. */
static int choose_slice(export_plan *plan, const char *asked, wb_axis *axes, uint64_t *shape)
{
    wb_error error;
    const wb_tensor *tensor = &plan->tensor;
    plan->slices[0] = (wb_slice){.size = sizeof plan->slices[0], .count = UINT64_MAX};
    plan->slice_count = 1;
    if (asked == NULL) {
        plan->content.shape = tensor->shape;
        plan->content.rank = tensor->rank;
        return 0;
    }
    wb_status status = wb_slice_parse(asked, SIZE_MAX, tensor->shape, tensor->rank, axes, &error);
    if (status != WB_OK) {
        report_error(plan->path, &error);
        return exit_code_of(status);
    }
    plan->slices[0].rank = tensor->rank;
    plan->slices[0].axes = axes;
    plan->content.shape = shape;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        if (!axes[i].drop)
            shape[plan->content.rank++] = axes[i].count;
    }
    return 0;
}

/* Selects the slices of a tensor-parallel rank. `axes` has room for EXPORT_SLICES slices. */
static int choose_part(export_plan *plan, const part_option *part, wb_axis *axes, uint64_t *shape)
{
    wb_error error;
    wb_plan *cuts;
    wb_plan_cut cut = WB_PLAN_CUT_INIT;
    const wb_tensor *tensor = &plan->tensor;
    wb_status status = wb_slice_plan(plan->model, tensor->name, tensor->name_len, part->axis,
                                     part->rank, part->of, &cuts, &error);
    if (status != WB_OK) {
        report_error(plan->path, &error);
        return status == WB_ERROR_ARGUMENT ? EXIT_USAGE : exit_code_of(status);
    }
    memcpy(shape, tensor->shape, tensor->rank * sizeof *shape);
    shape[part->axis] = 0;
    while (plan->slice_count < EXPORT_SLICES &&
           wb_plan_cut_at(cuts, plan->slice_count, &cut) == WB_OK) {
        wb_axis *own = axes + plan->slice_count * tensor->rank;
        for (uint32_t i = 0; i < tensor->rank; i++)
            own[i] = (wb_axis){.count = tensor->shape[i], .step = 1};
        own[part->axis].start = cut.start;
        own[part->axis].count = cut.count;
        shape[part->axis] += cut.count;
        plan->slices[plan->slice_count++] = (wb_slice){
            .size = sizeof(wb_slice), .rank = tensor->rank, .axes = own, .count = UINT64_MAX};
    }
    wb_plan_free(cuts);
    plan->content.shape = shape;
    plan->content.rank = tensor->rank;
    return 0;
}

static int measure(export_plan *plan)
{
    wb_error error;
    uint64_t bytes = 0;
    for (size_t i = 0; i < plan->slice_count; i++) {
        uint64_t its;
        wb_status status =
            wb_tensor_read_size(plan->model, plan->index, &plan->slices[i], plan->content.dtype,
                                &plan->slice_elements[i], &its, &error);
        if (status != WB_OK) {
            report_error(plan->path, &error);
            return exit_code_of(status);
        }
        plan->content.elements += plan->slice_elements[i];
        bytes += its;
    }
    plan->content.tensor = &plan->tensor;
    if (plan->format == FORMAT_TEXT) {
        values_header(&plan->header, &plan->content);
        return 0;
    }
    if (plan->format == FORMAT_NPY && !npy_header(&plan->header, &plan->content)) {
        report_line(MSG_NPY_SHAPE_TOO_LONG);
        return EXIT_UNSUPPORTED;
    }
    plan->bytes = plan->header.len + bytes;
    return 0;
}

/* ---- command ---- */

static int export_planned(const arguments *args, export_plan *plan)
{
    bool is_dry = args->given[OPTION_DRY_RUN];
    bool is_stdout = output_is_stdout(plan->output);
    if (is_stdout && !is_dry && plan->format != FORMAT_TEXT && isatty(STDOUT_FILENO))
        return report_usage(MSG_TERMINAL_EXPORT, plan->format == FORMAT_NPY ? ".npy" : "raw bytes");
    if (!is_stdout && replaces_model(plan->output, plan->model))
        return report_usage(MSG_OUTPUT_IS_MODEL);
    int code = is_dry ? EXIT_CLEAN : export_write(plan);
    if (code == EXIT_CLEAN && args->given[OPTION_JSON])
        export_answer(plan, args->operands[0], !is_dry);
    else if (is_dry)
        export_say(plan);
    return code;
}

static int export_from(const arguments *args, const wb_model *model, const part_option *part)
{
    export_plan plan = {.path = path_label(args->operands[0]),
                        .output = args->value[OPTION_OUTPUT],
                        .model = model};
    choose_format(&plan, args->value[OPTION_FORMAT]);
    int code = find_tensor(&plan, args->operands[1]);
    if (code != 0)
        return code;
    code = choose_dtype(&plan, args->value[OPTION_DTYPE]);
    if (code != 0)
        return code;
    wb_axis *axes = need_memory(NULL, plan.tensor.rank * (size_t)EXPORT_SLICES + 1, sizeof *axes);
    uint64_t *shape = need_memory(NULL, plan.tensor.rank, sizeof *shape);
    code = part->of != 0 ? choose_part(&plan, part, axes, shape)
                         : choose_slice(&plan, args->value[OPTION_SLICE], axes, shape);
    if (code == 0)
        code = measure(&plan);
    if (code == 0)
        code = export_planned(args, &plan);
    text_free(&plan.header);
    free(axes);
    free(shape);
    return code;
}

int command_export(const arguments *args)
{
    wb_open_options options;
    wb_limits limits;
    wb_model *model;
    wb_error error;
    part_option part;
    int code = open_options_of(args, &options, &limits);
    if (code == 0)
        code = part_parse(args->value[OPTION_PART], &part);
    if (code != 0)
        return code;
    if (part.of != 0 && args->given[OPTION_SLICE])
        return report_usage(MSG_SLICE_AND_PART);
    if (!args->given[OPTION_OUTPUT] || args->value[OPTION_OUTPUT][0] == '\0')
        return report_usage(MSG_O_MISSING);
    if (args->given[OPTION_JSON] && !args->given[OPTION_DRY_RUN] &&
        output_is_stdout(args->value[OPTION_OUTPUT]))
        return report_usage(MSG_JSON_AND_O_STDOUT);
    wb_status status = open_path(args->operands[0], &options, &model, &error);
    if (status != WB_OK) {
        report_error(path_label(args->operands[0]), &error);
        return exit_code_of_opening(status);
    }
    code = export_from(args, model, &part);
    wb_close(model);
    return code;
}
