/*
 * open: puts a model together, and reads what is in it.
 *
 * From a path, a descriptor, memory or a caller's source to a wb_model: find the files (bundles),
 * find the format of each (formats), read its header into the logical model (model), compare the
 * whole with its index. The sources stay open for as long as the model does.
 */
#ifndef WB_OPEN_OPEN_H
#define WB_OPEN_OPEN_H

#include "bundles/bundle.h"
#include "formats/format.h"
#include "handle/handle.h"

/* Opens what a path names into an empty model. */
wb_status wb__open_path(wb_model *model, wb__context *context, const char *path);

/* Opens one source, which the model takes over also where this fails, into an empty model. */
wb_status wb__open_source(wb_model *model, wb__context *context, wb__source *source);

/* Opens one file of several. */
wb_status wb__open_file(wb_model *model, wb__context *context, const char *path);

/* What the blobs of an Ollama model say of their own packing, one for each file. */
typedef struct wb__file_hints {
    const wb_allocator *allocator;
    wb__packing_hint *list;
    size_t count;
    size_t capacity;
    bool out_of_memory;
} wb__file_hints;

/* Opens the model of a manifest, or a name in a store (NULL: the user's own), into an empty model.
 */
wb_status wb__open_manifest(wb_model *model, wb__context *context, const char *path);
wb_status wb__open_ollama_name(wb_model *model, wb__context *context, const char *store,
                               const char *name);

/* Joins packed tensors with their companions; `hints` may be NULL. */
wb_status wb__open_join(wb_model *model, wb__context *context, const wb__file_hints *hints);

/*
 * What follows once all files are read: config.json in `folder` (NULL: nowhere), and packed tensors
 * joined with their companions. wb__open_path has done it.
 */
wb_status wb__open_finish(wb_model *model, wb__context *context, const char *folder);

#endif
