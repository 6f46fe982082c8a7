/*
 * Derives the config under the keys of the other format: GGUF keys for a model with config.json,
 * config.json keys for a GGUF model. Most of the keys are rows of the family tables.
 */
#include <math.h>
#include <stdio.h>

#include "arch/derive_meta.h"
#include "arch/family_scope.h"
#include "weighbridge/dtypes.h"

/*
 * Ids of special tokens and other tokenizer settings: the GGUF key, and the name in config.json or
 * tokenizer_config.json.
 */
static const struct {
    const char *key;
    const char *path;
} ids[] = {
    {"tokenizer.ggml.bos_token_id", "bos_token_id"},
    {"tokenizer.ggml.eos_token_id", "eos_token_id"},
    {"tokenizer.ggml.unknown_token_id", "unk_token_id"},
    {"tokenizer.ggml.seperator_token_id", "sep_token_id"},
    {"tokenizer.ggml.padding_token_id", "pad_token_id"},
    {"tokenizer.ggml.cls_token_id", "cls_token_id"},
    {"tokenizer.ggml.mask_token_id", "mask_token_id"},
    {"tokenizer.ggml.token_type_count", "type_vocab_size"},
    {"tokenizer.ggml.add_bos_token", "add_bos_token"},
    {"tokenizer.ggml.add_eos_token", "add_eos_token"},
    {"tokenizer.ggml.add_space_prefix", "add_prefix_space"},
    {"tokenizer.chat_template", "chat_template"},
};

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* ---- values with a type ---- */

/*
 * Converts a value to the type of a key. Conversion is necessary because JSON does not distinguish
 * 8 and 8.0, and llama.cpp rejects a key whose value has the wrong type. Returns false if the value
 * cannot be converted.
 */
static bool convert(uint8_t type, wb__fact *fact)
{
    bool is_whole = fact->type == WB__FACT_UINT || fact->type == WB__FACT_INT;
    switch (type) {
    case WB__KEY_F32:
        if (is_whole)
            fact->type = WB__FACT_REAL;
        return fact->type == WB__FACT_REAL;
    case WB__KEY_U32:
        if (fact->type == WB__FACT_REAL && fact->real >= 0 && fact->real <= UINT32_MAX &&
            fact->real == floor(fact->real)) {
            fact->type = WB__FACT_UINT;
            fact->number = (uint64_t)fact->real;
        }
        return fact->type == WB__FACT_UINT;
    case WB__KEY_BOOL: return fact->type == WB__FACT_BOOL;
    case WB__KEY_STR: return fact->type == WB__FACT_TEXT;
    default: return true;
    }
}

/* ---- lists with one element per layer ---- */

static uint8_t element_of(uint8_t list)
{
    return list == WB__KEY_U32_LIST   ? WB__KEY_U32
           : list == WB__KEY_F32_LIST ? WB__KEY_F32
                                      : WB__KEY_BOOL;
}

/* Writes an element to `to` in little-endian order, as wb__derive_numbers requires. */
static void store(uint8_t type, const wb__fact *fact, uint8_t *to)
{
    float narrow = (float)fact->real;
    uint32_t bits = (uint32_t)fact->number;
    if (type == WB__KEY_F32)
        memcpy(&bits, &narrow, sizeof bits);
    if (type == WB__KEY_BOOL)
        *to = fact->number != 0;
    else
        wb__store_le32(to, bits);
}

/* Derives a list. If an element has no value, the list is not derived. */
static void tell_list(wb__deriver *teller, const char *key, const wb__key_row *row,
                      const wb__scope *names)
{
    uint64_t layers = teller->config->n_layers + teller->config->nextn_predict_layers;
    uint64_t n = row->count != 0 ? row->count : layers;
    uint8_t type = element_of(row->type);
    size_t size = type == WB__KEY_BOOL ? 1 : 4;
    wb__scope at = *names;
    if (n == 0 || n > WB__EXPR_LAYERS)
        return;
    uint8_t *bytes = wb__arena_alloc(&teller->into->arena, (size_t)n * size);
    if (bytes == NULL) {
        teller->status = wb__fail_memory(teller->context);
        return;
    }
    for (at.index = 0; at.index < n; at.index++) {
        wb__fact fact = wb__expr_eval(row->expr, &at);
        if (!convert(type, &fact))
            return;
        store(type, &fact, bytes + at.index * size);
    }
    wb__derive_numbers(teller, key, bytes, n,
                       type == WB__KEY_U32   ? WB_META_UINT
                       : type == WB__KEY_F32 ? WB_META_FLOAT
                                             : WB_META_BOOL,
                       (uint8_t)(size * 8));
}

