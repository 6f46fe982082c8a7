#include "device/driver.h"
#include "device/device_messages.h"

#include <dlfcn.h>

static void *open_first(const char *const *names, const char **found)
{
    void *library = NULL;
    for (; library == NULL && *names != NULL; names++) {
        library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
        *found = *names;
    }
    return library;
}

wb_status wb__driver_open(wb__context *context, const char *given, const char *const *names,
                          const wb__driver_call *calls, size_t n, void *table)
{
    const char *const only[] = {given, NULL};
    const char *name = names[0];
    void *library = open_first(given != NULL ? only : names, &name);
    if (library == NULL)
        return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_NO_DRIVER, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_DRIVER_NOT_FOUND, given != NULL ? given : names[0]);
    for (size_t i = 0; i < n; i++) {
        void *call = dlsym(library, calls[i].name);
        if (call == NULL)
            return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_NO_DRIVER, WB_NO_OFFSET,
                            WB__STR(""), WB__MSG_DRIVER_FUNCTION, name, calls[i].name);
        memcpy((uint8_t *)table + calls[i].at, &call, sizeof call);
    }
    return WB_OK;
}
