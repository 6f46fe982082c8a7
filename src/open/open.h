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
#include "core/core.h"
#include "crypto/sha256.h"
#include "formats/format.h"
#include "handle/config_json.h"
#include "handle/decode_cache.h"
#include "io/io.h"
#include "model/catalog.h"
#include "model/packed.h"
#include "weighbridge/tensor.h"

struct wb_model {
    wb_allocator allocator;
    wb_executor executor;
    wb_limits limits;
    wb_access access;
    wb__catalog catalog;
    wb__decode_cache *decode_cache;
    wb__source **sources; /* one for each file of the logical model */
    size_t source_count;
    size_t source_capacity;
    wb_findings findings;
    wb__tensors tensors; /* as callers see them */
    wb__config_json config_json;
    const char *folder; /* what lies beside the weights lies here; NULL: nothing */
    const struct wb__named_file *named_files; /* or in these files, under other names */
    _Atomic(struct wb__name_list *) names[2]; /* made by the first wb_tensor_names of a kind */
    _Atomic(struct wb__semantics *)
        semantics; /* made by the first question about what weights mean */
    _Atomic(struct wb__derived_meta *) derived; /* made by the first about what lies beside them */
};

/* A file beside the weights that is called otherwise in its store; the last has no name. */
typedef struct wb__named_file {
    const char *name; /* "tokenizer.json" */
    const char *path;
} wb__named_file;

void wb__semantics_free(struct wb__semantics *semantics);
void wb__derived_meta_free(struct wb__derived_meta *derived);

/* Sets up a context from a caller's options. ARGUMENT if they make no sense. */
wb_status wb__context_init(wb__context *context, const wb_open_options *options, wb_error *error);

wb_status wb__fail_argument(wb__context *context, const char *what);

/* A context for calls on an open model. */
wb__context wb__context_of(const wb_model *model, wb_error *error);

wb_access wb__access_of(const wb_open_options *options);

/* An empty model, to be filled by one of the functions below. NULL: memory is out. */
wb_model *wb__model_new(wb__context *context, wb_access access);
void wb__model_delete(wb_model *model);

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

/* ---- open_ollama.c ---- */

/* Opens the model of a manifest, or a name in a store (NULL: the user's own), into an empty model.
 */
wb_status wb__open_manifest(wb_model *model, wb__context *context, const char *path);
wb_status wb__open_ollama_name(wb_model *model, wb__context *context, const char *store,
                               const char *name);

/* ---- finish.c ---- */

/* Joins packed tensors with their companions; `hints` may be NULL. */
wb_status wb__open_join(wb_model *model, wb__context *context, const wb__file_hints *hints);

/*
 * What follows once all files are read: config.json in `folder` (NULL: nowhere), and packed tensors
 * joined with their companions. wb__open_path has done it.
 */
wb_status wb__open_finish(wb_model *model, wb__context *context, const char *folder);

/*
 * Takes the number of a tensor apart: the stored tensor, which is the packed values where there are
 * several parts, and then *packed is not NULL. NOT_FOUND if there is no such tensor.
 */
wb_status wb__resolve(const wb_model *model, wb__context *context, uint64_t index, size_t *stored,
                      const wb__packed **packed);

/* All names of tensors in one piece. */
typedef struct wb__name_list {
    size_t bytes; /* of this block, texts included */
    const char *texts;
    uint64_t offsets[];
} wb__name_list;

/* ---- reading tensors ---- */

/* The extent of what a slice selects and how it lies in the tensor; filled by wb__selection_make.
 */
typedef struct wb__selection {
    size_t stored;            /* the number of the stored tensor */
    const wb__packed *packed; /* NULL: it is the whole of it */
    bool decode;              /* the values are not stored as such (decoder.h) */
    const wb__dtype *from;    /* what elements are before they are converted to `to` */
    const wb__kind *kind;
    const wb__dtype *to;
    const wb_axis *axes; /* NULL: the whole tensor */
    uint64_t first;      /* of the elements selected, in row-major order */
    uint64_t count;
    uint64_t bytes; /* of the result */
} wb__selection;

wb_status wb__selection_make(const wb_model *model, wb__context *context, uint64_t tensor,
                             const wb_slice *slice, int32_t dtype, wb__selection *selection);

wb_status wb__read_selection(const wb_model *model, wb__context *context,
                             const wb__selection *selection, void *dst);

/* ---- verifying ---- */

/* Adds what the config and the files beside the weights show (verify_meaning.c). */
wb_status wb__verify_meaning(const wb_model *model, wb__context *context);

/* Notes bytes other than 0 in the padding of a file. */
wb_status wb__verify_padding(const wb_model *model, wb__context *context, size_t file);

/* Notes strings within arrays of the metadata that are no sound text. */
wb_status wb__verify_texts(const wb_model *model, wb__context *context);

/* Adds to context->findings what the values and the layout of an open model show. */
wb_status wb__verify(const wb_model *model, wb__context *context, const wb_verify_options *options);

/* What is known of a model that was refused: whether the file that it was refused for is damaged. The
 * context's error is the reason; it stays. */
wb_status wb__verify_refused(const wb_model *model, wb__context *context,
                             const wb_verify_options *options);

/* Notes journals of edits that were broken off beside the files of an open model (verify_journal.c). */
wb_status wb__verify_journals(const wb_model *model, wb__context *context);

/* Puts such a journal, if there is one, into the reason for which a model was refused. */
void wb__verify_explain(const wb_model *model, wb__context *context);

/* Compares files that are named by the SHA-256 of their bytes with it, from the file `first` on. The
 * model need not be whole. */
wb_status wb__verify_digests(const wb_model *model, size_t first, wb__context *context);

/* The digest a file is named by, as blobs are; false if it is not. */
bool wb__digest_of_name(const char *path, uint8_t digest[WB__SHA256_BYTES]);

#endif
