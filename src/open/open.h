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

/* Opens a file of a model and adds its tensors and metadata, as wb__open_source does.
 * wb__source_open_in (io/io.h) describes `folder`. */
wb_status wb__open_file(wb_model *model, wb__context *context, const char *folder,
                        const char *path);

/* ---- paths that are near a model (near_paths.c) ---- */

/* Finds the snapshot of branch `main` in a repository of a Hugging Face cache. *snapshot is the
 * path of the snapshot, which the caller frees (strlen + 1 bytes), or NULL if `folder` is no such
 * repository. */
wb_status wb__snapshot_of(wb__context *context, const char *folder, char **snapshot);

/* Called if the file `path` does not exist. If `path` is a symbolic link, replaces the error by one
 * with this status, which says that the target is missing. Returns the status of the error. */
wb_status wb__explain_link(wb__context *context, const char *path, wb_status status);

/* Returns true if a path is an address like https://example.org/model.gguf. */
bool wb__is_address(const char *path);

/* If a directory is an Ollama store, contains one, or is in one, replaces the error by one that
 * says so. */
void wb__explain_store(wb__context *context, const char *folder);

/* If `store` is no Ollama store but contains one, replaces the error (no model with this name) by
 * one that says so. */
void wb__explain_store_option(wb__context *context, const char *store);

/* Called after an error about missing shards. `source` is the file that the user named. If this
 * file has a recognized format that is not a format of weights, replaces the error by one that says
 * so. */
void wb__explain_lone_shard(wb__context *context, wb__source *source);

/* The packing that each blob of an Ollama model declares, one hint per file. */
typedef struct wb__file_hints {
    const wb_allocator *allocator;
    wb__packing_hint *list;
    size_t count;
    size_t capacity;
    bool out_of_memory;
} wb__file_hints;

/*
 * wb__open_manifest opens the model of an Ollama manifest into an empty wb_model. `folder` is
 * described at wb__source_open_in (io/io.h). wb__open_ollama_name does the same for a model name in
 * a store. If `store` is NULL, it uses the user's default store.
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
