/*
 * handle/semantics.h: what the weights of a model mean, found out when it is first asked.
 *
 * Opening reads headers and nothing else, so that those who know what they want do not pay for what
 * they do not ask. The first question about canonical names or the config makes an insight, which
 * then never changes. Threads that ask at the same time may each make one; the first to be done
 * leaves its own with the model, and the others drop theirs.
 */
#ifndef WB_HANDLE_SEMANTICS_H
#define WB_HANDLE_SEMANTICS_H

#include "arch/model_config.h"
#include "handle/handle.h"

typedef struct wb__semantics {
    wb_allocator allocator;
    wb__config_json config_json; /* config.json, where opening had no need of it */
    wb__facts facts;
    const wb__family *family; /* of the rules; never NULL */
    bool is_family;           /* the model is of that family, and does not just use its rules */
    bool by_key;              /* the model says what it is in key-values: GGUF */
    char *architecture;       /* NULL: nobody says */
    size_t architecture_bytes;
    wb__names names;
    wb_config config;
    wb_findings findings; /* made on the way */
} wb__semantics;

/* MEMORY is the only failure. Borrowed until the model is closed. */
wb_status wb__semantics_of(const wb_model *model, wb__context *context,
                           const wb__semantics **semantics);

/*
 * Reads a file that lies beside the weights, "tokenizer.json", as wb__read_text does; *text stays
 * NULL where there is none.
 */
wb_status wb__sidecar_text(const wb_model *model, wb__context *context, const char *name,
                           char **text, size_t *bytes);

/* The names of such files, in any order; NULL behind the last. */
const char *wb__sidecar_name(size_t i);

/* Whether `path` leads to a file of weights, or to one that is read beside them. MEMORY is the only failure. */
wb_status wb__model_reads(const wb_model *model, wb__context *context, const char *path,
                          bool *reads);

/* The number of a tensor by its canonical name, UINT64_MAX if there is none. */
uint64_t wb__semantics_find(const wb_model *model, const wb__semantics *semantics,
                            wb__str canonical);

/* ---- NAME.scale beside weights of GGUF (factor.c) ---- */

/* The tensor that has the factor of a weight, and the weight that a tensor has the factor of; UINT64_MAX: none. */
uint64_t wb__gguf_scale_of(const wb_model *model, const wb__semantics *semantics, uint64_t weight);
uint64_t wb__gguf_scaled_weight(const wb_model *model, const wb__semantics *semantics,
                                uint64_t factor);

/* ---- experts stored one by one, as one tensor (view.c) ---- */

/* The view that has a number; *view is NULL for other tensors. */
wb_status wb__expert_view_of(const wb_model *model, wb__context *context, uint64_t number,
                             const wb__expert_view **view);

#endif
