/*
 * Public functions: the version of the library and the names of status codes.
 */
#include "core/core.h"

#define STRING_(x) #x
#define STRING(x) STRING_(x)

const char *wb_version(void)
{
    return STRING(WB_VERSION_MAJOR) "." STRING(WB_VERSION_MINOR) "." STRING(WB_VERSION_PATCH);
}

const char *wb_status_name(wb_status status)
{
    switch (status) {
    case WB_OK: return "ok";
    case WB_ERROR_ARGUMENT: return "argument";
    case WB_ERROR_MEMORY: return "memory";
    case WB_ERROR_IO: return "io";
    case WB_ERROR_FORMAT: return "format";
    case WB_ERROR_LIMIT: return "limit";
    case WB_ERROR_UNSUPPORTED: return "unsupported";
    case WB_ERROR_NOT_FOUND: return "not-found";
    case WB_ERROR_CHANGED: return "changed";
    case WB_ERROR_TYPE: return "type";
    case WB_ERROR_CANCELLED: return "cancelled";
    }
    return "unknown";
}
