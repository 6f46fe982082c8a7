/* Derives tokenizer, chat template and sampling parameters under GGUF keys. */
#include <stdio.h>

#include "arch/derive_meta.h"

#define T "tokenizer.ggml."

static const char *const special_keys[WB__SPECIALS] = {
    [WB__SPECIAL_BOS] = T "bos_token_id",     [WB__SPECIAL_EOS] = T "eos_token_id",
    [WB__SPECIAL_UNK] = T "unknown_token_id", [WB__SPECIAL_SEP] = T "seperator_token_id",
    [WB__SPECIAL_PAD] = T "padding_token_id", [WB__SPECIAL_CLS] = T "cls_token_id",
    [WB__SPECIAL_MASK] = T "mask_token_id",   [WB__SPECIAL_EOT] = T "eot_token_id",
    [WB__SPECIAL_EOM] = T "eom_token_id",
};

static void tell_flag(wb__deriver *teller, const char *key, wb__flag flag)
{
    if (flag != WB__FLAG_UNSAID)
        wb__derive_bool(teller, key, flag == WB__FLAG_YES);
}

void wb__derive_tokenizer(wb__deriver *teller, const wb__tokenizer *tokenizer)
{
    for (int i = 0; i < WB__SPECIALS; i++) {
        if (tokenizer->special[i] >= 0)
            wb__derive_uint(teller, special_keys[i], (uint64_t)tokenizer->special[i]);
    }
    tell_flag(teller, T "add_bos_token", tokenizer->add_bos);
    tell_flag(teller, T "add_eos_token", tokenizer->add_eos);
    tell_flag(teller, T "add_sep_token", tokenizer->add_sep);
    if (tokenizer->model == NULL)
        return;
    uint64_t count = tokenizer->tokens.count;
    wb__derive_text(teller, T "model", wb__str_from(tokenizer->model, SIZE_MAX));
    wb__derive_text(teller, T "pre", wb__str_from(tokenizer->pre, SIZE_MAX));
    wb__derive_strings(teller, T "tokens", &tokenizer->tokens);
    wb__derive_numbers(teller, T "token_type", tokenizer->types, count, WB_META_INT, 32);
    if (tokenizer->scores != NULL)
        wb__derive_numbers(teller, T "scores", tokenizer->scores, count, WB_META_FLOAT, 32);
    if (tokenizer->merges.count > 0)
        wb__derive_strings(teller, T "merges", &tokenizer->merges);
    if (tokenizer->scores != NULL) /* only tokenizers with scores have this setting */
        tell_flag(teller, T "add_space_prefix", tokenizer->add_space_prefix);
    tell_flag(teller, T "remove_extra_whitespaces", tokenizer->remove_extra_whitespaces);
    tell_flag(teller, "tokenizer.ggml.normalizer.lowercase", tokenizer->lowercase);
    if (tokenizer->charsmap_bytes > 0)
        wb__derive_numbers(teller, T "precompiled_charsmap", tokenizer->charsmap,
                           tokenizer->charsmap_bytes, WB_META_UINT, 8);
}

/* ---- sampling ---- */

void wb__derive_generation(wb__deriver *teller, const wb__tree *generation)
{
    static const char *const pairs[][2] = {
        {"temperature", "general.sampling.temp"},
        {"top_k", "general.sampling.top_k"},
        {"top_p", "general.sampling.top_p"},
        {"min_p", "general.sampling.min_p"},
        {"repetition_penalty", "general.sampling.penalty_repeat"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        wb__fact fact = wb__fact_of_node(generation, wb__tree_get(generation, 0, pairs[i][0]));
        wb__derive_fact(teller, pairs[i][1], &fact);
    }
}

/* ---- chat templates ---- */

/*
 * Derives a named template; characters other than letters, digits and '_' in its name become '_'.
 */
static void tell_named(wb__deriver *teller, wb__str name, wb__str text)
{
    char key[96];
    size_t n = sizeof "tokenizer.chat_template." - 1;
    if (wb__str_equal(name, WB__STR("default"))) {
        wb__derive_text(teller, "tokenizer.chat_template", text);
        return;
    }
    if (name.len == 0 || name.len >= sizeof key - n)
        return;
    memcpy(key, "tokenizer.chat_template.", n);
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        key[n++] = plain ? c : '_';
    }
    key[n] = '\0';
    wb__derive_text(teller, key, text);
}

void wb__derive_templates(wb__deriver *teller, const wb__tree *config, wb__str file)
{
    wb__node said = config == NULL ? WB__NO_NODE : wb__tree_get(config, 0, "chat_template");
    if (said != WB__NO_NODE && wb__tree_type(config, said) == WB__JSON_STRING) {
        wb__derive_text(teller, "tokenizer.chat_template", wb__tree_string(config, said));
    } else if (said != WB__NO_NODE && wb__tree_type(config, said) == WB__JSON_ARRAY) {
        unsigned count = 0;
        for (wb__node n = wb__tree_first(config, said); n != WB__NO_NODE && count < 64;
             n = wb__tree_next(config, said, n), count++)
            tell_named(teller, wb__tree_string(config, wb__tree_get(config, n, "name")),
                       wb__tree_string(config, wb__tree_get(config, n, "template")));
    }
    if (file.len > 0)
        wb__derive_text(teller, "tokenizer.chat_template", file);
    const wb__meta *meta = wb__catalog_find_meta(teller->into, WB__STR("tokenizer.chat_template"));
    if (meta != NULL)
        wb__derive_text(teller, "chat_template", wb__meta_text(teller->into, meta));
}

/* ---- from GGUF to tokenizer_config.json ---- */

void wb__derive_special_names(wb__deriver *teller)
{
    static const struct {
        wb__special which;
        const char *name;
    } names[] = {
        {WB__SPECIAL_BOS, "bos_token"},   {WB__SPECIAL_EOS, "eos_token"},
        {WB__SPECIAL_UNK, "unk_token"},   {WB__SPECIAL_SEP, "sep_token"},
        {WB__SPECIAL_PAD, "pad_token"},   {WB__SPECIAL_CLS, "cls_token"},
        {WB__SPECIAL_MASK, "mask_token"},
    };
    const wb__meta *tokens = wb__catalog_find_meta(teller->known, WB__STR(T "tokens"));
    if (tokens == NULL || tokens->type != WB_META_ARRAY ||
        tokens->value.array->element != WB_META_STRING)
        return;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        wb__fact id = wb__fact_by_key(teller->facts, WB__STR(""), special_keys[names[i].which]);
        if (id.type == WB__FACT_UINT && id.number < tokens->value.array->count)
            wb__derive_text(teller, names[i].name,
                            wb__array_string(tokens->value.array,
                                             wb__meta_base(teller->known, tokens), id.number));
    }
}
