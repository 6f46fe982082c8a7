/*
 * handle/semantics.h: architecture, canonical names and config of a model.
 *
 * Opening reads headers only, so that callers do not pay for facts that they do not query. The
 * first query of canonical names or the config computes the semantics, which never change
 * afterwards. Threads that query at the same time may each compute them. The first result is stored
 * in the model, and the others are freed.
 */
#ifndef WB_HANDLE_SEMANTICS_H
#define WB_HANDLE_SEMANTICS_H

#include "arch/family_scope.h"
#include "arch/layers.h"
#include "arch/model_config.h"
#include "handle/handle.h"

typedef struct wb__semantics {
    wb_allocator allocator;
    wb__config_json config_json; /* config.json, if opening did not read it */
    wb__facts facts;
    const wb__family *family; /* family whose naming rules apply; never NULL */
    bool is_said;             /* the files specify the architecture */
    bool is_family;           /* false: unknown family; `family` gives only naming rules */
    bool by_key;              /* facts come from GGUF key-values, not config.json */
    char *architecture;       /* NULL: unknown */
    size_t architecture_bytes;
    wb__names names;
    wb_config config;
    wb__layers layers;
    wb_findings findings; /* findings made while computing the semantics */
} wb__semantics;

/* Returns the values that names have in the expressions of the model's family table
 * (arch/family_scope.h). `semantics` must outlive the result. */
wb__family_scope wb__semantics_scope(const wb__semantics *semantics);

/* Sets *semantics to the architecture, tensor names and config of the model, which the first call
 * determines. Fails only with WB_ERROR_MEMORY. *semantics is valid until the model is closed. */
wb_status wb__semantics_of(const wb_model *model, wb__context *context,
                           const wb__semantics **semantics);

/* Reads a sidecar file, for example "tokenizer.json", as wb__read_text does. *text is NULL if the
 * file does not exist. */
wb_status wb__sidecar_text(const wb_model *model, wb__context *context, const char *name,
                           char **text, size_t *bytes);

/*
 * Sets *path to the path that a sidecar file would have, and *folder to the directory that links
 * must not leave (wb__source_open_in). *path is NULL if the model has no such file. The caller
 * frees *path, whose size is strlen + 1 bytes.
 */
wb_status wb__sidecar_path(const wb_model *model, wb__context *context, const char *name,
                           const char **folder, char **path);

/* Returns the name of sidecar file i, or NULL if i is past the last one. Their order is
 * unspecified. */
const char *wb__sidecar_name(size_t i);

/* Sets *reads to true if `path` refers, also through links, to a weights file or sidecar file of
 * the model. The only error is WB_ERROR_MEMORY. */
wb_status wb__model_reads(const wb_model *model, wb__context *context, const char *path,
                          bool *reads);

/* Returns the index of a tensor by its canonical name, or UINT64_MAX. */
uint64_t wb__semantics_find(const wb_model *model, const wb__semantics *semantics,
                            wb__str canonical);

/* ---- GGUF per-tensor scales: NAME.scale (gguf_scale.c) ---- */

/* wb__gguf_scale_of returns the index of the scale of a weight. wb__gguf_scaled_weight returns
 * the index of the weight to which a scale belongs. Both return UINT64_MAX if there is none. */
uint64_t wb__gguf_scale_of(const wb_model *model, const wb__semantics *semantics, uint64_t weight);
uint64_t wb__gguf_scaled_weight(const wb_model *model, const wb__semantics *semantics,
                                uint64_t factor);

/* ---- experts that are stored one by one, presented as one tensor: an expert view ---- */

/* Finds the expert view with tensor index `number`. Sets *view to NULL if there is none. */
wb_status wb__expert_view_of(const wb_model *model, wb__context *context, uint64_t number,
                             const wb__expert_view **view);

#endif
