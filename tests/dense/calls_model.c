/* Operations that open a model and query it. */
#include "dense.h"

wb_status open_it(subject *s, wb_model **model)
{
    return wb_open(s->path, &s->options, model, &s->error);
}

/* Adds up results of the queries. It is volatile, so that the compiler cannot omit the queries. */
static volatile uint64_t sum;

static wb_status count_findings(const wb_findings *findings)
{
    for (uint64_t i = 0; i < wb_findings_count(findings); i++) {
        wb_finding finding = WB_FINDING_INIT;
        wb_status status = wb_findings_at(findings, i, &finding);
        if (status != WB_OK)
            return status;
        sum += strlen(finding.message);
    }
    sum += (uint64_t)wb_findings_verdict(findings);
    return WB_OK;
}

static wb_status query_files(subject *s, const wb_model *model)
{
    wb_status status = wb_model_check(model, &s->error);
    sum += strlen(wb_format(model)) + (uint64_t)wb_owns_address(model, model);
    for (uint64_t i = 0; status == WB_OK && i < wb_file_count(model); i++) {
        wb_file file = WB_FILE_INIT;
        uint64_t cached;
        int reads;
        status = wb_file_at(model, i, &file, &s->error);
        if (status == WB_OK && i < 10) {
            status = wb_model_reads(model, file.path, &reads, &s->error);
            if (wb_file_cached(model, i, &cached, NULL) == WB_OK)
                sum += cached;
        }
    }
    return status == WB_OK ? count_findings(wb_model_findings(model)) : status;
}

/* Opens the model with mapped files in compatible mode, then with WB_ACCESS_READ in strict mode. */
static wb_status run_open(subject *s)
{
    wb_model *model;
    wb_status status = open_it(s, &model);
    if (status == WB_OK)
        status = query_files(s, model);
    wb_close(model);
    s->options.flags = 0;
    s->options.access = WB_ACCESS_READ;
    if (wb_open(s->path, &s->options, &model, NULL) != WB_OK)
        sum++;
    wb_close(model);
    return status;
}

static wb_status run_snapshot(subject *s)
{
    wb_model *model;
    s->options.access = WB_ACCESS_SNAPSHOT;
    wb_status status = open_it(s, &model);
    wb_close(model);
    return status;
}

typedef struct held {
    unsigned char *bytes;
    size_t n;
} held;

static wb_status read_held(void *ctx, uint64_t offset, void *dst, size_t n, size_t *got)
{
    const held *file = ctx;
    size_t left = offset > file->n ? 0 : file->n - (size_t)offset;
    *got = left < n ? left : n;
    memcpy(dst, file->bytes + offset, *got);
    return WB_OK;
}

/* Opens the file of weights from a descriptor, from memory and from a source. */
static wb_status run_open_others(subject *s)
{
    wb_model *model;
    held file;
    if (s->file == NULL)
        return WB_OK;
    int fd = open(s->file, O_RDONLY);
    wb_status status = wb_open_fd(fd, s->file, &s->options, &model, &s->error);
    wb_close(model);
    close(fd);
    file.bytes = read_file(s->file, &file.n);
    wb_status second = wb_open_memory(file.bytes, file.n, s->file, &s->options, &model, NULL);
    wb_close(model);
    wb_source source = {.size = sizeof source, .ctx = &file, .bytes = file.n, .read = read_held};
    wb_status third = wb_open_source(&source, s->file, &s->options, &model, NULL);
    wb_close(model);
    free(file.bytes);
    return status != WB_OK ? status : second != WB_OK ? second : third;
}

static wb_status query_tensor(subject *s, const wb_model *model, uint64_t i)
{
    wb_tensor tensor = WB_TENSOR_INIT;
    wb_encoding encoding = WB_ENCODING_INIT;
    wb_part part = WB_PART_INIT;
    uint64_t index;
    wb_status status = wb_tensor_at(model, i, &tensor, &s->error);
    if (status == WB_OK)
        status = wb_tensor_encoding(model, i, &encoding, &s->error);
    if (status == WB_OK && encoding.parts > 0)
        status = wb_tensor_part(model, i, 0, &part, &s->error);
    if (status == WB_OK)
        status = wb_tensor_find(model, tensor.name, tensor.name_len, &index);
    if (status == WB_OK) {
        sum += (uint64_t)wb_tensor_has(model, tensor.name, tensor.name_len);
        sum += (uint64_t)wb_tensor_dtype(model, tensor.name, tensor.name_len);
        sum += wb_quant_bits(model, tensor.name, tensor.name_len);
        sum += wb_quant_group_size(model, tensor.name, tensor.name_len);
        sum += (uint64_t)wb_tensor_is_padding(&tensor);
    }
    return status;
}

static wb_status with_model(subject *s, wb_status (*query)(subject *s, const wb_model *model))
{
    wb_model *model;
    wb_status status = open_it(s, &model);
    if (status == WB_OK)
        status = query(s, model);
    wb_close(model);
    return status;
}

static wb_status query_tensors(subject *s, const wb_model *model)
{
    wb_status status = WB_OK;
    for (uint64_t i = 0; status == WB_OK && i < wb_tensor_count(model); i++)
        status = query_tensor(s, model, i);
    return status;
}

static wb_status run_tensors(subject *s)
{
    return with_model(s, query_tensors);
}

