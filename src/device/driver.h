/*
 * device/driver.h: the library of a driver, found at run time, and its functions by name.
 *
 * A driver that has been loaded stays: drivers have threads and things to be done at exit.
 */
#ifndef WB_DEVICE_DRIVER_H
#define WB_DEVICE_DRIVER_H

#include "core/core.h"

/* A function, and where in a struct of pointers to functions its address goes. */
typedef struct wb__driver_call {
    const char *name;
    size_t at;
} wb__driver_call;

/*
 * Fills in all of `calls` in `table`. `given` is the caller's own name of the file, or NULL for the
 * first of `names`, which end with NULL, that is to be found. UNSUPPORTED with the reason.
 */
wb_status wb__driver_open(wb__context *context, const char *given, const char *const *names,
                          const wb__driver_call *calls, size_t n, void *table);

#endif
