#include "core/abi.h"

#include "weighbridge/codec.h"
#include "weighbridge/config.h"
#include "weighbridge/convert.h"
#include "weighbridge/device.h"
#include "weighbridge/diff.h"
#include "weighbridge/edit.h"
#include "weighbridge/families.h"
#include "weighbridge/hash.h"
#include "weighbridge/load.h"
#include "weighbridge/metadata.h"
#include "weighbridge/model.h"
#include "weighbridge/net.h"
#include "weighbridge/provider.h"
#include "weighbridge/slicing.h"
#include "weighbridge/tensor.h"
#include "weighbridge/verify.h"
#include "weighbridge/weights.h"
#include "weighbridge/writer.h"

#define ALIGNMENT sizeof(size_t)
/* NOLINTNEXTLINE(bugprone-sizeof-expression): sizeof a pointer member is intended */
#define END_OF(type, member) (offsetof(type, member) + sizeof(((type *)NULL)->member))

/* Size of a struct whose last member is `member`, rounded up to the alignment of the struct. */
#define SIZE_TO(type, member)                                                                      \
    ((END_OF(type, member) + _Alignof(type) - 1) / _Alignof(type) * _Alignof(type))

#define WB__STRUCT(type, direction, least, last)                                                   \
    _Static_assert(offsetof(type, size) == 0, "size comes first");                                 \
    _Static_assert(SIZE_TO(type, last) <= sizeof(type), "the first version is within this one");   \
    _Static_assert(END_OF(type, least) <= END_OF(type, last), "least is in the first version");    \
    _Static_assert(sizeof(type) <= WB__STRUCT_MAX, "wb__abi_fits refuses larger structs");
#include "core/abi.def"
#undef WB__STRUCT

#define WB__STRUCT(type, direction, least, last)                                                   \
    [WB__ABI_##type] = {#type, END_OF(type, least), SIZE_TO(type, last), sizeof(type)},
const wb__abi wb__abis[WB__ABI_COUNT] = {
#include "core/abi.def"
};
#undef WB__STRUCT

/* In every version of the library, the sizeof of a struct is a multiple of ALIGNMENT. A `size` that
 * is not such a multiple is invalid. */
bool wb__abi_fits(wb__abi_id id, size_t size)
{
    return size >= wb__abis[id].least && size <= WB__STRUCT_MAX && size % ALIGNMENT == 0;
}

/* Returns true if all bytes of the caller's struct that are beyond the size of the library's struct
 * are zero. */
static bool tail_is_zero(wb__abi_id id, const void *caller)
{
    const unsigned char *bytes = caller;
    size_t size = wb__size_of(caller);
    for (size_t i = wb__abis[id].today; i < size; i++) {
        if (bytes[i] != 0)
            return false;
    }
    return true;
}

/* Copies the members that both structs have, except `size`. */
static void copy_members(wb__abi_id id, size_t size, const void *from, void *to)
{
    size_t n = size < wb__abis[id].today ? size : wb__abis[id].today;
    memcpy((char *)to + sizeof size, (const char *)from + sizeof size, n - sizeof size);
}

bool wb__take_resized(wb__abi_id id, const void *caller, void *local)
{
    size_t size = wb__size_of(caller);
    if (!wb__abi_fits(id, size) || !tail_is_zero(id, caller))
        return false;
    copy_members(id, size, caller, local);
    *(size_t *)local = wb__abis[id].today;
    return true;
}

void *wb__out_resized(wb__abi_id id, void *caller, void *own)
{
    size_t size = wb__size_of(caller);
    /* If `size` is invalid, clear no bytes beyond the members of the first version. */
    bool fits = wb__abi_fits(id, size);
    size_t end = fits || size < wb__abis[id].first ? size : wb__abis[id].first;
    if (end > sizeof size)
        memset((char *)caller + sizeof size, 0, end - sizeof size);
    if (!fits)
        return NULL;
    memset(own, 0, wb__abis[id].today);
    *(size_t *)own = wb__abis[id].today;
    return own;
}

void wb__give_resized(wb__abi_id id, void *caller, const void *out)
{
    copy_members(id, wb__size_of(caller), out, caller);
}

wb_status wb__fail_size(wb__context *context, wb__abi_id id, const void *caller)
{
    const wb__abi *abi = &wb__abis[id];
    size_t size = wb__size_of(caller);
    if (wb__abi_fits(id, size))
        return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET, WB__STR(""),
                        "%s was compiled with a newer header (%zu bytes, this library has %zu) and "
                        "sets members that this library does not support",
                        abi->name, size, abi->today);
    return wb__fail(
        context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET, WB__STR(""),
        "%s.size is %zu, which is not the size of any version of the struct; set it to sizeof(%s)",
        abi->name, size, abi->name);
}
