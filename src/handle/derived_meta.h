/*
 * handle/derived_meta.h: metadata derived from config.json and tokenizer files.
 *
 * The metadata is derived by the first query that the metadata of the weights files cannot answer,
 * and never changes afterwards. As with semantics.h, threads may derive it at the same time, and
 * the first result is kept.
 */
#ifndef WB_HANDLE_DERIVED_META_H
#define WB_HANDLE_DERIVED_META_H

#include "arch/derive_meta.h"
#include "handle/semantics.h"

typedef struct wb__derived_meta {
    wb_allocator allocator;
    wb__catalog model; /* has no tensors, only the derived metadata */
    bool has_model;
    wb__tokenizer tokenizer;
    wb_findings findings; /* findings of the derivation */
} wb__derived_meta;

/* Fails only with WB_ERROR_MEMORY. *derived is valid until the model is closed. */
wb_status wb__derived_meta_of(const wb_model *model, wb__context *context,
                              const wb__derived_meta **derived);

/*
 * Sets *entry to metadata entry `index`, and *in to the catalog that contains it. The entries of
 * the weights files come first, then the derived ones. Fails with WB_ERROR_NOT_FOUND past the last
 * entry.
 */
wb_status wb__derived_meta_entry(const wb_model *model, wb__context *context, uint64_t index,
                                 const wb__catalog **in, const wb__meta **entry);

#endif
