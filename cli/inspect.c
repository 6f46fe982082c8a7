/*
 * wb inspect: what a model is made of.
 */
#include "inspect.h"

#include <stdlib.h>
#include <string.h>

#include "exit.h"
#include "options.h"
#include "paths.h"
#include "report.h"

typedef struct request {
    const arguments *args;
    wb_open_options options;
    wb_limits limits;
} request;

bool inspection_tensor(const inspection *in, uint64_t index, wb_tensor *tensor)
{
    *tensor = (wb_tensor){.size = sizeof *tensor};
    return wb_tensor_at(in->model, index, tensor, NULL) == WB_OK &&
           (in->filter == NULL || glob_matches(in->filter, tensor->name, tensor->name_len));
}

static void add_to(dtype_total *total, const wb_tensor *tensor)
{
    total->tensors++;
    total->parameters += tensor->elements;
    total->bytes += tensor->bytes;
}

static void add_up(inspection *in)
{
    totals *sum = &in->totals;
    uint64_t count = wb_tensor_count(in->model);
    for (uint64_t i = 0; i < count; i++) {
        wb_tensor tensor;
        if (!inspection_tensor(in, i, &tensor))
            continue;
        size_t row = 0;
        while (row < sum->count && sum->by_dtype[row].dtype != (int32_t)tensor.dtype)
            row++;
        if (row == sum->count) {
            sum->by_dtype = need_memory(sum->by_dtype, row + 1, sizeof *sum->by_dtype);
            sum->by_dtype[sum->count++] = (dtype_total){.dtype = (int32_t)tensor.dtype};
        }
        add_to(&sum->by_dtype[row], &tensor);
        add_to(&sum->all, &tensor);
    }
}

static int inspect(void *ctx, paths *seen, const char *path)
{
    const request *r = ctx;
    const arguments *args = r->args;
    wb_model *model;
    wb_error error;
    wb_status status = open_path(path, &r->options, &model, &error);
    if (status != WB_OK) {
        report_error(path_label(path), &error);
        if (args->given[OPTION_JSON])
            json_failure(path, &error);
        return exit_code_of_opening(status);
    }
    paths_cover(seen, model);
    inspection in = {.path = path,
                     .label = path_label(path),
                     .model = model,
                     .filter = args->value[OPTION_FILTER],
                     .has_tensors = !args->given[OPTION_TENSORS_OFF],
                     .has_metadata = !args->given[OPTION_METADATA_OFF],
                     .is_whole = args->given[OPTION_METADATA]};
    add_up(&in);
    if (args->given[OPTION_JSON])
        inspect_as_json(&in);
    else
        inspect_as_text(&in);
    free(in.totals.by_dtype);
    int code = wb_findings_verdict(wb_model_findings(model));
    wb_close(model);
    return code;
}

int command_inspect(const arguments *args)
{
    request r = {.args = args};
    int code = open_options_of(args, &r.options, &r.limits);
    if (code != 0)
        return code;
    if (args->given[OPTION_NAMES] && strcmp(args->value[OPTION_NAMES], "native") != 0) {
        report_line("--names %s: this version knows no canonical names", args->value[OPTION_NAMES]);
        return EXIT_UNSUPPORTED;
    }
    return paths_each(args, inspect, &r);
}
