/*
 * handle/derived_meta.h: metadata derived from config.json and tokenizer files.
 *
 * The first query for a key that the weights files do not contain derives it. It never changes
 * afterwards. Concurrent first queries are resolved as in semantics.h.
 */
#ifndef WB_HANDLE_DERIVED_META_H
#define WB_HANDLE_DERIVED_META_H

#include "arch/derive_meta.h"
#include "handle/semantics.h"

typedef struct wb__derived_meta {
    wb_allocator allocator;
    wb__catalog model; /* only its metadata is used; its files own the arrays */
    bool has_model;
    wb__tokenizer tokenizer;
    wb_findings findings; /* made during derivation */
} wb__derived_meta;

/* Fails only with MEMORY. Borrowed until the model is closed. */
wb_status wb__derived_meta_of(const wb_model *model, wb__context *context,
                              const wb__derived_meta **derived);

/*
 * Returns metadata entry `index` and the catalog that contains it. Callers count the entries of the
 * weights files first. Fails with NOT_FOUND past the last entry.
 */
wb_status wb__derived_meta_entry(const wb_model *model, wb__context *context, uint64_t index,
                                 const wb__catalog **in, const wb__meta **entry);

#endif
