/* wb export: the JSON object of --json and the line of --dry-run. */
#include <string.h>

#include "export.h"
#include "report.h"

const char *const export_formats[] = {"npy", "raw", "text", NULL};

void export_answer(const export_plan *plan, const char *path, bool is_written)
{
    const export_content *content = &plan->content;
    wb_json json = out_json(out_stdout());
    json_answer(&json, "export");
    json_text(&json, "path", path);
    wb_json_key(&json, "tensor", SIZE_MAX);
    wb_json_string(&json, plan->tensor.name, plan->tensor.name_len);
    json_text(&json, "output", plan->output);
    json_text(&json, "format", export_formats[plan->format]);
    json_text(&json, "dtype", wb_dtype_name(content->dtype));
    wb_json_key(&json, "shape", SIZE_MAX);
    wb_json_begin(&json, '[');
    for (uint32_t i = 0; i < content->rank; i++)
        wb_json_uint(&json, content->shape[i]);
    wb_json_end(&json, ']');
    json_number(&json, "elements", content->elements);
    wb_json_key(&json, "bytes", SIZE_MAX);
    if (plan->format == FORMAT_TEXT)
        wb_json_null(&json);
    else
        wb_json_uint(&json, plan->bytes);
    wb_json_key(&json, "written", SIZE_MAX);
    wb_json_bool(&json, is_written);
    wb_json_end(&json, '}');
    out_json_end(&json);
}

void export_say(const export_plan *plan)
{
    static const char *const names[] = {"npy", "raw bytes", "text"};
    text t = {0};
    text_adds(&t, "would write ");
    if (plan->format != FORMAT_TEXT) {
        text_add_count(&t, plan->bytes);
        text_adds(&t, " bytes ");
    }
    text_adds(&t, "to ");
    text_add_shown(&t, plan->output, strlen(plan->output));
    text_addf(&t, ": \"");
    text_add_shown(&t, plan->tensor.name, plan->tensor.name_len);
    text_addf(&t, "\" as %s, %s ", names[plan->format], wb_dtype_name(plan->content.dtype));
    text_add_shape(&t, plan->content.shape, plan->content.rank);
    text_adds(&t, "\n");
    out_text(out_stdout(), &t);
    text_free(&t);
}
