/*
 * handle: an open model and what its files mean.
 *
 * A wb_model owns the catalog of tensors and metadata, the byte sources of its files and its findings. Facts
 * derived from them (canonical names, config, metadata of sidecar files) are computed by the first question
 * that needs them, once, and never change afterwards. open/ fills a model; read/, verify/ and all others only
 * read it.
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

/* A context for calls on an open model. */
wb__context wb__context_of(const wb_model *model, wb_error *error);

/* An empty model, to be filled by one of the functions below. NULL: memory is out. */
wb_model *wb__model_new(wb__context *context, wb_access access);
void wb__model_delete(wb_model *model);

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

/* Frees what the model holds and sets it up as a new, empty one. */
void wb__model_reset(wb_model *model, wb__context *context);

#endif