static wb_status query_names(subject *s, const wb_model *model)
{
    const char *bytes, *name;
    const uint64_t *offsets;
    size_t len;
    wb_status status = wb_tensor_names(model, WB_NAMES_NATIVE, &bytes, &offsets, &s->error);
    if (status == WB_OK && wb_tensor_count(model) > 0 &&
        wb_canonical_name(model, bytes, SIZE_MAX, &name, &len, NULL) == WB_OK)
        sum += len;
    if (status == WB_OK)
        status = wb_tensor_names(model, WB_NAMES_CANONICAL, &bytes, &offsets, &s->error);
    if (wb_native_name(model, "output_norm.weight", SIZE_MAX, &name, &len, NULL) == WB_OK)
        sum += len;
    return status;
}

static wb_status run_names(subject *s)
{
    return with_model(s, query_names);
}

static wb_status query_config(subject *s, const wb_model *model)
{
    wb_config config = WB_CONFIG_INIT;
    wb_config_value value = WB_CONFIG_VALUE_INIT;
    wb_status status = wb_config_get(model, &config, &s->error);
    for (uint32_t i = 0; status == WB_OK && i < WB_CONFIG_FIELDS; i++)
        status = wb_config_at(&config, i, &value);
    return status;
}

static wb_status run_config(subject *s)
{
    return with_model(s, query_config);
}

/* ---- metadata ---- */

static void query_array(const wb_model *model, const wb_meta *meta)
{
    wb_meta_array array = WB_META_ARRAY_INIT, inner = WB_META_ARRAY_INIT;
    const char *text;
    size_t len;
    int64_t number;
    uint64_t natural;
    double real;
    if (wb_meta_get_array(model, meta->key, meta->key_len, WB_META_ANY, &array, NULL) != WB_OK ||
        array.count == 0)
        return;
    uint64_t last = array.count - 1;
    if (wb_meta_string_at(&array, last, &text, &len) == WB_OK &&
        wb_meta_strings(&array, last, 1, &text, &len) == WB_OK)
        sum += len;
    if (wb_meta_ints(&array, last, 1, &number) == WB_OK ||
        wb_meta_uints(&array, last, 1, &natural) == WB_OK ||
        wb_meta_floats(&array, last, 1, &real) == WB_OK ||
        wb_meta_array_at(&array, last, &inner) == WB_OK)
        sum++;
}

static wb_status query_value(subject *s, const wb_model *model, uint64_t i)
{
    wb_meta meta = WB_META_INIT;
    const char *text;
    size_t len;
    int64_t number;
    uint64_t natural;
    double real;
    int flag;
    wb_status status = wb_meta_at(model, i, &meta, &s->error);
    if (status != WB_OK)
        return status;
    const char *key = meta.key;
    size_t n = meta.key_len;
    if (wb_meta_find(model, key, n, &natural) != WB_OK)
        return WB_ERROR_NOT_FOUND;
    if (meta.type == WB_META_ARRAY)
        query_array(model, &meta);
    else if (wb_meta_get_string(model, key, n, &text, &len, NULL) == WB_OK ||
             wb_meta_get_int(model, key, n, &number, NULL) == WB_OK ||
             wb_meta_get_uint(model, key, n, &natural, NULL) == WB_OK ||
             wb_meta_get_float(model, key, n, &real, NULL) == WB_OK ||
             wb_meta_get_bool(model, key, n, &flag, NULL) == WB_OK)
        sum++;
    return WB_OK;
}

static wb_status query_metadata(subject *s, const wb_model *model)
{
    uint64_t count = wb_meta_count(model);
    wb_status status = WB_OK;
    for (uint64_t i = 0; status == WB_OK && i < count; i++)
        status = query_value(s, model, i);
    sum += wb_meta_get_uint_or(model, "x", 1, 0) + (uint64_t)wb_meta_get_int_or(model, "x", 1, 0);
    sum += (uint64_t)wb_meta_get_float_or(model, "x", 1, 0);
    sum += (uint64_t)wb_meta_get_bool_or(model, "x", 1, 0);
    sum += strlen(wb_meta_get_string_or(model, "x", 1, ""));
    return status == WB_OK ? count_findings(wb_model_findings(model)) : status;
}

static wb_status run_metadata(subject *s)
{
    return with_model(s, query_metadata);
}

static wb_status run_verify(subject *s)
{
    wb_verify_options options = WB_VERIFY_OPTIONS_INIT;
    wb_findings *findings;
    wb_model *model;
    options.open = &s->options;
    options.flags = WB_VERIFY_DEEP;
    wb_status status = wb_verify(s->path, &options, &findings, &s->error);
    if (status == WB_OK)
        status = count_findings(findings);
    wb_findings_free(findings);
    if (status != WB_OK || open_it(s, &model) != WB_OK)
        return status;
    status = wb_verify_model(model, &options, &findings, &s->error);
    wb_findings_free(findings);
    wb_close(model);
    return status;
}

static int ignore_entry(void *ctx, const wb_store_entry *entry)
{
    (void)ctx;
    sum += entry->layers;
    return 0;
}

static wb_status run_store_list(subject *s)
{
    if (s->store == NULL)
        return WB_OK;
    return wb_store_list(s->store, &s->options, ignore_entry, NULL, &s->error);
}

const operation model_operations[] = {
    {"open", run_open, 0, 0},
    {"open a snapshot", run_snapshot, 0, 0},
    {"open fd, memory, source", run_open_others, 0, 0},
    {"tensors", run_tensors, 0, 0},
    {"names", run_names, 0, 0},
    {"config", run_config, 0, 0},
    {"metadata", run_metadata, 0, 0},
    {"verify", run_verify, 0, 0},
    {"list a store", run_store_list, 0, 0},
    {NULL, NULL, 0, 0},
};
