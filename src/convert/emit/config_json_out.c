/* Writes config.json. For a model directory, copies the members of the source's config.json
 * verbatim, except the quantization and the dtype. For a GGUF source, generates config.json from
 * the derived metadata whose keys are names of config.json members (arch/derive_meta.h). */
#include "convert/convert_messages.h"
#include "convert/emit/deliver.h"

static const char *const dtype_names[][2] = {
    {"F32", "float32"}, {"F16", "float16"}, {"BF16", "bfloat16"}};

/* ---- dtypes ---- */

static bool is_dtype_key(wb__str key)
{
    return wb__str_equal(key, WB__STR("torch_dtype")) || wb__str_equal(key, WB__STR("dtype"));
}

static const char *dtype_word(int32_t dtype)
{
    for (size_t i = 0; i < sizeof dtype_names / sizeof dtype_names[0]; i++) {
        if (strcmp(wb__dtype_get(dtype)->name, dtype_names[i][0]) == 0)
            return dtype_names[i][1];
    }
    return "float16";
}

/* ---- quantization ---- */

static void add_uint(wb__buffer *out, const char *key, uint64_t value)
{
    wb__buffer_text(out, "\"");
    wb__buffer_text(out, key);
    wb__buffer_text(out, "\": ");
    wb__buffer_uint(out, value);
}

static void add_form(wb__buffer *out, const wb__encoding_spec *spec)
{
    add_uint(out, "group_size", spec->group);
    wb__buffer_text(out, ", ");
    add_uint(out, "bits", spec->bits);
    wb__buffer_text(out, ", \"mode\": \"");
    wb__buffer_text(out, wb__scheme_name(spec->scheme));
    wb__buffer_text(out, "\"");
}

static bool same_packing(const wb__encoding_spec *a, const wb__encoding_spec *b)
{
    return a->scheme == b->scheme && a->bits == b->bits && a->group == b->group;
}

bool wb__emit_main_form(const wb_conversion *conversion, wb__encoding_spec *spec)
{
    wb__encoding_spec kinds[16];
    double elements[16] = {0};
    size_t n = 0, best = 0;
    for (size_t i = 0; i < conversion->tensors.count; i++) {
        const wb__planned_tensor *row = wb__planned_at(conversion, i);
        size_t k = 0;
        if (row->to.scheme == WB__SCHEME_PLAIN)
            continue;
        while (k < n && !same_packing(&kinds[k], &row->to))
            k++;
        if (k == 16)
            continue;
        if (k == n)
            kinds[n++] = row->to;
        elements[k] += (double)row->rows * (double)row->columns;
        best = elements[k] > elements[best] ? k : best;
    }
    if (n > 0)
        *spec = kinds[best];
    return n > 0;
}

static wb__str module_of(wb__str name)
{
    size_t end = sizeof ".weight" - 1;
    return (wb__str){name.ptr,
                     wb__str_ends_with(name, WB__STR(".weight")) ? name.len - end : name.len};
}

static void add_quantization(const wb_conversion *conversion, wb__buffer *out, const char *key,
                             const wb__encoding_spec *most)
{
    wb__emit_member(out, wb__str_from(key, SIZE_MAX));
    wb__buffer_text(out, "{");
    add_form(out, most);
    for (size_t i = 0; i < conversion->tensors.count; i++) {
        const wb__planned_tensor *row = wb__planned_at(conversion, i);
        if (row->to.scheme == WB__SCHEME_PLAIN || same_packing(&row->to, most))
            continue;
        wb__buffer_text(out, ",\n        ");
        wb__emit_json_text(out, module_of(row->name));
        wb__buffer_text(out, ": {");
        add_form(out, &row->to);
        if (row->keeps_global)
            wb__buffer_text(out, ", \"global_scale\": true");
        wb__buffer_text(out, "}");
    }
    wb__buffer_text(out, "}");
}

static void add_packing(const wb_conversion *conversion, wb__buffer *out)
{
    wb__encoding_spec most;
    if (!wb__emit_main_form(conversion, &most))
        return;
    add_quantization(conversion, out, "quantization", &most);
    add_quantization(conversion, out, "quantization_config", &most);
}

/* ---- from config.json ---- */

/* Returns true if the member is not copied, because the output has another value for this
 * member. */
static bool is_replaced(const wb_conversion *conversion, wb__str key)
{
    if (wb__str_equal(key, WB__STR("quantization")) ||
        wb__str_equal(key, WB__STR("quantization_config")))
        return true;
    return is_dtype_key(key) && conversion->quant.kind == WB__QUANT_FORM &&
           conversion->quant.spec.scheme == WB__SCHEME_PLAIN;
}

