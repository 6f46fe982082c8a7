/*
 * Reads any text as config.json: detects the family, fills in a wb_config and derives metadata.
 * Derived numbers must be consistent, absent numbers must be 0, and a second reading must give the
 * same result.
 */
#include "arch/derive_meta.h"
#include "arch/model_config.h"
#include "support/fuzz.h"

static void check_config(const wb_config *c)
{
    for (uint32_t field = 0; field < WB_CONFIG_FIELDS; field++) {
        wb_config_value value = {.size = sizeof value};
        CHECK(wb_config_at(c, field, &value) == WB_OK);
        CHECK(value.name != NULL && value.origin <= WB_ORIGIN_DERIVED);
        if (value.origin == WB_ORIGIN_ABSENT)
            CHECK(value.number == 0 && !(value.real > 0));
    }
    if (c->q_dim != 0)
        CHECK(c->q_dim / c->head_dim == c->n_heads);
    if (c->kv_dim != 0)
        CHECK(c->kv_dim / c->head_dim == c->n_kv_heads);
    if (c->sliding_window == 0 && c->origin[WB_CONFIG_SLIDING_WINDOW_PATTERN] == WB_ORIGIN_DEFAULT)
        CHECK(c->sliding_window_pattern == 0);
}

static void check_told(const wb__facts *facts, const wb_config *config, const wb__family *family)
{
    wb_error error;
    wb__catalog none, into;
    wb__names names;
    wb__tensors tensors;
    wb__context context = {.allocator = wb__default_allocator,
                           .limits = {.files = 65536},
                           .file = "",
                           .error = &error};
    wb__catalog_init(&none, &context.allocator, 0);
    wb__catalog_init(&into, &context.allocator, 0);
    wb__tensors_init(&tensors, &context.allocator);
    CHECK(wb__names_make(&names, &context, family == NULL ? &wb__family_unknown : family,
                         &none.table, &tensors) == WB_OK);
    wb__deriver teller = {.into = &into,
                          .context = &context,
                          .known = &none,
                          .facts = facts,
                          .config = config,
                          .family = family,
                          .names = &names,
                          .status = wb__catalog_begin_file(&into, &context, "config.json", "", 0)};
    wb__derive_json(&teller, facts->config);
    wb__derive_config(&teller);
    wb__derive_generation(&teller, facts->config);
    wb__derive_templates(&teller, facts->config, WB__STR(""));
    CHECK(teller.status == WB_OK);
    for (size_t i = 0; i < into.metas.count; i++) {
        const wb__meta *meta = wb__list_at(&into.metas, i);
        CHECK(wb__catalog_find_meta(&into, wb__meta_key(&into, meta)) == meta);
        if (meta->type == WB_META_ARRAY && meta->value.array->element == WB_META_STRING)
            (void)wb__array_string(meta->value.array, wb__meta_base(&into, meta),
                                   meta->value.array->count - 1);
    }
    wb__names_free(&names);
    wb__tensors_free(&tensors);
    wb__catalog_free(&into);
    wb__catalog_free(&none);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    wb_config configs[2];
    for (int pass = 0; pass < 2; pass++) {
        char *text = malloc(size + 1);
        wb__tree tree;
        const wb__family *family;
        CHECK(text != NULL);
        memcpy(text, data, size);
        text[size] = '\0';
        if (wb__tree_parse(&tree, text, size, &wb__default_allocator)) {
            wb__facts facts = {.key_value = NULL};
            wb__facts_use_config(&facts, &tree);
            wb__str said = wb__config_architecture(&facts, NULL, &family);
            char *copy = malloc(said.len + 1);
            CHECK(copy != NULL);
            memcpy(copy, said.ptr, said.len);
            copy[said.len] = '\0';
            wb__config_make(&configs[pass], &facts, family, said.len > 0,
                            said.len == 0 ? NULL : copy, NULL);
            check_config(&configs[pass]);
            check_told(&facts, &configs[pass], family);
            configs[pass].architecture = NULL;
            if (pass == 1)
                CHECK(memcmp(&configs[0], &configs[1], sizeof configs[0]) == 0);
            free(copy);
        }
        wb__tree_free(&tree);
        free(text);
    }
    return 0;
}
