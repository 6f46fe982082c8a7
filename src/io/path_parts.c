/*
 * Splits paths into directory and base name.
 */
#include "io/sink.h"

wb__str wb__path_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return WB__STR(".");
    return (wb__str){path, slash == path ? 1 : (size_t)(slash - path)};
}

wb__str wb__path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return wb__str_from(slash == NULL ? path : slash + 1, SIZE_MAX);
}
