/*
 * verify: checks the values, layout, digests, journals and config of a model, and reports findings.
 */
#ifndef WB_VERIFY_VERIFY_H
#define WB_VERIFY_VERIFY_H

#include "handle/handle.h"

/* Adds findings about the config and the sidecar files (verify_config.c). */
wb_status wb__verify_meaning(const wb_model *model, wb__context *context);

/* Adds a finding if the padding of a file contains non-zero bytes. */
wb_status wb__verify_padding(const wb_model *model, wb__context *context, size_t file);

/* Adds findings for strings in metadata arrays that are not valid UTF-8. */
wb_status wb__verify_texts(const wb_model *model, wb__context *context);

/* Adds warnings about metadata and tensor names that programs refuse or misunderstand
 * (verify_metadata.c). */
wb_status wb__verify_metadata(const wb_model *model, wb__context *context);

/* Adds all findings about an open model to context->findings. */
wb_status wb__verify(const wb_model *model, wb__context *context, const wb_verify_options *options);

/*
 * Called if a model could not be opened. Checks the digest of the file that caused the error, and
 * adds a finding if the file is damaged. Does not change the error of the context.
 */
wb_status wb__verify_refused(const wb_model *model, wb__context *context,
                             const wb_verify_options *options);

/* Adds findings for journals of interrupted edits next to the files of an open model
 * (verify_journals.c). */
wb_status wb__verify_journals(const wb_model *model, wb__context *context);

/* Called if a model could not be opened. If the file that caused the error has the journal of an
 * interrupted edit, mentions the journal in the error of the context. */
void wb__verify_explain(const wb_model *model, wb__context *context);

/*
 * Checks the files whose names contain their SHA-256 digest, from file `first` on. The model may be
 * incomplete.
 */
wb_status wb__verify_digests(const wb_model *model, size_t first, wb__context *context);

#endif
