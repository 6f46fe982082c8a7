/*
 * config.json of a folder that is made. Of a folder it is the one that is there, letter for letter but
 * for what changes: how tensors are packed, and of what dtype they are. Of a GGUF file it is made of
 * what the one view of metadata says under the names of config.json.
 */
#include "convert/emit/deliver.h"

static const char *const dtype_names[][2] = {
    {"F32", "float32"}, {"F16", "float16"}, {"BF16", "bfloat16"}};

/* ---- members, a line each ---- */

void wb__deliver_member(wb__buffer *out, wb__str key)
{
    wb__buffer_text(out, out->n <= 1 ? "\n    " : ",\n    ");
    wb__deliver_json_text(out, key);
    wb__buffer_text(out, ": ");
}

static void add_raw(wb__buffer *out, wb__str key, wb__str raw)
{
    wb__deliver_member(out, key);
    wb__buffer_add(out, raw.ptr, raw.len);
}

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

/* ---- how tensors are packed ---- */

static void add_uint(wb__buffer *out, const char *key, uint64_t value)
{
    wb__buffer_text(out, "\"");
    wb__buffer_text(out, key);
    wb__buffer_text(out, "\": ");
    wb__buffer_uint(out, value);
}

static void add_form(wb__buffer *out, const wb__form *form)
{
    add_uint(out, "group_size", form->group);
    wb__buffer_text(out, ", ");
    add_uint(out, "bits", form->bits);
    wb__buffer_text(out, ", \"mode\": \"");
    wb__buffer_text(out, wb__scheme_name(form->scheme));
    wb__buffer_text(out, "\"");
}

static bool same_packing(const wb__form *a, const wb__form *b)
{
    return a->scheme == b->scheme && a->bits == b->bits && a->group == b->group;
}

bool wb__deliver_main_form(const wb_conversion *plan, wb__form *form)
{
    wb__form kinds[16];
    double elements[16] = {0};
    size_t n = 0, best = 0;
    for (size_t i = 0; i < plan->tensors.count; i++) {
        const wb__planned *row = wb__planned_at(plan, i);
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
        *form = kinds[best];
    return n > 0;
}

static wb__str module_of(wb__str name)
{
    size_t end = sizeof ".weight" - 1;
    return (wb__str){name.ptr,
                     wb__str_ends_with(name, WB__STR(".weight")) ? name.len - end : name.len};
}

static void add_quantization(const wb_conversion *plan, wb__buffer *out, const char *key,
                             const wb__form *most)
{
    wb__deliver_member(out, wb__str_from(key, SIZE_MAX));
    wb__buffer_text(out, "{");
    add_form(out, most);
    for (size_t i = 0; i < plan->tensors.count; i++) {
        const wb__planned *row = wb__planned_at(plan, i);
        if (row->to.scheme == WB__SCHEME_PLAIN || same_packing(&row->to, most))
            continue;
        wb__buffer_text(out, ",\n        ");
        wb__deliver_json_text(out, module_of(row->name));
        wb__buffer_text(out, ": {");
        add_form(out, &row->to);
        if (row->keeps_global)
            wb__buffer_text(out, ", \"global_scale\": true");
        wb__buffer_text(out, "}");
    }
    wb__buffer_text(out, "}");
}

static void add_packing(const wb_conversion *plan, wb__buffer *out)
{
    wb__form most;
    if (!wb__deliver_main_form(plan, &most))
        return;
    add_quantization(plan, out, "quantization", &most);
    add_quantization(plan, out, "quantization_config", &most);
}

/* ---- from config.json ---- */

/* What the plan says anew. */
static bool is_replaced(const wb_conversion *plan, wb__str key)
{
    if (wb__str_equal(key, WB__STR("quantization")) ||
        wb__str_equal(key, WB__STR("quantization_config")))
        return true;
    return is_dtype_key(key) && plan->quant.kind == WB__QUANT_FORM &&
           plan->quant.form.scheme == WB__SCHEME_PLAIN;
}

static wb_status copy_members(wb__delivery *out, wb__buffer *to, const char *text, size_t n)
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
        bool kept = !is_replaced(out->plan, name);
        sound = wb__json_next(&json) > WB__JSON_END;
        uint64_t begin = json.at;
        sound = sound && wb__json_skip(&json);
        uint64_t end = wb__cursor_at(&cursor);
        if (sound && kept)
            add_raw(to, name, (wb__str){text + begin, (size_t)(end - begin)});
    }
    sound = sound && json.token == WB__JSON_OBJECT_END;
    wb__json_stop(&json);
    to->out_of_memory |= key.out_of_memory;
    wb__buffer_free(&key);
    if (sound)
        return WB_OK;
    return wb__fail(out->context, WB_ERROR_FORMAT, WB__FINDING_CONFIG_JSON, WB_NO_OFFSET,
                    WB__STR("config.json"), "config.json is damaged");
}

