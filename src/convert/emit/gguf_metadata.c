/* Writes the key-values of a GGUF file. Key-values of a GGUF source are copied unchanged. For a
 * model directory, the derived metadata with GGUF keys (arch/derive_meta.h) are written, except
 * keys that llama.cpp would misinterpret. */
#include <math.h>
#include <stdio.h>

#include "convert/emit/deliver.h"
#include "handle/derived_meta.h"

static wb__str architecture_of(const wb_conversion *conversion)
{
    return wb__str_from(conversion->semantics->config.architecture, SIZE_MAX);
}

/* Returns true if `key` is the name of the architecture followed by a dot and `rest`. */
static bool is_own(const wb_conversion *conversion, wb__str key, const char *rest)
{
    wb__str prefix = architecture_of(conversion);
    size_t n = strlen(rest);
    return key.len == prefix.len + 1 + n && memcmp(key.ptr, prefix.ptr, prefix.len) == 0 &&
           key.ptr[prefix.len] == '.' && memcmp(key.ptr + prefix.len + 1, rest, n) == 0;
}

wb_status wb__emit_all_keys(wb__context *context, const wb_model *model)
{
    const wb__derived_meta *derived;
    return wb__derived_meta_of(model, context, &derived);
}

/* ---- setting key-values ---- */

static wb_status set(wb__emit_job *out, const char *key, const wb_value *value)
{
    return wb_writer_set(out->writer, key, SIZE_MAX, value, out->context->error);
}

static wb_status set_uint(wb__emit_job *out, const char *key, uint64_t number)
{
    const wb_value value = {
        .size = sizeof value, .type = WB_META_UINT, .bits = 32, .number = number};
    return set(out, key, &value);
}

static wb_status set_float(wb__emit_job *out, const char *key, double real)
{
    const wb_value value = {.size = sizeof value, .type = WB_META_FLOAT, .bits = 32, .real = real};
    return set(out, key, &value);
}

/* ---- from GGUF ---- */

static wb_status copy_all(wb__emit_job *out)
{
    const wb_conversion *conversion = out->conversion;
    wb_status status = WB_OK;
    for (uint64_t i = 0; i < wb_meta_count(conversion->model) && status == WB_OK; i++) {
        wb_meta meta = {.size = sizeof meta};
        status = wb_meta_at(conversion->model, i, &meta, out->context->error);
        wb__str key = {meta.key, meta.key_len};
        if (status == WB_OK && meta.file != WB_NO_FILE &&
            !wb__str_starts_with(key, WB__STR("split.")))
            status = wb_writer_copy_meta(out->writer, conversion->model, i, out->context->error);
    }
    if (status == WB_OK && conversion->quant.kind != WB__QUANT_NONE)
        status = set_uint(out, "general.quantization_version", 2);
    return status == WB_OK && conversion->quant.kind != WB__QUANT_NONE
               ? set_uint(out, "general.file_type", conversion->file_type)
               : status;
}

/* ---- from config.json and other sidecar files ---- */

/* Returns true for keys that llama.cpp would misinterpret: keys of a RoPE scaling that llama.cpp
 * does not support. */
static bool is_misleading(const wb_conversion *conversion, wb__str key)
{
    static const wb__str scaling = {".rope.scaling.", 14};
    wb__str prefix = architecture_of(conversion);
    if (key.len > prefix.len && wb__str_starts_with(key, prefix)) {
        wb__str rest = {key.ptr + prefix.len, key.len - prefix.len};
        if (wb__str_starts_with(rest, scaling))
            return !wb__plan_rope_keeps(conversion,
                                        (wb__str){rest.ptr + scaling.len, rest.len - scaling.len});
    }
    return wb__str_equal(key, WB__STR("general.file_type"));
}

static bool is_key_of_gguf(const wb_conversion *conversion, wb__str key)
{
    wb__str prefix = architecture_of(conversion);
    return wb__str_starts_with(key, WB__STR("general.")) ||
           wb__str_starts_with(key, WB__STR("tokenizer.")) ||
           (key.len > prefix.len && wb__str_starts_with(key, prefix) && key.ptr[prefix.len] == '.');
}

/* Copies metadata entry `index` of the model to the output, under the same key. Writes
 * floating-point values with 32 bits. Other numbers keep their width. */
static wb_status tell(wb__emit_job *out, uint64_t index, const wb_meta *meta)
{
    double real;
    if (meta->type != WB_META_FLOAT)
        return wb_writer_copy_meta(out->writer, out->conversion->model, index, out->context->error);
    wb_status status = wb_meta_get_float(out->conversion->model, meta->key, meta->key_len, &real,
                                         out->context->error);
    return status == WB_OK ? set_float(out, meta->key, real) : status;
}

/* Returns true if the vocabulary contains the tokens that llama.cpp requires of a model whose name
 * contains Phi 3. Phi 4 has the same architecture but not these tokens. */
static bool has_tokens_of_phi3(const wb_conversion *conversion)
{
    static const char *const wanted[] = {"</s>", "<unk>", "<s>", "<|endoftext|>"};
    wb_meta_array tokens = {.size = sizeof tokens};
    const char *texts[64], *kind;
    size_t lens[64], n_kind, found = 0;
    if (wb_meta_get_string(conversion->model, "tokenizer.ggml.model", SIZE_MAX, &kind, &n_kind,
                           NULL) != WB_OK ||
        strcmp(kind, "llama") != 0 ||
        wb_meta_get_array(conversion->model, "tokenizer.ggml.tokens", SIZE_MAX, WB_META_STRING,
                          &tokens, NULL) != WB_OK)
        return false;
    for (uint64_t i = 0; i < tokens.count; i += 64) {
        uint64_t n = tokens.count - i < 64 ? tokens.count - i : 64;
        if (wb_meta_strings(&tokens, i, n, texts, lens) != WB_OK)
            return false;
        for (uint64_t k = 0; k < n * 4; k++) {
            wb__str text = {texts[k / 4], lens[k / 4]};
            found |= (size_t)wb__str_equal(text, wb__str_from(wanted[k % 4], SIZE_MAX)) << k % 4;
        }
    }
    return found == 15;
}

