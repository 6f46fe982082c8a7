/*
 * convert/plan/input_files.h: the files that a plan was made of beside those of the model, importance matrix and adapters:
 * no result takes their place, be it a file or the folder that they are in.
 */
#ifndef WB_CONVERT_PLAN_INPUT_FILES_H
#define WB_CONVERT_PLAN_INPUT_FILES_H

#include "convert/convert.h"

/* Takes note of a file; of all files of an adapter, be they there or not. */
wb_status wb__inputs_add(wb_conversion *conversion, wb__context *context, const char *path);
wb_status wb__inputs_add_adapter(wb_conversion *conversion, wb__context *context,
                                 const wb_model *model);

/* ARGUMENT where a result at `path` would be instead of one of them. */
wb_status wb__inputs_spare(const wb_conversion *conversion, wb__context *context, const char *path);

#endif
