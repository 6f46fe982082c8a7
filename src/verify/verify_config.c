/*
 * Compares the tensors with the config in both directions. Finds missing tensors, tensors that
 * loaders ignore, and tensors whose shape the config contradicts. Loaders drop or replace such
 * tensors silently.
 *
 * If the config has no sizes or the architecture is unknown, only an info is reported. Findings of
 * the same kind are combined into one.
 */
#include "handle/derived_meta.h"
#include "model/padding_tensor.h"
#include "verify/verify.h"
#include "verify/verify_messages.h"

typedef struct check {
    const wb_model *model;
    wb__context *context;
    const wb__semantics *semantics;
    const wb_config *config;
    const wb__names *names;
    const wb__family *family;
    /* which tensors were found (one WB__NEED_* bit for each role of a tensor): an element for each
     * decoder layer, then one for each encoder layer */
    uint32_t *parts;
    uint32_t whole; /* WB__NEED_* bits of the tensors found outside layers */
} check;

static wb_status note(check *c, wb_severity severity, wb__finding_id id, const char *name,
                      const char *text)
{
    return wb__note(c->context, severity, id, WB_NO_OFFSET, wb__str_from(name, SIZE_MAX), "%s",
                    text);
}

static wb_status add_findings(check *c, const wb_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        if (!wb__findings_add(c->context->findings, &findings->list[i]))
            return wb__fail_memory(c->context);
    }
    return WB_OK;
}

/* ---- fields that the config lacks ---- */

static bool is_said(const check *c, int field)
{
    return c->config->origin[field] == WB_ORIGIN_FILE;
}

static wb_status note_config(check *c, bool *complete)
{
    static const int needed[] = {WB_CONFIG_DIM, WB_CONFIG_N_LAYERS, WB_CONFIG_N_HEADS,
                                 WB_CONFIG_FFN_DIM};
    *complete = false;
    if (!is_said(c, WB_CONFIG_ARCHITECTURE))
        return c->names->entries.count == 0
                   ? WB_OK
                   : note(c, WB_INFO, WB__FINDING_CONFIG_ABSENT, "", WB__MSG_VERIFY_NO_CONFIG);
    if (!c->semantics->is_family)
        return note(c, WB_INFO, WB__FINDING_ARCHITECTURE_UNKNOWN, c->config->architecture,
                    WB__MSG_VERIFY_ARCHITECTURE);
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (!is_said(c, needed[i]))
            return note(c, WB_INFO, WB__FINDING_CONFIG_PARTIAL, wb__config_rows[needed[i]].name,
                        WB__MSG_VERIFY_CONFIG_PARTIAL);
    }
    *complete = true;
    return WB_OK;
}

/* ---- tensors that loaders ignore ---- */

/* Returns true if a tensor is the per-tensor scale of a weight that is not the output matrix.
 * llama.cpp loads a scale of the output matrix only if this matrix is NVFP4. */
static bool is_factor(const check *c, uint64_t number)
{
    uint64_t weight = wb__gguf_scaled_weight(c->model, c->semantics, number);
    const wb__name_entry *entry = weight == UINT64_MAX ? NULL : wb__names_of(c->names, weight);
    return entry != NULL && (entry->rule->provides & WB__NEED_HEAD) == 0;
}

static wb_status note_unmapped(check *c)
{
    uint64_t count[2] = {0, 0};
    wb__str first[2] = {{"", 0}, {"", 0}};
    wb__matched matched;
    for (size_t i = 0; i < c->model->tensors.count; i++) {
        const wb__packed *packed;
        wb__str name = wb__table_name(&c->model->catalog.table,
                                      wb__tensors_stored(&c->model->tensors, i, &packed));
        if (wb__names_of(c->names, i) != NULL || wb__rule_match(&c->names->rules, name, &matched) ||
            wb__is_padding_tensor(name) || is_factor(c, i))
            continue; /* the tensor has a canonical name, duplicates a tensor that has one, or is
                         padding or a per-tensor scale */
        int other = wb__name_of_another_part(name) || wb__name_of_activations(name);
        if (count[other]++ == 0)
            first[other] = name;
    }
    wb_status status = WB_OK;
    for (int other = 0; other < 2 && status == WB_OK; other++) {
        if (count[other] > 0)
            status = wb__note(c->context, other ? WB_INFO : WB_WARNING, WB__FINDING_TENSOR_UNMAPPED,
                              WB_NO_OFFSET, first[other], WB__MSG_VERIFY_TENSORS_UNKNOWN,
                              (unsigned long long)count[other], c->config->architecture);
    }
    if (status == WB_OK && c->names->repeated > 0)
        status =
            wb__note(c->context, WB_WARNING, WB__FINDING_TENSOR_AGAIN, WB_NO_OFFSET, WB__STR(""),
                     WB__MSG_VERIFY_TENSORS_REPEATED, (unsigned long)c->names->repeated);
    return status;
}

