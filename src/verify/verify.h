/*
 * verify: findings about an open model: values, layout, digests, journals and config.
 */
#ifndef WB_VERIFY_VERIFY_H
#define WB_VERIFY_VERIFY_H

#include "handle/handle.h"

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

#endif