/* ---- the rows of the family ---- */

static wb__family_scope scope_of(const wb__deriver *teller)
{
    return (wb__family_scope){.family =
                                  teller->family == NULL ? &wb__family_unknown : teller->family,
                              .facts = teller->facts,
                              .config = teller->config,
                              .names = teller->names,
                              .prefix = wb__str_from(teller->config->architecture, SIZE_MAX),
                              .by_key = teller->by_key};
}

static void tell_row(void *ctx, const wb__key_row *row)
{
    wb__deriver *teller = ctx;
    char key[160];
    bool is_json = row->place == WB__KEYS_JSON;
    wb__family_scope scope = scope_of(teller);
    const wb__scope names = wb__family_names(&scope);
    if (row->type == WB__KEY_LIST || !wb__expr_holds(row->condition, &names, true))
        return;
    (void)snprintf(key, sizeof key, "%s%s%s", is_json ? "" : teller->config->architecture,
                   is_json ? "" : ".", row->name);
    if (row->type >= WB__KEY_U32_LIST) {
        tell_list(teller, key, row, &names);
        return;
    }
    wb__fact fact = wb__expr_eval(row->expr, &names);
    if (convert(row->type, &fact))
        wb__derive_fact(teller, key, &fact);
}

static void tell_ids(wb__deriver *teller)
{
    for (size_t i = 0; i < COUNT(ids); i++) {
        wb__fact fact = wb__fact_by_key(teller->facts, WB__STR(""), ids[i].key);
        wb__derive_fact(teller, ids[i].path, &fact);
    }
}

/* Derives model_type for a GGUF model, or tokenizer.ggml.token_type_count for a BERT model with
 * config.json. */
static void tell_family(wb__deriver *teller)
{
    wb__str type = wb__family_type(teller->family);
    if (teller->by_key && type.len > 0)
        wb__derive_text(teller, "model_type", type);
    if (!teller->by_key && wb__family_hint(teller->family, "pooling")) {
        wb__fact types = wb__fact_by_path(teller->facts, "type_vocab_size");
        wb__derive_fact(teller, "tokenizer.ggml.token_type_count", &types);
    }
}

/*
 * Derives the data type of most matrix elements: general.file_type (llama.cpp's number) or
 * torch_dtype (name in config.json). Only F32, F16 and BF16 are derived.
 */
static void tell_dtype(wb__deriver *teller)
{
    static const struct {
        int32_t dtype;
        uint32_t file_type;
        const char *name;
    } types[] = {{WB_DTYPE_F32, 0, "float32"},
                 {WB_DTYPE_F16, 1, "float16"},
                 {WB_DTYPE_BF16, 32, "bfloat16"}};
    uint64_t elements[COUNT(types)] = {0}, all = 0;
    for (size_t i = 0; i < teller->names->tensors->count; i++) {
        const wb__kind *kind = wb__names_kind(teller->names, i);
        if (kind->rank < 2)
            continue;
        uint64_t sum;
        all = wb__add(all, kind->elements, &sum) ? sum : UINT64_MAX;
        for (size_t t = 0; t < COUNT(types); t++) {
            if (kind->dtype->id == types[t].dtype)
                elements[t] = wb__add(elements[t], kind->elements, &sum) ? sum : UINT64_MAX;
        }
    }
    for (size_t t = 0; t < COUNT(types); t++) {
        if (elements[t] == 0 || elements[t] < all / 2)
            continue;
        if (teller->by_key)
            wb__derive_text(teller, "torch_dtype", wb__str_from(types[t].name, SIZE_MAX));
        else
            wb__derive_uint(teller, "general.file_type", types[t].file_type);
        return;
    }
}

void wb__derive_config(wb__deriver *teller)
{
    if (teller->config->origin[WB_CONFIG_ARCHITECTURE] != WB_ORIGIN_FILE)
        return;
    wb__str architecture = wb__str_from(teller->config->architecture, SIZE_MAX);
    if (!teller->by_key) {
        wb__derive_text(teller, "general.architecture", architecture);
        wb__derive_text(teller, "general.type", WB__STR("model"));
        wb__derive_uint(teller, "general.quantization_version", 2);
    }
    wb__family_keys(teller->family == NULL ? &wb__family_unknown : teller->family,
                    teller->by_key ? WB__KEYS_JSON : WB__KEYS_GGUF, tell_row, teller);
    if (teller->by_key)
        tell_ids(teller);
    tell_family(teller);
    tell_dtype(teller);
}