/* ---- tensors that are missing ---- */

static void collect_parts(check *c)
{
    for (size_t i = 0; i < c->names->entries.count; i++) {
        const wb__name_entry *entry = wb__names_at(c->names, i);
        uint32_t layers = c->names->layers;
        if (entry->suffix == WB__SUFFIX_BIAS)
            continue;
        if (!wb__rule_has_layer(entry->rule))
            c->whole |= entry->rule->provides;
        else if (wb__rule_is_encoder(entry->rule))
            c->parts[layers + entry->layer] |= entry->rule->provides;
        else
            c->parts[entry->layer] |= entry->rule->provides;
    }
}

/* Writes the canonical name of a tensor with the role `part` (a WB__NEED_* bit) in layer `layer`,
 * or outside the layers. A family inherits the rules of its base family. If both have a rule for
 * this role, uses the name in the base family, because more models have it. */
static void name_of_part(const wb__family *family, uint32_t part, bool encoder, uint32_t layer,
                         char *out, size_t capacity)
{
    out[0] = '\0';
    if (family == NULL)
        return;
    name_of_part(family->base, part, encoder, layer, out, capacity);
    for (size_t i = 0; i < family->rule_count && out[0] == '\0'; i++) {
        const wb__rule *rule = &family->rules[i];
        if (rule->canonical == NULL || (rule->provides & part) == 0 ||
            wb__rule_is_encoder(rule) != encoder)
            continue;
        size_t n = wb__canonical_write(rule, layer, WB__SUFFIX_WEIGHT, out, capacity - 1);
        out[n] = '\0';
    }
}

static wb_status note_missing(check *c, uint32_t missing, bool encoder, uint32_t layer)
{
    char name[WB__STEM_MAX * 2];
    wb_status status = WB_OK;
    for (uint32_t part = 1; part != 0 && part <= missing && status == WB_OK; part <<= 1) {
        if ((missing & part) == 0)
            continue;
        name_of_part(c->family, part, encoder, layer, name, sizeof name);
        status =
            note(c, WB_WARNING, WB__FINDING_TENSOR_MISSING, name, WB__MSG_VERIFY_TENSOR_MISSING);
    }
    return status;
}

/* Returns the WB__NEED_* bits of the tensors that a layer needs. */
static uint32_t needs_of(const check *c, bool encoder, uint32_t layer)
{
    wb_layer about = WB_LAYER_INIT;
    if (encoder)
        return wb__family_needs(c->family, WB_LAYER_ATTENTION) & 0xFFFF & ~(uint32_t)WB__NEED_CROSS;
    wb__layer_make(&c->semantics->layers, c->config, c->names, layer, &about);
    return wb__family_needs(c->family, about.kind) & 0xFFFF;
}

/* Checks the decoder or encoder layers. There are `have` layers; the config specifies `want`. */
static wb_status check_layers(check *c, bool encoder, uint32_t have, uint64_t want)
{
    const uint32_t *parts = c->parts + (encoder ? c->names->layers : 0);
    unsigned derived = 0;
    wb_status status = WB_OK;
    for (uint32_t layer = 0; layer < have && layer < want && status == WB_OK; layer++) {
        uint32_t missing = needs_of(c, encoder, layer) & ~parts[layer];
        if (missing != 0 && derived++ < 8)
            status = note_missing(c, missing, encoder, layer);
    }
    if (status == WB_OK && derived > 8)
        status = wb__note(c->context, WB_WARNING, WB__FINDING_TENSOR_MISSING, WB_NO_OFFSET,
                          WB__STR(""), WB__MSG_VERIFY_LAYERS_INCOMPLETE, derived - 8);
    if (status == WB_OK && have < want)
        status = wb__note(c->context, WB_WARNING, WB__FINDING_TENSOR_MISSING, WB_NO_OFFSET,
                          WB__STR(""), WB__MSG_VERIFY_LAYERS_MISSING, (unsigned long long)want,
                          encoder ? WB__MSG_VERIFY_OF_ENCODER : "", (unsigned long)have);
    /* Layers that predict further tokens follow those that num_hidden_layers counts. */
    uint64_t nextn = encoder ? 0 : c->config->nextn_predict_layers;
    if (status == WB_OK && have > want && have - want > nextn)
        status = wb__note(c->context, WB_WARNING, WB__FINDING_LAYERS_BEYOND, WB_NO_OFFSET,
                          WB__STR(""), WB__MSG_VERIFY_LAYERS_EXTRA, (unsigned long long)want,
                          encoder ? WB__MSG_VERIFY_OF_ENCODER : "", (unsigned long)have - 1);
    return status;
}