/*
 * Sets general.name. A model of architecture phi3 whose vocabulary has the tokens of Phi 3 is named
 * "Phi-3". Other models get the name of their directory, unless it contains "phi3" or "phi-",
 * because llama.cpp loads a model with such a name only if the vocabulary has the tokens of Phi 3.
 */
static wb_status set_name(wb__emit_job *out)
{
    char name[128];
    const wb_conversion *conversion = out->conversion;
    const char *folder = conversion->model->folder;
    if (wb__family_hint(conversion->semantics->family, "phi") && has_tokens_of_phi3(conversion))
        return wb_writer_set_string(out->writer, "general.name", SIZE_MAX, "Phi-3", SIZE_MAX,
                                    out->context->error);
    if (folder == NULL)
        return WB_OK;
    size_t end = strlen(folder);
    while (end > 0 && folder[end - 1] == '/')
        end--;
    size_t begin = end;
    while (begin > 0 && folder[begin - 1] != '/')
        begin--;
    if (end - begin >= sizeof name || begin == end || folder[begin] == '.')
        return WB_OK;
    for (size_t i = begin; i < end; i++) {
        name[i - begin] = folder[i];
        if ((folder[i] | 0x20) == 'p' && end - i >= 4 && (folder[i + 1] | 0x20) == 'h' &&
            (folder[i + 2] | 0x20) == 'i' && (folder[i + 3] == '3' || folder[i + 3] == '-'))
            return WB_OK;
    }
    if (wb__utf8_valid_prefix((const unsigned char *)name, end - begin) != end - begin)
        return WB_OK;
    return wb_writer_set_string(out->writer, "general.name", SIZE_MAX, name, end - begin,
                                out->context->error);
}

/* Writes a value under its GGUF key. The value of rope.scaling.type is translated from the name
 * of the method in config.json to its name in GGUF. */
static wb_status tell_word(wb__emit_job *out, uint64_t index, const wb_meta *meta)
{
    bool is_type =
        is_own(out->conversion, (wb__str){meta->key, meta->key_len}, "rope.scaling.type");
    return is_type ? wb_writer_set_string(out->writer, meta->key, meta->key_len,
                                          wb__plan_rope_word(out->conversion), SIZE_MAX,
                                          out->context->error)
                   : tell(out, index, meta);
}

/* Sets the attention factor of Phi 3 for long contexts, which depends on the ratio of the
 * maximum context length to the original context length. */
static wb_status set_longrope(wb__emit_job *out)
{
    const wb_conversion *conversion = out->conversion;
    const wb_config *config = &conversion->semantics->config;
    char key[96];
    double original;
    (void)snprintf(key, sizeof key, "%s.rope.scaling.original_context_length",
                   config->architecture);
    if (wb_meta_get_float(conversion->model, key, SIZE_MAX, &original, NULL) != WB_OK ||
        original <= 1)
        return WB_OK;
    double rope_scaling = (double)config->max_seq_len / original;
    double factor = rope_scaling > 1 ? sqrt(1 + log(rope_scaling) / log(original)) : 1;
    (void)snprintf(key, sizeof key, "%s.rope.scaling.attn_factor", config->architecture);
    return set_float(out, key, factor);
}

static wb_status tell_all(wb__emit_job *out)
{
    const wb_conversion *conversion = out->conversion;
    wb_status status = wb_writer_set_string(out->writer, "general.architecture", SIZE_MAX,
                                            conversion->semantics->config.architecture, SIZE_MAX,
                                            out->context->error);
    if (status == WB_OK)
        status = set_name(out);
    for (uint64_t i = 0; i < wb_meta_count(conversion->model) && status == WB_OK; i++) {
        wb_meta meta = {.size = sizeof meta};
        status = wb_meta_at(conversion->model, i, &meta, out->context->error);
        wb__str key = {meta.key, meta.key_len};
        if (status == WB_OK && meta.file == WB_NO_FILE && is_key_of_gguf(conversion, key) &&
            !is_misleading(conversion, key))
            status = tell_word(out, i, &meta);
    }
    const char *way = wb__plan_rope_word(conversion);
    if (status == WB_OK && way != NULL && strcmp(way, "longrope") == 0)
        status = set_longrope(out);
    return status == WB_OK ? set_uint(out, "general.file_type", conversion->file_type) : status;
}

wb_status wb__emit_keys(wb__emit_job *out)
{
    const wb__semantics *semantics = out->conversion->semantics;
    wb_status derived = wb__emit_all_keys(out->context, out->conversion->model);
    if (derived != WB_OK)
        return derived;
    if (semantics->by_key)
        return copy_all(out);
    if (semantics->config.architecture == NULL || !semantics->is_family)
        return wb_writer_set_string(
            out->writer, "general.architecture", SIZE_MAX,
            semantics->config.architecture == NULL ? "unknown" : semantics->config.architecture,
            SIZE_MAX, out->context->error);
    return tell_all(out);
}
