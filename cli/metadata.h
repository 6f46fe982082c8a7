/*
 * metadata.h: values of metadata, as text and as JSON.
 */
#ifndef WB_CLI_METADATA_H
#define WB_CLI_METADATA_H

#include "text.h"
#include "weighbridge.h"
#include "weighbridge/experimental.h"

/*
 * Adds the value of an entry so that it can be shown. Long strings are cut and of long arrays the
 * first elements are shown, with how much there is, unless `is_whole`.
 */
void text_add_meta(text *t, const wb_model *model, const wb_meta *meta, bool is_whole);

/* Writes the value as JSON: numbers that are not finite as null, strings as UTF-8. */
void json_meta(wb_json *json, const wb_model *model, const wb_meta *meta);

/* How many entries stand in the files of the weights themselves: they are the first. */
uint64_t metadata_of_files(const wb_model *model);

#endif