/* Checks that optional biases and norms are in all layers or in none. */
static wb_status check_uniform(check *c, const wb__name_entry *entry)
{
    char text[WB__STEM_MAX * 2];
    const char *canonical = entry->rule->canonical;
    bool optional =
        entry->suffix == WB__SUFFIX_BIAS ||
        ((entry->rule->provides & ~WB__RULE_FLAGS) == 0 && strstr(canonical, "norm") != NULL);
    if (entry->layer != 0 || !optional || !wb__rule_has_layer(entry->rule) ||
        strstr(canonical, ".ffn.") != NULL)
        return WB_OK;
    uint32_t layers = wb__rule_is_encoder(entry->rule) ? c->names->enc_layers : c->names->layers;
    for (uint32_t layer = 1; layer < layers; layer++) {
        wb__str name = {text, wb__canonical_write(entry->rule, layer, (wb__suffix)entry->suffix,
                                                  text, sizeof text - 1)};
        text[name.len] = '\0';
        if (wb__names_find(c->names, name) == NULL)
            return note(c, WB_WARNING, WB__FINDING_TENSOR_MISSING, text,
                        WB__MSG_VERIFY_TENSOR_OF_LAYER_0);
    }
    return WB_OK;
}

/* Returns true if config.json names a class without output matrix, such as Qwen3Model. */
static bool is_base_model(const check *c)
{
    wb__fact_list list;
    wb__fact name;
    return c->semantics->facts.config != NULL &&
           wb__fact_list_find(&c->semantics->facts, WB__STR(""), "", "architectures", &list) &&
           wb__fact_list_next(&list, &name) && name.type == WB__FACT_TEXT &&
           wb__str_ends_with(name.text, WB__STR("Model")) &&
           !wb__str_ends_with(name.text, WB__STR("HeadModel"));
}

static wb_status check_missing(check *c)
{
    collect_parts(c);
    wb_status status = check_layers(c, false, c->names->layers, c->config->n_layers);
    if (status == WB_OK && wb__family_flags(c->family) & WB__FAMILY_ENCODER)
        status = check_layers(c, true, c->names->enc_layers, c->config->enc_n_layers);
    uint32_t needs = wb__family_needs(c->family, WB_LAYER_UNKNOWN) & ~UINT32_C(0xFFFF);
    if (c->config->tie_embeddings != 0 || is_base_model(c))
        needs &= ~(uint32_t)WB__NEED_HEAD;
    if (status == WB_OK)
        status = note_missing(c, needs & ~c->whole, false, 0);
    for (size_t i = 0; i < c->names->entries.count && status == WB_OK; i++)
        status = check_uniform(c, wb__names_at(c->names, i));
    return status;
}

/* ---- shapes ---- */

/* Returns true if the stored shape can be compared with the config. Tensors of integers that
 * belong to no known packing may be packed values, whose stored shape is not the logical shape. */
static bool shape_counts(const check *c, const wb__name_entry *entry, const wb__kind *kind)
{
    const wb__packed *packed;
    (void)wb__tensors_stored(&c->model->tensors, entry->first, &packed);
    return packed != NULL || kind->dtype->block_size > 1 || wb__dtype_is_float(kind->dtype);
}

/* Computes the expected length of an axis from the rule of the tensor and the config; 0 if
 * unknown. */
static uint64_t length_of(const check *c, const wb__name_entry *entry, size_t axis)
{
    wb__family_scope scope = wb__semantics_scope(c->semantics);
    wb__scope names = wb__family_names(&scope);
    names.index = entry->layer;
    return wb__expr_count(entry->rule->shape[axis], &names);
}

/* Returns the axis of the canonical tensor that is axis `axis` of the stored one. */
static size_t canonical_axis(const wb__name_entry *entry, size_t rank, size_t axis)
{
    bool is_transposed =
        wb__spelling_transform(entry->spelling, WB__TRANSFORM_TRANSPOSE) != NULL && rank > 1;
    return is_transposed && axis + 2 >= rank ? 2 * rank - 3 - axis : axis;
}

