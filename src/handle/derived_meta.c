#include "handle/derived_meta.h"
#include "handle/handle_messages.h"

#include <stdatomic.h>
#include <stdio.h>

/* Texts of the sidecar files, and trees of those that are parsed as JSON. Freed after the
 * derivation. */
typedef struct files {
    const wb_model *model;
    wb__context *context;
    struct text {
        char *text;
        size_t bytes;
    } json, pieces, vocab, tokenizer_config, generation, template, pooling;
    wb__tree tokenizer_config_tree, generation_tree, pooling_tree;
} files;

/* Reads a sidecar file. If the file cannot be read, adds a finding and treats the file as
 * missing. */
static wb_status read_text(files *f, const char *name, struct text *text)
{
    wb_status status = wb__sidecar_text(f->model, f->context, name, &text->text, &text->bytes);
    if (status != WB_ERROR_LIMIT && status != WB_ERROR_FORMAT && status != WB_ERROR_IO)
        return status;
    bool kept = wb__findings_add_error(f->context->findings, f->context->error, WB_WARNING);
    (void)wb__error_reset(f->context->error, f->context->error);
    return kept ? WB_OK : wb__fail_memory(f->context);
}

static wb_status read_tree(files *f, const char *name, struct text *text, wb__tree *tree)
{
    wb_status status = read_text(f, name, text);
    if (status != WB_OK || text->text == NULL)
        return status;
    if (wb__tree_parse(tree, text->text, text->bytes, &f->context->allocator))
        return WB_OK;
    wb__json_fault fault = tree->fault;
    uint64_t at = tree->fault_at;
    wb__tree_free(tree);
    *tree = (wb__tree){0};
    if (fault == WB__JSON_FAULT_MEMORY)
        return wb__fail_memory(f->context);
    const char *file = f->context->file;
    f->context->file = name;
    status = wb__note(f->context, WB_WARNING, WB__FINDING_TOKENIZER, at, WB__STR(""), "%s",
                      wb__json_fault_text(fault));
    f->context->file = file;
    return status;
}

static wb_status read_files(files *f)
{
    struct {
        const char *name;
        struct text *text;
        wb__tree *tree; /* NULL: the file is not parsed as a JSON tree */
    } list[] = {
        {"tokenizer.json", &f->json, NULL},
        {"tokenizer.model", &f->pieces, NULL},
        {"vocab.txt", &f->vocab, NULL},
        {"chat_template.jinja", &f->template, NULL},
        {"tokenizer_config.json", &f->tokenizer_config, &f->tokenizer_config_tree},
        {"generation_config.json", &f->generation, &f->generation_tree},
        {"1_Pooling/config.json", &f->pooling, &f->pooling_tree},
    };
    wb_status status = WB_OK;
    for (size_t i = 0; i < sizeof list / sizeof list[0] && status == WB_OK; i++)
        status = list[i].tree == NULL ? read_text(f, list[i].name, list[i].text)
                                      : read_tree(f, list[i].name, list[i].text, list[i].tree);
    return status;
}

static void free_files(files *f)
{
    const struct text texts[] = {f->json,       f->pieces,   f->vocab,  f->tokenizer_config,
                                 f->generation, f->template, f->pooling};
    wb__tree_free(&f->tokenizer_config_tree);
    wb__tree_free(&f->generation_tree);
    wb__tree_free(&f->pooling_tree);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        wb__free(&f->context->allocator, texts[i].text, texts[i].bytes + 1);
}

static const wb__tree *tree_or_null(const wb__tree *tree)
{
    return tree->text == NULL ? NULL : tree;
}

/* Returns the number of rows of the embedding tensor, or vocab_size of the config if there is no
 * such tensor. */
static uint64_t count_rows(const wb__semantics *semantics)
{
    const wb__kind *kind = wb__names_embedding(&semantics->names);
    return kind != NULL ? kind->shape[0] : semantics->config.vocab_size;
}

static wb_status make_tokenizer(wb__derived_meta *derived, files *f, const wb__semantics *semantics)
{
    bool is_phi = semantics->is_family && wb__family_hint(semantics->family, "phi");
    wb__tokenizer_files input = {
        .json = f->json.text,
        .json_bytes = f->json.bytes,
        .model = {f->pieces.text, f->pieces.bytes},
        .vocab = {f->vocab.text, f->vocab.bytes},
        .tokenizer_config = tree_or_null(&f->tokenizer_config_tree),
        .config = semantics->facts.config,
        .is_phi = is_phi,
        .vocab_size = count_rows(semantics),
    };
    return wb__tokenizer_make(&derived->tokenizer, f->context, &input);
}

/* Derives the key ARCHITECTURE.pooling_type, the method that combines the token vectors into one
 * vector, from the pooling config of sentence-transformers. */
static void tell_pooling(wb__deriver *teller, const wb__tree *pooling)
{
    static const struct {
        const char *key;
        uint32_t type;
    } modes[] = {{"pooling_mode_mean_tokens", 1},
                 {"pooling_mode_cls_token", 2},
                 {"pooling_mode_lasttoken", 3}};
    char key[96];
    if (teller->family == NULL || !wb__family_hint(teller->family, "pooling"))
        return;
    (void)snprintf(key, sizeof key, "%s.pooling_type", teller->config->architecture);
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        bool on;
        wb__node node = wb__tree_get(pooling, 0, modes[i].key);
        if (node != WB__NO_NODE && wb__tree_bool(pooling, node, &on) && on)
            wb__derive_uint(teller, key, modes[i].type);
    }
}

