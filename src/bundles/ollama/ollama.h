/*
 * bundles/ollama: models in the store of an Ollama installation.
 *
 *     <store>/manifests/<host>/<namespace>/<model>/<tag>    JSON: a config, and layers
 *     <store>/blobs/sha256-<64 hexadecimal digits>          what a layer or config is made of
 *
 * A layer of kind `model` is a GGUF file; one of kind `tensor` is a safetensors file with one
 * tensor and its companions, or a group of experts; the files that lie beside weights in a folder
 * are layers of kind `json` here, under their names. Digests come from strangers and become paths:
 * nothing but "sha256" and 64 hexadecimal digits is one.
 *
 * docs/format/ollama.md has the whole of it.
 */
#ifndef WB_BUNDLES_OLLAMA_H
#define WB_BUNDLES_OLLAMA_H

#include "core/core.h"
#include "json/tree.h"

#define WB__OLLAMA_SCHEME "ollama://"

/* ---- names ---- */

/* [host/][namespace/]model[:tag]; parts that are not said have Ollama's defaults. */
typedef struct wb__ollama_name {
    wb__str host, space, model, tag;
} wb__ollama_name;

/* Reads a name, with or without the scheme. False where it breaks Ollama's rules for names. */
bool wb__ollama_name_parse(wb__str text, wb__ollama_name *name);

/*
 * The path of the manifest of a model, in the context's allocator; free with strlen + 1. Names
 * differ in case at most. NOT_FOUND where the store has no such model.
 */
wb_status wb__ollama_find(wb__context *context, const char *store, wb__str name, char **path);

/* The store of this user: OLLAMA_MODELS, or ~/.ollama/models, in the context's allocator; free with strlen + 1.
 * NOT_FOUND where neither is known. */
wb_status wb__ollama_default_store(wb__context *context, char **store);

/*
 * "<store>/blobs/<host>+<namespace>+<model>+<tag>", in lower case: what a model that is being written is called by
 * what is kept of it (io/sink.h), so that no two have the same. In the context's allocator, free with strlen + 1;
 * NULL for a name that breaks the rules, or is too long for a file. `store`: NULL for that of this user.
 */
wb_status wb__ollama_kept_path(wb__context *context, const char *store, wb__str name, char **path);

/* Whether a folder looks like a store: it has manifests and blobs. */
bool wb__ollama_is_store(const wb_allocator *allocator, const char *folder);

/* Whether a path leads through a folder `manifests`, or to something called sha256… in a folder
 * `blobs`. */
bool wb__ollama_is_manifest_path(const char *path);
bool wb__ollama_is_blob_path(const char *path);

/* ---- what there is ---- */

typedef struct wb__store_entry {
    const char *path; /* of the manifest */
    wb__str host, space, model, tag;
    uint64_t bytes; /* of config and layers, as the manifest says */
    uint64_t layers;
    uint64_t tensors;      /* layers that hold one tensor each, or a few */
    const wb_error *error; /* NULL, or why the manifest could not be read */
} wb__store_entry;

typedef wb_status wb__store_each(void *ctx, const wb__store_entry *entry);

/* Calls `each` for every model of a store, by name; what it returns other than WB_OK ends the
 * listing. */
wb_status wb__ollama_list(wb__context *context, const char *store, wb__store_each *each, void *ctx);

/* ---- manifests ---- */

typedef enum wb__layer_kind {
    WB__LAYER_MODEL,
    WB__LAYER_TENSOR,
    WB__LAYER_JSON,
    WB__LAYER_DRAFT,
    WB__LAYER_ADAPTER,
    WB__LAYER_PROJECTOR,
    WB__LAYER_TEMPLATE,
    WB__LAYER_SYSTEM,
    WB__LAYER_PARAMS,
    WB__LAYER_MESSAGES,
    WB__LAYER_LICENSE,
    WB__LAYER_OTHER
} wb__layer_kind;

/* The last word of its media type. Static. */
const char *wb__layer_kind_name(wb__layer_kind kind);

typedef struct wb__ollama_layer {
    wb__layer_kind kind;
    wb__str name;   /* of the file or tensor, empty where there is none */
    wb__str digest; /* 64 hexadecimal digits */
    uint64_t bytes;
    wb__node node; /* in the manifest, for messages */
} wb__ollama_layer;

typedef struct wb__ollama {
    wb_allocator allocator;
    wb__arena arena;
    const char *path;  /* of the manifest */
    const char *store; /* the folder that has blobs/ */
    char *text;
    size_t text_bytes;
    wb__tree manifest;
    wb__ollama_layer *layers; /* in the order of the manifest */
    size_t count;
    size_t capacity;
    wb__ollama_layer config;
    bool has_config;
} wb__ollama;

/* Sets up an empty one, so that wb__ollama_free may be called. */
void wb__ollama_init(wb__ollama *ollama, const wb_allocator *allocator);
void wb__ollama_free(wb__ollama *ollama);

/*
 * Takes over the text of a manifest, `bytes` of it and a NUL, of the allocator; `path` is copied.
 * FORMAT for what is no manifest, or one with a digest that is none.
 */
wb_status wb__ollama_parse(wb__ollama *ollama, wb__context *context, const char *path, char *text,
                           size_t bytes);

/* The path of a layer's blob, in ollama's arena; NULL when memory is out. */
char *wb__ollama_blob(wb__ollama *ollama, const wb__ollama_layer *layer);

/* The first layer of a kind, and of that name if `name` is not NULL; or NULL. */
const wb__ollama_layer *wb__ollama_layer_of(const wb__ollama *ollama, wb__layer_kind kind,
                                            const char *name);

#endif
