/* The engine of a build without libcurl: every use of the network fails with an error that says
 * so. */
#ifndef WB_NET_HAVE_CURL
#include "net/engine.h"
#include "net/net_messages.h"

wb_status wb__engine_new(wb__engine **engine, wb__context *context,
                         const wb__engine_options *options)
{
    (void)options;
    *engine = NULL;
    return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_NET_LIBRARY, WB_NO_OFFSET,
                    WB__STR(""), WB__MSG_NET_BUILT_WITHOUT);
}

void wb__engine_free(wb__engine *engine)
{
    (void)engine;
}

wb_status wb__engine_start(wb__engine *engine, wb__context *context, wb__exchange *exchange)
{
    (void)engine;
    (void)exchange;
    return wb__fail_memory(context);
}

void wb__engine_cancel(wb__exchange *exchange)
{
    (void)exchange;
}

void wb__exchange_clear(wb__exchange *exchange)
{
    (void)exchange;
}
#else
typedef int wb__has_engine; /* an empty file is not valid C */
#endif