static wb_status tell_all(wb__derived_meta *derived, files *f, const wb__semantics *semantics)
{
    wb__deriver teller = {
        .into = &derived->model,
        .context = f->context,
        .known = &f->model->catalog,
        .facts = &semantics->facts,
        .config = &semantics->config,
        .family = semantics->is_family ? semantics->family : NULL,
        .names = &semantics->names,
        .by_key = semantics->by_key,
        .status = wb__catalog_begin_file(&derived->model, f->context, "config.json", "", 0),
    };
    const wb__tree *tokenizer_config = tree_or_null(&f->tokenizer_config_tree);
    const wb__tree *generation = tree_or_null(&f->generation_tree);
    if (semantics->facts.config != NULL)
        wb__derive_json(&teller, semantics->facts.config);
    wb__derive_config(&teller);
    if (generation != NULL) {
        wb__derive_json(&teller, generation);
        wb__derive_generation(&teller, generation);
    }
    if (tokenizer_config != NULL)
        wb__derive_json(&teller, tokenizer_config);
    if (tree_or_null(&f->pooling_tree) != NULL)
        tell_pooling(&teller, &f->pooling_tree);
    if (semantics->by_key)
        wb__derive_special_names(&teller);
    else
        wb__derive_tokenizer(&teller, &derived->tokenizer);
    wb__derive_templates(&teller, tokenizer_config, (wb__str){f->template.text, f->template.bytes});
    return teller.status;
}

void wb__derived_meta_free(wb__derived_meta *derived)
{
    if (derived == NULL)
        return;
    wb_allocator allocator = derived->allocator;
    if (derived->has_model)
        wb__catalog_free(&derived->model);
    wb__tokenizer_free(&derived->tokenizer);
    wb__findings_clear(&derived->findings);
    wb__free(&allocator, derived, sizeof *derived);
}

static wb_status fill(wb__derived_meta *derived, const wb_model *model, wb__context *context)
{
    const wb__semantics *semantics;
    files f = {.model = model, .context = context};
    wb__catalog_init(&derived->model, &derived->allocator, wb__cpu_features());
    derived->has_model = true;
    wb_status status = wb__semantics_of(model, context, &semantics);
    /* Ignore sidecar files of a GGUF file. The file contains its tokenizer, and a tokenizer file
     * next to it may belong to another model. */
    if (status == WB_OK && !semantics->by_key)
        status = read_files(&f);
    if (status == WB_OK)
        status = make_tokenizer(derived, &f, semantics);
    if (status == WB_OK)
        status = tell_all(derived, &f, semantics);
    free_files(&f);
    return status;
}

static wb_status make(const wb_model *model, wb__context *context, wb__derived_meta **made)
{
    wb__context own = *context; /* a copy that adds findings to derived->findings */
    wb__derived_meta *derived = wb__alloc(&model->allocator, sizeof *derived);
    *made = derived;
    if (derived == NULL)
        return wb__fail_memory(context);
    memset(derived, 0, sizeof *derived);
    derived->allocator = model->allocator;
    wb__findings_init(&derived->findings, &derived->allocator);
    own.allocator = model->allocator;
    own.findings = &derived->findings;
    return fill(derived, model, &own);
}

wb_status wb__derived_meta_of(const wb_model *model, wb__context *context,
                              const wb__derived_meta **derived)
{
    /* The cast removes `const`: a const model never changes, except for caches such as this one. */
    _Atomic(wb__derived_meta *) *cache = (_Atomic(wb__derived_meta *) *)(uintptr_t)&model->derived;
    wb__derived_meta *known = atomic_load(cache);
    *derived = known;
    if (known != NULL)
        return WB_OK;
    wb__derived_meta *made;
    wb_status status = make(model, context, &made);
    if (status != WB_OK) {
        wb__derived_meta_free(made);
        return status;
    }
    if (atomic_compare_exchange_strong(cache, &known, made))
        known = made;
    else /* another thread stored its result first: use that one */
        wb__derived_meta_free(made);
    *derived = known;
    return WB_OK;
}

wb_status wb__derived_meta_entry(const wb_model *model, wb__context *context, uint64_t index,
                                 const wb__catalog **in, const wb__meta **entry)
{
    uint64_t before = model->catalog.metas.count;
    *in = &model->catalog;
    *entry = NULL;
    if (index >= before) {
        const wb__derived_meta *derived;
        wb_status status = wb__derived_meta_of(model, context, &derived);
        if (status != WB_OK)
            return status;
        *in = &derived->model;
        index -= before;
    } else {
        before = 0;
    }
    if (index >= (*in)->metas.count)
        return wb__fail(context, WB_ERROR_NOT_FOUND, WB__FINDING_NOT_FOUND, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_HANDLE_NO_META, (unsigned long long)(before + index));
    *entry = wb__list_at(&(*in)->metas, (size_t)index);
    return WB_OK;
}
