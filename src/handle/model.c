/*
 * Creates, resets and deletes an open model.
 */
#include "cpu/cpu.h"
#include "handle/handle.h"
#include "weighbridge/families.h"

/* Initializes the members that both wb__model_new and wb__model_reset set. */
static void set_up(wb_model *model, wb__context *context)
{
    wb__catalog_init(&model->catalog, &context->allocator, wb__cpu_features());
    wb__tensors_init(&model->tensors, &model->allocator);
    wb__findings_init(&model->findings, &context->allocator);
    model->config_json.allocator = context->allocator;
    model->folder = NULL;
    model->is_folder = false;
    model->named_files = NULL;
    model->store = NULL;
    context->findings = &model->findings;
}

wb_model *wb__model_new(wb__context *context, wb_access access)
{
    wb_model *model = wb__alloc(&context->allocator, sizeof *model);
    if (model == NULL)
        return NULL;
    memset(model, 0, sizeof *model);
    model->decode_cache = wb__decode_cache_new(&context->allocator);
    if (model->decode_cache == NULL) {
        wb__free(&context->allocator, model, sizeof *model);
        return NULL;
    }
    model->allocator = context->allocator;
    model->executor = context->executor;
    model->limits = context->limits;
    model->files = context->files;
    model->access = access;
    model->follow_links = context->follow_links;
    model->families = wb__families_share(context->families);
    set_up(model, context);
    return model;
}

static void clear(wb_model *model)
{
    for (size_t i = 0; i < sizeof model->names / sizeof model->names[0]; i++) {
        wb__name_list *names = model->names[i];
        if (names != NULL)
            wb__free(&model->allocator, names, names->bytes);
    }
    wb__decode_cache_clear(model->decode_cache);
    wb__derived_meta_free(model->derived);
    wb__semantics_free(model->semantics);
    wb__config_json_free(&model->config_json);
    wb__tensors_free(&model->tensors);
    for (size_t i = 0; i < model->source_count; i++)
        wb__source_close(model->sources[i]);
    model->source_count = 0;
    wb__catalog_free(&model->catalog);
    wb__findings_clear(&model->findings);
}

void wb__model_reset(wb_model *model, wb__context *context)
{
    clear(model);
    set_up(model, context);
}

void wb__model_delete(wb_model *model)
{
    if (model == NULL)
        return;
    clear(model);
    wb__decode_cache_free(model->decode_cache);
    wb_families_free(model->families);
    wb__free(&model->allocator, model->sources, model->source_capacity * sizeof *model->sources);
    wb_allocator allocator = model->allocator;
    wb__free(&allocator, model, sizeof *model);
}