static wb_status from_config(wb__delivery *out, wb__buffer *to)
{
    char *text;
    size_t n;
    wb_status status = wb__beside_text(out->plan->model, out->context, "config.json", &text, &n);
    if (status != WB_OK || text == NULL)
        return status;
    wb__buffer_text(to, "{");
    status = copy_members(out, to, text, n);
    wb__free(&out->context->allocator, text, n + 1);
    const wb__quant *quant = &out->plan->quant;
    if (quant->kind == WB__QUANT_FORM && quant->form.scheme == WB__SCHEME_PLAIN) {
        wb__deliver_member(to, WB__STR("torch_dtype"));
        wb__deliver_json_text(to, wb__str_from(dtype_word(quant->form.dtype), SIZE_MAX));
    }
    add_packing(out->plan, to);
    wb__buffer_text(to, "\n}\n");
    return status;
}

/* ---- from key-values ---- */

static const struct {
    const char *model_type;
    const char *name;
} architectures[] = {
    {"llama", "LlamaForCausalLM"},        {"mistral", "MistralForCausalLM"},
    {"mixtral", "MixtralForCausalLM"},    {"qwen2", "Qwen2ForCausalLM"},
    {"qwen2_moe", "Qwen2MoeForCausalLM"}, {"qwen3", "Qwen3ForCausalLM"},
    {"qwen3_moe", "Qwen3MoeForCausalLM"}, {"gemma", "GemmaForCausalLM"},
    {"gemma2", "Gemma2ForCausalLM"},      {"gemma3_text", "Gemma3ForCausalLM"},
    {"phi3", "Phi3ForCausalLM"},          {"bert", "BertModel"},
};

/* GGUF knows Mixtral as a llama with experts. */
static wb__str model_type_of(const wb_conversion *plan)
{
    wb__str first = {"", 0};
    const char *rest = plan->insight->family->model_types;
    if (rest != NULL)
        (void)wb__spelling_next(&rest, &first);
    return wb__str_equal(first, WB__STR("llama")) && plan->insight->config.n_experts > 0
               ? WB__STR("mixtral")
               : first;
}

static void add_architecture(const wb_conversion *plan, wb__buffer *to)
{
    wb__str type = model_type_of(plan);
    for (size_t i = 0; i < sizeof architectures / sizeof architectures[0]; i++) {
        if (!wb__str_equal(type, wb__str_from(architectures[i].model_type, SIZE_MAX)))
            continue;
        wb__deliver_member(to, WB__STR("architectures"));
        wb__buffer_text(to, "[\n        ");
        wb__deliver_json_text(to, wb__str_from(architectures[i].name, SIZE_MAX));
        wb__buffer_text(to, "\n    ]");
    }
    if (type.len > 0) {
        wb__deliver_member(to, WB__STR("model_type"));
        wb__deliver_json_text(to, type);
    }
}

/* Keys that belong into other files, or that are said here in another way. */
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

