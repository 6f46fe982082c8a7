/* core/call_options.h: creates the context of a call from the options that the caller passed. */
#ifndef WB_CORE_CALL_OPTIONS_H
#define WB_CORE_CALL_OPTIONS_H

#include "core/context.h"
#include "weighbridge/model.h"

/* Initializes a context. Fails with WB_ERROR_ARGUMENT if the caller's options are invalid. */
wb_status wb__context_init(wb__context *context, const wb_open_options *options, wb_error *error);

wb_status wb__fail_argument(wb__context *context, const char *what);

wb_access wb__access_of(const wb_open_options *options);

#endif
