/* wb convert to another format or to other tensor types: builds the conversion policy. The library
 * performs the conversion.
 */
#include <stdlib.h>
#include <string.h>

#include "convert.h"
#include "exit.h"
#include "messages.h"
#include "paths.h"
#include "report.h"
#include "suggest.h"
#include "terminal.h"
#include "threads.h"

/* Conversion settings from the command line. */
typedef struct recast_order {
    wb_target target;
    wb_convert_policy policy;
    wb_convert_rule *rules;
    char *rule_texts;
    wb_convert_lora *loras;
    char *lora_texts;
} recast_order;

/* Parses "regex=TYPE". The last '=' is the separator, because the expression may contain '='. */
static int take_rules(const arguments *args, recast_order *order)
{
    size_t bytes = 1;
    for (size_t i = 0; i < args->rule_count; i++)
        bytes += strlen(args->rules[i]) + 1;
    char *to = order->rule_texts = need_memory(NULL, bytes, 1);
    order->rules = need_memory(NULL, args->rule_count + 1, sizeof *order->rules);
    for (size_t i = 0; i < args->rule_count; i++) {
        size_t n = strlen(args->rules[i]) + 1;
        memcpy(to, args->rules[i], n);
        char *equals = strrchr(to, '=');
        if (equals == NULL || equals == to || equals[1] == '\0')
            return report_usage(MSG_RULE_INVALID);
        *equals = '\0';
        order->rules[i] = (wb_convert_rule){to, equals + 1};
        to += n;
    }
    order->policy.rules = order->rules;
    order->policy.rule_count = args->rule_count;
    return 0;
}

/* Parses "PATH:SCALE". The text after the last colon is a scale only if it is a number. */
static void take_loras(const arguments *args, recast_order *order)
{
    size_t bytes = 1;
    for (size_t i = 0; i < args->lora_count; i++)
        bytes += strlen(args->loras[i]) + 1;
    char *to = order->lora_texts = need_memory(NULL, bytes, 1);
    order->loras = need_memory(NULL, args->lora_count + 1, sizeof *order->loras);
    for (size_t i = 0; i < args->lora_count; i++) {
        size_t n = strlen(args->loras[i]) + 1;
        memcpy(to, args->loras[i], n);
        char *colon = strrchr(to, ':'), *end = NULL;
        double scale = colon == NULL ? 1 : strtod(colon + 1, &end);
        bool is_scale = colon != NULL && end != colon + 1 && *end == '\0';
        if (is_scale)
            *colon = '\0';
        order->loras[i] = (wb_convert_lora){to, is_scale ? scale : 1};
        to += n;
    }
    order->policy.loras = order->loras;
    order->policy.lora_count = args->lora_count;
}

/* Rejects layout options that apply only to copies in the same format. The conversion itself
 * determines the layout.
 */
static int refuse_layout(const convert_job *job)
{
    static const option_id copies[] = {OPTION_MAX_SHARD_TENSORS, OPTION_ALIGNMENT,
                                       OPTION_ALIGN_TENSORS};
    for (size_t i = 0; i < sizeof copies / sizeof copies[0]; i++) {
        if (job->args->given[copies[i]])
            return report_usage("--%s is for a copy to the format a model has: convert first, then "
                                "copy the result with it",
                                option_table[copies[i]].name);
    }
    return 0;
}

static int fail_quant(const char *path, const char *typed)
{
    const char *meant = suggest_quant(typed);
    text shown = {0};
    text_add_shown(&shown, typed, strlen(typed));
    int code = meant == NULL ? report_path(EXIT_USAGE, path, MSG_QUANT_UNKNOWN, shown.ptr)
                             : report_path(EXIT_USAGE, path, MSG_QUANT_MEANT, shown.ptr, meant);
    text_free(&shown);
    return code;
}

static int take_order(const convert_job *job, recast_order *order)
{
    const arguments *args = job->args;
    const char *memory = args->value[OPTION_MAX_MEMORY];
    order->target = convert_target(job->to);
    order->policy = (wb_convert_policy){
        .size = sizeof order->policy,
        .quant = args->value[OPTION_QUANT],
        .importance = args->value[OPTION_IMATRIX],
        .max_file_bytes = job->options.max_file_bytes,
        .flags = (args->given[OPTION_STRICT] ? WB_CONVERT_STRICT : 0) |
                 (args->given[OPTION_FORCE_LOSSY] ? WB_CONVERT_FORCE_LOSSY : 0) |
                 (args->given[OPTION_RAW] ? WB_CONVERT_RAW : 0) |
                 (job->replaces ? WB_CONVERT_FORCE : 0) | WB_CONVERT_RESUME |
                 (args->given[OPTION_GENERATION] ? WB_CONVERT_FEB2026 : 0),
        .store = args->value[OPTION_STORE],
        .executor = threads_executor(),
    };
    if (job->out_is_stdout || job->out_is_stream)
        return report_usage(MSG_STREAM_NEEDS_COPY);
    if (order->policy.quant != NULL && !wb_quant_is_known(order->policy.quant))
        return fail_quant(job->in, order->policy.quant);
    if (order->target == WB_TARGET_MLX && !job->out_is_folder)
        return report_usage(MSG_MLX_NEEDS_FOLDER);
    take_loras(args, order);
    int code = refuse_layout(job);
    if (code == 0)
        code = take_rules(args, order);
    if (code == 0 && memory != NULL)
        code = convert_size_of(OPTION_MAX_MEMORY, memory, &order->policy.max_memory);
    return code;
}

static int report_progress(void *ctx, uint64_t done, uint64_t total)
{
    progress_show(ctx, done, total);
    return interrupted();
}

static int run(const convert_job *job, wb_conversion *conversion)
{
    wb_error error;
    wb_progress progress = {.ctx = (void *)(uintptr_t)job->out, .report = report_progress};
    wb_status status = WB_OK;
    if (job->args->given[OPTION_DRY_RUN]) {
        status = wb_convert_check(conversion, job->out, &error);
    } else {
        interrupt_defer(true);
        status = wb_convert(conversion, job->out, &progress, &error);
        interrupt_defer(false);
    }
    progress_clear();
    if (status != WB_OK) {
        int code = convert_fail(job, status, &error);
        if (status != WB_ERROR_ARGUMENT && !job->args->given[OPTION_DRY_RUN])
            partial_tell(job);
        return code;
    }
    if (job->args->given[OPTION_JSON])
        recast_tell_json(job, conversion);
    else
        recast_tell(job, conversion);
    return EXIT_CLEAN;
}

int recast(const convert_job *job)
{
    recast_order order = {.target = WB_TARGET_SAFETENSORS};
    wb_conversion *conversion = NULL;
    wb_error error;
    int code = take_order(job, &order);
    if (code == 0) {
        wb_status status =
            wb_convert_plan(job->model, order.target, &order.policy, &conversion, &error);
        code = status == WB_OK ? run(job, conversion) : convert_fail(job, status, &error);
    }
    wb_conversion_free(conversion);
    free(order.rules);
    free(order.rule_texts);
    free(order.loras);
    free(order.lora_texts);
    return code;
}