static wb_status copy_members(wb__emit_job *out, wb__buffer *to, const char *text, size_t n)
{
    wb__json json;
    wb__cursor cursor = wb__cursor_over(text, n);
    wb__json_start(&json, &cursor, &out->context->allocator);
    json.nonfinite = true;
    wb__buffer key = {.allocator = &out->context->allocator, .ceiling = n};
    bool sound = wb__json_next(&json) == WB__JSON_OBJECT;
    while (sound && wb__json_next(&json) == WB__JSON_KEY) {
        key.n = 0;
        wb__buffer_add(&key, json.text.ptr, json.text.len);
        wb__str name = {(const char *)key.bytes, key.n};
        bool kept = !is_replaced(out->conversion, name);
        sound = wb__json_next(&json) > WB__JSON_END;
        uint64_t begin = json.at;
        sound = sound && wb__json_skip(&json);
        uint64_t end = wb__cursor_at(&cursor);
        if (sound && kept)
            wb__emit_raw_member(to, name, (wb__str){text + begin, (size_t)(end - begin)});
    }
    sound = sound && json.token == WB__JSON_OBJECT_END;
    wb__json_stop(&json);
    to->out_of_memory |= key.out_of_memory;
    wb__buffer_free(&key);
    if (sound)
        return WB_OK;
    return wb__fail(out->context, WB_ERROR_FORMAT, WB__FINDING_CONFIG_JSON, WB_NO_OFFSET,
                    WB__STR("config.json"), WB__MSG_CONVERT_CONFIG_JSON_INVALID);
}

static wb_status from_config(wb__emit_job *out, wb__buffer *to)
{
    char *text;
    size_t n;
    wb_status status =
        wb__sidecar_text(out->conversion->model, out->context, "config.json", &text, &n);
    if (status != WB_OK || text == NULL)
        return status;
    wb__buffer_text(to, "{");
    status = copy_members(out, to, text, n);
    wb__free(&out->context->allocator, text, n + 1);
    wb__emit_mlx_members(out->conversion, to);
    const wb__quant *quant = &out->conversion->quant;
    if (quant->kind == WB__QUANT_FORM && quant->spec.scheme == WB__SCHEME_PLAIN) {
        wb__emit_member(to, WB__STR("torch_dtype"));
        wb__emit_json_text(to, wb__str_from(dtype_word(quant->spec.dtype), SIZE_MAX));
    }
    add_packing(out->conversion, to);
    wb__buffer_text(to, "\n}\n");
    return status;
}

/* ---- from GGUF key-values ---- */

static void add_architecture(const wb_conversion *conversion, wb__buffer *to)
{
    wb__str class = wb__family_class(conversion->semantics->family);
    wb__str type = wb__family_type(conversion->semantics->family);
    if (class.len > 0) {
        wb__emit_member(to, WB__STR("architectures"));
        wb__buffer_text(to, "[\n        ");
        wb__emit_json_text(to, class);
        wb__buffer_text(to, "\n    ]");
    }
    if (type.len > 0) {
        wb__emit_member(to, WB__STR("model_type"));
        wb__emit_json_text(to, type);
    }
}

/* Returns true for keys that config.json must not contain, because another file contains them or
 * because config.json has another member for them. */
static bool is_elsewhere(wb__str key)
{
    static const char *const keys[] = {
        "model_type",       "torch_dtype", "chat_template", "add_bos_token",   "add_eos_token",
        "add_prefix_space", "bos_token",   "eos_token",     "unk_token",       "sep_token",
        "pad_token",        "cls_token",   "mask_token",    "tokenizer_class",
    };
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (wb__str_equal(key, wb__str_from(keys[i], SIZE_MAX)))
            return true;
    }
    return memchr(key.ptr, '.', key.len) != NULL;
}

static bool add_scalar(const wb_conversion *conversion, wb__buffer *to, const wb_meta *meta,
                       wb__str key)
{
    wb__json_writer writer = wb__emit_json(to);
    const char *text;
    size_t n;
    int64_t number;
    uint64_t count;
    double real;
    int flag;
    switch (meta->type) {
    case WB_META_STRING:
        if (wb_meta_get_string(conversion->model, meta->key, meta->key_len, &text, &n, NULL) !=
            WB_OK)
            return false;
        wb__emit_member(to, key);
        wb__json_write_str(&writer, (wb__str){text, n});
        return true;
    case WB_META_UINT:
        if (wb_meta_get_uint(conversion->model, meta->key, meta->key_len, &count, NULL) != WB_OK)
            return false;
        wb__emit_member(to, key);
        wb__json_write_uint(&writer, count);
        return true;
    case WB_META_INT:
        if (wb_meta_get_int(conversion->model, meta->key, meta->key_len, &number, NULL) != WB_OK)
            return false;
        wb__emit_member(to, key);
        wb__json_write_int(&writer, number);
        return true;
    case WB_META_FLOAT:
        if (wb_meta_get_float(conversion->model, meta->key, meta->key_len, &real, NULL) != WB_OK)
            return false;
        wb__emit_member(to, key);
        wb__json_write_real(&writer, real);
        return true;
    case WB_META_BOOL:
        if (wb_meta_get_bool(conversion->model, meta->key, meta->key_len, &flag, NULL) != WB_OK)
            return false;
        wb__emit_member(to, key);
        wb__json_write_bool(&writer, flag != 0);
        return true;
    default: return false;
    }
}