static bool add_scalar(const wb_conversion *plan, wb__buffer *to, const wb_meta *meta, wb__str key)
{
    wb__json_writer writer = wb__deliver_json(to);
    const char *text;
    size_t n;
    int64_t number;
    uint64_t count;
    double real;
    int flag;
    switch (meta->type) {
    case WB_META_STRING:
        if (wb_meta_get_string(plan->model, meta->key, meta->key_len, &text, &n, NULL) != WB_OK)
            return false;
        wb__deliver_member(to, key);
        wb__json_write_str(&writer, (wb__str){text, n});
        return true;
    case WB_META_UINT:
        if (wb_meta_get_uint(plan->model, meta->key, meta->key_len, &count, NULL) != WB_OK)
            return false;
        wb__deliver_member(to, key);
        wb__json_write_uint(&writer, count);
        return true;
    case WB_META_INT:
        if (wb_meta_get_int(plan->model, meta->key, meta->key_len, &number, NULL) != WB_OK)
            return false;
        wb__deliver_member(to, key);
        wb__json_write_int(&writer, number);
        return true;
    case WB_META_FLOAT:
        if (wb_meta_get_float(plan->model, meta->key, meta->key_len, &real, NULL) != WB_OK)
            return false;
        wb__deliver_member(to, key);
        wb__json_write_double(&writer, real);
        return true;
    case WB_META_BOOL:
        if (wb_meta_get_bool(plan->model, meta->key, meta->key_len, &flag, NULL) != WB_OK)
            return false;
        wb__deliver_member(to, key);
        wb__json_write_bool(&writer, flag != 0);
        return true;
    default: return false;
    }
}

/* Members of an object: keys that begin with its name and a dot. */
static void add_object(const wb_conversion *plan, wb__buffer *to, const char *name)
{
    wb__buffer inner = {.allocator = to->allocator, .ceiling = to->ceiling};
    size_t n = strlen(name);
    for (uint64_t i = 0; i < wb_meta_count(plan->model); i++) {
        wb_meta meta = {.size = sizeof meta};
        if (wb_meta_at(plan->model, i, &meta, NULL) != WB_OK || meta.file != WB_NO_FILE ||
            meta.key_len <= n + 1 || memcmp(meta.key, name, n) != 0 || meta.key[n] != '.')
            continue;
        if (inner.n == 0)
            wb__buffer_text(&inner, "{");
        (void)add_scalar(plan, &inner, &meta, (wb__str){meta.key + n + 1, meta.key_len - n - 1});
    }
    if (inner.n > 0) {
        wb__buffer_text(&inner, "\n    }");
        add_raw(to, wb__str_from(name, SIZE_MAX), (wb__str){(const char *)inner.bytes, inner.n});
    }
    to->out_of_memory |= inner.out_of_memory;
    wb__buffer_free(&inner);
}

/* What llama.cpp takes for granted of an architecture, and others have to be told, or they do otherwise. */
static void add_granted(const wb_conversion *plan, wb__buffer *to)
{
    wb__granted_add(plan, to);
    double scalar = wb__plan_query_scalar(plan);
    if (scalar > 0) {
        wb__json_writer writer = wb__deliver_json(to);
        wb__deliver_member(to, WB__STR("query_pre_attn_scalar"));
        wb__json_write_double(&writer, scalar);
    }
}

static wb_status from_keys(wb__delivery *out, wb__buffer *to)
{
    const wb_conversion *plan = out->plan;
    wb__deliver_all_keys(plan->model);
    wb__buffer_text(to, "{");
    add_architecture(plan, to);
    for (uint64_t i = 0; i < wb_meta_count(plan->model); i++) {
        wb_meta meta = {.size = sizeof meta};
        wb_status status = wb_meta_at(plan->model, i, &meta, out->context->error);
        if (status != WB_OK)
            return status;
        if (meta.file == WB_NO_FILE && !is_elsewhere((wb__str){meta.key, meta.key_len}))
            (void)add_scalar(plan, to, &meta, (wb__str){meta.key, meta.key_len});
    }
    add_granted(plan, to);
    bool said;
    wb_status read = wb__deliver_rope(out, to, &said);
    if (read != WB_OK)
        return read;
    if (!said)
        add_object(plan, to, "rope_scaling");
    wb__deliver_member(to, WB__STR("torch_dtype"));
    wb__deliver_json_text(
        to, wb__str_from(dtype_word(plan->quant.kind == WB__QUANT_FORM &&
                                            plan->quant.form.scheme == WB__SCHEME_PLAIN
                                        ? plan->quant.form.dtype
                                        : plan->common),
                         SIZE_MAX));
    add_packing(plan, to);
    wb__buffer_text(to, "\n}\n");
    return WB_OK;
}

wb_status wb__deliver_config(wb__delivery *out, wb__buffer *to)
{
    const wb__insight *insight = out->plan->insight;
    if (!insight->by_key)
        return from_config(out, to);
    return insight->is_family ? from_keys(out, to) : WB_OK;
}
