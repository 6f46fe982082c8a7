/*
 * handle: an open model and the meaning of its files.
 *
 * A wb_model owns the catalog of tensors and metadata, the byte sources of its files and its
 * findings. Facts derived from these (canonical names, config, metadata of sidecar files) are
 * computed once, by the first query that needs them, and never change afterwards. open/ fills a
 * model. read/, verify/ and all other modules only read it.
 */
#ifndef WB_HANDLE_HANDLE_H
#define WB_HANDLE_HANDLE_H

#include "core/call_options.h"
#include "core/core.h"
#include "handle/config_json.h"
#include "handle/decode_cache.h"
#include "io/io.h"
#include "model/catalog.h"
#include "model/packed.h"

struct wb_model {
    wb_allocator allocator;
    wb_executor executor;
    wb_limits limits;
    wb_files files;
    wb_access access;
    bool follow_links; /* the flag WB_OPEN_FOLLOW_LINKS was given */
    wb__catalog catalog;
    wb__decode_cache *decode_cache;
    wb__source **sources; /* one for each file of the catalog */
    size_t source_count;
    size_t source_capacity;
    wb_findings findings;
    wb__tensors tensors; /* the tensors by the index that public functions use */
    wb__config_json config_json;
    const char *folder; /* directory of the sidecar files; NULL: none */
    bool is_folder;     /* the model was opened by the path of its directory */
    const struct wb__named_file
        *named_files;  /* replaces `folder` if not NULL: a list of sidecar files in `store` */
    const char *store; /* directory of the Ollama store; NULL: none */
    _Atomic(struct wb__name_list *)
        names[2]; /* one list per wb_names_kind, each created by its first query */
    _Atomic(struct wb__semantics *) semantics;  /* created by the first query of names or config */
    wb_families *families;                      /* a reference; NULL: only the compiled families */
    _Atomic(struct wb__derived_meta *) derived; /* created by the first query of derived metadata */
};

/* A sidecar file that is stored under another file name, as in an Ollama store. The last entry of a
 * list has name NULL. */
typedef struct wb__named_file {
    const char *name; /* "tokenizer.json" */
    const char *path;
} wb__named_file;

/* Adds a reference to `families`, which may be NULL, and returns it. wb_families_free removes a
 * reference. */
wb_families *wb__families_share(wb_families *families);

/* Returns the set of families to search in the functions of arch/family.h. `families` may be NULL. */
const struct wb__family_set *wb__families_set(const wb_families *families);

void wb__semantics_free(struct wb__semantics *semantics);
void wb__derived_meta_free(struct wb__derived_meta *derived);

/* Returns the context for a public call on an open model. */
wb__context wb__context_of(const wb_model *model, wb_error *error);

/* Creates an empty model, which open/ fills. Returns NULL if memory runs out. */
wb_model *wb__model_new(wb__context *context, wb_access access);
void wb__model_delete(wb_model *model);

/*
 * Resolves a tensor index of a caller to a stored tensor. If the tensor is packed, *packed
 * describes its parts and *stored is the part with the values. Otherwise *packed is NULL. Fails
 * with WB_ERROR_NOT_FOUND if there is no tensor with this index.
 */
wb_status wb__resolve(const wb_model *model, wb__context *context, uint64_t index, size_t *stored,
                      const wb__packed **packed);

/* The names of all tensors. offsets[i] is the start of name i in `texts`, and the last element of
 * `offsets` is the length of `texts`. */
typedef struct wb__name_list {
    size_t bytes; /* size of this struct, with `offsets` and any copied texts */
    const char *texts;
    uint64_t offsets[];
} wb__name_list;

/* Frees everything that the model owns. The model is then empty, as after wb__model_new. */
void wb__model_reset(wb_model *model, wb__context *context);

#endif
