/*
 * open: opens a path, a descriptor, memory or a caller's source as a wb_model.
 *
 * Finds the files of the model (bundles/), detects the format of each file (formats/), reads its
 * header into the catalog (model/), and compares the result with the index of the shards. The
 * sources stay open as long as the model.
 */
#ifndef WB_OPEN_OPEN_H
#define WB_OPEN_OPEN_H

#include "bundles/bundle.h"
#include "formats/format.h"
#include "handle/handle.h"

/* Opens the model at a path into an empty wb_model. */
wb_status wb__open_path(wb_model *model, wb__context *context, const char *path);

/* Adds the tensors and metadata of one source to a model. The model takes ownership of the source,
 * also on failure. */
wb_status wb__open_source(wb_model *model, wb__context *context, wb__source *source);

/* Opens a file of a model and adds its tensors and metadata, as wb__open_source does. `folder` is
 * that of wb__source_open_in. */
wb_status wb__open_file(wb_model *model, wb__context *context, const char *folder,
                        const char *path);

/* The packing that each blob of an Ollama model declares, one hint per file. */
typedef struct wb__file_hints {
    const wb_allocator *allocator;
    wb__packing_hint *list;
    size_t count;
    size_t capacity;
    bool out_of_memory;
} wb__file_hints;

/*
 * wb__open_manifest opens the model of an Ollama manifest into an empty wb_model. `folder` is that
 * of wb__source_open_in.
 * wb__open_ollama_name does so for a model name in a store. If `store` is NULL, it uses the user's
 * default store.
 */
wb_status wb__open_manifest(wb_model *model, wb__context *context, const char *folder,
                            const char *path);
wb_status wb__open_ollama_name(wb_model *model, wb__context *context, const char *store,
                               const char *name);

/* Joins packed tensors with their companions. `hints` may be NULL. */
wb_status wb__open_join(wb_model *model, wb__context *context, const wb__file_hints *hints);

/*
 * Completes a model after all files are read: reads config.json in `folder` (NULL: none) and joins
 * packed tensors with their companions. wb__open_path calls it.
 */
wb_status wb__open_finish(wb_model *model, wb__context *context, const char *folder);

#endif
