/*
 * core/abi.h: public structs of callers that were compiled with another version of the header.
 *
 * A struct that begins with `size` may be shorter or longer in the caller than in the library.
 * Below, `sizeof` is the size in the library. The library reads min(size, sizeof) bytes of an
 * input. Missing members keep their defaults, and all bytes beyond sizeof must be zero. The library
 * writes min(size, sizeof) bytes of an output, clears the rest of the caller's struct and does not
 * change `size`. The library never accesses bytes beyond `size`.
 *
 * If `size` equals sizeof, as it usually does, this costs one comparison and the copy of an input.
 * Outputs are then written directly to the caller's struct.
 *
 *     wb_hash_options own = {.size = sizeof own};                the default values
 *     if (!WB__TAKE(wb_hash_options, options, &own))             options may be NULL
 *         return WB__FAIL_SIZE(&context, wb_hash_options, options);
 *
 *     wb_tensor own, *out = WB__OUT(wb_tensor, caller, &own);    all members but `size` are zero
 *     if (out == NULL)
 *         return WB__FAIL_SIZE(&context, wb_tensor, caller);
 *     out->rank = rank;
 *     WB__GIVE(wb_tensor, caller, out);
 */
#ifndef WB_CORE_ABI_H
#define WB_CORE_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "core/context.h"

#define WB__STRUCT(type, direction, least, last) WB__ABI_##type,
typedef enum wb__abi_id {
#include "core/abi.def"
    WB__ABI_COUNT
} wb__abi_id;
#undef WB__STRUCT

/* Sizes in bytes. */
typedef struct wb__abi {
    const char *name;
    size_t least; /* minimum `size` of a caller's struct */
    size_t first; /* sizeof in the first library version that has the struct */
    size_t today; /* sizeof in this version */
} wb__abi;

extern const wb__abi wb__abis[WB__ABI_COUNT];

/* Upper bound of all struct sizes; a larger `size` is a caller's error. */
#define WB__STRUCT_MAX ((size_t)16384)

/* Returns true if `size` can be the size of some version of the struct. */
bool wb__abi_fits(wb__abi_id id, size_t size);

/* These functions implement the macros below if the caller's `size` differs from sizeof. */
bool wb__take_resized(wb__abi_id id, const void *caller, void *local);
void *wb__out_resized(wb__abi_id id, void *caller, void *own);
void wb__give_resized(wb__abi_id id, void *caller, const void *out);

/* Fails with WB_ERROR_ARGUMENT and a message that describes why a struct was refused. */
wb_status wb__fail_size(wb__context *context, wb__abi_id id, const void *caller);

static inline size_t wb__size_of(const void *caller)
{
    return *(const size_t *)caller;
}

static inline bool wb__take(wb__abi_id id, size_t today, const void *caller, void *local)
{
    if (caller == NULL)
        return true;
    if (wb__size_of(caller) != today)
        return wb__take_resized(id, caller, local);
    memcpy(local, caller, today);
    return true;
}

static inline void *wb__out(wb__abi_id id, size_t today, void *caller, void *own)
{
    if (wb__size_of(caller) != today)
        return wb__out_resized(id, caller, own);
    memset(caller, 0, today);
    *(size_t *)caller = today;
    return caller;
}

static inline void wb__give(wb__abi_id id, void *caller, const void *out)
{
    if (out != caller)
        wb__give_resized(id, caller, out);
}

#define WB__IS(type, pointer) (1 ? (pointer) : (type *)NULL)

/*
 * Copies a caller's input to *local and sets local->size to sizeof. *local must hold the default
 * values of all members, which remain if `caller` is NULL. Returns false, with *local unchanged, if
 * the caller's `size` is invalid or a byte beyond sizeof is not zero.
 */
#define WB__TAKE(type, caller, local)                                                              \
    wb__take(WB__ABI_##type, sizeof(type), WB__IS(const type, caller), WB__IS(type, local))

/*
 * Clears a caller's output except `size`, and returns the struct to fill: the caller's struct if
 * its `size` is the sizeof in this library version, otherwise *own with `size` set. Returns NULL if
 * the caller's `size` is invalid.
 */
#define WB__OUT(type, caller, own)                                                                 \
    ((type *)wb__out(WB__ABI_##type, sizeof(type), WB__IS(type, caller), WB__IS(type, own)))

/* Copies the struct that WB__OUT returned to the caller's struct, up to the caller's `size`. */
#define WB__GIVE(type, caller, out)                                                                \
    wb__give(WB__ABI_##type, WB__IS(type, caller), WB__IS(const type, out))

/* Returns element i of a caller's array. The `size` of the first element applies to all
 * elements. */
#define WB__ELEMENT(type, first, i)                                                                \
    ((const type *)(const void *)((const char *)WB__IS(const type, first) +                        \
                                  (size_t)(i) * wb__size_of(first)))

#define WB__FAIL_SIZE(context, type, caller)                                                       \
    wb__fail_size(context, WB__ABI_##type, WB__IS(const type, caller))

#endif
