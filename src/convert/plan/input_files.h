/* convert/plan/input_files.h: the input files of a plan besides the model: importance matrix and
 * adapters. An output must not replace these files or a directory that contains them. */
#ifndef WB_CONVERT_PLAN_INPUT_FILES_H
#define WB_CONVERT_PLAN_INPUT_FILES_H

#include "convert/convert.h"

/* Add a file to the inputs, or all files of an adapter, whether they exist or not. */
wb_status wb__inputs_add(wb_conversion *conversion, wb__context *context, const char *path);
wb_status wb__inputs_add_adapter(wb_conversion *conversion, wb__context *context,
                                 const wb_model *model);

/* Returns WB_ERROR_ARGUMENT if an output at `path` would replace an input file. */
wb_status wb__inputs_spare(const wb_conversion *conversion, wb__context *context, const char *path);

#endif
