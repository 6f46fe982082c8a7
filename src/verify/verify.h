/*
 * verify: findings about an open model: values, layout, digests, journals and config.
 */
#ifndef WB_VERIFY_VERIFY_H
#define WB_VERIFY_VERIFY_H

#include "handle/handle.h"

/* Adds findings about the config and the sidecar files (verify_config.c). */
wb_status wb__verify_meaning(const wb_model *model, wb__context *context);

/* Adds a finding for non-zero bytes in the padding of a file. */
wb_status wb__verify_padding(const wb_model *model, wb__context *context, size_t file);

/* Adds findings for strings in metadata arrays that are not valid UTF-8. */
wb_status wb__verify_texts(const wb_model *model, wb__context *context);

/* Adds findings about the values and the layout of an open model to context->findings. */
wb_status wb__verify(const wb_model *model, wb__context *context, const wb_verify_options *options);

/*
 * Checks the digest of the file for which a model was refused, and adds a finding if the file is
 * damaged. Keeps the error of the context, which is the reason for the refusal.
 */
wb_status wb__verify_refused(const wb_model *model, wb__context *context,
                             const wb_verify_options *options);

/* Adds findings for journals of interrupted edits next to the files of an open model
 * (verify_journals.c). */
wb_status wb__verify_journals(const wb_model *model, wb__context *context);

/* If a journal of an interrupted edit exists, adds it to the error for which a model was refused. */
void wb__verify_explain(const wb_model *model, wb__context *context);

/*
 * Compares the files that are named by their SHA-256 digest with that digest, from file `first` on.
 * The model may be incomplete.
 */
wb_status wb__verify_digests(const wb_model *model, size_t first, wb__context *context);

#endif
