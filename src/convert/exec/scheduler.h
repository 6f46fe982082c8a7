/* convert/exec/scheduler.h: computes the tensors of a plan on several threads and writes them to
 * the output. */
#ifndef WB_CONVERT_EXEC_SCHEDULER_H
#define WB_CONVERT_EXEC_SCHEDULER_H

#include "convert/emit/deliver.h"
#include "convert/exec/checkpoint.h"
#include "weighbridge/experimental.h"

/* Computes and writes all tensors of the plan. `journal` may be NULL. Sets *taken to true if
 * tiles of an earlier run were reused. */
wb_status wb__scheduler_run(wb__emit_job *out, wb__checkpoint *journal, bool *taken);

#endif
