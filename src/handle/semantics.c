#include "handle/semantics.h"
#include "weighbridge/metadata.h"

#include <stdatomic.h>

/* Returns element i of an integer array, or 0 if it is negative. */
static uint64_t number_at(const wb__array *array, const uint8_t *base, uint64_t i)
{
    const uint8_t *at = base + array->at + i * (array->bits / 8);
    uint64_t value = 0;
    for (unsigned byte = array->bits / 8; byte-- > 0;)
        value = value << 8 | at[byte];
    bool negative = array->element == WB_META_INT && value >> (array->bits - 1) != 0;
    return negative ? 0 : value;
}

/* Sets *fact to the largest element of an array that has one integer per layer. */
static void fact_of_array(const wb__catalog *catalog, const wb__meta *meta, wb__fact *fact)
{
    const wb__array *array = meta->value.array;
    fact->type = WB__FACT_OTHER;
    if ((array->element != WB_META_INT && array->element != WB_META_UINT) || array->count == 0)
        return;
    fact->type = WB__FACT_UINT;
    for (uint64_t i = 0; i < array->count; i++) {
        uint64_t number = number_at(array, wb__meta_base(catalog, meta), i);
        if (number > fact->number)
            fact->number = number;
    }
    fact->real = (double)fact->number;
}

/* Reads element i of a list as a fact. The elements are integers or booleans, because key_list
 * accepts no others. */
static void element_of_array(const wb__fact_list *list, uint64_t i, wb__fact *fact)
{
    const wb__array *array = list->array;
    *fact = (wb__fact){.type = array->element == WB_META_BOOL ? WB__FACT_BOOL : WB__FACT_UINT,
                       .number = number_at(array, list->base, i)};
    fact->real = (double)fact->number;
}

static bool key_list(void *ctx, wb__str key, wb__fact_list *list)
{
    const wb__catalog *catalog = ctx;
    const wb__meta *meta = wb__catalog_find_meta(catalog, key);
    if (meta == NULL || meta->type != WB_META_ARRAY)
        return false;
    const wb__array *array = meta->value.array;
    if (array->element != WB_META_INT && array->element != WB_META_UINT &&
        array->element != WB_META_BOOL)
        return false;
    *list = (wb__fact_list){.count = array->count,
                            .element = element_of_array,
                            .array = array,
                            .base = wb__meta_base(catalog, meta)};
    return true;
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
    const wb__catalog *catalog = ctx;
    const wb__meta *meta = wb__catalog_find_meta(catalog, key);
    if (meta == NULL)
        return false;
    *fact = (wb__fact){.type = WB__FACT_OTHER, .number = meta->value.number};
    fact->real = (double)fact->number;
    switch (meta->type) {
    case WB_META_STRING:
        fact->type = WB__FACT_TEXT;
        fact->text = wb__meta_text(catalog, meta);
        break;
    case WB_META_UINT: fact->type = WB__FACT_UINT; break;
    case WB_META_INT:
        fact->type = (int64_t)fact->number < 0 ? WB__FACT_INT : WB__FACT_UINT;
        fact->real = (double)(int64_t)fact->number;
        break;
    case WB_META_BOOL: fact->type = WB__FACT_BOOL; break;
    case WB_META_FLOAT: fact_of_float(meta, fact); break;
    case WB_META_ARRAY: fact_of_array(catalog, meta, fact); break;
    default: break;
    }
    return true;
}

static wb_status read_config(wb__semantics *semantics, const wb_model *model, wb__context *context)
{
    wb_status status = WB_OK;
    const wb__config_json *config_json = &model->config_json;
    semantics->facts = (wb__facts){
        .key_value = key_value, .key_list = key_list, .ctx = (void *)(uintptr_t)&model->catalog};
    wb__fact said = wb__fact_by_key(&semantics->facts, WB__STR(""), "general.architecture");
    semantics->by_key = said.type == WB__FACT_TEXT;
    /* Ignore config.json: next to a GGUF file, it may belong to another model. */
    if (semantics->by_key)
        return WB_OK;
    if (!config_json->has_config && model->folder != NULL) {
        char *path = wb__path_join(&context->allocator, model->folder, WB__STR("config.json"));
        if (path == NULL)
            return wb__fail_memory(context);
        status = wb__config_json_read(&semantics->config_json, context, model->folder, path);
        wb__free(&context->allocator, path, strlen(path) + 1);
        config_json = &semantics->config_json;
    }
    if (status == WB_OK && config_json->has_config)
        wb__facts_use_config(&semantics->facts, &config_json->config);
    return status;
}

/* ---- the family ---- */

/* Returns true if the model has a tensor whose name matches a pattern of a family's signature, with
 * layer number 0 (arch/family.h). */
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
        if (wb__table_find(&model->catalog.table, (wb__str){text, wrapper.len + n}) !=
            WB__NO_TENSOR)
            return true;
    }
    return false;
}

