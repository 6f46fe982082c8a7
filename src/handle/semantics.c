#include "handle/semantics.h"

#include <stdatomic.h>

/* A number of an array, as wb_meta_uints reads it; 0 for what is no integer from 0 on. */
static uint64_t number_at(const wb__array *array, const uint8_t *base, uint64_t i)
{
    const uint8_t *at = base + array->at + i * (array->bits / 8);
    uint64_t value = 0;
    for (unsigned byte = array->bits / 8; byte-- > 0;)
        value = value << 8 | at[byte];
    bool negative = array->element == WB_META_INT && value >> (array->bits - 1) != 0;
    return negative ? 0 : value;
}

/* Of what differs from layer to layer the largest. */
static void fact_of_array(const wb__model *logical, const wb__meta *meta, wb__fact *fact)
{
    const wb__array *array = meta->value.array;
    fact->type = WB__FACT_OTHER;
    if ((array->element != WB_META_INT && array->element != WB_META_UINT) || array->count == 0)
        return;
    fact->type = WB__FACT_UINT;
    for (uint64_t i = 0; i < array->count; i++) {
        uint64_t number = number_at(array, wb__meta_base(logical, meta), i);
        if (number > fact->number)
            fact->number = number;
    }
    fact->real = (double)fact->number;
}

static void fact_of_float(const wb__meta *meta, wb__fact *fact)
{
    uint32_t narrow_bits = (uint32_t)meta->value.number;
    float narrow;
    memcpy(&narrow, &narrow_bits, sizeof narrow);
    memcpy(&fact->real, &meta->value.number, sizeof fact->real);
    fact->type = WB__FACT_REAL;
    if (meta->bits == 32)
        fact->real = wb__shortest_of_float(narrow);
}

static bool key_value(void *ctx, wb__str key, wb__fact *fact)
{
    const wb__model *logical = ctx;
    const wb__meta *meta = wb__model_find_meta(logical, key);
    if (meta == NULL)
        return false;
    *fact = (wb__fact){.type = WB__FACT_OTHER, .number = meta->value.number};
    fact->real = (double)fact->number;
    switch (meta->type) {
    case WB_META_STRING:
        fact->type = WB__FACT_TEXT;
        fact->text = wb__meta_text(logical, meta);
        break;
    case WB_META_UINT: fact->type = WB__FACT_UINT; break;
    case WB_META_INT:
        fact->type = (int64_t)fact->number < 0 ? WB__FACT_INT : WB__FACT_UINT;
        fact->real = (double)(int64_t)fact->number;
        break;
    case WB_META_BOOL: fact->type = WB__FACT_BOOL; break;
    case WB_META_FLOAT: fact_of_float(meta, fact); break;
    case WB_META_ARRAY: fact_of_array(logical, meta, fact); break;
    default: break;
    }
    return true;
}

static wb_status read_config(wb__insight *insight, const wb_model *model, wb__context *context)
{
    wb_status status = WB_OK;
    const wb__beside *beside = &model->beside;
    insight->facts = (wb__facts){.key_value = key_value, .ctx = (void *)(uintptr_t)&model->logical};
    wb__fact said = wb__fact_by_key(&insight->facts, WB__STR(""), "general.architecture");
    insight->by_key = said.type == WB__FACT_TEXT;
    /* What lies beside a file that speaks for itself may be of another model. */
    if (insight->by_key)
        return WB_OK;
    if (!beside->has_config && model->folder != NULL) {
        char *path = wb__path_join(&context->allocator, model->folder, WB__STR("config.json"));
        if (path == NULL)
            return wb__fail_memory(context);
        status = wb__beside_read(&insight->beside, context, path);
        wb__free(&context->allocator, path, strlen(path) + 1);
        beside = &insight->beside;
    }
    if (status == WB_OK && beside->has_config)
        insight->facts.config = &beside->config;
    return status;
}

/* ---- the family ---- */

/* Whether the model has a tensor of a pattern, in layer 0. */
static bool has_pattern(void *ctx, wb__str pattern)
{
    static const wb__str wrappers[] = {{"", 0}, {"model.", 6}, {"language_model.model.", 21}};
    const wb_model *model = ctx;
    char text[WB__STEM_MAX * 2];
    for (size_t i = 0; i < sizeof wrappers / sizeof wrappers[0]; i++) {
        wb__str wrapper = wrappers[i];
        memcpy(text, wrapper.ptr, wrapper.len);
        size_t n = wb__pattern_expand(pattern, 0, 0, WB__SUFFIX_WEIGHT, text + wrapper.len,
                                      sizeof text - wrapper.len);
        if (wb__table_find(&model->logical.table, (wb__str){text, wrapper.len + n}) !=
            WB__NO_TENSOR)
            return true;
    }
    return false;
}

