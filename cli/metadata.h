/* metadata.h: prints metadata values as text and as JSON. */
#ifndef WB_CLI_METADATA_H
#define WB_CLI_METADATA_H

#include "text.h"
#include "weighbridge.h"
#include "weighbridge/experimental.h"

/* Adds the value of a metadata entry in printable form. Unless `is_whole` is true, long strings are
 * truncated and only the first elements of long arrays are shown, followed by the total length.
 */
void text_add_meta(text *t, const wb_model *model, const wb_meta *meta, bool is_whole);

/* Writes the value as JSON. Numbers that are not finite become null; strings are converted to
 * UTF-8.
 */
void json_meta(wb_json *json, const wb_model *model, const wb_meta *meta);

/* Returns the number of entries that are stored in the weight files. These entries have the lowest
 * indices; derived entries follow.
 */
uint64_t metadata_of_files(const wb_model *model);

#endif
