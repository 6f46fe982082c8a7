/* convert/plan/input_files.h: lists the input files of a plan that do not belong to the model: the
 * importance matrix and the files of adapters. An output must not replace an input file, nor a
 * directory that contains one. */
#ifndef WB_CONVERT_PLAN_INPUT_FILES_H
#define WB_CONVERT_PLAN_INPUT_FILES_H

#include "convert/convert.h"

/* wb__inputs_add adds a file to the inputs. wb__inputs_add_adapter adds all files of an adapter,
 * including adapter_config.json even if it does not exist. */
wb_status wb__inputs_add(wb_conversion *conversion, wb__context *context, const char *path);
wb_status wb__inputs_add_adapter(wb_conversion *conversion, wb__context *context,
                                 const wb_model *model);

/* Returns WB_ERROR_ARGUMENT if an output at `path` would replace an input file. */
wb_status wb__inputs_spare(const wb_conversion *conversion, wb__context *context, const char *path);

#endif
