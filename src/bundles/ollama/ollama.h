/*
 * bundles/ollama: models in the store of an Ollama installation.
 *
 *     <store>/manifests/<host>/<namespace>/<model>/<tag>    JSON: a config, and layers
 *     <store>/blobs/sha256-<64 hexadecimal digits>          contents of a layer or config
 *
 * A layer of kind `model` is a GGUF file. A layer of kind `tensor` is a safetensors file that
 * contains either one tensor and its companions (scale, bias, global scale) or a group of experts.
 * Sidecar files such as config.json are layers of kind `json`. Digests are untrusted and become
 * part of paths, so only "sha256" and 64 hexadecimal digits are accepted.
 *
 * docs/format/ollama.md describes the complete format.
 */
#ifndef WB_BUNDLES_OLLAMA_OLLAMA_H
#define WB_BUNDLES_OLLAMA_OLLAMA_H

#include "core/core.h"
#include "json/tree.h"

#define WB__OLLAMA_SCHEME "ollama://"

/* ---- names ---- */

/* [host/][namespace/]model[:tag]; omitted parts have Ollama's defaults. */
typedef struct wb__ollama_name {
    wb__str host, space, model, tag;
} wb__ollama_name;

/*
 * Parses a name, with or without WB__OLLAMA_SCHEME. Returns false if the name violates Ollama's
 * rules.
 */
bool wb__ollama_name_parse(wb__str text, wb__ollama_name *name);

/*
 * Finds the manifest of a model; names match case-insensitively. Allocates *path with the context's
 * allocator; the caller must free strlen(*path) + 1 bytes. Fails with WB_ERROR_NOT_FOUND if the
 * store has no model with this name.
 */
wb_status wb__ollama_find(wb__context *context, const char *store, wb__str name, char **path);

/*
 * Sets *store to the path of the user's store: OLLAMA_MODELS, or ~/.ollama/models. Allocates *store
 * with the context's allocator; the caller must free strlen(*store) + 1 bytes. Fails with
 * WB_ERROR_NOT_FOUND if neither OLLAMA_MODELS nor HOME is set.
 */
wb_status wb__ollama_default_store(wb__context *context, char **store);

/*
 * Sets *path to "<store>/blobs/<host>+<namespace>+<model>+<tag>", with the name in lower case. The
 * names of the partial files of a model that is being written (io/sink.h) are derived from this
 * path, which is unique per model. Allocates *path with the context's allocator; the caller must
 * free strlen(*path) + 1 bytes. *path is NULL if the model name is invalid or too long for a file
 * name. If `store` is NULL, the user's store is used.
 */
wb_status wb__ollama_kept_path(wb__context *context, const char *store, wb__str name, char **path);

/* Returns true if a directory looks like a store: it contains manifests and blobs. */
bool wb__ollama_is_store(const wb_allocator *allocator, const char *folder);

/* Returns true if a path contains the directory `manifests`. */
bool wb__ollama_is_manifest_path(const char *path);
/* Returns true if a path ends in a file named sha256… in a directory `blobs`. */
bool wb__ollama_is_blob_path(const char *path);

/* ---- listing a store ---- */

typedef struct wb__store_entry {
    const char *path; /* path of the manifest */
    wb__str host, space, model, tag;
    uint64_t bytes; /* total size of config and layers according to the manifest */
    uint64_t layers;
    uint64_t tensors;      /* number of layers of kind `tensor` */
    const wb_error *error; /* NULL, or the reason why the manifest could not be read */
} wb__store_entry;

typedef wb_status wb__store_each(void *ctx, const wb__store_entry *entry);

/*
 * Calls `each` for every model of a store, in order of names. If `each` returns a status other than
 * WB_OK, stops and returns that status.
 */
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

/* Returns the last word of the media type of this kind, such as "tensor". Static string. */
const char *wb__layer_kind_name(wb__layer_kind kind);

typedef struct wb__ollama_layer {
    wb__layer_kind kind;
    wb__str name;   /* name of the file or tensor in the layer; empty if none */
    wb__str digest; /* 64 hexadecimal digits */
    uint64_t bytes;
    wb__node node; /* the layer's node in the manifest, for error messages */
} wb__ollama_layer;

typedef struct wb__ollama {
    wb_allocator allocator;
    wb__arena arena;
    const char *path;  /* path of the manifest */
    const char *store; /* the directory that contains blobs/ */
    char *text;
    size_t text_bytes;
    wb__tree manifest;
    wb__ollama_layer *layers; /* in manifest order */
    size_t count;
    size_t capacity;
    wb__ollama_layer config;
    bool has_config;
} wb__ollama;

/* Initializes an empty object, so that wb__ollama_free may be called. */
void wb__ollama_init(wb__ollama *ollama, const wb_allocator *allocator);
void wb__ollama_free(wb__ollama *ollama);

/*
 * Parses a manifest. Takes ownership of `text`, which has `bytes` bytes and a NUL and comes from
 * the allocator; `path` is copied. Fails with WB_ERROR_FORMAT if the text is not a manifest or has
 * an invalid digest.
 */
wb_status wb__ollama_parse(wb__ollama *ollama, wb__context *context, const char *path, char *text,
                           size_t bytes);

/* Returns the path of a layer's blob, allocated in ollama's arena; NULL if out of memory. */
char *wb__ollama_blob(wb__ollama *ollama, const wb__ollama_layer *layer);

/* Returns the first layer of a kind (with this name, if `name` is not NULL), or NULL. */
const wb__ollama_layer *wb__ollama_layer_of(const wb__ollama *ollama, wb__layer_kind kind,
                                            const char *name);

#endif
