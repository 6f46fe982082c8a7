/*
 * handle/derived_meta.h: metadata beyond what the files of the weights have themselves.
 *
 * The first question for a key that the key-values do not have makes it, out of the files beside
 * the weights; it never changes then. Threads that ask at the same time: see insight.h.
 */
#ifndef WB_HANDLE_DERIVED_META_H
#define WB_HANDLE_DERIVED_META_H

#include "arch/derive_meta.h"
#include "handle/semantics.h"

typedef struct wb__derived_meta {
    wb_allocator allocator;
    wb__catalog model; /* of it the metadata; the files are where arrays lie */
    bool has_model;
    wb__tokenizer tokenizer;
    wb_findings findings; /* made on the way */
} wb__derived_meta;

/* MEMORY is the only failure. Borrowed until the model is closed. */
wb_status wb__derived_meta_of(const wb_model *model, wb__context *context,
                              const wb__derived_meta **derived);

/*
 * Metadata entry number `index` as callers count, those of the files first, and the model that has it.
 * NOT_FOUND if there are not so many.
 */
wb_status wb__derived_meta_entry(const wb_model *model, wb__context *context, uint64_t index,
                                 const wb__catalog **in, const wb__meta **entry);

#endif
