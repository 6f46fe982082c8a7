/*
 * convert/exec/scheduler.h: the tensors of a plan, computed on all processors and put into the result.
 */
#ifndef WB_CONVERT_EXEC_SCHEDULER_H
#define WB_CONVERT_EXEC_SCHEDULER_H

#include "convert/emit/deliver.h"
#include "convert/exec/checkpoint.h"
#include "weighbridge/experimental.h"

/*
 * Does all of them. `journal` may be NULL; *taken tells whether an earlier run had written chunks that
 * could be taken up.
 */
wb_status wb__scheduler_run(wb__emit_job *out, wb__checkpoint *journal, bool *taken);

#endif
