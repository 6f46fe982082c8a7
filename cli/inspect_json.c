/*
 * wb inspect --json: an object a model, on a line of its own. docs/man/wb-inspect.1 describes it.
 */
#include "inspect.h"
#include "report.h"

static void json_files(wb_json *json, const wb_model *model)
{
    wb_json_key(json, "files", SIZE_MAX);
    wb_json_begin(json, '[');
    for (uint64_t i = 0; i < wb_file_count(model); i++) {
        wb_file file = {.size = sizeof file};
        if (wb_file_at(model, i, &file, NULL) != WB_OK)
            continue;
        wb_json_begin(json, '{');
        json_text(json, "path", file.path);
        json_text(json, "format", file.format);
        json_number(json, "bytes", file.bytes);
        json_number(json, "data_offset", file.data_offset);
        json_number(json, "tensors", file.tensors);
        wb_json_end(json, '}');
    }
    wb_json_end(json, ']');
}

static void json_metadata(wb_json *json, const wb_model *model)
{
    wb_json_key(json, "metadata", SIZE_MAX);
    wb_json_begin(json, '{');
    for (uint64_t i = 0; i < wb_meta_count(model); i++) {
        wb_meta meta = {.size = sizeof meta};
        const char *value;
        size_t n;
        if (wb_meta_at(model, i, &meta, NULL) != WB_OK ||
            wb_meta_get_string(model, meta.key, meta.key_len, &value, &n, NULL) != WB_OK)
            continue;
        wb_json_key(json, meta.key, meta.key_len);
        wb_json_string(json, value, n);
    }
    wb_json_end(json, '}');
}

static void json_tensor(wb_json *json, uint64_t index, const wb_tensor *tensor)
{
    wb_json_begin(json, '{');
    json_number(json, "index", index);
    wb_json_key(json, "name", SIZE_MAX);
    wb_json_string(json, tensor->name, tensor->name_len);
    json_text(json, "dtype", wb_dtype_name((int32_t)tensor->dtype));
    wb_json_key(json, "shape", SIZE_MAX);
    wb_json_begin(json, '[');
    for (uint32_t i = 0; i < tensor->rank; i++)
        wb_json_uint(json, tensor->shape[i]);
    wb_json_end(json, ']');
    json_number(json, "elements", tensor->elements);
    json_number(json, "file", tensor->file);
    json_number(json, "offset", tensor->offset);
    json_number(json, "bytes", tensor->bytes);
    wb_json_key(json, "encoding", SIZE_MAX);
    wb_json_begin(json, '{');
    json_text(json, "type", "plain");
    json_number(json, "bits", dtype_bits((int32_t)tensor->dtype));
    wb_json_end(json, '}');
    wb_json_end(json, '}');
}

static void json_tensors(wb_json *json, const inspection *in)
{
    uint64_t count = wb_tensor_count(in->model);
    wb_json_key(json, "tensors", SIZE_MAX);
    wb_json_begin(json, '[');
    for (uint64_t i = 0; i < count && !json->failed; i++) {
        wb_tensor tensor;
        if (inspection_tensor(in, i, &tensor))
            json_tensor(json, i, &tensor);
    }
    wb_json_end(json, ']');
}

static void json_total(wb_json *json, const dtype_total *total)
{
    json_number(json, "tensors", total->tensors);
    json_number(json, "parameters", total->parameters);
    json_number(json, "bytes", total->bytes);
}

static void json_totals(wb_json *json, const totals *sum)
{
    wb_json_key(json, "totals", SIZE_MAX);
    wb_json_begin(json, '{');
    json_total(json, &sum->all);
    wb_json_key(json, "by_dtype", SIZE_MAX);
    wb_json_begin(json, '{');
    for (size_t i = 0; i < sum->count; i++) {
        wb_json_key(json, wb_dtype_name(sum->by_dtype[i].dtype), SIZE_MAX);
        wb_json_begin(json, '{');
        json_total(json, &sum->by_dtype[i]);
        wb_json_end(json, '}');
    }
    wb_json_end(json, '}');
    wb_json_end(json, '}');
}

void inspect_as_json(const inspection *in)
{
    wb_json json = out_json(out_stdout());
    wb_json_begin(&json, '{');
    json_text(&json, "path", in->path);
    json_text(&json, "format", wb_format(in->model));
    json_files(&json, in->model);
    if (in->has_metadata)
        json_metadata(&json, in->model);
    if (in->has_tensors)
        json_tensors(&json, in);
    json_totals(&json, &in->totals);
    json_findings(&json, wb_model_findings(in->model));
    wb_json_end(&json, '}');
    out_json_end(&json);
}