/* Adds an object member NAME with all metadata keys that begin with "NAME.". */
static void add_object(const wb_conversion *conversion, wb__buffer *to, wb__str name)
{
    wb__buffer inner = {.allocator = to->allocator, .ceiling = to->ceiling};
    size_t n = name.len;
    for (uint64_t i = 0; i < wb_meta_count(conversion->model); i++) {
        wb_meta meta = {.size = sizeof meta};
        if (wb_meta_at(conversion->model, i, &meta, NULL) != WB_OK || meta.file != WB_NO_FILE ||
            meta.key_len <= n + 1 || memcmp(meta.key, name.ptr, n) != 0 || meta.key[n] != '.')
            continue;
        if (inner.n == 0)
            wb__buffer_text(&inner, "{");
        (void)add_scalar(conversion, &inner, &meta,
                         (wb__str){meta.key + n + 1, meta.key_len - n - 1});
    }
    if (inner.n > 0) {
        wb__buffer_text(&inner, "\n    }");
        wb__emit_raw_member(to, name, (wb__str){(const char *)inner.bytes, inner.n});
    }
    to->out_of_memory |= inner.out_of_memory;
    wb__buffer_free(&inner);
}

/* Returns the part of the key before the first dot if the key belongs to an object of config.json,
 * otherwise an empty string. */
static wb__str object_of(const wb_meta *meta)
{
    const char *dot = meta->file != WB_NO_FILE ? NULL : memchr(meta->key, '.', meta->key_len);
    return (wb__str){meta->key, dot == NULL ? 0 : (size_t)(dot - meta->key)};
}

/* Adds the objects for all keys that contain a dot, except rope_scaling. */
static void add_objects(const wb_conversion *conversion, wb__buffer *to)
{
    wb__str last = WB__STR("rope_scaling");
    for (uint64_t i = 0; i < wb_meta_count(conversion->model); i++) {
        wb_meta meta = {.size = sizeof meta};
        if (wb_meta_at(conversion->model, i, &meta, NULL) != WB_OK)
            return;
        /* Keys of an object follow one another, in the order of the rows of the family. */
        wb__str object = object_of(&meta);
        if (object.len == 0 || wb__str_equal(object, last) ||
            wb__str_equal(object, WB__STR("rope_scaling")))
            continue;
        add_object(conversion, to, object);
        last = object;
    }
}

static wb_status from_keys(wb__emit_job *out, wb__buffer *to)
{
    const wb_conversion *conversion = out->conversion;
    wb_status derived = wb__emit_all_keys(out->context, conversion->model);
    if (derived != WB_OK)
        return derived;
    wb__buffer_text(to, "{");
    add_architecture(conversion, to);
    for (uint64_t i = 0; i < wb_meta_count(conversion->model); i++) {
        wb_meta meta = {.size = sizeof meta};
        wb_status status = wb_meta_at(conversion->model, i, &meta, out->context->error);
        if (status != WB_OK)
            return status;
        if (meta.file == WB_NO_FILE && !is_elsewhere((wb__str){meta.key, meta.key_len}))
            (void)add_scalar(conversion, to, &meta, (wb__str){meta.key, meta.key_len});
    }
    wb__emit_family_members(conversion, to);
    bool said;
    wb_status read = wb__emit_rope(out, to, &said);
    if (read != WB_OK)
        return read;
    if (!said)
        add_object(conversion, to, WB__STR("rope_scaling"));
    add_objects(conversion, to);
    wb__emit_member(to, WB__STR("torch_dtype"));
    wb__emit_json_text(
        to, wb__str_from(dtype_word(conversion->quant.kind == WB__QUANT_FORM &&
                                            conversion->quant.spec.scheme == WB__SCHEME_PLAIN
                                        ? conversion->quant.spec.dtype
                                        : conversion->common),
                         SIZE_MAX));
    add_packing(conversion, to);
    wb__buffer_text(to, "\n}\n");
    return WB_OK;
}

wb_status wb__emit_config(wb__emit_job *out, wb__buffer *to)
{
    const wb__semantics *semantics = out->conversion->semantics;
    if (!semantics->by_key)
        return from_config(out, to);
    return semantics->is_family ? from_keys(out, to) : WB_OK;
}
