/*
 * wb convert: which target, by which policy; what became of it is told by convert_tell.c.
 */
#include "convert.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "exit.h"
#include "paths.h"
#include "report.h"
#include "terminal.h"
#include "threads.h"

static const struct {
    const char *name;
    const char *end;
    wb_target target;
} targets[] = {
    {"gguf", ".gguf", WB_TARGET_GGUF},
    {"safetensors", ".safetensors", WB_TARGET_SAFETENSORS},
    {"mlx", NULL, WB_TARGET_MLX},
};

#define TARGETS (sizeof targets / sizeof targets[0])

const char *convert_target_name(wb_target target)
{
    for (size_t i = 0; i < TARGETS; i++) {
        if (targets[i].target == target)
            return targets[i].name;
    }
    return "";
}

/* ---- the command line ---- */

static int find_target(convert_job *job)
{
    const char *asked = job->args->value[OPTION_TO];
    size_t n = strlen(job->output);
    for (size_t i = 0; i < TARGETS; i++) {
        size_t m = targets[i].end == NULL ? 0 : strlen(targets[i].end);
        bool fits = asked != NULL
                        ? strcmp(asked, targets[i].name) == 0
                        : m != 0 && n > m && strcasecmp(job->output + n - m, targets[i].end) == 0;
        if (fits) {
            job->target = targets[i].target;
            return 0;
        }
    }
    return report_usage("the name of the output does not tell what it shall be: give --to");
}

/* "regex=TYPE": the last '=' parts them, since expressions may have some. */
static int take_rules(convert_job *job)
{
    const arguments *args = job->args;
    size_t bytes = 1;
    for (size_t i = 0; i < args->rule_count; i++)
        bytes += strlen(args->rules[i]) + 1;
    char *to = job->rule_texts = need_memory(NULL, bytes, 1);
    job->rules = need_memory(NULL, args->rule_count + 1, sizeof *job->rules);
    for (size_t i = 0; i < args->rule_count; i++) {
        size_t n = strlen(args->rules[i]) + 1;
        memcpy(to, args->rules[i], n);
        char *equals = strrchr(to, '=');
        if (equals == NULL || equals == to || equals[1] == '\0')
            return report_usage("--rule needs an expression and a type, such as 'attn_v=Q6_K'");
        *equals = '\0';
        job->rules[i] = (wb_convert_rule){to, equals + 1};
        to += n;
    }
    job->policy.rules = job->rules;
    job->policy.rule_count = args->rule_count;
    return 0;
}

static int take_policy(convert_job *job)
{
    const arguments *args = job->args;
    job->policy.size = sizeof job->policy;
    job->policy.quant = args->value[OPTION_QUANT];
    job->policy.importance = args->value[OPTION_IMATRIX];
    job->policy.flags = (args->given[OPTION_STRICT] ? WB_CONVERT_STRICT : 0) |
                        (args->given[OPTION_FORCE] ? WB_CONVERT_FORCE : 0);
    job->policy.executor = threads_executor();
    int code = find_target(job);
    if (code == 0)
        code = take_rules(job);
    if (code == 0)
        code = size_of_option(args, OPTION_MAX_MEMORY, &job->policy.max_memory);
    if (code == 0)
        code = size_of_option(args, OPTION_MAX_SHARD_SIZE, &job->policy.max_file_bytes);
    if (code == 0)
        code = open_options_of(args, &job->options, &job->limits);
    job->options.access = WB_ACCESS_READ;
    return code;
}

/* ---- the work ---- */

static int report_progress(void *ctx, uint64_t done, uint64_t total)
{
    progress_show(ctx, done, total);
    return interrupted();
}

static int fail(const convert_job *job, const char *path, wb_status status, const wb_error *error,
                int code)
{
    progress_clear();
    if (status == WB_ERROR_CANCELLED && interrupted())
        return EXIT_INTERRUPTED;
    report_error(path, error);
    if (job->args->given[OPTION_JSON])
        json_failure(job->input, error);
    return code;
}

static int convert(convert_job *job)
{
    wb_error error;
    wb_progress progress = {.ctx = (void *)(uintptr_t)job->output, .report = report_progress};
    wb_status status = open_path(job->input, &job->options, &job->model, &error);
    if (status != WB_OK)
        return fail(job, path_label(job->input), status, &error, exit_code_of_opening(status));
    status = wb_convert_plan(job->model, job->target, &job->policy, &job->conversion, &error);
    if (status != WB_OK)
        return fail(job, path_label(job->input), status, &error, exit_code_of(status));
    job->planned_only = job->args->given[OPTION_DRY_RUN];
    if (!job->planned_only) {
        interrupt_defer(true);
        status = wb_convert(job->conversion, job->output, &progress, &error);
        interrupt_defer(false);
    }
    progress_clear();
    if (status != WB_OK)
        return fail(job, job->output, status, &error, exit_code_of(status));
    if (job->args->given[OPTION_JSON])
        convert_tell_json(job);
    else
        convert_tell(job);
    return EXIT_CLEAN;
}

int command_convert(const arguments *args)
{
    convert_job job = {.args = args, .input = args->operands[0], .output = args->operands[1]};
    int code = take_policy(&job);
    if (code == 0)
        code = convert(&job);
    wb_conversion_free(job.conversion);
    wb_close(job.model);
    free(job.rules);
    free(job.rule_texts);
    return code;
}
