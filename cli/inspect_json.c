/* wb inspect --json: prints one JSON object per model, each on its own line. docs/man/wb-inspect.1
 * documents the object.
 */
#include "exit.h"
#include "inspect.h"
#include "metadata.h"
#include "modelfile.h"
#include "report.h"

static void json_files(wb_json *json, const wb_model *model)
{
    wb_json_key(json, "files", SIZE_MAX);
    wb_json_begin(json, '[');
    for (uint64_t i = 0; i < wb_file_count(model); i++) {
        wb_file file = WB_FILE_INIT;
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

static void json_metadata(wb_json *json, const inspection *in)
{
    const wb_model *model = in->model;
    uint64_t count = in->is_whole ? wb_meta_count(model) : metadata_of_files(model);
    wb_json_key(json, "metadata", SIZE_MAX);
    wb_json_begin(json, '{');
    for (uint64_t i = 0; i < count; i++) {
        wb_meta meta = WB_META_INIT;
        if (wb_meta_at(model, i, &meta, NULL) != WB_OK)
            continue;
        wb_json_key(json, meta.key, meta.key_len);
        json_meta(json, model, &meta);
    }
    wb_json_end(json, '}');
}

static void json_shape(wb_json *json, const wb_tensor *tensor)
{
    wb_json_key(json, "shape", SIZE_MAX);
    wb_json_begin(json, '[');
    for (uint32_t i = 0; i < tensor->rank; i++)
        wb_json_uint(json, tensor->shape[i]);
    wb_json_end(json, ']');
}

/* Writes the storage flags of a tensor (byte order, column-major order, compression). Most tensors
 * have none.
 */
static void json_storing(wb_json *json, uint32_t storing)
{
    static const struct {
        uint32_t flag;
        const char *name;
    } flags[] = {
        {WB_STORED_BIG_ENDIAN, "big-endian"},
        {WB_STORED_COLUMNS, "columns"},
        {WB_STORED_DEFLATED, "deflated"},
    };
    if (storing == 0)
        return;
    wb_json_key(json, "stored", SIZE_MAX);
    wb_json_begin(json, '[');
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if ((storing & flags[i].flag) != 0)
            wb_json_string(json, flags[i].name, SIZE_MAX);
    }
    wb_json_end(json, ']');
}

/* Writes the file index, offset, size and storage flags of a tensor. */
static void json_place(wb_json *json, const wb_tensor *tensor)
{
    json_number(json, "file", tensor->file);
    json_number(json, "offset", tensor->offset);
    json_number(json, "bytes", tensor->bytes);
    json_storing(json, tensor->storing);
}

static void json_name(wb_json *json, const wb_tensor *tensor)
{
    wb_json_key(json, "name", SIZE_MAX);
    wb_json_string(json, tensor->name, tensor->name_len);
    json_text(json, "dtype", wb_dtype_name((int32_t)tensor->dtype));
}

static void json_parts(wb_json *json, const wb_model *model, uint64_t index, uint32_t parts)
{
    wb_json_key(json, "parts", SIZE_MAX);
    wb_json_begin(json, '[');
    for (uint32_t i = 0; i < parts; i++) {
        wb_part part = WB_PART_INIT;
        wb_tensor tensor = WB_TENSOR_INIT;
        if (wb_tensor_part(model, index, i, &part, NULL) != WB_OK ||
            wb_tensor_at(model, part.index, &tensor, NULL) != WB_OK)
            continue;
        wb_json_begin(json, '{');
        json_text(json, "role", part.role);
        json_name(json, &tensor);
        json_shape(json, &tensor);
        json_place(json, &tensor);
        wb_json_end(json, '}');
    }
    wb_json_end(json, ']');
}

static void json_encoding(wb_json *json, const wb_encoding *encoding)
{
    wb_json_key(json, "encoding", SIZE_MAX);
    wb_json_begin(json, '{');
    json_text(json, "type", encoding->type);
    json_number(json, "bits", encoding->bits);
    if (encoding->group_size != 0)
        json_number(json, "group_size", encoding->group_size);
    wb_json_end(json, '}');
}

static void json_canonical(wb_json *json, const inspection *in, uint64_t index)
{
    size_t len;
    const char *name = inspection_canonical(in, index, &len);
    if (in->canonical != NULL)
        json_optional(json, "canonical", len == 0 ? "" : name);
}

static void json_tensors(wb_json *json, const inspection *in)
{
    wb_json_key(json, "tensors", SIZE_MAX);
    wb_json_begin(json, '[');
    for (uint64_t row = 0; row < in->listed_count && !json->failed; row++) {
        uint64_t i = in->listed[row];
        wb_tensor tensor;
        wb_encoding encoding;
        if (!inspection_tensor(in, i, &tensor, &encoding))
            continue;
        wb_json_begin(json, '{');
        json_number(json, "index", i);
        json_name(json, &tensor);
        json_canonical(json, in, i);
        json_shape(json, &tensor);
        json_number(json, "elements", tensor.elements);
        json_place(json, &tensor);
        json_encoding(json, &encoding);
        if (encoding.parts > 1)
            json_parts(json, in->model, i, encoding.parts);
        wb_json_end(json, '}');
    }
    wb_json_end(json, ']');
}

static void json_total(wb_json *json, const kind_total *total)
{
    json_number(json, "tensors", total->tensors);
    json_number(json, "parameters", total->parameters);
    json_number(json, "bytes", total->bytes);
}

/* Sums the totals of all kinds that have the same stored dtype as kind number `first`. Returns
 * false if an earlier kind has this dtype.
 */
static bool sum_dtype(const totals *sum, size_t first, kind_total *total)
{
    *total = (kind_total){.dtype = sum->kinds[first].dtype};
    for (size_t i = 0; i < sum->count; i++) {
        const kind_total *kind = &sum->kinds[i];
        if (kind->dtype != total->dtype)
            continue;
        if (i < first)
            return false;
        total->tensors += kind->tensors;
        total->parameters += kind->parameters;
        total->bytes += kind->bytes;
    }
    return true;
}

static void json_totals(wb_json *json, const inspection *in)
{
    const totals *sum = &in->totals;
    text t = {0};
    text_add_quantization(&t, in);
    wb_json_key(json, "totals", SIZE_MAX);
    wb_json_begin(json, '{');
    json_total(json, &sum->all);
    json_optional(json, "quantization", t.ptr == NULL ? "" : t.ptr);
    wb_json_key(json, "bits_per_weight", SIZE_MAX);
    wb_json_double(json, inspection_bits(in));
    text_free(&t);
    wb_json_key(json, "by_dtype", SIZE_MAX);
    wb_json_begin(json, '{');
    for (size_t i = 0; i < sum->count; i++) {
        kind_total total;
        if (!sum_dtype(sum, i, &total))
            continue;
        wb_json_key(json, wb_dtype_name(total.dtype), SIZE_MAX);
        wb_json_begin(json, '{');
        json_total(json, &total);
        wb_json_end(json, '}');
    }
    wb_json_end(json, '}');
    wb_json_end(json, '}');
}

static void json_texts(wb_json *json, const inspection *in)
{
    const char *string;
    size_t n;
    text t = {0};
    if (in->sections & SECTION_TEMPLATE) {
        bool is_there = find_template(in->model, &string, &n);
        wb_json_key(json, "template", SIZE_MAX);
        if (is_there)
            wb_json_string(json, string, n);
        else
            wb_json_null(json);
    }
    if (in->sections & SECTION_MODELFILE)
        json_optional(json, "modelfile", text_add_modelfile(&t, in->model, in->path) ? t.ptr : "");
    text_free(&t);
}

int inspect_key_as_json(const inspection *in)
{
    wb_json json = out_json(out_stdout());
    wb_meta meta = WB_META_INIT;
    if (!inspection_key(in, &meta)) {
        int code = tell_key_missing(in);
        report_last_as_json();
        return code;
    }
    json_answer(&json, "metadata");
    json_text(&json, "path", in->path);
    wb_json_key(&json, "key", SIZE_MAX);
    wb_json_string(&json, meta.key, meta.key_len);
    wb_json_key(&json, "value", SIZE_MAX);
    json_meta(&json, in->model, &meta);
    wb_json_end(&json, '}');
    out_json_end(&json);
    return EXIT_CLEAN;
}

void inspect_as_json(const inspection *in)
{
    wb_json json = out_json(out_stdout());
    json_answer(&json, "inspect");
    json_text(&json, "path", in->path);
    json_text(&json, "format", wb_format(in->model));
    json_files(&json, in->model);
    json_config(&json, in);
    if (in->sections & SECTION_METADATA)
        json_metadata(&json, in);
    if (in->sections & SECTION_TENSORS)
        json_tensors(&json, in);
    if (in->sections & SECTION_LAYERS)
        json_layers(&json, in);
    if (in->sections & SECTION_TOKENS)
        json_tokens(&json, in);
    json_texts(&json, in);
    json_totals(&json, in);
    json_findings(&json, wb_model_findings(in->model));
    wb_json_end(&json, '}');
    out_json_end(&json);
}