static wb_status find_family(wb__insight *insight, const wb_model *model, wb__context *context)
{
    const wb__family *family;
    wb__str said = wb__config_architecture(&insight->facts, &family);
    if (said.len == 0) {
        family = wb__family_by_signature(has_pattern, (void *)(uintptr_t)model);
        if (family->name != NULL)
            said = wb__str_from(family->name, SIZE_MAX);
    }
    insight->is_family = family != NULL && family->name != NULL;
    insight->family = family != NULL ? family : &wb__family_unknown;
    if (said.len == 0)
        return WB_OK;
    insight->architecture = wb__alloc(&insight->allocator, said.len + 1);
    if (insight->architecture == NULL)
        return wb__fail_memory(context);
    insight->architecture_bytes = said.len + 1;
    memcpy(insight->architecture, said.ptr, said.len);
    insight->architecture[said.len] = '\0';
    return WB_OK;
}

/* ---- all of it ---- */

void wb__insight_free(wb__insight *insight)
{
    if (insight == NULL)
        return;
    wb_allocator allocator = insight->allocator;
    wb__beside_free(&insight->beside);
    wb__names_free(&insight->names);
    wb__free(&allocator, insight->architecture, insight->architecture_bytes);
    wb__findings_clear(&insight->findings);
    wb__free(&allocator, insight, sizeof *insight);
}

static wb_status fill(wb__insight *insight, const wb_model *model, wb__context *context)
{
    wb_status status = read_config(insight, model, context);
    if (status == WB_OK)
        status = find_family(insight, model, context);
    if (status == WB_OK)
        status = wb__names_make(&insight->names, context, insight->family, &model->logical.table,
                                &model->tensors);
    if (status == WB_OK)
        wb__config_make(&insight->config, &insight->facts,
                        insight->is_family ? insight->family : NULL, insight->architecture,
                        &insight->names);
    return status;
}

static wb_status make(const wb_model *model, wb__context *context, wb__insight **made)
{
    wb__context own = *context; /* what is found here belongs to the insight */
    wb__insight *insight = wb__alloc(&model->allocator, sizeof *insight);
    *made = insight;
    if (insight == NULL)
        return wb__fail_memory(context);
    memset(insight, 0, sizeof *insight);
    insight->allocator = model->allocator;
    insight->beside.allocator = model->allocator;
    wb__findings_init(&insight->findings, &insight->allocator);
    own.allocator = model->allocator;
    own.findings = &insight->findings;
    own.limits = model->limits;
    return fill(insight, model, &own);
}

wb_status wb__insight_of(const wb_model *model, wb__context *context, const wb__insight **insight)
{
    /* A cache is no part of what the model is: the cast is for it alone. */
    _Atomic(wb__insight *) *cache = (_Atomic(wb__insight *) *)(uintptr_t)&model->insight;
    wb__insight *known = atomic_load(cache);
    *insight = known;
    if (known != NULL)
        return WB_OK;
    wb__insight *made;
    wb_status status = make(model, context, &made);
    if (status != WB_OK) {
        wb__insight_free(made);
        return status;
    }
    if (atomic_compare_exchange_strong(cache, &known, made))
        known = made;
    else /* another thread was first */
        wb__insight_free(made);
    *insight = known;
    return WB_OK;
}

uint64_t wb__insight_find(const wb_model *model, const wb__insight *insight, wb__str canonical)
{
    const wb__name_entry *entry = wb__names_find(&insight->names, canonical);
    if (entry == NULL && insight->config.tie_embeddings != 0 &&
        wb__str_equal(canonical, WB__STR("output.weight")))
        entry = wb__names_find(&insight->names, WB__STR("token_embedding.weight"));
    if (entry == NULL || (entry->experts != 0 && entry->view == WB__NO_ENTRY))
        return UINT64_MAX;
    return entry->experts == 0 ? entry->first
                               : model->tensors.count + model->tensors.stored_count + entry->view;
}
