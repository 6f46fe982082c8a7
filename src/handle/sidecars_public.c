/*
 * Public function that returns the names of sidecar files.
 */
#include "handle/semantics.h"
#include "weighbridge/experimental.h"

const char *wb_sidecar_name(size_t i)
{
    return wb__sidecar_name(i);
}
