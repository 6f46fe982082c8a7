/* wb diff: compares two models. */
#include "diff.h"

#include <string.h>

#include "exit.h"
#include "messages.h"
#include "options.h"
#include "paths.h"
#include "report.h"
#include "terminal.h"
#include "threads.h"

const diff_kind diff_kinds[] = {
    {"names", WB_DIFF_NAMES},   {"config", WB_DIFF_CONFIG},       {"metadata", WB_DIFF_METADATA},
    {"shapes", WB_DIFF_SHAPES}, {"encodings", WB_DIFF_ENCODINGS}, {"values", WB_DIFF_VALUES},
};
const size_t diff_kind_count = sizeof diff_kinds / sizeof diff_kinds[0];

/* Parses a list such as "names,values". Returns 0, or an exit code after reporting the error. */
static int parse_kinds(const char *list, uint32_t *kinds)
{
    *kinds = 0;
    for (;;) {
        size_t n = strcspn(list, ",");
        uint32_t bit = 0;
        for (size_t i = 0; i < diff_kind_count; i++) {
            if (strlen(diff_kinds[i].word) == n && memcmp(diff_kinds[i].word, list, n) == 0)
                bit = diff_kinds[i].bit;
        }
        if (bit == 0)
            return report_usage("--only takes names, config, metadata, shapes, encodings and "
                                "values, with commas between them");
        *kinds |= bit;
        if (list[n] == '\0')
            return 0;
        list += n + 1;
    }
}

void text_add_encoding(text *t, const wb_model *model, uint64_t index)
{
    wb_tensor tensor = WB_TENSOR_INIT;
    wb_encoding encoding = WB_ENCODING_INIT;
    if (wb_tensor_at(model, index, &tensor, NULL) != WB_OK ||
        wb_tensor_encoding(model, index, &encoding, NULL) != WB_OK)
        return;
    if (strcmp(encoding.type, "plain") == 0)
        text_adds(t, wb_dtype_name((int32_t)tensor.dtype));
    else if (strcmp(encoding.type, "affine") == 0)
        text_addf(t, "affine%u:%u", (unsigned)encoding.bits, (unsigned)encoding.group_size);
    else
        text_adds(t, encoding.type);
}

static int compare(comparison *c, const wb_diff_options *options, bool is_json)
{
    wb_error error;
    wb_status status = wb_diff_models(c->model[0], c->model[1], options, &c->diff, &error);
    progress_clear();
    if (status != WB_OK) {
        report_error(c->label[0], &error);
        if (is_json)
            json_failure(c->path[0], &error);
        return exit_code_of(status);
    }
    if (is_json)
        diff_answer(c);
    else
        diff_show(c);
    return wb_diff_kinds(c->diff) == 0 ? EXIT_CLEAN : EXIT_FINDINGS;
}

int command_diff(const arguments *args)
{
    wb_open_options open;
    wb_limits limits;
    wb_error error;
    comparison c = {.path = {args->operands[0], args->operands[1]}};
    bool is_json = args->given[OPTION_JSON];
    wb_diff_options options = {.size = sizeof options, .executor = threads_executor()};
    int code = open_options_of(args, &open, &limits);
    if (code == 0 && args->given[OPTION_ONLY])
        code = parse_kinds(args->value[OPTION_ONLY], &options.kinds);
    if (code != 0)
        return code;
    if (strcmp(c.path[0], STDIN_PATH) == 0 && strcmp(c.path[1], STDIN_PATH) == 0)
        return report_usage(MSG_DIFF_TWO_STDIN);
    open.executor = threads_executor();
    for (int i = 0; i < 2 && code == 0; i++) {
        c.label[i] = path_label(c.path[i]);
        wb_status status = open_path(c.path[i], &open, &c.model[i], &error);
        if (status == WB_OK)
            continue;
        report_error(c.label[i], &error);
        if (is_json)
            json_failure(c.path[i], &error);
        code = exit_code_of_opening(status);
    }
    wb_progress progress = progress_of(c.label[0]);
    options.progress = &progress;
    if (code == 0)
        code = compare(&c, &options, is_json);
    wb_diff_free(c.diff);
    wb_close(c.model[0]);
    wb_close(c.model[1]);
    return code;
}
