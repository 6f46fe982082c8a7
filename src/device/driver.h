/*
 * device/driver.h: loads a driver library at run time and looks up its functions by name.
 *
 * A driver stays loaded once it has been opened, because drivers have threads and exit handlers.
 */
#ifndef WB_DEVICE_DRIVER_H
#define WB_DEVICE_DRIVER_H

#include "core/core.h"

/* The name of a driver function, and the offset of its pointer in a struct of function pointers. */
typedef struct wb__driver_call {
    const char *name;
    size_t at;
} wb__driver_call;

/*
 * Stores the addresses of all `calls` in the struct `table`. `given` is the file name chosen by the
 * caller. If it is NULL, the first library of the NULL-terminated list `names` that exists is
 * loaded. Fails with WB_ERROR_UNSUPPORTED if no library can be loaded or a function is missing.
 */
wb_status wb__driver_open(wb__context *context, const char *given, const char *const *names,
                          const wb__driver_call *calls, size_t n, void *table);

#endif