static wb_status find_family(wb__semantics *semantics, const wb_model *model, wb__context *context)
{
    const wb__family *family;
    const wb__family_set *set = wb__families_set(model->families);
    wb__str said = wb__config_architecture(&semantics->facts, set, &family);
    semantics->is_said = said.len > 0;
    if (said.len == 0) {
        family = wb__family_by_signature(set, has_pattern, (void *)(uintptr_t)model);
        said = wb__family_gguf(family);
    }
    semantics->is_family = family != NULL && family != &wb__family_unknown;
    semantics->family = family != NULL ? family : &wb__family_unknown;
    if (said.len == 0)
        return WB_OK;
    semantics->architecture = wb__alloc(&semantics->allocator, said.len + 1);
    if (semantics->architecture == NULL)
        return wb__fail_memory(context);
    semantics->architecture_bytes = said.len + 1;
    memcpy(semantics->architecture, said.ptr, said.len);
    semantics->architecture[said.len] = '\0';
    return WB_OK;
}

/* ---- all of it ---- */

wb__family_scope wb__semantics_scope(const wb__semantics *semantics)
{
    return (wb__family_scope){.family = semantics->family,
                              .facts = &semantics->facts,
                              .config = &semantics->config,
                              .names = &semantics->names,
                              .prefix = wb__str_from(semantics->architecture, SIZE_MAX),
                              .by_key = semantics->by_key};
}

void wb__semantics_free(wb__semantics *semantics)
{
    if (semantics == NULL)
        return;
    wb_allocator allocator = semantics->allocator;
    wb__config_json_free(&semantics->config_json);
    wb__names_free(&semantics->names);
    wb__free(&allocator, semantics->architecture, semantics->architecture_bytes);
    wb__findings_clear(&semantics->findings);
    wb__free(&allocator, semantics, sizeof *semantics);
}

static wb_status fill(wb__semantics *semantics, const wb_model *model, wb__context *context)
{
    wb_status status = read_config(semantics, model, context);
    if (status == WB_OK)
        status = find_family(semantics, model, context);
    if (status == WB_OK)
        status = wb__names_make(&semantics->names, context, semantics->family,
                                &model->catalog.table, &model->tensors);
    if (status == WB_OK)
        wb__config_make(&semantics->config, &semantics->facts,
                        semantics->is_family ? semantics->family : NULL, semantics->is_said,
                        semantics->architecture, &semantics->names);
    if (status == WB_OK &&
        !wb__layers_read(&semantics->layers, &semantics->facts,
                         wb__str_from(semantics->architecture, SIZE_MAX), &semantics->names.arena))
        status = wb__fail_memory(context);
    return status;
}

static wb_status make(const wb_model *model, wb__context *context, wb__semantics **made)
{
    wb__context own = *context; /* a copy that adds findings to semantics->findings */
    wb__semantics *semantics = wb__alloc(&model->allocator, sizeof *semantics);
    *made = semantics;
    if (semantics == NULL)
        return wb__fail_memory(context);
    memset(semantics, 0, sizeof *semantics);
    semantics->allocator = model->allocator;
    semantics->config_json.allocator = model->allocator;
    wb__findings_init(&semantics->findings, &semantics->allocator);
    own.allocator = model->allocator;
    own.findings = &semantics->findings;
    own.limits = model->limits;
    return fill(semantics, model, &own);
}

wb_status wb__semantics_of(const wb_model *model, wb__context *context,
                           const wb__semantics **semantics)
{
    /* The cast removes `const`: a const model never changes, except for caches such as this one. */
    _Atomic(wb__semantics *) *cache = (_Atomic(wb__semantics *) *)(uintptr_t)&model->semantics;
    wb__semantics *known = atomic_load(cache);
    *semantics = known;
    if (known != NULL)
        return WB_OK;
    wb__semantics *made;
    wb_status status = make(model, context, &made);
    if (status != WB_OK) {
        wb__semantics_free(made);
        return status;
    }
    if (atomic_compare_exchange_strong(cache, &known, made))
        known = made;
    else /* another thread stored its result first: use that one */
        wb__semantics_free(made);
    *semantics = known;
    return WB_OK;
}

uint64_t wb__semantics_find(const wb_model *model, const wb__semantics *semantics,
                            wb__str canonical)
{
    const wb__name_entry *entry = wb__names_find(&semantics->names, canonical);
    if (entry == NULL && semantics->config.tie_embeddings != 0 &&
        wb__str_equal(canonical, WB__STR("output.weight")))
        entry = wb__names_find(&semantics->names, WB__STR("token_embedding.weight"));
    if (entry == NULL || (entry->experts != 0 && entry->view == WB__NO_ENTRY))
        return UINT64_MAX;
    return entry->experts == 0 ? entry->first
                               : model->tensors.count + model->tensors.stored_count + entry->view;
}
