#include "core/call_options.h"
#include "core/abi.h"

static const wb_limits default_limits = {
    .size = sizeof(wb_limits),
    .safetensors_header = 100000000,
    .gguf_header = (uint64_t)1 << 30,
    .npy_header = (uint64_t)64 << 10,
    .npz_directory = (uint64_t)256 << 20,
    .inflated = (uint64_t)256 << 20,
    .json_bytes = (uint64_t)256 << 20,
    .files = 65536,
    .rank = 65536,
    .spool_memory = (uint64_t)64 << 20,
};

/* The caller may have been compiled with any version of the struct, so only the members of the
 * first version are written. */
void wb_limits_default(wb_limits *limits)
{
    memcpy(limits, &default_limits, wb__abis[WB__ABI_wb_limits].first);
    limits->size = wb__abis[WB__ABI_wb_limits].first;
}

wb_status wb__fail_argument(wb__context *context, const char *what)
{
    return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET, WB__STR(""),
                    "%s", what);
}

wb_status wb__context_init(wb__context *context, const wb_open_options *caller, wb_error *error)
{
    wb_open_options own = {.size = sizeof own};
    const wb_open_options *options = &own;
    *context = (wb__context){
        .allocator = wb__default_allocator, .limits = default_limits, .file = "", .error = error};
    if (caller == NULL)
        return WB_OK;
    if (!WB__TAKE(wb_open_options, caller, &own))
        return WB__FAIL_SIZE(context, wb_open_options, caller);
    if (options->access > WB_ACCESS_SNAPSHOT)
        return wb__fail_argument(context, "wb_open_options.access is not a WB_ACCESS_* value");
    const uint32_t known =
        WB_OPEN_COMPATIBLE | WB_OPEN_FOLLOW_LINKS | WB_OPEN_COPY_ON_WRITE | WB_OPEN_STORED;
    if (options->flags & ~known)
        return wb__fail_argument(context, "wb_open_options.flags contains unknown flags");
    context->compatible = (options->flags & WB_OPEN_COMPATIBLE) != 0;
    context->follow_links = (options->flags & WB_OPEN_FOLLOW_LINKS) != 0;
    context->stored = (options->flags & WB_OPEN_STORED) != 0;
    context->copy_on_write = (options->flags & WB_OPEN_COPY_ON_WRITE) != 0;
    if (options->allocator != NULL) {
        if (options->allocator->alloc == NULL || options->allocator->free == NULL)
            return wb__fail_argument(context, "wb_allocator requires alloc and free");
        context->allocator = *options->allocator;
    }
    context->store = options->store;
    context->families = options->families;
    if (!WB__TAKE(wb_files, options->files, &context->files))
        return WB__FAIL_SIZE(context, wb_files, options->files);
    if (options->files != NULL &&
        (context->files.owns == NULL || context->files.open == NULL || context->files.list == NULL))
        return wb__fail_argument(context, "wb_files requires owns, open and list");
    if (options->executor != NULL)
        context->executor = *options->executor;
    if (!WB__TAKE(wb_limits, options->limits, &context->limits))
        return WB__FAIL_SIZE(context, wb_limits, options->limits);
    return WB_OK;
}

wb_access wb__access_of(const wb_open_options *options)
{
    return options == NULL ? WB_ACCESS_MAP : options->access;
}