static wb_status check_shape(check *c, const wb__name_entry *entry)
{
    size_t rank = entry->rule->rank;
    const wb__kind *kind = entry->view != WB__NO_ENTRY ? &c->names->views[entry->view].kind
                                                       : wb__names_kind(c->names, entry->first);
    if (rank == 0 || (entry->experts != 0 && entry->view == WB__NO_ENTRY) ||
        wb__spelling_transform(entry->spelling, WB__TRANSFORM_MAYBE_TRANSPOSE) != NULL ||
        !shape_counts(c, entry, kind) || (entry->suffix == WB__SUFFIX_BIAS && rank == 3))
        return WB_OK;
    if (entry->suffix == WB__SUFFIX_BIAS && entry->rule->suffix == WB__SUFFIX_SAME)
        rank = 1; /* the bias of a matrix has an element for each row */
    if (kind->rank != rank)
        return wb__note(c->context, WB_WARNING, WB__FINDING_TENSOR_CONFIG_SHAPE, WB_NO_OFFSET,
                        (wb__str){entry->text, entry->len}, WB__MSG_VERIFY_RANK,
                        (unsigned long)kind->rank, rank);
    for (size_t i = 0; i < rank; i++) {
        uint64_t size = length_of(c, entry, canonical_axis(entry, rank, i));
        if (size != 0 && kind->shape[i] != size)
            return wb__note(c->context, WB_WARNING, WB__FINDING_TENSOR_CONFIG_SHAPE, WB_NO_OFFSET,
                            (wb__str){entry->text, entry->len}, WB__MSG_VERIFY_SHAPE, i,
                            (unsigned long long)kind->shape[i], (unsigned long long)size);
    }
    return WB_OK;
}

#define MAX_TOLD 32

static wb_status check_shapes(check *c)
{
    const wb__rule *derived[MAX_TOLD];
    size_t count = 0;
    wb_status status = WB_OK;
    for (size_t i = 0; i < c->names->entries.count && status == WB_OK && count < MAX_TOLD; i++) {
        const wb__name_entry *entry = wb__names_at(c->names, i);
        size_t before = c->context->findings->count;
        bool known = false;
        for (size_t t = 0; t < count; t++)
            known |= derived[t] == entry->rule;
        if (known)
            continue;
        status = check_shape(c, entry);
        if (c->context->findings->count > before)
            derived[count++] = entry->rule;
        if (status == WB_OK && entry->experts != 0 &&
            (entry->view == WB__NO_ENTRY ||
             (is_said(c, WB_CONFIG_N_EXPERTS) && entry->experts != c->config->n_experts))) {
            status = wb__note(c->context, WB_WARNING, WB__FINDING_EXPERTS_INCOMPLETE, WB_NO_OFFSET,
                              (wb__str){entry->text, entry->len}, WB__MSG_VERIFY_EXPERTS,
                              (unsigned long)entry->experts);
            if (!known && count < MAX_TOLD)
                derived[count++] = entry->rule;
        }
    }
    return status;
}

/* ---- all of it ---- */

static wb_status check_tensors(check *c)
{
    size_t layers = (size_t)c->names->layers + c->names->enc_layers;
    c->family = c->semantics->family;
    c->parts = wb__alloc_zeroed(&c->context->allocator, layers * sizeof *c->parts);
    if (c->parts == NULL)
        return wb__fail_memory(c->context);
    wb_status status = note_unmapped(c);
    if (status == WB_OK)
        status = check_missing(c);
    if (status == WB_OK)
        status = check_shapes(c);
    wb__free(&c->context->allocator, c->parts, layers * sizeof *c->parts);
    return status;
}

wb_status wb__verify_meaning(const wb_model *model, wb__context *context)
{
    check c = {.model = model, .context = context};
    const wb__derived_meta *derived;
    bool complete;
    wb_status status = wb__semantics_of(model, context, &c.semantics);
    if (status == WB_OK)
        status = wb__derived_meta_of(model, context, &derived);
    if (status != WB_OK)
        return status;
    c.config = &c.semantics->config;
    c.names = &c.semantics->names;
    status = add_findings(&c, &c.semantics->findings);
    if (status == WB_OK)
        status = add_findings(&c, &derived->findings);
    if (status == WB_OK)
        status = note_config(&c, &complete);
    return status == WB_OK && complete ? check_tensors(&c) : status;
}
